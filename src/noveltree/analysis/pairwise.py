"""Pairwise comparisons: in how many games one agent has a higher mean score than another (Tables 1 to 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class Pairwise:
    """Wins of agents against each other."""

    wins: NDArray[np.int64]
    """(agents, agents): games in which the row's agent has the higher mean."""
    games: NDArray[np.int64]
    """(agents, agents): games of which both have one."""

    @property
    def totals(self) -> NDArray[np.int64]:
        """(agents,): wins against all others."""
        return np.asarray(self.wins.sum(axis=1))

    @property
    def win_shares(self) -> NDArray[np.float64]:
        """(agents,): wins per comparison; NaN for an agent that was compared with none."""
        others = self.games.sum(axis=1) - np.diag(self.games)
        shares = np.full(len(others), np.nan)
        np.divide(self.totals, others, out=shares, where=others > 0)
        return shares


def compare_pairwise(means: ArrayLike) -> Pairwise:
    """Compare agents by their mean scores (agents, games); NaN where there is none. A tie is no win."""
    means = np.asarray(means, dtype=np.float64)
    present = ~np.isnan(means)
    wins = means[:, None, :] > means[None, :, :]  # false wherever one is missing
    return Pairwise(wins.sum(axis=2), (present[:, None, :] & present[None, :, :]).sum(axis=2))


def mean_ranks(means: ArrayLike) -> NDArray[np.float64]:
    """(agents,): the mean over an agent's games of its rank among those who have the game; ties share a rank."""
    means = np.asarray(means, dtype=np.float64)
    higher = (means[None, :, :] > means[:, None, :]).sum(axis=1)
    level = (means[None, :, :] == means[:, None, :]).sum(axis=1)  # itself among them
    ranks = np.where(np.isnan(means), np.nan, 1 + higher + (level - 1) / 2)
    present = (~np.isnan(means)).sum(axis=1)
    sums = np.nansum(ranks, axis=1)
    return np.asarray(np.divide(sums, present, out=np.full(len(means), np.nan), where=present > 0))


def times_best(means: ArrayLike) -> NDArray[np.int64]:
    """(agents,): games in which an agent has the highest mean; agents that share it have it both."""
    means = np.asarray(means, dtype=np.float64)
    played = means[:, ~np.isnan(means).all(axis=0)]
    return np.asarray((played == np.nanmax(played, axis=0, initial=-np.inf)).sum(axis=1))


def share_above(scores: ArrayLike, references: ArrayLike, *, factor: float = 1.0) -> tuple[int, int]:
    """In how many games a score is above `factor` times a reference, and of how many both are there."""
    scores, references = np.asarray(scores, dtype=np.float64), np.asarray(references, dtype=np.float64)
    present = ~(np.isnan(scores) | np.isnan(references))
    return int((scores[present] > factor * references[present]).sum()), int(present.sum())
