"""TileObserver: the colors of the tiles of a screen, compared with a loop over its pixels."""

from __future__ import annotations

import numpy as np
import pytest

from noveltree.simulators.atari import Atari, AtariState
from noveltree.simulators.tiles import COLORS, TILE_COLUMNS, TILE_ROWS, TileObserver


def marks(masks: np.ndarray) -> set[tuple[int, int, int]]:
    """The (w, h, c) with tile (w, h) having color c, read bit by bit."""
    return {
        (w, h, c)
        for c in range(COLORS)
        for h in range(TILE_ROWS)
        for w in range(TILE_COLUMNS)
        if int(masks[c, h]) & (1 << w)
    }


@pytest.mark.parametrize("height", [210, 250])
@pytest.mark.parametrize("palette", [2, 10, 256])
def test_masks_are_those_of_a_loop_over_all_pixels(height: int, palette: int) -> None:
    rng = np.random.default_rng(height + palette)
    screen = rng.choice(rng.permutation(256)[:palette], size=(height, 160)).astype(np.uint8)
    screen[: height // 2] = screen[0, 0]  # one half of a single color, the other of noise
    expected = {
        (int(x / 160 * 16), int(y / height * 14), int(screen[y, x]) // 2) for y in range(height) for x in range(160)
    }
    masks = TileObserver(height, 160)(screen)
    assert masks.shape == (128, 14)
    assert masks.dtype == np.uint16
    assert marks(masks) == expected


def test_a_tile_of_the_usual_screen_is_10_by_15_pixels() -> None:
    observe = TileObserver(210, 160)
    for w, h in [(0, 0), (7, 3), (15, 13)]:
        screen = np.zeros((210, 160), dtype=np.uint8)
        screen[15 * h : 15 * (h + 1), 10 * w : 10 * (w + 1)] = 2 * 99
        masks = observe(screen)
        assert {(w_, h_) for w_, h_, c in marks(masks) if c == 99} == {(w, h)}
        assert (w, h, 0) not in marks(masks)  # the square fills its tile and no other


def test_every_call_returns_masks_of_its_own() -> None:
    observe = TileObserver(210, 160)
    black = observe(np.zeros((210, 160), dtype=np.uint8))
    observe(np.full((210, 160), 40, dtype=np.uint8))
    assert {c for _, _, c in marks(black)} == {0}


def test_atari_states_hold_the_tiles_of_this_screen_and_of_the_one_before() -> None:
    simulator = Atari("breakout", tiles=True)
    start = simulator.start()
    assert start.tiles is not None
    assert start.previous_tiles is start.tiles
    child = simulator.step(start, 1).state
    assert isinstance(child, AtariState)
    assert child.tiles is not None
    assert child.previous_tiles is not None
    np.testing.assert_array_equal(child.previous_tiles, start.tiles)
    assert (child.tiles != start.tiles).any()
