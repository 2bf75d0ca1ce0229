"""From the emulator's screen to the 84 x 84 grayscale image of the paper, bit for bit as OpenCV computes it.

`cv2.resize(gray, (84, 84), interpolation=cv2.INTER_AREA)` is a weighted mean over the source pixels under each
target pixel, first along rows, then along columns, in single precision. The same sums are computed here in the
same order, so that the result is equal, but only for rows that differ from those of the screen before: from one
screen to the next most of them do not. Other sizes are reduced to in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from noveltree.kernels import kernel
from noveltree.simulators.simulator import Size

SIDE = 84

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]
Words = NDArray[np.uint64]
_COLUMN_TAPS = 3  # source pixels under a target pixel along a row, at most: the screen is always 160 pixels wide
_UNKNOWN = np.float32(-1.0)


class ScreenReducer:
    """Reduces raw screens (height, 160) of palette indices to grayscale images (84, 84), or of another size."""

    def __init__(
        self, height: int, width: int, grayscale: Callable[[Bytes], object], size: Size = (SIDE, SIDE)
    ) -> None:
        """`grayscale` fills an array (height, width) with the gray values of the emulator's current screen."""
        self._grayscale = grayscale
        self._gray_of_color = np.full(256, _UNKNOWN, dtype=np.float32)
        self._gray = np.zeros((height, width), dtype=np.uint8)
        columns, rows = size
        self._columns, self._column_weights = _area_taps(width, columns, least=_COLUMN_TAPS)
        self._rows, self._row_weights = _area_taps(height, rows)
        assert self._column_weights.shape[1] == _COLUMN_TAPS
        self._last = np.zeros((height, width), dtype=np.uint8)
        self._reduced_rows = np.zeros((height + self._row_weights.shape[1], columns), dtype=np.float32)
        self._changed = np.zeros(height + self._row_weights.shape[1], dtype=np.bool_)
        self._line = np.zeros(width + _COLUMN_TAPS, dtype=np.float32)
        self._sums = np.zeros(columns, dtype=np.float32)
        self._result = np.zeros((rows, columns), dtype=np.uint8)
        self._fresh = True

    def __call__(self, raw: Bytes) -> Bytes:
        """The reduced image of `raw`, which must be the emulator's current screen; a new array."""
        while not _reduce(
            raw,
            raw.view(np.uint64),
            self._last.view(np.uint64),
            self._fresh,
            self._gray_of_color,
            self._columns,
            self._column_weights,
            self._rows,
            self._row_weights,
            self._reduced_rows,
            self._changed,
            self._line,
            self._sums,
            self._result,
        ):
            # A color that was never seen: learn its gray value from the emulator, then start over.
            self._grayscale(self._gray)
            self._gray_of_color[raw.ravel()] = self._gray.ravel()
            self._fresh = True
        self._fresh = False
        return self._result.copy()


def _area_taps(source: int, target: int, *, least: int = 1) -> tuple[NDArray[np.uint64], Floats]:
    """For each target pixel its first source pixel (target,) and the weights from there on (target, taps).

    There are at `least` so many taps, some of which may weigh nothing.
    """
    scale = source / target
    pixels: list[tuple[int, list[float]]] = []
    for pixel in range(target):
        left = pixel * scale
        right = left + scale
        cell = min(scale, source - left)
        whole_to = min(math.floor(right), source - 1)
        whole_from = min(math.ceil(left), whole_to)
        first = whole_from
        weights = [1.0 / cell] * (whole_to - whole_from)
        if whole_from - left > 1e-3:
            first = whole_from - 1
            weights.insert(0, (whole_from - left) / cell)
        if right - whole_to > 1e-3:
            weights.append(min(right - whole_to, 1.0, cell) / cell)
        pixels.append((first, weights))
    taps = max(least, *(len(weights) for _, weights in pixels))
    firsts = np.array([first for first, _ in pixels], dtype=np.uint64)
    padded = [weights + [0.0] * (taps - len(weights)) for _, weights in pixels]
    return firsts, np.array(padded, dtype=np.float32)


@kernel
def _reduce(
    raw: Bytes,
    raw_words: Words,
    last_words: Words,
    fresh: bool,
    gray_of_color: Floats,
    columns: Words,
    column_weights: Floats,
    rows: Words,
    row_weights: Floats,
    reduced_rows: Floats,
    changed: NDArray[np.bool_],
    line: Floats,
    sums: Floats,
    result: Bytes,
) -> bool:
    """Bring `result` up to date with `raw`; False if `raw` has a color whose gray value is not known."""
    height, width = raw.shape
    words = raw_words.shape[1]
    side = result.shape[1]
    for y in range(height):
        difference = np.uint64(0)
        for word in range(words):
            difference |= raw_words[y, word] ^ last_words[y, word]
            last_words[y, word] = raw_words[y, word]
        changed[y] = fresh or difference != 0
        if not changed[y]:
            continue
        if y > 0:
            # Most lines of an Atari screen repeat the line above.
            difference = np.uint64(0)
            for word in range(words):
                difference |= raw_words[y, word] ^ raw_words[y - 1, word]
            if difference == 0:
                for target in range(side):
                    reduced_rows[y, target] = reduced_rows[y - 1, target]
                continue
        darkest = np.float32(0.0)
        for x in range(width):
            gray = gray_of_color[raw[y, x]]
            line[x] = gray
            darkest = min(darkest, gray)
        if darkest < 0:
            return False
        for target in range(side):
            x = columns[target]
            total = line[x] * column_weights[target, 0]
            total += line[x + np.uint64(1)] * column_weights[target, 1]
            total += line[x + np.uint64(2)] * column_weights[target, 2]
            reduced_rows[y, target] = total
    taps = row_weights.shape[1]
    for target_y in range(result.shape[0]):
        y = rows[target_y]
        stale = False
        for tap in range(taps):
            stale |= changed[y + np.uint64(tap)]
        if not stale:
            continue
        for target in range(side):
            sums[target] = reduced_rows[y, target] * row_weights[target_y, 0]
        for tap in range(1, taps):
            weight = row_weights[target_y, tap]
            for target in range(side):
                sums[target] += reduced_rows[y + np.uint64(tap), target] * weight
        for target in range(side):
            result[target_y, target] = np.uint8(np.rint(sums[target]))
    return True
