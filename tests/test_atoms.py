"""Atoms: features of (variable, value) pairs, numbered as they are met."""

from __future__ import annotations

import numpy as np
import pytest

from noveltree.errors import InputError
from noveltree.features.atoms import AtomFeatures
from noveltree.features.bins import Bins
from noveltree.lookahead import NoveltyPruning
from noveltree.novelty import ClassicTable, DepthTable
from noveltree.simulators import Corridor
from noveltree.simulators.simulator import State
from noveltree.tree import UNIFORM, Lookahead
from tests.support.worlds import node_of


def of(features: AtomFeatures, *numbers: float) -> list[int]:
    return [int(index) for index in features(node_of(State(np.array(numbers))))]


def test_features_are_numbered_in_the_order_of_first_meeting() -> None:
    features = AtomFeatures()
    assert features.size == 0
    assert of(features, 5, 5) == [0, 1]
    assert of(features, 5, 7) == [0, 2]
    assert of(features, 7, 5) == [3, 1]
    assert of(features, 7, 7) == [3, 2]
    assert features.size == 4


def test_the_same_value_of_two_variables_is_two_features() -> None:
    assert len(set(of(AtomFeatures(), *[0] * 100))) == 100


def test_indices_are_int32_and_the_observation_stays_as_it_is() -> None:
    state = State(np.array([0.123, 4.567]))
    indices = AtomFeatures(Bins(10, "0:1,0:10"))(node_of(state))
    assert indices.dtype == np.int32
    assert state.observation.tolist() == [0.123, 4.567]


def test_floats_are_told_apart_by_their_exact_value() -> None:
    features = AtomFeatures()
    assert of(features, 0.1) != of(features, np.nextafter(0.1, 1))
    assert of(features, 0.0) == of(features, -0.0)


def test_nan_is_a_value_like_any_other() -> None:
    features = AtomFeatures()
    assert of(features, np.nan) == of(features, np.nan) == of(features, -np.nan)
    assert features.size == 1


def test_an_image_has_one_variable_per_number() -> None:
    features = AtomFeatures()
    features(node_of(State(np.zeros((3, 4), dtype=np.uint8))))
    assert features.size == 12


def test_a_vector_of_another_length_is_refused() -> None:
    features = AtomFeatures()
    of(features, 1, 2)
    with pytest.raises(InputError, match=r"2 numbers .* one of 3"):
        of(features, 1, 2, 3)


@pytest.mark.parametrize("table", [ClassicTable(), DepthTable()])
def test_novelty_tables_grow_with_the_features(table: ClassicTable | DepthTable) -> None:
    corridor = Corridor(100)
    lookahead = Lookahead(corridor, corridor.start(), base_policy=UNIFORM, termination_cost=0.0)
    pruning = NoveltyPruning(AtomFeatures(), table)
    assert list(pruning.begin(lookahead)) == []
    node = lookahead.root
    for _ in range(1, 99):
        for action, novel in ((1, True), (0, False)):  # right to a new cell, left to one that was seen
            with pytest.raises(StopIteration) as stop:
                next(pruning.generate(lookahead, node, action))
            child = stop.value.value
            assert child.novel is novel
            if novel:
                following = child
        node = following
    assert table.size >= 99
