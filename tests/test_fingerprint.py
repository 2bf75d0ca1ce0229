"""Telling states apart by what they hold, where what is observed does not."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noveltree.agents import get_agent
from noveltree.errors import InputError
from noveltree.protocol import choose_agent, make_protocol
from noveltree.protocol.auto import probe
from noveltree.protocol.make import settings_for
from noveltree.simulators import Corridor, GymnasiumSimulator, State, Transition
from noveltree.simulators.fingerprint import Fingerprint, learn_clocks
from tests.support.command_line import Cli
from tests.test_small_worlds import play


class Holding(State):
    """Observed alike, whatever is held."""

    def __init__(self, **held: Any) -> None:
        super().__init__(np.zeros(1, dtype=np.int64))
        self.held = held


def same(first: dict[str, Any], second: dict[str, Any], clocks: str | None = None) -> bool:
    fingerprint = Fingerprint(Dark(), clocks)
    return fingerprint(Holding(**first)) == fingerprint(Holding(**second))


class Dark:
    """A ring of places in the dark: nothing is observed until the last one. `count` is a clock, `turn` is not."""

    actions = ("STAY", "GO")
    size = 12

    def start(self) -> State:
        return Holding(place=0, count=0, turn=0)

    def step(self, state: State, action: int) -> Transition:
        assert isinstance(state, Holding)
        place, count = state.held["place"] + action, state.held["count"] + 1
        after = Holding(place=place, count=count, turn=count % 2)
        over = place == self.size
        return Transition(after, float(over), over)

    def close(self) -> None:
        pass


class TestFingerprints:
    @pytest.mark.parametrize(
        "other",
        [{"a": 2}, {"a": 1.0}, {"a": True}, {"b": 1}, {"a": [1]}, {"a": np.ones(2)}, {"a": None}, {"a": "1"}],
    )
    def test_what_is_held_tells_states_apart(self, other: dict[str, Any]) -> None:
        assert same({"a": 1}, {"a": 1})
        assert not same({"a": 1}, other)

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ([1, [2]], [1, [3]]),
            ({"x": (1, 2)}, {"x": (2, 1)}),
            (np.arange(3), np.arange(3)[::-1].copy()),
            (np.arange(2), np.arange(2.0)),
            ({1, 2}, {1, 3}),
            (Holding(x=1), Holding(x=2)),
        ],
    )
    def test_however_deep_it_is(self, first: Any, second: Any) -> None:
        assert not same({"a": first}, {"a": second})
        assert same({"a": first}, {"a": first})

    def test_equal_objects_need_not_be_the_same_one(self) -> None:
        shared = Holding(x=1)
        assert same({"a": [shared, shared]}, {"a": [Holding(x=1), Holding(x=1)]})
        assert same({"a": {3, 1, 2}}, {"a": {1, 2, 3}})

    def test_circles_end(self) -> None:
        first, second = Holding(x=1), Holding(x=1)
        first.held["me"], second.held["me"] = first, second
        assert same({"a": first}, {"a": second})

    def test_what_is_observed_counts_too(self) -> None:
        fingerprint = Fingerprint(Dark())
        one, other = Holding(a=1), Holding(a=1)
        other.observation = np.ones(1, dtype=np.int64)
        assert fingerprint(one) != fingerprint(other)

    def test_random_generators_do_not_count(self) -> None:
        assert same({"a": np.random.default_rng(1)}, {"a": np.random.default_rng(2)})
        assert same({"a": random.Random(1)}, {"a": random.Random(2)})

    def test_clocks_do_not_count(self) -> None:
        assert same({"a": 1, "n": 5}, {"a": 1, "n": 6}, clocks="held.n")
        assert not same({"a": 1, "n": 5}, {"a": 2, "n": 5}, clocks="held.n")

    def test_what_nobody_can_look_into_is_said(self) -> None:
        with pytest.raises(InputError, match="inside of a object that states hold cannot be seen"):
            Fingerprint(Dark())(Holding(a=object()))

    def test_encoded_states_are_what_they_are_encoded_as(self) -> None:
        corridor = Corridor(9)
        state = corridor.start()
        assert Fingerprint(corridor)(state).endswith(corridor.encode_state(state))
        assert learn_clocks(corridor) is None


class TestClocks:
    def test_a_number_that_grows_in_every_step_by_the_same_amount_is_one(self) -> None:
        assert learn_clocks(Dark()) == "held.count"

    def test_that_of_minigrid_is_found(self) -> None:
        assert learn_clocks(GymnasiumSimulator("MiniGrid-Empty-5x5-v0")) == "snapshot.env.step_count"
        assert learn_clocks(GymnasiumSimulator("Acrobot-v1")) is None


class TestAgents:
    def test_a_graph_of_what_is_held_finds_its_way_where_nothing_is_observed(self) -> None:
        assert play(Dark(), "graph", steps=12).score == 0.0  # it goes or stays by luck
        own = settings_for(get_agent("graph"), Dark(), {"state_keys": "held"})
        episode = play(Dark(), "graph", steps=12, **get_agent("graph").used(own))
        assert (episode.score, episode.steps) == (1.0, 12)

    def test_auto_notices_that_states_are_observed_alike(self) -> None:
        found = probe(Dark())
        assert found.keys == "held"
        choice = choose_agent(Dark())
        assert (choice.agent, dict(choice.settings)) == ("graph", {"state_keys": "held"})
        assert "states are observed alike that are not the same" in choice.why

    def test_protocols_record_it_with_the_clocks(self) -> None:
        protocol = make_protocol("MiniGrid-Empty-16x16-v0", agent="auto")
        assert protocol.agent == "graph"
        assert (protocol.state_keys, protocol.clocks) == ("held", "snapshot.env.step_count")
        plain = make_protocol("MiniGrid-Empty-16x16-v0", agent="graph")
        assert (plain.state_keys, plain.clocks) == (None, None)

    def test_a_room_that_is_larger_than_the_view_is_crossed(self, cli: Cli, tmp_path: Path) -> None:
        """14 x 14 cells of which 7 x 7 are seen; the goal is in the opposite corner, 26 cells and a turn away."""
        played = cli(
            *("play", "MiniGrid-Empty-16x16-v0", "--agent", "auto", "--budget", 500, "--out", tmp_path),
        )
        assert "in 27 steps (terminal)" in played.out
        verified = cli("verify", *tmp_path.glob("*.json"))
        assert "1 of 1 hold" in verified.out
