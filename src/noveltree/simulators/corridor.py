"""A corridor: the toy world in which lookaheads can be computed by hand, and the fake for your tests.

The player stands in cell 0 of a corridor and moves left or right, or waits. Cells may pay a reward each
time they are entered, and cells may be pits, which end the episode, as does the last cell, the exit.
Moving left from cell 0 is bumping into the wall: the player stays where it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noveltree.errors import InputError, RecordError
from noveltree.simulators.simulator import State, Transition

_CELL_BYTES = 8


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

    def encode_state(self, state: State) -> bytes:
        if not isinstance(state, CorridorState):
            raise InputError(f"A corridor cannot encode a {type(state).__name__}.")
        return state.cell.to_bytes(_CELL_BYTES, "little")

    def decode_state(self, data: bytes, observation: NDArray[Any]) -> CorridorState:
        cell = int.from_bytes(data, "little")
        if len(data) != _CELL_BYTES or cell >= self.length:
            raise RecordError(f"A stored state is not a cell of a corridor of {self.length} cells.")
        state = CorridorState(cell)
        if observation.dtype != state.observation.dtype or not np.array_equal(observation, state.observation):
            raise RecordError(f"A stored state is cell {cell} of a corridor, but another cell was observed.")
        return state

    def close(self) -> None:
        pass
