"""The suite that `noveltree benchmark init` writes: a comment for everything that can be chosen."""

TEMPLATE = """\
# A benchmark of noveltree: every agent plays every game in several trials.
#   noveltree benchmark plan suite.yaml              what it takes, before anything runs
#   noveltree benchmark run suite.yaml --out results
name: my-benchmark

# Atari games in any spelling, Gymnasium ids, or a named suite: paper (55 games), paper-scores (54), smrf (13).
games: [breakout, pong, qbert]

# `noveltree agents` lists them. One with settings of its own may have a name of its own.
agents:
  - riw-c
  - agent: riw-d
    name: riw-d-bprost
    features: bprost          # also: horizon, discount, cache, tie_breaking, rollout_depth, exploration
  # - agent: n-cpl            # agents that learn need the extra `learn`
  #   learning:
  #     schedule: {interval: 1000000}

# The experimental settings of a paper; `noveltree protocol show` lists what is in them.
preset: otoole-2021

# Trials per game and agent, with seeds 0, 1, 2, ...; or give `seeds: [7, 11]`.
trials: 5

# Training budget of agents that learn, in simulator interactions.
# training_interactions: 20000000

# Episodes per trial that count; an agent that learns plays them after training.
evaluation_episodes: 10

# What all agents play under, if not what the preset says.
# conditions:
#   budget: 100               # per decision; with budget_unit: interactions, frames or seconds
#   action_set: minimal       # or full
#   frame_skip: 15
#   max_frames: 18000         # per episode
#   mode: 0
#   difficulty: 0
"""
