"""An episode as it was played: the critical path's actions and rewards, and what each decision cost."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noveltree.errors import InputError


@dataclass(frozen=True, slots=True)
class Decision:
    """One time step: the action that was executed, its reward, and the account of how it was found."""

    action: int
    reward: float
    interactions: int
    """Calls of the simulator."""
    cached: int
    """Nodes that were kept from the time step before."""
    pruned: int
    """Nodes that were found not to be novel."""
    solved: bool
    """Whether the root was solved, so that planning ended before its budget."""
    depth: int
    """Depth of the deepest node that was generated."""
    seconds: float
    """Wall-clock time."""
    action_values: tuple[float | None, ...] = ()
    """Q(root, a) by which the action was chosen, None for actions that were not tried or not safe enough; empty if
    it is not known."""
    root_value: float | None = None
    """What a network said of the root itself, if one was asked."""


class End(StrEnum):
    """Why an episode has no more decisions."""

    TERMINAL = "terminal"
    """The game is over."""
    TRUNCATED = "truncated"
    """The time limit of the protocol was reached; the game was not over."""
    STOPPED = "stopped"
    """Whoever played it wanted no more decisions."""
    INTERRUPTED = "interrupted"
    """Playing was cut off: by the user, or because the simulator failed."""


@dataclass(frozen=True, slots=True)
class Episode:
    """An episode as it was played."""

    decisions: tuple[Decision, ...]
    end: End
    final_observation: str
    """Digest of what was observed at the end: a replay must end there too."""

    @property
    def score(self) -> float:
        """The sum of rewards."""
        return float(sum(decision.reward for decision in self.decisions))

    @property
    def steps(self) -> int:
        return len(self.decisions)

    @property
    def interactions(self) -> int:
        return sum(decision.interactions for decision in self.decisions)

    @property
    def seconds(self) -> float:
        return sum(decision.seconds for decision in self.decisions)

    @property
    def actions(self) -> list[int]:
        return [decision.action for decision in self.decisions]

    @property
    def rewards(self) -> list[float]:
        return [decision.reward for decision in self.decisions]

    def column(self, name: str) -> list[Any]:
        """One field of all decisions."""
        if name not in {field.name for field in fields(Decision)}:
            raise InputError(f"A decision has no field {name!r}.")
        return [getattr(decision, name) for decision in self.decisions]


def digest(observation: NDArray[Any]) -> str:
    """The SHA-256 digest of an observation."""
    return hashlib.sha256(np.ascontiguousarray(observation).tobytes()).hexdigest()
