"""What a leaf is worth that was pruned: a part of the backup.

In the paper it is worth its termination cost, like any other leaf: 0, or what networks have learnt. Where steps
cost something and nothing is learnt, that makes a dead end better than the long way to a goal. Rules for such
worlds say what would come after the leaf if somebody went on there; they are consulted for pruned leaves only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from noveltree.tree import Lookahead, Node

#: The worth of a pruned leaf.
Worth = Callable[[Node], float]
#: Given a lookahead and a discount: what its pruned leaves are worth. Minus infinity: they are left out.
PrunedLeaves = Callable[[Lookahead, float], Worth]


def termination_costs(lookahead: Lookahead, discount: float) -> Worth:
    """As of any other leaf: 0, or what was learnt (the paper's)."""
    return _termination_cost


def left_out(lookahead: Lookahead, discount: float) -> Worth:
    """A pruned leaf does not count unless nothing else is left; nor does a node that has no other leaves."""
    return lambda node: -math.inf


@dataclass(frozen=True, slots=True)
class Pessimistic:
    """Every action up to the horizon costs what the costliest one of the lookahead did; nothing is gained."""

    horizon: int

    def __call__(self, lookahead: Lookahead, discount: float) -> Worth:
        worst = min((node.reward for node in lookahead.nodes() if node is not lookahead.root), default=0.0)
        return lambda node: min(0.0, worst) * weight_of(self.horizon - lookahead.depth(node), discount)


@dataclass(frozen=True, slots=True)
class Extrapolated:
    """Every action up to the horizon pays what those on the way to the leaf paid on average."""

    horizon: int

    def __call__(self, lookahead: Lookahead, discount: float) -> Worth:
        def worth(node: Node) -> float:
            depth = lookahead.depth(node)
            return lookahead.collected(node) / depth * weight_of(self.horizon - depth, discount)

        return worth


def weight_of(actions: int, discount: float) -> float:
    """What a reward of 1 for each of so many actions is worth."""
    return float(actions) if discount == 1.0 else (1.0 - discount**actions) / (1.0 - discount)


def make_pruned_leaves(name: str, horizon: int) -> PrunedLeaves:
    """The rule that a protocol calls `name`."""
    match name:
        case "left-out":
            return left_out
        case "pessimistic":
            return Pessimistic(horizon)
        case "extrapolated":
            return Extrapolated(horizon)
        case _:
            return termination_costs


def _termination_cost(node: Node) -> float:
    assert node.termination_cost is not None, "a leaf was backed up before it was evaluated"
    return node.termination_cost
