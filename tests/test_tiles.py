"""TileObserver: the colors of the tiles of a screen, compared with a loop over its pixels."""

from __future__ import annotations

import numpy as np
import pytest

from noveltree.simulators.atari import Atari, AtariState
from noveltree.simulators.emulator import find_background, load_game
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


class TestBackground:
    def test_a_screen_that_is_the_background_is_black_and_what_is_below_it_stays(self) -> None:
        """Tile (0, 0) is background but for two pixels: one above it by 6, one below it."""
        background = np.full((210, 160), 100, dtype=np.uint8)
        screen = background.copy()
        screen[0, 0], screen[3, 7] = 106, 40
        masks = TileObserver(210, 160, background)(screen)
        assert {c for w, h, c in marks(masks) if (w, h) == (0, 0)} == {0, 6 // 2, 40 // 2}
        assert {c for w, h, c in marks(masks) if (w, h) != (0, 0)} == {0}

    def test_without_a_background_pixel_colors_are_those_of_the_screen(self) -> None:
        screen = np.random.default_rng(0).integers(0, 256, (210, 160)).astype(np.uint8)
        black = np.zeros((210, 160), dtype=np.uint8)
        np.testing.assert_array_equal(TileObserver(210, 160, black)(screen), TileObserver(210, 160)(screen))

    def test_pixels_that_stand_still_in_random_play_are_the_background(self) -> None:
        """Against the same play by hand: 100 random actions, then six more, one screen each."""
        emulator = load_game("pong", 15, None, None)
        actions, rng = emulator.getMinimalActionSet(), np.random.default_rng(0)
        screens = []
        for number in range(106):
            assert not emulator.game_over()
            emulator.act(actions[int(rng.random() * len(actions))])
            if number >= 99:
                screens.append(emulator.getScreen())
        assert len(screens) == 7
        still = (np.array(screens) == screens[0]).all(axis=0)
        background = find_background("pong", 15, None, None)
        np.testing.assert_array_equal(background, np.where(still, screens[0], 0))
        assert 0.9 < still.mean() < 1
        assert (background > 0).mean() > 0.1, "the table"

    def test_it_is_left_out_of_the_tiles_that_a_simulator_observes(self) -> None:
        whole, foreground = Atari("breakout", tiles=True), Atari("breakout", tiles="foreground")
        plain, subtracted = whole.start().tiles, foreground.start().tiles
        assert plain is not None
        assert subtracted is not None
        colored, left = ({mark for mark in marks(masks) if mark[2]} for masks in (plain, subtracted))
        assert 0 < len(left) < len(colored) / 5
        assert np.array_equal(foreground.start().observation, whole.start().observation)
        assert foreground.step(foreground.start(), 0).state.snapshot == whole.step(whole.start(), 0).state.snapshot  # type: ignore[attr-defined]

    def test_a_game_that_is_over_is_begun_anew(self) -> None:
        """In RoadRunner random play ends long before a hundred actions; black is what is not still."""
        background = find_background("road_runner", 15, None, None)
        assert background.shape == (210, 160)
        assert background.dtype == np.uint8
        np.testing.assert_array_equal(background, find_background.__wrapped__("road_runner", 15, None, None))
