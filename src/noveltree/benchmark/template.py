"""The suite that `noveltree benchmark init` writes: a comment for everything that can be chosen."""

from __future__ import annotations

from noveltree.agents import Settings
from noveltree.benchmark.suite import CONDITIONS
from noveltree.protocol import Protocol, make_protocol
from noveltree.simulators.games import SUITES

_USUAL = make_protocol("breakout")
#: What Atari games do not have.
_EXAMPLES = {"options": "{is_slippery: false}", "game_levels": "0-99", "evaluation_levels": "100-199"}


def _condition(name: str) -> str:
    value = getattr(_USUAL, name)
    shown = _EXAMPLES.get(name) or (
        "0" if value is None else f"{value:.10g}" if isinstance(value, float) else value
    )
    return f"#   {f'{name}: {shown}':<28}# {Protocol.model_fields[name].description}"


_SUITES = ", ".join(f"{name} ({len(games)} games)" for name, games in SUITES.items())
_CONDITIONS = "\n".join(map(_condition, CONDITIONS))
_OTHERS = ", ".join(name for name in Settings.model_fields if name != "features")

TEMPLATE = f"""\
# A benchmark of noveltree: every agent plays every game in several trials.
#   noveltree benchmark plan suite.yaml              what it takes, before anything runs
#   noveltree benchmark run suite.yaml --out results
name: my-benchmark

# Atari games in any spelling, Gymnasium ids, your own as path/to/file.py:Factory, or a named suite:
# {_SUITES}.
games: [breakout, pong, qbert]

# `noveltree agents` lists them. One with settings of its own may have a name of its own.
agents:
  - riw-c
  - agent: riw-d
    name: riw-d-bprost
    features: bprost          # also: {_OTHERS}
  # - agent: n-cpl            # agents that learn need the extra `learn`
  #   learning:
  #     schedule: {{interval: 1000000}}

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
{_CONDITIONS}
"""
