"""An agent in a few numbers: wins, rank, times best, and what human-normalised scores say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noveltree.analysis.aggregate import (
    Estimate,
    Statistic,
    bootstrap,
    interquartile_mean,
    normalise,
    optimality_gap,
)
from noveltree.analysis.pairwise import compare_pairwise, mean_ranks, share_above, times_best
from noveltree.published import normalisation
from noveltree.results.scores import AgentScores, means_of, trials_of


@dataclass(frozen=True, slots=True)
class Summary:
    """An agent among others, over some games."""

    agent: AgentScores
    games: int
    """Of which it has scores."""
    wins: int
    """Pairs of a game and another agent in which it has the higher mean."""
    comparisons: int
    win_share: float
    mean_rank: float
    times_best: int
    interquartile_mean: Estimate | None
    """Of its human-normalised scores; None if it has none."""
    optimality_gap: Estimate | None
    above_human: tuple[int, int]
    """Games in which its mean is above the human's, and of which there is one."""


def summarise(
    agents: Sequence[AgentScores],
    games: Sequence[str],
    *,
    rng: np.random.Generator,
    resamples: int = 2_000,
    confidence: float = 0.95,
) -> list[Summary]:
    """A summary per agent, in their order."""
    if not agents:
        return []
    means = means_of(agents, games)
    compared = compare_pairwise(means)
    ranks, best = mean_ranks(means), times_best(means)
    known = [number for number, game in enumerate(games) if game in normalisation()]
    human = np.array([normalisation()[games[number]].human for number in known])
    summaries = []
    for number, agent in enumerate(agents):
        scores = human_normalised(agent, games)
        estimates = [
            _estimate(scores, statistic, rng, resamples, confidence)
            for statistic in (interquartile_mean, optimality_gap)
        ]
        summaries.append(
            Summary(
                agent,
                games=int((~np.isnan(means[number])).sum()),
                wins=int(compared.totals[number]),
                comparisons=int(compared.games[number].sum() - compared.games[number, number]),
                win_share=float(compared.win_shares[number]),
                mean_rank=float(ranks[number]),
                times_best=int(best[number]),
                interquartile_mean=estimates[0],
                optimality_gap=estimates[1],
                above_human=share_above(means[number, known], human),
            )
        )
    return summaries


def human_normalised(agent: AgentScores, games: Sequence[str]) -> NDArray[np.float64]:
    """The human-normalised means of an agent's trials (trials, games), of the games in which that is possible."""
    known = [game for game in games if game in agent.games and game in normalisation()]
    references = [normalisation()[game] for game in known]
    return normalise(
        trials_of(agent, known),
        np.array([each.random for each in references]),
        np.array([each.human for each in references]),
    )


def _estimate(
    scores: NDArray[np.float64], statistic: Statistic, rng: np.random.Generator, resamples: int, confidence: float
) -> Estimate | None:
    if not scores.size:
        return None
    if (~np.isnan(scores)).sum(axis=0).min() < 2:  # not enough to draw from: a number without an interval
        return Estimate(float(statistic(scores[None])[0]), math.nan, math.nan)
    return bootstrap(scores, statistic, rng=rng, resamples=resamples, confidence=confidence)
