"""What the paper publishes, as results beside which others can stand."""

from __future__ import annotations

import functools
import math

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
    evaluations = authors_evaluations()
    agents = []
    for agent, games in published_scores().items():
        scores = {}
        for game, score in games.items():
            released = evaluations.get(agent, {}).get(game, ())
            trials = tuple(math.fsum(trial.scores) / len(trial.scores) for trial in released if trial.scores)
            sample = Sample.published(score.mean, score.interval, PUBLISHED_EPISODES)
            scores[game] = GameScores(sample, trials or (score.mean,))
        if agent == "n-cpl":  # the only one with a score in Riverraid, which is in the comparison with DQN alone
            scores["riverraid"] = _mean(human_comparison("dqn")["riverraid"].n_cpl)
        agents.append(
            AgentScores(
                agent,
                scores,
                PUBLISHED_AGENTS[agent],
                label=agent,
                published=True,
                settings=PUBLISHED_SETTINGS[agent],
            )
        )
    for agent, other in OTHER_AGENTS.items():
        means = {
            game: row.human if agent == "human" else row.other
            for game, row in human_comparison(other.table).items()
        }
        agents.append(
            AgentScores(
                agent,
                {game: _mean(mean) for game, mean in means.items()},
                other.title,
                label=agent,
                published=True,
                settings=other.settings,
                differs=other.differs,
            )
        )
    return tuple(agents)


def published_comparison(name: str) -> tuple[AgentScores, AgentScores, AgentScores]:
    """The human player, the other agent and N-CPL as in the paper's table of that comparison."""
    compared = OTHER_AGENTS[name]
    columns = {
        "human": (OTHER_AGENTS["human"].title, OTHER_AGENTS["human"].settings),
        "other": (compared.title, compared.settings),
        "n_cpl": (PUBLISHED_AGENTS["n-cpl"], PUBLISHED_SETTINGS["n-cpl"]),
    }
    human, other, n_cpl = (
        AgentScores(
            column,
            {
                game: _mean(mean)
                for game, row in human_comparison(compared.table).items()
                for mean in [getattr(row, column)]
            },
            heading,
            label=column,
            published=True,
            settings=words,
        )
        for column, (heading, words) in columns.items()
    )
    return human, other, n_cpl


def _mean(mean: float) -> GameScores:
    """A mean of which nothing else is known."""
    return GameScores(Sample.published(mean, None, 1), (mean,))
