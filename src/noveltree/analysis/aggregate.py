"""Many games in one number: interquartile mean, optimality gap, profiles, probability of improvement.

After Agarwal et al. (2021), "Deep Reinforcement Learning at the Edge of the Statistical Precipice". Scores are
normalised, of shape (trials, games); NaN where a trial is missing. Intervals come from a bootstrap that draws
trials with replacement within each game, so that every game keeps its weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Scores = NDArray[np.float64]
#: From many resampled score matrices (resamples, trials, games) to a number each.
Statistic = Callable[[Scores], NDArray[np.float64]]
#: Numbers that are held at once while resampling: 64 MB.
_AT_ONCE = 8_000_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval."""

    value: float
    low: float
    high: float


def normalise(scores: ArrayLike, low: ArrayLike, high: ArrayLike) -> Scores:
    """Scores (..., games) between 0, where `low` is, and 1, where `high` is; both (games,)."""
    scores, low, high = (np.asarray(each, dtype=np.float64) for each in (scores, low, high))
    if (high == low).any():
        raise ValueError("Scores cannot be normalised where both references are the same.")
    return np.asarray((scores - low) / (high - low))


def interquartile_mean(scores: ArrayLike) -> NDArray[np.float64]:
    """The mean of the middle half of all scores (..., trials, games), but for those that are missing anywhere."""
    scores = np.asarray(scores, dtype=np.float64)
    flat = scores.reshape(*scores.shape[:-2], -1)
    flat = flat[..., ~np.isnan(flat).reshape(-1, flat.shape[-1]).any(axis=0)]
    count = flat.shape[-1]
    cut = count // 4
    middle = np.partition(flat, [cut, count - cut - 1], axis=-1)[..., cut : count - cut]
    return np.asarray(middle.mean(axis=-1))


def optimality_gap(scores: ArrayLike, *, target: float = 1.0) -> NDArray[np.float64]:
    """By how much scores (..., trials, games) miss the target on average; more than the target does not count."""
    return np.asarray(np.nanmean(np.maximum(0.0, target - np.asarray(scores, dtype=np.float64)), axis=(-2, -1)))


def mean_of_games(scores: ArrayLike) -> NDArray[np.float64]:
    """The mean over games of the mean over trials, (..., trials, games)."""
    return np.asarray(np.nanmean(np.nanmean(np.asarray(scores, dtype=np.float64), axis=-2), axis=-1))


def performance_profile(scores: ArrayLike, thresholds: ArrayLike) -> NDArray[np.float64]:
    """For every threshold the share of scores (trials, games) above it, each game that has some counting alike."""
    scores, thresholds = np.asarray(scores, dtype=np.float64), np.asarray(thresholds, dtype=np.float64)
    if scores.ndim != 2 or np.isnan(scores).all():
        raise ValueError("Scores have the shape (trials, games), and there must be some.")
    scores = scores[:, ~np.isnan(scores).all(axis=0)]
    present = ~np.isnan(scores)
    above = (scores[None] > thresholds[:, None, None]) & present
    return np.asarray((above.sum(axis=1) / present.sum(axis=0)).mean(axis=1))


def probability_of_improvement(first: ArrayLike, second: ArrayLike) -> float:
    """How probable it is that the first agent's score is above the second's, in a game drawn at random.

    Ties count half. Only games of which both have scores (trials, games) count.
    """
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if first.ndim != 2 or second.ndim != 2 or first.shape[1] != second.shape[1]:
        raise ValueError("Scores of both have the shape (trials, games), with the same games.")
    shares = []
    for game in range(first.shape[1]):
        ours, theirs = (scores[~np.isnan(scores[:, game]), game] for scores in (first, second))
        if len(ours) and len(theirs):
            differences = ours[:, None] - theirs[None, :]
            shares.append(float((differences > 0).mean() + 0.5 * (differences == 0).mean()))
    if not shares:
        raise ValueError("There is no game of which both agents have scores.")
    return float(np.mean(shares))


def bootstrap(
    scores: ArrayLike,
    statistic: Statistic,
    *,
    rng: np.random.Generator,
    resamples: int = 2_000,
    confidence: float = 0.95,
) -> Estimate:
    """A statistic of scores (trials, games) and its percentile interval, trials being drawn within each game."""
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2 or not scores.size:
        raise ValueError("Scores have the shape (trials, games), and there must be some.")
    if resamples < 1:
        raise ValueError("There must be at least one resample.")
    trials, games = scores.shape
    counts = (~np.isnan(scores)).sum(axis=0)
    if (counts == 0).any():
        raise ValueError("Every game must have a score; leave out those that have none.")
    # Those that are there come first, so that a draw below a game's count finds one.
    packed = np.take_along_axis(scores, np.argsort(np.isnan(scores), axis=0, kind="stable"), axis=0)
    missing = np.arange(trials)[:, None] >= counts
    batch = max(1, _AT_ONCE // scores.size)
    values = []
    for first in range(0, resamples, batch):
        size = min(batch, resamples - first)
        draws = (rng.random((size, trials, games)) * counts).astype(np.int64)
        drawn = packed[draws, np.arange(games)]
        drawn[:, missing] = np.nan
        values.append(statistic(drawn))
    low, high = np.quantile(np.concatenate(values), [(1 - confidence) / 2, (1 + confidence) / 2])
    return Estimate(float(statistic(scores[None])[0]), float(low), float(high))
