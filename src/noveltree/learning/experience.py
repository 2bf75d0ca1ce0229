"""Critical paths (Definition 3) as training data: screens stored once, stacks assembled when they are drawn."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from noveltree.learning.inputs import InputShape

_Number = TypeVar("_Number", bound=np.generic)


@dataclass(frozen=True, slots=True, eq=False)
class CriticalPath:
    """s_0, a_0, r_0, s_1, ..., s_m of one episode, or of a piece of it."""

    observations: NDArray[np.generic]
    """(before + m + 1, ...): what was observed in s_0, ..., s_m, and before."""
    actions: NDArray[np.int64]
    """(m,)"""
    rewards: NDArray[np.float64]
    """(m,)"""
    terminal: bool
    """Whether s_m is terminal. If it is not, the episode was truncated or goes on, and values go on behind it."""
    before: int = 0
    """How many observations before s_0 there are, for a piece that begins in mid-episode."""
    first: int = 0
    """The time step of s_0 in its episode."""
    episode: tuple[int, int] | None = None
    """Interval and index of the episode, if pieces of it are to be joined."""
    lives: NDArray[np.int64] | None = None
    """(m + 1,): how many are left in s_0, ..., s_m, 0 where states do not say; None: no life is lost."""
    action_values: NDArray[np.float64] | None = None
    """(m, actions): Q(root, a) when a_t was chosen, NaN for actions not tried or not safe; None if not known."""
    root_values: NDArray[np.float64] | None = None
    """(m,): what the network said of s_t itself, NaN where it was not asked; None if not known."""
    sampled: NDArray[np.generic] | None = None
    """(k, ...): what was observed in nodes sampled from the lookaheads; None if that was not asked for."""

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def ends(self) -> NDArray[np.bool_]:
        """(m,): whether s_{t+1} is terminal."""
        ends = np.zeros(len(self), dtype=np.bool_)
        ends[len(self) - 1 :] = self.terminal
        return ends

    @property
    def losses(self) -> NDArray[np.bool_]:
        """(m,): whether fewer lives are left in s_{t+1} than in s_t."""
        return np.zeros(len(self), dtype=np.bool_) if self.lives is None else self.lives[1:] < self.lives[:-1]


def joined(pieces: Sequence[CriticalPath]) -> CriticalPath:
    """The path of the pieces of one episode, the first of which begins where the episode does."""
    first, last = pieces[0], pieces[-1]
    if len(pieces) == 1:
        return first
    return replace(
        first,
        observations=np.concatenate(
            [first.observations, *(piece.observations[piece.before + 1 :] for piece in pieces[1:])]
        ),
        actions=np.concatenate([piece.actions for piece in pieces]),
        rewards=np.concatenate([piece.rewards for piece in pieces]),
        terminal=last.terminal,
        lives=_joined([first.lives, *(None if p.lives is None else p.lives[1:] for p in pieces[1:])]),
        action_values=_joined([piece.action_values for piece in pieces]),
        root_values=_joined([piece.root_values for piece in pieces]),
    )


def _joined(parts: Sequence[NDArray[_Number] | None]) -> NDArray[_Number] | None:
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if len(known) == len(parts) else None


class Experience:
    """The transitions of critical paths, numbered in the order in which they came in."""

    def __init__(self, shape: InputShape) -> None:
        self.shape = shape
        self.paths: list[CriticalPath] = []
        self._ends: list[int] = []  # number of transitions up to and including each path

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def add(self, path: CriticalPath) -> None:
        self.paths.append(path)
        self._ends.append(len(self) + len(path))

    def keep(self, paths: Sequence[CriticalPath]) -> None:
        """Hold these paths and nothing else."""
        held, self.paths, self._ends = list(paths), [], []
        for path in held:
            self.add(path)

    def locate(self, transition: int) -> tuple[CriticalPath, int]:
        """The path that a transition belongs to, and its time step there."""
        number = bisect_right(self._ends, transition)
        return self.paths[number], transition - (self._ends[number - 1] if number else 0)

    def inputs(self, transitions: NDArray[np.int64]) -> NDArray[np.generic]:
        """The inputs of the states in which these transitions begin."""
        return _inputs(self.shape, [self.locate(transition) for transition in transitions.tolist()])


def inputs_of_path(path: CriticalPath, shape: InputShape) -> NDArray[np.generic]:
    """The inputs of all states of a path."""
    return _inputs(shape, [(path, time) for time in range(len(path) + 1)])


def _inputs(shape: InputShape, states: Sequence[tuple[CriticalPath, int]]) -> NDArray[np.generic]:
    """The inputs of states at time steps of paths: what was observed at the time steps time - 3, ..., time.

    The first observation is repeated before the start.
    """
    inputs = shape.empty(len(states))
    for place, (path, time) in enumerate(states):
        now = path.before + time
        stack = [path.observations[max(0, now - back)] for back in range(shape.stack - 1, -1, -1)]
        shape.write(stack, inputs[place])
    return inputs
