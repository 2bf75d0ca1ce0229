"""Cells: the space of continuous observations, cut up so that states come near enough to each other to be alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Cells:
    """From an observation to the cell it is in; of whole numbers, and of images, each has one of its own.

    The range of every continuous variable, as far as it was met and rounded up to a power of two, is cut into equal
    parts, so many that there would be about `count` cells. `widen` takes observations in; cells are others if it
    says so.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._low: NDArray[np.float64] | None = None
        self._high = self._width = np.zeros(0)

    def widen(self, observations: NDArray[np.float64]) -> bool:
        """Let ranges cover these observations (one a row) too; True if cells are other ones than before."""
        if observations.dtype.kind != "f":
            return False
        rows = observations.reshape(len(observations), -1)
        low, high = rows.min(axis=0), rows.max(axis=0)
        self._high = high if self._low is None else np.maximum(self._high, high)
        self._low = low if self._low is None else np.minimum(self._low, low)
        before, self._width = self._width, self._widths(self._high - self._low)
        return not np.array_equal(before, self._width)

    def __call__(self, observation: NDArray[np.float64]) -> bytes:
        if observation.dtype.kind != "f":
            return observation.tobytes()
        return np.floor(observation.ravel() / self._width).tobytes()

    def _widths(self, ranges: NDArray[np.float64]) -> NDArray[np.float64]:
        parts = max(2, round(self._count ** (1 / ranges.size)))
        rounded = 2.0 ** np.ceil(np.log2(np.maximum(ranges, 1e-9)))
        return np.asarray(rounded / parts)
