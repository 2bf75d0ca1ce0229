"""Where features are: the pixels, tiles or bytes of a screen that they speak of, or words for them."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noveltree.features import (
    AtomFeatures,
    BprostFeatures,
    FeatureSet,
    Indices,
    LatentFeatures,
    PairFeatures,
    PixelFeatures,
    RamFeatures,
    UnitFeatures,
)
from noveltree.features.bprost import BASIC, COLUMN_OFFSETS, NO_OFFSET, OFFSETS, PROS
from noveltree.features.ram import VALUES as BYTE_VALUES
from noveltree.simulators import AtariState
from noveltree.simulators.tiles import COLORS, TILE_COLUMNS, TILE_ROWS
from noveltree.tree import Node
from noveltree.viewer.messages import Head

#: Features that are put into words; of the others there is a number.
MOST_WORDS = 24


def marks(features: FeatureSet, indices: Indices, node: Node) -> Head:
    """Which places of a node's screen these of its features are, and what they say."""
    match features:
        case PixelFeatures():
            height, width, *planes = node.state.observation.shape
            pixels = indices % (features.size // 256) // int(np.prod(planes, dtype=int))
            return {"of": "pixels", "places": _mask(pixels, height, width), "words": []}
        case RamFeatures():
            words = [
                f"byte {i // BYTE_VALUES:02X} is {i % BYTE_VALUES}" for i in np.sort(indices)[:MOST_WORDS].tolist()
            ]
            return {"of": "bytes", "places": _mask(indices // BYTE_VALUES, 8, 16), "words": words}
        case BprostFeatures():
            return _of_tiles(indices, node)
        case UnitFeatures():
            words = [
                f"unit {i // 2} is {'active' if i % 2 else 'not active'}"
                for i in np.sort(indices)[:MOST_WORDS].tolist()
            ]
            return {"of": "units", "places": None, "words": words}
        case LatentFeatures():
            words = [f"variable {i} is true" for i in np.sort(indices)[:MOST_WORDS].tolist()]
            return {"of": "variables", "places": None, "words": words}
        case PairFeatures():
            return marks(features.features, _paired(indices), node)
        case AtomFeatures():
            variables = np.flatnonzero(np.isin(features(node), indices)).tolist()
            vector = node.state.observation.ravel()
            words = [f"variable {i} is {vector[i]:g}" for i in variables[:MOST_WORDS]]
            return {"of": "variables", "places": None, "words": words}
    words = [f"feature {i}" for i in indices[:MOST_WORDS].tolist()]
    return {"of": "features", "places": None, "words": words}


def _paired(pairs: Indices) -> Indices:
    """The features of which pairs are made: pair (i, j), i <= j, is number j (j + 1) / 2 + i."""
    j = ((np.sqrt(8.0 * pairs + 1.0) - 1.0) / 2.0).astype(np.int64)
    return np.unique(np.concatenate([pairs - j * (j + 1) // 2, j])).astype(np.int32)


def _of_tiles(indices: Indices, node: Node) -> Head:
    """B-PROST: tiles that have a colour, or from which another tile with a colour is so many tiles away."""
    state = node.state
    assert isinstance(state, AtariState)
    assert state.tiles is not None
    assert state.previous_tiles is not None
    places = np.zeros((TILE_ROWS, TILE_COLUMNS), dtype=np.bool_)
    words = []
    for count, index in enumerate(np.sort(indices).tolist()):
        if index < BASIC:
            colour, tile = divmod(index, TILE_ROWS * TILE_COLUMNS)
            row, column = divmod(tile, TILE_COLUMNS)
            places[row, column] = True
            sentence = f"tile ({column}, {row}) has colour {colour}"
        else:
            first, second, offset, before = _pair(index)
            down, right = divmod(offset, COLUMN_OFFSETS)
            right, down = right - (TILE_COLUMNS - 1), down - (TILE_ROWS - 1)
            there = _plane(state.previous_tiles if before else state.tiles, second)
            places |= _plane(state.tiles, first) & _shifted(there, -down, -right)
            sentence = f"colour {second} is ({right:+}, {down:+}) from colour {first}" + (
                ", a time step before" if before else ""
            )
        if count < MOST_WORDS:
            words.append(sentence)
    return {"of": "tiles", "places": _mask(np.flatnonzero(places), TILE_ROWS, TILE_COLUMNS), "words": words}


def _pair(index: int) -> tuple[int, int, int, bool]:
    """The two colours of a feature of B-PROS or B-PROT, the number of the offset, and whether it is in time."""
    if index >= BASIC + PROS:
        colours, offset = divmod(index - BASIC - PROS, OFFSETS)
        return *divmod(colours, COLORS), offset, True
    place = index - BASIC
    # The features of a colour c with itself and with smaller ones begin behind those of all smaller colours.
    first = max(c for c in range(COLORS) if c * (c - 1) // 2 * OFFSETS + c * (NO_OFFSET + 1) <= place)
    second, offset = divmod(place - first * (first - 1) // 2 * OFFSETS - first * (NO_OFFSET + 1), OFFSETS)
    return first, second, offset, False


def _plane(masks: NDArray[np.uint16], colour: int) -> NDArray[np.bool_]:
    """The tiles (rows, columns) that have a colour."""
    plane: NDArray[np.bool_] = (masks[colour][:, None] >> np.arange(TILE_COLUMNS) & 1).astype(np.bool_)
    return plane


def _shifted(plane: NDArray[np.bool_], down: int, right: int) -> NDArray[np.bool_]:
    """A plane moved, with nothing coming in from beyond its edges."""
    rows, columns = plane.shape
    moved = np.zeros_like(plane)
    moved[max(0, down) : rows + min(0, down), max(0, right) : columns + min(0, right)] = plane[
        max(0, -down) : rows - max(0, down), max(0, -right) : columns - max(0, right)
    ]
    return moved


def _mask(places: NDArray[Any], rows: int, columns: int) -> Head:
    """Some places of a grid, as one bit each, row by row."""
    grid = np.zeros(rows * columns, dtype=np.bool_)
    grid[places] = True
    return {"rows": rows, "columns": columns, "bits": base64.b64encode(np.packbits(grid).tobytes()).decode()}
