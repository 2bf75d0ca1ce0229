"""B-PROST features: compared with sets of tuples taken from the definition, in pure Python."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noveltree.errors import InputError
from noveltree.features.bprost import BASIC, PROS, PROT, BprostFeatures
from noveltree.simulators.atari import Atari, AtariState
from noveltree.simulators.simulator import State
from tests.support.worlds import node_of

Mark = tuple[int, int, int]  # (w, h, c): tile (w, h) has color c
Feature = tuple[str, int, int, int] | tuple[str, int, int, int, int]


def state_of(marks: set[Mark], previous: set[Mark]) -> AtariState:
    def masks(some: set[Mark]) -> np.ndarray:
        masks = np.zeros((128, 14), dtype=np.uint16)
        for w, h, c in some:
            masks[c, h] |= 1 << w
        return masks

    return AtariState(
        snapshot=None,
        observation=np.zeros((84, 84), dtype=np.uint8),
        tiles=masks(marks),
        previous_tiles=masks(previous),
    )


def marks_of(masks: np.ndarray | None) -> set[Mark]:
    assert masks is not None
    return {(w, int(h), int(c)) for c, h in np.argwhere(masks) for w in range(16) if masks[c, h] >> w & 1}


def defined(marks: set[Mark], previous: set[Mark]) -> set[Feature]:
    """The true features by definition; of the two names of a B-PROS feature, the greater one."""
    features: set[Feature] = {("basic", *mark) for mark in marks}
    for w1, h1, c1 in marks:
        for w2, h2, c2 in marks:
            i, j = w2 - w1, h2 - h1
            features.add(("pros", *max((c1, c2, i, j), (c2, c1, -i, -j))))
        for w2, h2, c2 in previous:
            features.add(("prot", c1, c2, w2 - w1, h2 - h1))
    return features


_FIRST_OF_COLOR = [0, *accumulate(c * 837 + 419 for c in range(128))]


def named(index: int) -> Feature:
    """The feature that an index stands for: the numbering read backwards."""
    if index < 28_672:
        return ("basic", index % 16, index // 16 % 14, index // (16 * 14))
    index -= 28_672
    if index < 6_856_768:
        c1 = bisect_right(_FIRST_OF_COLOR, index) - 1
        c2, offset = divmod(index - _FIRST_OF_COLOR[c1], 837)
        i, j = offset % 31 - 15, offset // 31 - 13
        return ("pros", *max((c1, c2, i, j), (c2, c1, -i, -j)))
    pair, offset = divmod(index - 6_856_768, 837)
    return ("prot", pair // 128, pair % 128, offset % 31 - 15, offset // 31 - 13)


def features_of(state: State) -> set[Feature]:
    indices = BprostFeatures()(node_of(state))
    assert indices.dtype == np.int32
    names = {named(index) for index in indices.tolist()}
    assert len(names) == indices.size, "a feature was repeated"
    return names


def test_sizes_are_those_of_the_paper() -> None:
    assert BASIC == 28_672
    assert PROS == 6_856_768
    assert PROT == 13_713_408
    assert BprostFeatures().size == BASIC + PROS + PROT == 20_598_848


def test_two_tiles_have_the_features_computed_by_hand() -> None:
    two = {(2, 5, 3), (4, 4, 7)}  # color 7 is two tiles to the right of color 3 and one above it
    one_before = {(2, 6, 3)}
    assert features_of(state_of(two, one_before)) == {
        ("basic", 2, 5, 3),
        ("basic", 4, 4, 7),
        ("pros", 3, 3, 0, 0),
        ("pros", 7, 7, 0, 0),
        ("pros", 7, 3, -2, 1),  # and not (3, 7, 2, -1) beside it, which is the same
        ("prot", 3, 3, 0, 1),
        ("prot", 7, 3, -2, 2),
    }


def test_an_offset_and_its_opposite_are_one_feature_in_space_and_two_in_time() -> None:
    corners = {(0, 0, 127), (15, 13, 127)}
    assert features_of(state_of(corners, corners)) == {
        ("basic", 0, 0, 127),
        ("basic", 15, 13, 127),
        ("pros", 127, 127, 0, 0),
        ("pros", 127, 127, 15, 13),
        ("prot", 127, 127, 0, 0),
        ("prot", 127, 127, 15, 13),
        ("prot", 127, 127, -15, -13),
    }


_MARKS = st.sets(
    st.tuples(st.integers(0, 15), st.integers(0, 13), st.sampled_from([0, 1, 2, 63, 64, 126, 127])),
    max_size=25,
)


@settings(deadline=None)  # the first example may have to wait for the compiler
@given(marks=_MARKS, previous=_MARKS)
def test_true_features_are_those_of_the_definition(marks: set[Mark], previous: set[Mark]) -> None:
    assert features_of(state_of(marks, previous)) == defined(marks, previous)


@pytest.mark.parametrize("game", ["pong", "ms_pacman"])
def test_true_features_of_real_screens_are_those_of_the_definition(game: str) -> None:
    simulator = Atari(game, tiles=True)
    rng = np.random.default_rng(0)
    state: State = simulator.start()
    for time in range(60):
        state = simulator.step(state, int(rng.integers(len(simulator.actions)))).state
        if time in (0, 20, 59):
            assert isinstance(state, AtariState)
            assert features_of(state) == defined(marks_of(state.tiles), marks_of(state.previous_tiles))


def test_a_screen_with_all_colors_everywhere_has_every_feature_once() -> None:
    features = BprostFeatures()
    everything = np.full((128, 14), 0xFFFF, dtype=np.uint16)
    state = state_of(set(), set())
    state.tiles = state.previous_tiles = everything
    indices = features(node_of(state))
    assert indices.size == features.size
    assert indices.min() == 0
    assert indices.max() == features.size - 1
    assert (np.bincount(indices) == 1).all()


def test_motion_shows_in_the_features_in_time_only() -> None:
    ball = {(8, 6, 40)}
    resting = features_of(state_of(ball, previous=ball))
    falling = features_of(state_of(ball, previous={(8, 5, 40)}))
    assert resting - falling == {("prot", 40, 40, 0, 0)}
    assert falling - resting == {("prot", 40, 40, 0, -1)}


def test_a_later_call_leaves_what_an_earlier_one_returned() -> None:
    features = BprostFeatures()
    first = features(node_of(state_of({(1, 1, 1)}, {(1, 1, 1)})))
    kept = first.copy()
    features(node_of(state_of({(9, 9, 90)}, {(9, 9, 90)})))
    np.testing.assert_array_equal(first, kept)


def test_a_state_of_another_simulator_is_refused() -> None:
    with pytest.raises(InputError, match=r"^B-PROST features are those of Atari states, not of a State\.$"):
        BprostFeatures()(node_of(State(np.zeros(3))))


def test_an_atari_state_without_tiles_is_refused() -> None:
    with pytest.raises(InputError, match=r"need the tiles of the screen: use Atari\(game, tiles=True\)\.$"):
        BprostFeatures()(node_of(Atari("pong").start()))
