"""How far values can be trusted.

A value that was fitted to little data is noise in new states, and noise in the leaves of a lookahead drowns what
the lookahead has found. Episodes that were not trained on say by how much differences between values have to be
shrunk to be right in the mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noveltree.learning.experience import CriticalPath, joined
from noveltree.learning.value_targets import MonteCarlo

#: How far apart the states are whose values are compared: about as far as a lookahead reaches.
APART = 10
#: With so many differences, values are trusted half as much as with very many.
DOUBT = 50


def trust_in(
    episodes: Iterable[Sequence[CriticalPath]],
    values_of: Callable[[CriticalPath], NDArray[np.float32]],
    returns: MonteCarlo,
) -> float:
    """By how much differences of values are to be shrunk, judged by episodes.

    An episode comes in pieces that follow one another; `values_of` gives the values of all states of a piece, and
    `returns` what they should have been.
    """
    predicted: list[NDArray[Any]] = [np.empty(0)]
    followed: list[NDArray[Any]] = [np.empty(0)]
    for pieces in episodes:
        values = [values_of(piece) for piece in pieces]
        along = np.concatenate([*(each[:-1] for each in values), values[-1][-1:]])
        targets = returns.targets(joined(pieces), along)
        predicted.append(along[APART:-1] - along[: -APART - 1])
        followed.append(targets[APART:] - targets[:-APART])
    return shrinkage(np.concatenate(predicted), np.concatenate(followed))


def shrinkage(predicted: NDArray[np.float64], followed: NDArray[np.float64]) -> float:
    """The factor between 0 and 1 with which predictions fit best what followed, less if these are few."""
    total = float(np.sum(np.square(predicted, dtype=np.float64)))
    if not total:
        return 0.0
    slope = float(np.sum(predicted * followed, dtype=np.float64)) / total
    return min(max(slope, 0.0), 1.0) * len(predicted) / (len(predicted) + DOUBT)
