"""What the paper publishes, as results beside which others can stand."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping

from noveltree.published import (
    OTHER_AGENTS,
    PUBLISHED_AGENTS,
    PUBLISHED_EPISODES,
    PUBLISHED_SETTINGS,
    authors_evaluations,
    human_comparison,
    published_scores,
)
from noveltree.results.sample import Sample
from noveltree.results.scores import AgentScores, GameScores


@functools.cache
def published_agents() -> tuple[AgentScores, ...]:
    """The paper's agents, in the order of its Table 1, and those that it compares them with.

    Trials are those of the authors' released episodes; of the others there are only means, some with intervals.
    """
    agents = []
    for agent, games in published_scores().items():
        scores = {}
        for game, score in games.items():
            released = authors_evaluations().get(agent, {}).get(game, ())
            trials = tuple(math.fsum(trial.scores) / len(trial.scores) for trial in released if trial.scores)
            sample = Sample.published(score.mean, score.interval, PUBLISHED_EPISODES)
            scores[game] = GameScores(sample, trials or (score.mean,))
        if agent == "n-cpl":  # the only one with a score in Riverraid, which is in the comparison with DQN alone
            scores |= _column("dqn", "n_cpl", only="riverraid")
        agents.append(_agent(agent, scores, PUBLISHED_AGENTS[agent], PUBLISHED_SETTINGS[agent]))
    for agent, other in OTHER_AGENTS.items():
        scores = _column(other.table, "human" if agent == "human" else "other")
        agents.append(_agent(agent, scores, other.title, other.settings, other.differs))
    return tuple(agents)


def published_comparison(name: str) -> tuple[AgentScores, AgentScores, AgentScores]:
    """The human player, the other agent and N-CPL as in the paper's table of that comparison."""
    human, other = OTHER_AGENTS["human"], OTHER_AGENTS[name]
    return (
        _agent("human", _column(other.table, "human"), human.title, human.settings),
        _agent("other", _column(other.table, "other"), other.title, other.settings),
        _agent("n_cpl", _column(other.table, "n_cpl"), PUBLISHED_AGENTS["n-cpl"], PUBLISHED_SETTINGS["n-cpl"]),
    )


def _agent(
    name: str, scores: Mapping[str, GameScores], title: str, settings: str, differs: str = ""
) -> AgentScores:
    return AgentScores(name, scores, title, label=name, published=True, settings=settings, differs=differs)


def _column(table: str, column: str, *, only: str = "") -> dict[str, GameScores]:
    """Means of a comparison with human players, of which nothing else is known."""
    means = {game: getattr(row, column) for game, row in human_comparison(table).items() if only in ("", game)}
    return {game: GameScores(Sample.published(mean, None, 1), (mean,)) for game, mean in means.items()}
