"""Which colors stand in which tiles of the screen: what the B-PROST features are computed from.

The screen is divided into 16 x 14 tiles (10 x 15 pixels each on the usual screen of 160 x 210), and a tile has
those of the console's 128 colors that at least one of its pixels has.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noveltree.kernels import kernel

TILE_COLUMNS = 16
TILE_ROWS = 14
COLORS = 128


class TileObserver:
    """Turns raw screens (height, width) of palette indices into tile masks (128, 14).

    Bit w of entry (c, h) says whether tile (w, h) has color c. If there is a `background`, a screen of the same
    shape, it is subtracted first: what is left of the background itself is black.
    """

    def __init__(self, height: int, width: int, background: NDArray[np.uint8] | None = None) -> None:
        self._background = background
        self._foreground = np.empty((height, width), dtype=np.uint8)
        self._column = (np.arange(width) * TILE_COLUMNS // width).astype(np.int64)
        self._row = (np.arange(height) * TILE_ROWS // height).astype(np.int64)

    def __call__(self, raw: NDArray[np.uint8]) -> NDArray[np.uint16]:
        if self._background is not None:
            _subtract(raw, self._background, self._foreground)
            raw = self._foreground
        masks = np.zeros((COLORS, TILE_ROWS), dtype=np.uint16)
        _mark(raw, self._row, self._column, masks)
        return masks


@kernel
def _mark(
    raw: NDArray[np.uint8],
    row_of: NDArray[np.int64],
    column_of: NDArray[np.int64],
    masks: NDArray[np.uint16],
) -> None:
    height, width = raw.shape
    for y in range(height):
        row = row_of[y]
        last = -1
        for x in range(width):
            # The lowest bit of a palette index is unused. Runs of one color within a tile are marked once.
            here = (raw[y, x] >> 1) * 16 + column_of[x]
            if here != last:
                last = here
                masks[raw[y, x] >> 1, row] |= np.uint16(1 << column_of[x])


@kernel
def _subtract(raw: NDArray[np.uint8], background: NDArray[np.uint8], foreground: NDArray[np.uint8]) -> None:
    """Subtract palette indices, except where they are below those of the background: those stay as they are."""
    height, width = raw.shape
    for y in range(height):
        for x in range(width):
            below = raw[y, x] < background[y, x]
            foreground[y, x] = raw[y, x] if below else raw[y, x] - background[y, x]
