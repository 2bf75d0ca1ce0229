"""The choice among actions below which a way is known that keeps the life, by hand and in play."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

from noveltree.episodes import drive
from noveltree.errors import RecordError
from noveltree.lookahead import FreshSubtree, SafeActions, best_action, known_ways, random_tie
from noveltree.protocol import make_protocol
from noveltree.records.play_file import read_play, write_play
from noveltree.simulators import State, Transition
from noveltree.tree import UNIFORM, Lookahead
from tests.support.worlds import TableWorld

LEFT, RIGHT = 0, 1
#: A road of states 0, 1, 2, ... on which right leads one state on and left to a place that ends the episode.
_END = 20
ROAD = TableWorld([[(_END, 1.0), (i + 1, 0.0)] for i in range(_END + 1)], terminal=frozenset({_END}))


class _Living(State):
    __slots__ = ("lives",)

    def __init__(self, steps: int, lives: int) -> None:
        super().__init__(np.array([steps, lives]))
        self.lives = lives


class _ThreeLives:
    """Left costs a life and pays 1, right costs nothing and pays nothing; the episode does not end."""

    actions = ("left", "right")

    def start(self) -> _Living:
        return _Living(0, 3)

    def step(self, state: State, action: int) -> Transition:
        assert isinstance(state, _Living)
        steps = int(state.observation[0]) + 1
        return Transition(_Living(steps, state.lives - (action == LEFT)), float(action == LEFT), False)

    def close(self) -> None:
        pass


def lookahead_with(world: object, *paths: tuple[int, ...]) -> Lookahead:
    """A lookahead with the nodes on these ways."""
    lookahead = Lookahead(world, world.start(), base_policy=UNIFORM, termination_cost=0.0)  # type: ignore[arg-type, attr-defined]
    for path in paths:
        node = lookahead.root
        for action in path:
            node = node.children[action] or lookahead.expand(node, action)
    return lookahead


def choose(lookahead: Lookahead, values: list[float | None], steps: int) -> int:
    select = SafeActions(best_action(random_tie), steps)
    return select(lookahead.root, values, np.random.default_rng(0))


class TestKnownWays:
    def test_an_action_has_the_longest_way_below_it(self) -> None:
        assert known_ways(lookahead_with(ROAD, (RIGHT,)).root) == [0, 1]
        assert known_ways(lookahead_with(ROAD, (RIGHT,) * 3, (RIGHT, LEFT)).root) == [0, 3]

    def test_a_way_ends_before_the_episode_does(self) -> None:
        assert known_ways(lookahead_with(ROAD, (LEFT,), (RIGHT, LEFT)).root) == [0, 1]

    def test_a_way_ends_before_a_life_is_lost(self) -> None:
        lookahead = lookahead_with(_ThreeLives(), (LEFT, RIGHT, RIGHT), (RIGHT, RIGHT, LEFT, RIGHT))
        assert known_ways(lookahead.root) == [0, 2]

    def test_lives_that_were_lost_before_the_root_do_not_matter(self) -> None:
        lookahead = lookahead_with(_ThreeLives(), (LEFT, RIGHT, RIGHT))
        lookahead.advance(LEFT, keep=True)
        assert known_ways(lookahead.root) == [0, 2]

    def test_where_chance_decides_a_way_goes_on_after_every_outcome(self) -> None:
        lookahead = lookahead_with(ROAD, (RIGHT, RIGHT, RIGHT))
        first = lookahead.root.children[RIGHT]
        assert first is not None
        other = lookahead.expand(lookahead.root, LEFT)  # an end of the episode, which right may lead to as well
        lookahead.root.children[LEFT] = None
        first.next_outcome = other
        assert known_ways(lookahead.root) == [0, 0]


class TestChoice:
    def test_an_action_without_a_way_is_not_chosen_for_a_reward(self) -> None:
        lookahead = lookahead_with(ROAD, (LEFT,), (RIGHT,) * 4)
        assert choose(lookahead, [1.0, 0.0], steps=3) == RIGHT

    def test_a_way_of_enough_steps_is_as_good_as_a_longer_one(self) -> None:
        # Right at once has ten steps; left loses a life later, after two or after three steps.
        for steps, chosen in ((2, LEFT), (3, LEFT), (4, RIGHT)):
            lookahead = lookahead_with(_ThreeLives(), (RIGHT,) * 10)
            assert (known_ways(lookahead.root), steps) == ([0, 10], steps)
            left = lookahead.expand(lookahead.root, LEFT)
            left.state.lives = 3  # type: ignore[attr-defined]  # as if it had cost nothing
            node = left
            for _ in range(2):
                node = lookahead.expand(node, RIGHT)
            assert known_ways(lookahead.root) == [3, 10]
            assert choose(lookahead, [1.0, 0.0], steps) == chosen

    def test_half_of_the_longest_way_is_enough(self) -> None:
        lookahead = lookahead_with(ROAD, (RIGHT, RIGHT))
        left = lookahead.expand(lookahead.root, LEFT)
        left.terminal = False
        assert known_ways(lookahead.root) == [1, 2]
        assert choose(lookahead, [1.0, 0.0], steps=20) == LEFT

    def test_where_every_way_has_ended_rewards_decide(self) -> None:
        assert choose(lookahead_with(_ThreeLives(), (LEFT,)), [1.0, None], steps=20) == LEFT

    def test_without_values_of_safe_actions_those_of_all_count(self) -> None:
        lookahead = lookahead_with(ROAD, (LEFT,), (RIGHT,) * 4)
        assert choose(lookahead, [1.0, None], steps=3) == LEFT


def test_it_keeps_the_memory_of_the_selection_inside() -> None:
    lookahead = lookahead_with(ROAD, (LEFT,), (RIGHT,))
    select = SafeActions(FreshSubtree(), 20)
    select(lookahead.root, [0.0, 0.0], np.random.default_rng(0))
    memory = select.memory()
    assert memory["visits"].tolist() == [1]
    lookahead.advance(RIGHT, keep=True)
    again = SafeActions(FreshSubtree(), 20)
    again.remember(memory, lookahead)
    assert again.memory()["visits"].tolist() == [1]


def test_a_selection_that_remembers_nothing_refuses_a_memory() -> None:
    lookahead = lookahead_with(ROAD, (LEFT,))
    select = SafeActions(best_action(random_tie), 20)
    select.remember({}, lookahead)
    with pytest.raises(RecordError, match="remembers nothing"):
        select.remember({"visits": np.array([1])}, lookahead)


def test_a_play_that_was_stored_goes_on_the_same(tmp_path: Path) -> None:
    protocol = make_protocol(
        "berzerk",
        agent="riw-plus",
        budget=30,
        tie_breaking="unseen-if-idle",
        safe_steps=20,
        persistence="drawn",
    )
    accounts = []
    with contextlib.closing(protocol.make_simulator()) as simulator:
        straight = protocol.make_play(simulator, seed=0, index=0)
        drive([straight], decisions=30)
        halfway = protocol.make_play(simulator, seed=0, index=0)
        drive([halfway], decisions=15)
        write_play(tmp_path / "play", halfway, protocol)
        resumed = read_play(tmp_path / "play", protocol, simulator)
        drive([resumed], decisions=15)
        for play in (straight, resumed):
            actions = [decision.action for decision in play.decisions]
            accounts.append((actions, play.memory()["selection.seen"].tobytes()))
    assert accounts[0] == accounts[1]
