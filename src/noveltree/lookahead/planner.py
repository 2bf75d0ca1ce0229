"""What every planner is: a way to grow a lookahead, and the values of the root's actions that come out of it."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from noveltree.errors import InputError
from noveltree.lookahead.budget import Meter
from noveltree.lookahead.questions import Planning
from noveltree.tree import Arrays, Lookahead, Node

#: Q(root, a) for every action a; None for actions that were not tried, or may not be chosen.
ActionValues = list[float | None]


class Planner(Protocol):
    """A way to grow a lookahead. It may hold state of one time step, such as a novelty table.

    One that holds more than that from one time step to the next, besides the tree, is a `RemembersEpisode`.
    """

    @property
    def node_type(self) -> type[Node]:
        """The kind of node that this planner needs."""
        ...

    def plan(self, lookahead: Lookahead, meter: Meter, *, rng: np.random.Generator) -> Planning:
        """Grow the lookahead until the root is solved or the budget exhausted."""
        ...

    def action_values(self, lookahead: Lookahead) -> ActionValues:
        """The values of the root's actions, once all questions are answered."""
        ...


@runtime_checkable
class NeedsCertainty(Protocol):
    """What a planner adds that may not know what to do with several outcomes of an action."""

    @property
    def needs_certainty(self) -> bool:
        """Whether every action must have one outcome."""
        ...


def check_chance(planner: Planner, agent: str) -> None:
    """Raise InputError if an agent's planner does not know what to do where chance decides."""
    if isinstance(planner, NeedsCertainty) and planner.needs_certainty:
        raise InputError(
            f"{agent} with these settings is defined for actions that have one outcome, and here chance decides: "
            "choose another agent, or let it foresee what chance will bring (--chance foreseen)."
        )


@runtime_checkable
class RemembersEpisode(Protocol):
    """What a planner adds that goes on from more than the tree, so that its episodes can be paused."""

    def memory(self) -> Arrays:
        """What it remembers between two time steps, besides the lookahead, as arrays by name."""
        ...

    def remember(self, memory: Arrays, lookahead: Lookahead) -> None:
        """Go on from a memory and the lookahead that belongs to it; a RecordError says that they cannot be."""
        ...
