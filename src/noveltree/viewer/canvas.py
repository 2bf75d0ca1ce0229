"""Drawing without a browser: lines and marks on an array of pixels, for videos."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noveltree.kernels import kernel


def colour_of(text: str) -> NDArray[np.uint8]:
    """Red, green and blue of a colour like #0072b2."""
    return np.frombuffer(bytes.fromhex(text.removeprefix("#")), dtype=np.uint8)


class Canvas:
    """A picture (height, width, 3) to draw on.

    Everything is drawn `smooth` times larger and made smaller at the end, so that edges are smooth, unless it is 1.
    """

    def __init__(self, width: int, height: int, background: str, *, smooth: int = 2) -> None:
        self._smooth = smooth
        self._pixels = np.empty((height * smooth, width * smooth, 3), dtype=np.uint8)
        self._background = colour_of(background)
        self._pixels[:] = self._background
        self._empty = self._pixels.copy()

    def clear(self) -> None:
        np.copyto(self._pixels, self._empty)

    def line(self, x0: float, y0: float, x1: float, y1: float, width: float, colour: str) -> None:
        """A curve from left to right that begins and ends horizontally."""
        k = self._smooth
        _curve(self._pixels, k * x0, k * y0, k * x1, k * y1, k * width, colour_of(colour))

    def mark(self, kind: str, x: float, y: float, radius: float, colour: str) -> None:
        """A node, by its status."""
        code = {"novel": 0, "solved": 1, "kept": 2, "pruned": 3, "terminal": 4, "reward": 5, "loss": 6}[kind]
        k = self._smooth
        _mark(self._pixels, code, k * x, k * y, k * radius, colour_of(colour), self._background)

    def picture(self) -> NDArray[np.uint8]:
        """What was drawn, in its true size."""
        height, width, _ = self._pixels.shape
        picture = np.empty((height // self._smooth, width // self._smooth, 3), dtype=np.uint8)
        _shrink(self._pixels, self._smooth, picture)
        return picture


@kernel
def _shrink(pixels: NDArray[np.uint8], k: int, picture: NDArray[np.uint8]) -> None:
    """The mean of every k x k pixels."""
    height, width, _ = picture.shape
    for row in range(height):
        for column in range(width):
            for channel in range(3):
                total = 0
                for y in range(k * row, k * row + k):
                    for x in range(k * column, k * column + k):
                        total += pixels[y, x, channel]
                picture[row, column, channel] = total // (k * k)


@kernel
def _curve(
    pixels: NDArray[np.uint8], x0: float, y0: float, x1: float, y1: float, width: float, colour: NDArray[np.uint8]
) -> None:
    height, across, _ = pixels.shape
    half = width / 2
    steps = int(abs(x1 - x0) + abs(y1 - y0)) + 1
    for step in range(steps + 1):
        s = step / steps
        x = x0 + (x1 - x0) * s
        y = y0 + (y1 - y0) * s * s * (3 - 2 * s)
        for row in range(max(0, int(y - half)), min(height, int(y + half) + 1)):
            for column in range(max(0, int(x - half)), min(across, int(x + half) + 1)):
                for channel in range(3):
                    pixels[row, column, channel] = colour[channel]


@kernel
def _mark(
    pixels: NDArray[np.uint8],
    code: int,
    x: float,
    y: float,
    radius: float,
    colour: NDArray[np.uint8],
    background: NDArray[np.uint8],
) -> None:
    height, across, _ = pixels.shape
    reach = 1.5 * radius
    for row in range(max(0, int(y - reach)), min(height, int(y + reach) + 2)):
        for column in range(max(0, int(x - reach)), min(across, int(x + reach) + 2)):
            dx, dy = (column - x) / radius, (row - y) / radius
            inside, hollow = False, False
            if code == 0 or code == 1:
                inside = dx * dx + dy * dy <= 1.0
                hollow = code == 1 and dx * dx + dy * dy <= 0.36
            elif code == 2:
                inside = abs(dx) <= 0.85 and abs(dy) <= 0.85
            elif code == 3:
                inside = abs(dx) <= 0.9 and abs(dy) <= 0.9 and abs(abs(dx) - abs(dy)) <= 0.36
            elif code == 4:
                inside = abs(dx) + abs(dy) <= 1.4
            else:
                up = dy if code == 5 else -dy
                inside = -1.0 <= up <= 1.0 and abs(dx) <= (up + 1.0) / 2
            if inside:
                for channel in range(3):
                    pixels[row, column, channel] = background[channel] if hollow else colour[channel]
