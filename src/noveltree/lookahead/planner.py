"""What every planner is: a way to grow a lookahead, and the values of the root's actions that come out of it.

A planner that needs the base policy or the termination cost of nodes *asks*: it yields a question, and whoever
drives it sends the answers back, having collected the questions of many planners into one batch. A planner
that needs neither never yields.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noveltree.lookahead.budget import Meter
from noveltree.lookahead.tree import Lookahead, Node


@dataclass(frozen=True, slots=True)
class BasePolicyQuestion:
    """What is pi_b in these nodes? The answer has shape (nodes, actions)."""

    nodes: Sequence[Node]


@dataclass(frozen=True, slots=True)
class TerminationCostQuestion:
    """What is V^T in these nodes? The answer has shape (nodes,)."""

    nodes: Sequence[Node]


Question = BasePolicyQuestion | TerminationCostQuestion
Answer = NDArray[Any]
Planning = Generator[Question, Answer, None]

#: Q(root, a) for every action a; None for actions that were not tried.
ActionValues = list[float | None]


class Planner(Protocol):
    """A way to grow a lookahead. It may hold state of one episode, such as a novelty table."""

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
