"""How far values can be trusted.

A value that was fitted to little data is noise in new states, and noise in the leaves of a lookahead drowns what
the lookahead has found. Episodes that were not trained on say by how much differences between values have to be
shrunk to be right in the mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from noveltree.learning.experience import CriticalPath

#: How far apart the states are whose values are compared: about as far as a lookahead reaches.
APART = 10
#: With so many differences, values are trusted half as much as with very many.
DOUBT = 50


def trust_in(
    episodes: Iterable[Sequence[CriticalPath]],
    values_of: Callable[[CriticalPath], NDArray[np.float32]],
    discount: float,
) -> float:
    """By how much differences of values are to be shrunk, judged by episodes.

    An episode comes in pieces that follow one another; `values_of` gives the values of all states of a piece.
    """
    predicted, followed = [np.empty(0)], [np.empty(0)]
    for pieces in episodes:
        values = [values_of(piece) for piece in pieces]
        last = 0.0 if pieces[-1].terminal else float(values[-1][-1])
        returns = discounted(np.concatenate([piece.rewards for piece in pieces]), last, discount)
        along = np.concatenate([each[:-1] for each in values])
        predicted.append(along[APART:] - along[:-APART])
        followed.append(returns[APART:] - returns[:-APART])
    return shrinkage(np.concatenate(predicted), np.concatenate(followed))


def discounted(rewards: NDArray[np.float64], last: float, discount: float) -> NDArray[np.float64]:
    """The discounted sums of the rewards from each time step on, closed by the value of the last state."""
    returns = np.empty(len(rewards))
    for time in range(len(rewards) - 1, -1, -1):
        returns[time] = last = float(rewards[time]) + discount * last
    return returns


def shrinkage(predicted: NDArray[np.float64], followed: NDArray[np.float64]) -> float:
    """The factor between 0 and 1 with which predictions fit best what followed, less if these are few."""
    total = float(np.sum(np.square(predicted, dtype=np.float64)))
    if not total:
        return 0.0
    slope = float(np.sum(predicted * followed, dtype=np.float64)) / total
    return min(max(slope, 0.0), 1.0) * len(predicted) / (len(predicted) + DOUBT)
