"""What every planner is: a way to grow a lookahead, and the values of the root's actions that come out of it."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from noveltree.lookahead.budget import Meter
from noveltree.lookahead.questions import Planning
from noveltree.tree import Lookahead, Node

#: Q(root, a) for every action a; None for actions that were not tried.
ActionValues = list[float | None]


class Planner(Protocol):
    """A way to grow a lookahead. It may hold state of one time step, such as a novelty table."""

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
