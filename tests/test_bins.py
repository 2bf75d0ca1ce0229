"""Bins of continuous variables: which values count as one, where ranges come from, and that a protocol has them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noveltree.agents import Settings
from noveltree.episodes import drive
from noveltree.errors import InputError
from noveltree.features import AtomFeatures, Bins, learn_ranges, make_features
from noveltree.novelty import ClassicTable
from noveltree.protocol import make_protocol, parse_protocol
from noveltree.records import EpisodeRecord, read_episode, write_episode
from noveltree.records.play_file import decode_play, encode_play
from noveltree.simulators import Corridor, GymnasiumSimulator, State, Transition
from tests.support.worlds import node_of


def of(bins: Bins, *numbers: float) -> list[float]:
    return [float(number) for number in bins(np.array(numbers, dtype=np.float64))]


def test_a_range_is_divided_into_bins_of_the_same_width() -> None:
    """Four bins of 0 to 1 begin at 0, 0.25, 0.5 and 0.75; beyond the range they go on."""
    bins = Bins(4, "0:1")
    assert [of(bins, value)[0] for value in (0, 0.24, 0.25, 0.6, 0.99)] == [0, 0, 1, 2, 3]
    assert [of(bins, value)[0] for value in (1, 1.3, -0.01, -0.26, 10)] == [4, 5, -1, -2, 40]


def test_a_variable_without_a_range_keeps_its_values() -> None:
    assert of(Bins(2, "=,-10:10"), 7, 7) == [7, 1]
    assert of(Bins(2, "=,-10:10"), 0.123, -7) == [0.123, 0]


def test_what_is_no_number_stays_what_it_is() -> None:
    bins = Bins(4, "0:1,0:1")
    assert of(bins, math.inf, -math.inf) == [math.inf, -math.inf]
    assert math.isnan(of(bins, math.nan, 0)[0])


def test_a_vector_of_another_length_is_refused() -> None:
    with pytest.raises(InputError, match="ranges of 2 variables, but a vector has 3"):
        of(Bins(4, "0:1,="), 1, 2, 3)


@pytest.mark.parametrize("text", ["", "1", "1:", "1:1", "2:1", "a:b", "0:inf", "nan:1", "0:1,", "0:1;0:2"])
def test_ranges_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="A range is written as low:high, or as = for values that are told apart"):
        Bins(4, text)
    with pytest.raises(InputError, match="A range is written as"):
        Settings(ranges=text)


# Environments, by hand on a few values. MountainCar: position and velocity; CartPole: position, velocity, angle and
# angular velocity of cart and pole; Acrobot: cosine and sine of two angles, and their velocities.


@pytest.mark.parametrize(
    ("environment", "ranges", "states"),
    [
        (
            "MountainCar-v0",
            "-0.6:-0.44,-0.01:0.006",  # widths of 0.01 and 0.001 at 16 bins
            [([-0.5001, 0.0001], True), ([-0.5009, 0.0009], False), ([-0.5001, 0.0011], True), ([0.5, 0.0], True)],
        ),
        (
            "CartPole-v1",
            "-0.16:0.16,-1.6:1.6,-0.16:0.16,-1.6:1.6",  # 0.02, 0.2, 0.02, 0.2
            [([0.01, 0.1, 0.01, 0.1], True), ([0.0, 0.19, 0.01, 0.0], False), ([0.01, 0.1, 0.03, 0.1], True)],
        ),
        (
            "Acrobot-v1",
            "-1:1,-1:1,-1:1,-1:1,-4:4,-8:8",  # 0.125 four times, 0.5, 1
            [
                ([0.9, 0, 0.9, 0, 0.1, 0.1], True),
                ([0.88, 0.1, 0.99, 0.12, 0.49, 0.9], False),
                ([1.0, 0, 1, 0, 0, 0], True),
            ],
        ),
    ],
)
def test_novelty_by_hand(environment: str, ranges: str, states: list[tuple[list[float], bool]]) -> None:
    """A state is novel if a variable is in a bin in which it was in no state before."""
    start = GymnasiumSimulator(environment).start()
    features, table = make_features("atoms", start, Bins(16, ranges)), ClassicTable()
    for numbers, novel in states:
        indices = features(node_of(State(np.array(numbers, dtype=np.float64))))
        table.make_room(features.size)
        assert (table.enter(indices, 0) >= 0) is novel, numbers


def test_ranges_are_learnt_on_walks_and_declared_ones_taken_if_they_are_narrow() -> None:
    """CartPole ends at 12 degrees, near its bounds of 24; bounds of positions are far beyond what is met."""
    bounds = GymnasiumSimulator("CartPole-v1").bounds
    assert bounds[1].tolist()[0] == pytest.approx(4.8)
    assert bounds[1].tolist()[1] == math.inf
    ranges = learn_ranges(GymnasiumSimulator("CartPole-v1"))
    assert ranges is not None
    assert ranges == learn_ranges(GymnasiumSimulator("CartPole-v1"))
    position, velocity, angle, _ = ranges.split(",")
    assert angle == "-0.418879:0.418879"
    assert -1 < float(position.split(":")[0]) < 0 < float(velocity.split(":")[1]) < 4


@pytest.mark.parametrize("environment", ["FrozenLake-v1", "Taxi"])
def test_whole_numbers_have_no_ranges(environment: str) -> None:
    assert learn_ranges(GymnasiumSimulator(environment)) is None


class Mixed(Corridor):
    """A corridor that shows the cell, a tenth of it squared, and something that never changes."""

    def start(self) -> Any:
        return self.seen(super().start())

    def step(self, state: State, action: int) -> Transition:
        following, reward, terminal = super().step(state, action)
        return Transition(self.seen(following), reward, terminal)

    def seen(self, state: Any) -> Any:
        state.observation = np.array([state.cell, state.cell**2 / 10, 0.3])
        return state


def test_whole_numbers_and_what_never_changes_are_told_apart_exactly() -> None:
    ranges = learn_ranges(Mixed(200))
    assert ranges is not None
    first, second, third = ranges.split(",")
    assert (first, third) == ("=", "=")
    assert second.startswith("0.0:")


def test_a_narrow_range_of_large_numbers_is_written_exactly() -> None:
    class Large(Mixed):
        def seen(self, state: Any) -> Any:
            state.observation = np.array([1e9 + state.cell / 8])
            return state

    ranges = learn_ranges(Large(200))
    assert ranges is not None
    assert ranges.startswith("1000000000.0:100000000")
    assert of(Bins(1, ranges), 1e9) == [0]


# Protocols.


def test_a_protocol_has_the_precision_and_the_ranges_that_were_learnt() -> None:
    protocol = make_protocol("CartPole-v1")
    ranges = learn_ranges(GymnasiumSimulator("CartPole-v1"))
    assert (protocol.features, protocol.precision, protocol.ranges) == ("atoms", 32, ranges)
    assert parse_protocol(protocol.model_dump(mode="json")) == protocol
    assert make_protocol("CartPole-v1", precision=7).ranges == ranges
    chosen = make_protocol("CartPole-v1", ranges="0:1,=,=,=")
    assert (chosen.precision, chosen.ranges) == (32, "0:1,=,=,=")


def test_without_precision_every_value_is_one_of_its_own_as_in_older_records() -> None:
    older = make_protocol("CartPole-v1", precision=0)
    assert (older.precision, older.ranges) == (None, None)
    assert older.settings().bins is None
    assert older.hash != make_protocol("CartPole-v1").hash


def test_agents_and_worlds_without_continuous_variables_have_neither() -> None:
    for protocol in (
        make_protocol("CartPole-v1", agent="uct"),
        make_protocol("corridor"),
        make_protocol("breakout"),
    ):
        assert (protocol.precision, protocol.ranges) == (None, None)


@pytest.mark.parametrize(
    ("game", "choices", "sentence"),
    [
        (
            "breakout",
            {"precision": 8},
            "A precision divides the ranges of continuous variables, and none are given",
        ),
        ("corridor", {"precision": 8}, "A precision divides the ranges of continuous variables"),
        ("CartPole-v1", {"ranges": "0:1"}, "Bins of 1 variables do not fit atoms of observations of shape"),
        ("CartPole-v1", {"precision": -1}, "precision -1: input should be greater than or equal to 0"),
        ("CartPole-v1", {"agent": "uct", "precision": 3}, "uct has no setting 'precision'"),
    ],
)
def test_choices_that_make_no_sense_are_refused(game: str, choices: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make_protocol(game, **choices)


def test_an_episode_is_recorded_and_read_with_its_ranges(tmp_path: Path) -> None:
    protocol = make_protocol("MountainCar-v0", agent="iw1", budget=30)
    play = protocol.make_play(protocol.make_simulator(), seed=0, index=0)
    drive([play], decisions=3)
    assert 0 < max(decision.pruned for decision in play.decisions) < 30
    write_episode(tmp_path / "a.json", EpisodeRecord(play.episode(), protocol, seed=0, index=0))
    assert read_episode(tmp_path / "a.json").protocol == protocol


class StoredMixed(Mixed):
    def decode_state(self, data: bytes, observation: Any) -> Any:
        return self.seen(super().decode_state(data, np.array([int.from_bytes(data, "little")])))


def test_an_episode_over_bins_that_was_paused_goes_on_as_if_it_had_not_been() -> None:
    pytest.importorskip("safetensors")
    protocol = make_protocol("corridor", budget=6).model_copy(update={"precision": 3, "ranges": "=,0:2,="})
    plays = [protocol.make_play(StoredMixed(), seed=0, index=0) for _ in range(2)]
    drive(plays, decisions=3)
    again = decode_play(encode_play(plays[1], protocol), protocol, StoredMixed())
    drive([plays[0]], decisions=4)
    drive([again], decisions=4)
    assert [(d.action, d.pruned, d.cached) for d in again.decisions] == [
        (d.action, d.pruned, d.cached) for d in plays[0].decisions
    ]


def test_atoms_are_of_bins() -> None:
    features = AtomFeatures(Bins(2, "0:1,="))
    first = features(node_of(State(np.array([0.1, 5.0])))).tolist()
    assert features(node_of(State(np.array([0.4, 5.0])))).tolist() == first
    assert features(node_of(State(np.array([0.5, 5.0])))).tolist() == [2, first[1]]
