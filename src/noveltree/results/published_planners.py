"""Planners of other articles, as results beside which others can stand, each with its own conditions."""

from __future__ import annotations

import functools
import math

from noveltree.benchmark.conditions import differences, in_words
from noveltree.published import PublishedPlanner, published_planners
from noveltree.results.comparable import published_rule, settings_in_words
from noveltree.results.sample import Sample
from noveltree.results.scores import AgentScores, GameScores

#: Of which game conditions are told; they are the same in all Atari games.
_ANY_GAME = "breakout"


@functools.cache
def other_planners() -> tuple[AgentScores, ...]:
    """The planners of Bandres et al. (2018) and Lipovetzky et al. (2015).

    None was played under the conditions of the paper's own agents, which is told of each.
    """
    return tuple(map(_agent, published_planners().values()))


def table_of_planners() -> tuple[AgentScores, ...]:
    """Those in the articles' tables of scores."""
    return tuple(agent for agent in other_planners() if published_planners()[agent.name].in_table)


def _agent(planner: PublishedPlanner) -> AgentScores:
    protocol = planner.protocol(_ANY_GAME)
    games = {
        game: GameScores(
            Sample(score.mean, math.nan if score.sd is None else score.sd, score.episodes or 1), (score.mean,)
        )
        for game, score in planner.scores.items()
    }
    settings = differs = "conditions that are not known"
    differs_in: tuple[str, ...] = ()
    if protocol is not None:
        name = (planner.name, protocol.hash)
        differs_in = differences({name: 1}, {protocol.hash: protocol}, rule=published_rule)[name]
        differs = _joined(in_words(protocol, differs_in), planner.besides)
        settings = _joined(settings_in_words(protocol, protocol.agent), _recorded(planner), planner.besides)
    return AgentScores(
        planner.name,
        games,
        planner.title,
        label=planner.name,
        published=True,
        settings=f"{planner.article}: {settings}",
        differs=differs,
        differs_in=differs_in,
        protocol=protocol,
    )


def _recorded(planner: PublishedPlanner) -> str:
    """What is known of how it was played, besides its settings."""
    episodes = {score.episodes for score in planner.scores.values()}
    if planner.interactions is None or None in episodes:
        return "deviations and numbers of episodes are not known"
    counts = sorted(count for count in episodes if count is not None)
    played = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
    return f"on average {planner.interactions:,.0f} interactions per decision, {played} episodes per game"


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
