"""Ties that go where there is much to see that the episode has not seen, by hand and in pieces."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

from noveltree.episodes import drive
from noveltree.errors import RecordError
from noveltree.features.abstraction import make_cells
from noveltree.lookahead import SELECTIONS, FreshSubtree
from noveltree.lookahead.action_selection import larger_subtree
from noveltree.protocol import make_protocol
from noveltree.records.play_file import read_play, write_play
from noveltree.simulators import State
from noveltree.tree import UNIFORM, Lookahead
from tests.support.stored_plays import straight_and_resumed
from tests.support.worlds import TableWorld

LEFT, RIGHT = 0, 1
#: From state 0 left leads to 1, which stays, and right to 2 and from there to 3; nothing pays.
WORLD = TableWorld([[(1, 0.0), (2, 0.0)], [(1, 0.0), (1, 0.0)], [(3, 0.0), (3, 0.0)], [(3, 0.0), (3, 0.0)]])


def lookahead_with(*paths: tuple[int, ...]) -> Lookahead:
    """A lookahead with the nodes on these ways."""
    lookahead = Lookahead(WORLD, WORLD.start(), base_policy=UNIFORM, termination_cost=0.0)
    for path in paths:
        node = lookahead.root
        for action in path:
            node = node.children[action] or lookahead.expand(node, action)
    return lookahead


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


class TestByHand:
    #: Three nodes of state 1 below left, nodes of states 2 and 3 below right.
    WAYS = ((LEFT, LEFT), (LEFT, RIGHT), (RIGHT, LEFT))

    def test_while_nothing_was_visited_the_larger_subtree_wins(self, rng: np.random.Generator) -> None:
        lookahead, select = lookahead_with(*self.WAYS), FreshSubtree()
        assert select(lookahead.root, [0.0, 0.0], rng) == LEFT
        assert [select.freshness(child) for child in lookahead.root.offspring()] == [3.0, 2.0]

    def test_a_node_counts_the_less_the_more_often_the_episode_was_there(self, rng: np.random.Generator) -> None:
        lookahead, select = lookahead_with(*self.WAYS), FreshSubtree()
        left = lookahead.root.children[LEFT]
        assert left is not None
        cell = make_cells(left.state)(left.state)
        # Three nodes at 1/2 are less than two at 1; at 1/(1 + k) for k = 1, since the episode was there once.
        select.visits[cell] = 1
        assert select(lookahead.root, [0.0, 0.0], rng) == RIGHT
        assert [select.freshness(child) for child in lookahead.root.offspring()] == [1.5, 2.0]

    def test_rewards_come_first(self, rng: np.random.Generator) -> None:
        lookahead, select = lookahead_with(*self.WAYS), FreshSubtree()
        assert select(lookahead.root, [0.0, 1.0], rng) == RIGHT

    def test_where_it_pays_another_tie_breaking_may_decide(self, rng: np.random.Generator) -> None:
        lookahead, select = lookahead_with(*self.WAYS), FreshSubtree(where_it_pays=larger_subtree)
        left = lookahead.root.children[LEFT]
        assert left is not None
        select.visits[make_cells(left.state)(left.state)] = 1  # which makes right the fresher one
        assert select(lookahead.root, [0.0, 0.0], rng) == RIGHT
        assert select(lookahead.root, [2.0, 2.0], rng) == LEFT
        assert select(lookahead.root, [-2.0, -2.0], rng) == RIGHT

    def test_every_time_step_is_one_visit_of_the_root(self, rng: np.random.Generator) -> None:
        lookahead, select = lookahead_with(*self.WAYS), FreshSubtree()
        start = make_cells(lookahead.root.state)(lookahead.root.state)
        for _ in range(2):  # who chooses twice in a time step has been there once
            select(lookahead.root, [0.0, 1.0], rng)
        assert select.visits == {start: 1}
        lookahead.advance(RIGHT, keep=True)
        select(lookahead.root, [0.0, None], rng)
        assert sorted(select.visits.values()) == [1, 1]

    def test_episodes_have_memories_of_their_own(self) -> None:
        assert SELECTIONS["fresh-subtree"]() is not SELECTIONS["fresh-subtree"]()


def test_cells_are_coarse_images_and_whole_vectors() -> None:
    screen = np.zeros((84, 84), dtype=np.uint8)
    cells = make_cells(State(screen))
    assert len(cells(State(screen))) == 144
    dot, block = screen.copy(), screen.copy()
    dot[10, 10] = 255  # a 49th of a tile: no other level of eight
    block[7:14, 7:14] = 255
    assert cells(State(dot)) == cells(State(screen)) != cells(State(block))
    vector = np.array([1.5, 2.0])
    assert make_cells(State(vector))(State(vector)) == vector.tobytes()


def test_a_play_that_was_stored_remembers_where_it_has_been(tmp_path: Path) -> None:
    protocol = make_protocol("venture", agent="riw-plus", budget=30, tie_breaking="fresh-subtree")
    plays = []
    with contextlib.closing(protocol.make_simulator()) as simulator:
        write_play(tmp_path / "before", protocol.make_play(simulator, seed=0, index=0), protocol)
        for play in straight_and_resumed(protocol, simulator, tmp_path / "play"):
            memory = play.memory()
            assert memory["selection.visits"].sum() == 30
            plays.append(([decision.action for decision in play.decisions], memory["selection.cells"].tobytes()))
        drive([read_play(tmp_path / "before", protocol, simulator)], decisions=1)
    assert plays[0] == plays[1]


@pytest.mark.parametrize(
    "memory",
    [
        {},
        {"cells": np.zeros((1, 8), dtype=np.uint8)},
        {"cells": np.zeros((1, 8), dtype=np.uint8), "visits": np.array([2])},
        {"cells": np.zeros((2, 8), dtype=np.uint8), "visits": np.array([1])},
        {"cells": np.zeros((2, 8), dtype=np.uint8), "visits": np.array([0, 1])},
        {"cells": np.zeros((1, 8), dtype=np.float32), "visits": np.array([1])},
        {"cells": np.zeros((1, 8), dtype=np.uint8), "visits": np.array([1]), "more": np.array([1])},
    ],
    ids=["nothing", "no visits", "too many", "one for two", "never", "no bytes", "more"],
)
def test_other_memories_are_refused(memory: dict[str, np.ndarray]) -> None:
    lookahead = lookahead_with((LEFT,))
    lookahead.advance(LEFT, keep=True)
    with pytest.raises(RecordError, match="Where the episode has been"):
        FreshSubtree().remember(memory, lookahead)
    FreshSubtree().remember({"cells": np.zeros((1, 8), dtype=np.uint8), "visits": np.array([1])}, lookahead)
