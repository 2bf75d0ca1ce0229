"""Small worlds whose states are seen as screens of a few tiles, for hierarchical lookaheads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noveltree.heuristics import Heuristics
from noveltree.simulators import State, Transition
from noveltree.tree import Node

#: Gray values of the tiles of a screen, row by row.
Screen = tuple[tuple[int, ...], ...]


class ScreenState(State):
    __slots__ = ("name",)

    def __init__(self, name: int, screen: Screen) -> None:
        super().__init__(np.array(screen, dtype=np.uint8))
        self.name = name


@dataclass(frozen=True)
class ScreenWorld:
    """`table[state][action]` is (next state, reward); of a state there are a screen and what networks say of it."""

    table: Sequence[Sequence[tuple[int, float]]]
    screens: Sequence[Screen]
    units: Sequence[Sequence[int]]
    policies: Sequence[Sequence[float]]
    values: Sequence[float]
    terminal: frozenset[int] = frozenset()

    @property
    def actions(self) -> tuple[str, ...]:
        return tuple(f"a{i}" for i in range(len(self.table[0])))

    def start(self) -> ScreenState:
        return ScreenState(0, self.screens[0])

    def step(self, state: State, action: int) -> Transition:
        assert isinstance(state, ScreenState)
        assert state.name not in self.terminal, "a planner must not step from a terminal state"
        following, reward = self.table[state.name][action]
        return Transition(ScreenState(following, self.screens[following]), reward, following in self.terminal)

    def encode_state(self, state: State) -> bytes:
        return bytes([name_of(state)])

    def decode_state(self, data: bytes, observation: NDArray[np.uint8]) -> ScreenState:
        return ScreenState(data[0], tuple(map(tuple, observation.tolist())))

    def close(self) -> None:
        pass

    def heuristics(self, *heads: str) -> Heuristics:
        """What networks say, for some heads."""
        tables = {"units": self.units, "policy": self.policies, "value": self.values}

        def answer(head: str, nodes: Sequence[Node]) -> NDArray[np.float64]:
            assert not any(node.terminal for node in nodes), "nothing is to be known of a terminal node"
            return np.array([tables[head][name_of(node.state)] for node in nodes], dtype=np.float64)

        return Heuristics.of(**{head: lambda nodes, head=head: answer(head, nodes) for head in heads})


def name_of(state: State) -> int:
    assert isinstance(state, ScreenState)
    return state.name


def random_world(rng: np.random.Generator) -> ScreenWorld:
    """A random world of some states with few screens and units, so that both levels prune often."""
    states, actions, units = (int(rng.integers(*bounds)) for bounds in ((2, 40), (1, 4), (1, 13)))
    screens = rng.integers(3, size=(int(rng.integers(1, 10)), 2, 2)).tolist()
    return ScreenWorld(
        table=[
            [(int(rng.integers(states)), float(rng.choice([0, 0, 0, 1, 2, -1]))) for _ in range(actions)]
            for _ in range(states)
        ],
        screens=[tuple(map(tuple, screens[rng.integers(len(screens))])) for _ in range(states)],
        units=rng.integers(2, size=(states, units)).tolist(),
        policies=rng.choice([0.25, 0.5, 1.0], size=(states, actions)).tolist(),
        values=rng.choice([0.0, 0.0, 0.5, 1.0, -1.0], size=states).tolist(),
        terminal=frozenset(rng.integers(1, states, size=rng.integers(3)).tolist()),
    )
