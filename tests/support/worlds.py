"""Small worlds given as tables, for hand-computed and for random lookaheads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from noveltree.features import FeatureSet
from noveltree.lookahead import Interactions
from noveltree.simulators import State, Transition
from noveltree.tree import UNIFORM, Lookahead, Node


class TableState(State):
    __slots__ = ("name",)

    def __init__(self, name: int) -> None:
        super().__init__(np.array([name], dtype=np.int64))
        self.name = name


@dataclass(frozen=True)
class TableWorld:
    """`table[state][action]` is (next state, reward); `features[state]` is what is true in a state."""

    table: Sequence[Sequence[tuple[int, float]]]
    terminal: frozenset[int] = frozenset()
    features: Sequence[frozenset[int]] = ()

    @property
    def actions(self) -> tuple[str, ...]:
        return tuple(f"a{i}" for i in range(len(self.table[0])))

    def start(self) -> TableState:
        return TableState(0)

    def step(self, state: State, action: int) -> Transition:
        assert isinstance(state, TableState)
        assert state.name not in self.terminal, "a planner must not step from a terminal state"
        following, reward = self.table[state.name][action]
        return Transition(TableState(following), reward, following in self.terminal)

    def close(self) -> None:
        pass


class TableFeatures(FeatureSet):
    """The features of a table world, as a feature set."""

    def __init__(self, world: TableWorld) -> None:
        self._world = world
        self.size = 1 + max((max(features, default=0) for features in world.features), default=0)

    def __call__(self, node: Node) -> np.ndarray:
        assert isinstance(node.state, TableState)
        return np.array(sorted(self._world.features[node.state.name]), dtype=np.int32)


#: A tree of two levels, all states different: 0 -> 1, 2; 1 -> 3, 4; 2 -> 5, 6; the leaves are terminal.
BINARY = TableWorld(
    table=[
        [(1, 0.0), (2, 1.0)],
        [(3, 5.0), (4, 0.0)],
        [(5, 2.0), (6, 3.0)],
        *[[(0, 0.0), (0, 0.0)]] * 4,
    ],
    terminal=frozenset({3, 4, 5, 6}),
    features=[frozenset({i}) for i in range(7)],
)


def grow(world: Any, planner: Any, budget: int, rng: Any) -> Lookahead:
    """The lookahead of one time step from the start of `world`."""
    lookahead = Lookahead(
        world,
        world.start(),
        base_policy=UNIFORM,
        termination_cost=0.0,
        node_type=planner.node_type,
    )
    lookahead.begin_time_step()
    for _ in planner.plan(lookahead, Interactions(budget).start(), rng=rng):
        raise AssertionError("nothing is to be asked")
    return lookahead


def node_of(state: State, *, actions: int = 1) -> Node:
    """A node by itself, for what looks at one node only."""
    return Node(state, None, None, 0.0, False, 0, 0, actions, None, None)


def path_of(node: Node, root: Node) -> tuple[int, ...]:
    """The actions that lead from `root` to `node`."""
    actions: list[int] = []
    while node is not root:
        assert node.action is not None
        assert node.parent is not None
        actions.append(node.action)
        node = node.parent
    return tuple(reversed(actions))


def tree_of(lookahead: Lookahead) -> dict[tuple[int, ...], Node]:
    return {path_of(node, lookahead.root): node for node in lookahead.nodes()}


@st.composite
def worlds(draw: st.DrawFn) -> TableWorld:
    """Random worlds of a few states with few features, so that pruning happens often."""
    states = draw(st.integers(2, 8))
    actions = draw(st.integers(1, 3))
    table = [
        [
            (draw(st.integers(0, states - 1)), float(draw(st.sampled_from([0, 0, 0, 1, 2, -1]))))
            for _ in range(actions)
        ]
        for _ in range(states)
    ]
    terminal = draw(st.frozensets(st.integers(1, states - 1), max_size=2))
    features = [draw(st.frozensets(st.integers(0, 5), max_size=3)) for _ in range(states)]
    return TableWorld(table, terminal, features)


class ScriptedRng:
    """Hands out the numbers it was given, for lookaheads whose every choice is known."""

    def __init__(self, *numbers: float) -> None:
        self._numbers = list(numbers)

    def random(self) -> float:
        return self._numbers.pop(0)

    @property
    def left(self) -> int:
        return len(self._numbers)
