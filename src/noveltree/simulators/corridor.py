"""A corridor: the toy world in which lookaheads can be computed by hand, and the fake for your tests.

The player stands in cell 0 of a corridor and moves left or right, or waits. Cells may pay a reward each
time they are entered, and cells may be pits, which end the episode, as does the last cell, the exit.
Moving left from cell 0 is bumping into the wall: the player stays where it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from noveltree.errors import InputError
from noveltree.simulators.simulator import State, Transition


class CorridorState(State):
    """The player's cell, observed as a vector of one number."""

    __slots__ = ("cell",)

    def __init__(self, cell: int) -> None:
        super().__init__(np.array([cell], dtype=np.int64))
        self.cell = cell


class Corridor:
    """A corridor of `length` cells with the actions LEFT, RIGHT and (if `wait`) WAIT.

    `rewards` maps a cell to what entering it pays; the exit, cell `length - 1`, pays 1 unless said otherwise.
    """

    def __init__(
        self,
        length: int = 10,
        *,
        rewards: Mapping[int, float] | None = None,
        pits: Iterable[int] = (),
        wait: bool = False,
    ) -> None:
        if length < 2:
            raise InputError(f"A corridor needs at least 2 cells, not {length}.")
        self.length = length
        self.rewards = {length - 1: 1.0} if rewards is None else dict(rewards)
        self.pits = frozenset(pits)
        self.actions: tuple[str, ...] = ("LEFT", "RIGHT", "WAIT") if wait else ("LEFT", "RIGHT")

    def start(self) -> CorridorState:
        return CorridorState(0)

    def step(self, state: State, action: int) -> Transition:
        if not isinstance(state, CorridorState):
            raise InputError(f"A corridor cannot step from a {type(state).__name__}.")
        if state.cell in self.pits or state.cell == self.length - 1:
            return Transition(state, 0.0, True)
        move = (-1, 1, 0)[action]
        cell = max(0, state.cell + move)
        terminal = cell in self.pits or cell == self.length - 1
        return Transition(CorridorState(cell), float(self.rewards.get(cell, 0.0)), terminal)

    def close(self) -> None:
        pass
