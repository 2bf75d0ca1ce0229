"""Abstract states: tiles of screens in levels of gray, or whole observations."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from noveltree.agents import PI_HIW
from noveltree.errors import InputError, RecordError
from noveltree.features import make_abstraction
from noveltree.protocol import make_protocol
from noveltree.simulators import Atari, AtariState, Corridor, State
from noveltree.simulators.screen import ImageReducer, ScreenReducer
from tests.support.command_line import Cli
from tests.support.worlds import node_of


def image(*rows: list[int]) -> State:
    return State(np.array(rows, dtype=np.uint8))


def levels(abstract: bytes) -> list[int]:
    return list(abstract)


class TestTiles:
    def test_a_tile_has_the_level_of_its_mean_gray(self) -> None:
        """Two tiles, of 2 x 2 pixels each: means 100 and (4 + 6 + 200 + 202) / 4 = 103. Of 256 levels every
        gray is one, of 8 they are 255 / 7 apart: 100 * 7 / 255 = 2.7. Of 6 levels 103 is above 102 = 2 * 51,
        and 100 is not.
        """
        screen = image([90, 110, 4, 6], [100, 100, 200, 202])
        assert levels(make_abstraction(screen, (2, 1), 256)(screen)) == [100, 103]
        assert levels(make_abstraction(screen, (2, 1), 8)(screen)) == [2, 2]
        assert levels(make_abstraction(screen, (2, 1), 6)(screen)) == [1, 2]
        assert levels(make_abstraction(screen, (2, 1), 2)(image([255] * 4, [255] * 3 + [250]))) == [1, 0]

    def test_tiles_are_across_and_down(self) -> None:
        screen = image([1, 2], [3, 4], [5, 6])
        assert levels(make_abstraction(screen, (1, 3), 256)(screen)) == [2, 4, 6]  # halves go to the even number
        assert levels(make_abstraction(screen, (2, 1), 256)(screen)) == [3, 4]
        assert levels(make_abstraction(screen, (2, 3), 256)(screen)) == [1, 2, 3, 4, 5, 6]

    def test_a_border_within_a_pixel_shares_it(self) -> None:
        """Three pixels in two tiles: (0 + 90 / 2) / 1.5 = 30 and (90 / 2 + 60) / 1.5 = 70."""
        screen = image([0, 90, 60])
        assert levels(make_abstraction(screen, (2, 1), 256)(screen)) == [30, 70]

    def test_colors_are_seen_in_gray(self) -> None:
        colors = State(np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255], [10, 20, 30]]], dtype=np.uint8))
        # 76.245, 149.685, 29.07, 18.15
        assert levels(make_abstraction(colors, (4, 1), 256)(colors)) == [76, 150, 29, 18]
        plane = State(np.array([[[7], [9]]], dtype=np.uint8))
        assert levels(make_abstraction(plane, (2, 1), 256)(plane)) == [7, 9]

    def test_atoms_are_tiles_with_their_levels(self) -> None:
        screen = image([0, 255], [100, 40])
        atoms = make_abstraction(screen, (2, 2), 8).atoms()
        assert atoms.size == 4 * 8
        assert atoms(node_of(screen)).tolist() == [0 * 8 + 0, 1 * 8 + 7, 2 * 8 + 2, 3 * 8 + 1]

    @pytest.mark.parametrize("size", [(8, 11), (84, 84), (7, 5), (1, 1), (160, 210)])
    def test_screens_are_reduced_as_opencv_does(self, size: tuple[int, int]) -> None:
        rng = np.random.default_rng(0)
        gray_of_color = rng.integers(256, size=256, dtype=np.uint8)
        raw = np.zeros((210, 160), dtype=np.uint8)

        def grayscale(gray: Any) -> None:
            gray[:] = gray_of_color[raw]

        reduce_screen, reduce_image = ScreenReducer(210, 160, grayscale, size), ImageReducer(210, 160, size)
        for _ in range(10):
            raw[rng.integers(210) :] = rng.integers(256, size=160)
            resized = cv2.resize(gray_of_color[raw], size, interpolation=cv2.INTER_AREA)
            assert (reduce_screen(raw) == resized).all()
            assert (reduce_image(gray_of_color[raw]) == resized).all()


class TestVectors:
    def test_all_that_is_observed_is_the_abstract_state(self) -> None:
        corridor = Corridor()
        start = corridor.start()
        abstraction = make_abstraction(start, (8, 11), 8)
        right = corridor.step(start, 1).state
        assert abstraction(start) == abstraction(corridor.step(right, 0).state) != abstraction(right)

    def test_atoms_are_numbers_in_their_places(self) -> None:
        vectors = [State(np.array(vector)) for vector in ([3, 3], [3, 4], [4, 3])]
        atoms = make_abstraction(vectors[0], (8, 11), 8).atoms()
        first, second, third = (set(atoms(node_of(vector)).tolist()) for vector in vectors)
        assert [len(first & second), len(first & third), len(second & third)] == [1, 1, 0]


class TestAtari:
    def test_the_whole_screen_is_reduced(self) -> None:
        simulator = Atari("montezuma_revenge", small=(8, 11))
        abstraction = make_abstraction(simulator.start(), (8, 11), 8)
        state: Any = simulator.start()
        seen = set()
        for action in np.random.default_rng(0).integers(18, size=40).tolist():
            state = simulator.step(state, action).state
            gray = simulator._emulator.getScreenGrayscale()
            resized: Any = cv2.resize(gray, (8, 11), interpolation=cv2.INTER_AREA)
            assert (state.small == resized).all()
            assert levels(abstraction(state)) == np.floor(resized / 255 * 7).ravel().tolist()
            seen.add(abstraction(state))
        assert 3 < len(seen) < 30

    @pytest.mark.parametrize("tiles", [False, True])
    def test_small_screens_survive_being_stored(self, tiles: bool) -> None:
        simulator, other = (Atari("pong", tiles=tiles, small=(8, 11)) for _ in range(2))
        state = simulator.step(simulator.start(), 2).state
        data = simulator.encode_state(state)
        again = other.decode_state(data, state.observation)
        assert isinstance(state, AtariState)
        assert isinstance(again.small, np.ndarray)
        assert (again.small == state.small).all()
        assert (again.snapshot, tiles) == (state.snapshot, again.tiles is not None)
        assert other.encode_state(again) == data

    def test_a_state_without_its_small_screen_is_refused_and_the_other_way_round(self) -> None:
        small, plain = Atari("pong", small=(8, 11)), Atari("pong")
        start = small.start()
        with pytest.raises(RecordError, match="without tiles and with small screens has"):
            small.decode_state(plain.encode_state(plain.start()), start.observation)
        with pytest.raises(RecordError, match="but one of pong without tiles has"):
            plain.decode_state(small.encode_state(start), start.observation)

    def test_nothing_is_reduced_unless_it_is_asked_for(self) -> None:
        assert Atari("pong").start().small is None

    def test_screens_have_to_be_observed_in_the_same_size(self) -> None:
        for simulator in (Atari("pong"), Atari("pong", small=(11, 8))):
            with pytest.raises(
                InputError, match=r"8 x 11 tiles .* must be observed: use Atari\(game, small=\(8, 11\)"
            ):
                PI_HIW.assemble(simulator.start(), PI_HIW.settings())


class TestSettings:
    def test_a_protocol_makes_a_simulator_that_observes_what_its_agent_needs(self) -> None:
        start: Any = make_protocol("pong", agent="pi-hiw", tiles="4x5").make_simulator().start()
        assert start.small.shape == (5, 4)
        start = make_protocol("pong", agent="pi-hiw").make_simulator().start()
        assert start.small.shape == (11, 8)
        start = make_protocol("pong").make_simulator().start()
        assert start.small is None

    @pytest.mark.parametrize(
        ("choices", "complaint"),
        [
            ({"tiles": "8"}, "across and down, such as 8x11, not as '8'"),
            ({"tiles": "0x11"}, "not as '0x11'"),
            ({"tiles": "8x11 "}, "not as '8x11 '"),
            ({"tiles": "161x11"}, "160 x 210 pixels cannot be reduced to 161 x 11: choose at most"),
            ({"tiles": "8x211"}, "160 x 210 pixels cannot be reduced to 8 x 211"),
            ({"levels": 257}, "levels 257: input should be less than or equal to 256"),
            ({"levels": 1}, "levels 1: input should be greater than or equal to 2"),
            ({"abstract_width": "2"}, "abstract_width '2': input should be 'n' or '1'"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, choices: dict[str, Any], complaint: str) -> None:
        with pytest.raises(InputError, match=complaint):
            make_protocol("pong", agent="pi-hiw", **choices)

    def test_tiles_have_to_fit_images_of_all_kinds(self) -> None:
        screen = State(np.zeros((10, 20), dtype=np.uint8))
        with pytest.raises(InputError, match="20 x 10 pixels cannot be reduced to 8 x 11"):
            make_abstraction(screen, (8, 11), 8)
        with pytest.raises(InputError, match=r"one plane, or three .* shape cannot be \(20, 20, 4\)"):
            make_abstraction(State(np.zeros((20, 20, 4), dtype=np.uint8)), (8, 11), 8)
        with pytest.raises(InputError, match="2 to 256 levels, not 300"):
            make_abstraction(screen, (8, 8), 300)

    def test_the_command_line_has_them_as_options(self, cli: Cli) -> None:
        for options, complaint in (
            (
                ("--gray-levels", "300"),
                "Invalid value for '--gray-levels': Input should be less than or equal to 256",
            ),
            (("--tiles", "161x11"), "cannot be reduced to 161 x 11"),
            (("--abstract-width", "2"), "'n' or '1'"),
        ):
            result = cli("train", "pong", "--agent", "pi-hiw", *options)
            assert result.code == 2, result
            assert complaint in " ".join(result.err.split()), result
