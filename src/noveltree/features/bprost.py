"""B-PROST: which colors stand in which tiles, and at which offsets in space and in time (Liang et al. 2016).

With tiles (w, h), w < 16 and h < 14, and colors c < 128:

    basic    f_{w,h,c}        tile (w, h) has color c
    B-PROS   f_{c1,c2,i,j}    for some (w, h), tile (w, h) has c1 and tile (w+i, h+j) has c2
    B-PROT   f^t_{c1,c2,i,j}  the same, with c2 on the screen of one time step before

Offsets are i = -15..15 and j = -13..13. In space, (c1, c2, i, j) and (c2, c1, -i, -j) are one feature; in
time they are two.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noveltree.errors import InputError
from noveltree.features.feature_set import FeatureSet, Indices
from noveltree.kernels import kernel
from noveltree.simulators.atari import AtariState
from noveltree.simulators.tiles import COLORS, TILE_COLUMNS, TILE_ROWS
from noveltree.tree import Node

COLUMN_OFFSETS = 2 * TILE_COLUMNS - 1
ROW_OFFSETS = 2 * TILE_ROWS - 1
OFFSETS = COLUMN_OFFSETS * ROW_OFFSETS
#: Offsets are numbered row by row, (i, j) is (j+13) * 31 + i+15: this is (0, 0), and the opposite of any o is
#: OFFSETS - 1 - o.
NO_OFFSET = OFFSETS // 2

TILES = TILE_COLUMNS * TILE_ROWS
BASIC = TILES * COLORS
PROS = (COLORS * COLORS * OFFSETS + COLORS) // 2
PROT = COLORS * COLORS * OFFSETS


class BprostFeatures(FeatureSet):
    """The union of the 28,672 basic, 6,856,768 B-PROS and 13,713,408 B-PROT features."""

    size = BASIC + PROS + PROT

    def __init__(self) -> None:
        self._buffer = np.empty(0, dtype=np.int32)

    def __call__(self, node: Node) -> Indices:
        state = node.state
        if not isinstance(state, AtariState):
            raise InputError(f"B-PROST features are those of Atari states, not of a {type(state).__name__}.")
        if state.tiles is None or state.previous_tiles is None:
            raise InputError("B-PROST features need the tiles of the screen: use Atari(game, tiles=True).")
        colors = np.flatnonzero(state.tiles.any(axis=1))
        previous_colors = np.flatnonzero(state.previous_tiles.any(axis=1))
        most = colors.size * (TILES + (colors.size + previous_colors.size) * OFFSETS)
        if self._buffer.size <= most:
            self._buffer = np.empty(most + 1, dtype=np.int32)
        count = _true_features(state.tiles, colors, state.previous_tiles, previous_colors, self._buffer)
        return self._buffer[:count].copy()


@kernel
def basic_index(w: int, h: int, c: int) -> int:
    """The number of f_{w,h,c}."""
    return (c * TILE_ROWS + h) * TILE_COLUMNS + w


@kernel
def pros_index(c1: int, c2: int, offset: int) -> int:
    """The number of f_{c1,c2,i,j}, written so that c2 < c1, or c2 = c1 and offset <= NO_OFFSET.

    Each color c has c * OFFSETS features with smaller colors and NO_OFFSET + 1 with itself; those of c1 come
    after those of all smaller colors.
    """
    return BASIC + c1 * (c1 - 1) // 2 * OFFSETS + c1 * (NO_OFFSET + 1) + c2 * OFFSETS + offset


@kernel
def prot_index(c1: int, c2: int, offset: int) -> int:
    """The number of f^t_{c1,c2,i,j}."""
    return BASIC + PROS + (c1 * COLORS + c2) * OFFSETS + offset


@kernel
def _true_features(
    masks: NDArray[np.uint16],
    colors: NDArray[np.int64],
    previous_masks: NDArray[np.uint16],
    previous_colors: NDArray[np.int64],
    indices: Indices,
) -> int:
    """Write the indices of all true features and return their number; one entry more may be overwritten."""
    count = 0
    columns = np.empty(TILES, dtype=np.int64)
    rows = np.empty(TILES, dtype=np.int64)
    offsets = np.empty(ROW_OFFSETS, dtype=np.uint32)
    for c1 in colors:
        tiles = 0
        for h in range(TILE_ROWS):
            for w in range(TILE_COLUMNS):
                if masks[c1, h] >> w & 1:
                    columns[tiles], rows[tiles] = w, h
                    indices[count + tiles] = basic_index(w, h, c1)
                    tiles += 1
        count += tiles

        for c2 in colors:
            if c2 > c1:
                break
            _find_offsets(columns[:tiles], rows[:tiles], masks[c2], offsets)
            if c2 == c1:
                _drop_opposites(offsets)
            count = _write(offsets, pros_index(c1, c2, 0), indices, count)

        for c2 in previous_colors:
            _find_offsets(columns[:tiles], rows[:tiles], previous_masks[c2], offsets)
            count = _write(offsets, prot_index(c1, c2, 0), indices, count)
    return count


@kernel
def _find_offsets(
    columns: NDArray[np.int64],
    rows: NDArray[np.int64],
    others: NDArray[np.uint16],
    offsets: NDArray[np.uint32],
) -> None:
    """Set bit i+15 of entry j+13 if (i, j) leads from one of the tiles (columns, rows) to one of `others`."""
    offsets[:] = 0
    for tile in range(columns.shape[0]):
        shift = np.uint32(TILE_COLUMNS - 1 - columns[tile])
        first = TILE_ROWS - 1 - rows[tile]
        window = offsets[first : first + TILE_ROWS]
        for h in range(TILE_ROWS):
            window[h] |= np.uint32(others[h]) << shift


@kernel
def _drop_opposites(offsets: NDArray[np.uint32]) -> None:
    """Keep of each offset and its opposite the one numbered first."""
    offsets[TILE_ROWS - 1] &= np.uint32((1 << TILE_COLUMNS) - 1)
    offsets[TILE_ROWS:] = 0


@kernel
def _write(offsets: NDArray[np.uint32], base: int, indices: Indices, count: int) -> int:
    """Append base + o for each offset o that is set, and return the new count."""
    for row in range(ROW_OFFSETS):
        if offsets[row]:
            for column in range(COLUMN_OFFSETS):
                # Always written, kept only if the bit is set: a branch would often be mispredicted.
                indices[count] = base + row * COLUMN_OFFSETS + column
                count += offsets[row] >> np.uint32(column) & np.uint32(1)
    return count
