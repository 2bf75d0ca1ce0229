"""From the emulator's screen to the 84 x 84 grayscale image of the paper, bit for bit as OpenCV computes it.

`cv2.resize(gray, (84, 84), interpolation=cv2.INTER_AREA)` is a weighted mean over the source pixels under each
target pixel, first along rows, then along columns, in single precision. The same sums are computed here in the
same order, so that the result is equal, but only for rows that differ from those of the screen before: from one
screen to the next most of them do not. Other sizes are computed in the same way; where both sides are divided
evenly, OpenCV adds whole numbers, so that it may round a mean near one half to the other side.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from noveltree.errors import InputError
from noveltree.kernels import kernel
from noveltree.simulators.simulator import Size

SIDE = 84

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]
Words = NDArray[np.uint64]
_UNKNOWN = np.float32(-1.0)


class ScreenReducer:
    """Reduces raw screens (height, 160) of palette indices to grayscale images (84, 84), or of another size."""

    def __init__(
        self, height: int, width: int, grayscale: Callable[[Bytes], object], size: Size = (SIDE, SIDE)
    ) -> None:
        """`grayscale` fills an array (height, width) with the gray values of the emulator's current screen."""
        check_size(size, height, width)
        self._grayscale = grayscale
        self._gray_of_color = np.full(256, _UNKNOWN, dtype=np.float32)
        self._gray = np.zeros((height, width), dtype=np.uint8)
        columns, rows = size
        self._columns, self._column_weights = _area_taps(width, columns)
        self._rows, self._row_weights = _area_taps(height, rows)
        self._last = np.zeros((height, width), dtype=np.uint8)
        self._reduced_rows = np.zeros((height + self._row_weights.shape[1], columns), dtype=np.float32)
        self._changed = np.zeros(height + self._row_weights.shape[1], dtype=np.bool_)
        self._line = np.zeros(width + self._column_weights.shape[1], dtype=np.float32)
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


class ImageReducer:
    """Reduces any images (height, width) of gray values."""

    def __init__(self, height: int, width: int, size: Size) -> None:
        check_size(size, height, width)
        self._shape = (height, width)
        self._columns, self._column_weights = _area_taps(width, size[0])
        self._rows, self._row_weights = _area_taps(height, size[1])

    def __call__(self, image: Bytes) -> Bytes:
        """The reduced image."""
        assert image.shape == self._shape
        result = np.empty((self._rows.size, self._columns.size), dtype=np.uint8)
        _reduce_image(image, self._columns, self._column_weights, self._rows, self._row_weights, result)
        return result


def check_size(size: Size, height: int, width: int) -> None:
    """Raise InputError if images of this height and width cannot be reduced to a size."""
    columns, rows = size
    if not (1 <= columns <= width and 1 <= rows <= height):
        raise InputError(
            f"An image of {width} x {height} pixels cannot be reduced to {columns} x {rows}: choose at most as "
            "many columns and rows as it has."
        )


def _area_taps(source: int, target: int) -> tuple[NDArray[np.uint64], Floats]:
    """For each target pixel its first source pixel (target,) and the weights from there on (target, taps)."""
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
    taps = max(len(weights) for _, weights in pixels)
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
        if column_weights.shape[1] == 3:  # as for the paper's image, which is reduced at every interaction
            for target in range(side):
                x = columns[target]
                total = line[x] * column_weights[target, 0]
                total += line[x + np.uint64(1)] * column_weights[target, 1]
                total += line[x + np.uint64(2)] * column_weights[target, 2]
                reduced_rows[y, target] = total
        else:
            for target in range(side):
                x = columns[target]
                total = line[x] * column_weights[target, 0]
                for tap in range(1, column_weights.shape[1]):
                    total += line[x + np.uint64(tap)] * column_weights[target, tap]
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


@kernel
def _reduce_image(
    image: Bytes, columns: Words, column_weights: Floats, rows: Words, row_weights: Floats, result: Bytes
) -> None:
    """Fill `result` with weighted means over the pixels of `image`; pixels beyond its edges have no weight."""
    height, width = image.shape
    for target_y in range(result.shape[0]):
        for target_x in range(result.shape[1]):
            total = np.float32(0.0)
            for tap_y in range(row_weights.shape[1]):
                y = rows[target_y] + np.uint64(tap_y)
                if y >= height:
                    break
                line = np.float32(0.0)
                for tap_x in range(column_weights.shape[1]):
                    x = columns[target_x] + np.uint64(tap_x)
                    if x >= width:
                        break
                    line += np.float32(image[y, x]) * column_weights[target_x, tap_x]
                total += line * row_weights[target_y, tap_y]
            result[target_y, target_x] = np.uint8(np.rint(total))
