"""Definition 2: choosing the action to execute by the values of the root's actions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from noveltree.lookahead.planner import ActionValues
from noveltree.tree import UNIFORM, Node, Probabilities

#: Action values this close are tied.
TIE_TOLERANCE = 1e-7

#: Chooses an action of the root, given their values.
ActionSelection = Callable[[Node, ActionValues, np.random.Generator], int]
#: Chooses one of several tied actions of the root.
TieBreaking = Callable[[Node, list[int], np.random.Generator], int]


def best_action(break_ties: TieBreaking) -> ActionSelection:
    """An argmax of the values over the actions that were tried; any of all actions if none was."""

    def select(root: Node, values: ActionValues, rng: np.random.Generator) -> int:
        tried = [value for value in values if value is not None]
        if not tried:
            return break_ties(root, list(range(len(values))), rng)
        best = max(tried)
        tied = [a for a, value in enumerate(values) if value is not None and value >= best - TIE_TOLERANCE]
        return tied[0] if len(tied) == 1 else break_ties(root, tied, rng)

    return select


def drawn_first(steps: int, then: ActionSelection) -> ActionSelection:
    """Drawn in proportion to the values in the first `steps` time steps of an episode, and then as `then` has it.

    So AlphaZero makes its episodes differ, whose values are visits.
    """

    def select(root: Node, values: ActionValues, rng: np.random.Generator) -> int:
        if root.time >= steps:
            return then(root, values, rng)
        return Probabilities([value or 0.0 for value in values]).sample(range(len(values)), rng=rng)

    return select


def random_tie(root: Node, tied: list[int], rng: np.random.Generator) -> int:
    """Any of the tied actions, uniformly at random."""
    return tied[int(rng.random() * len(tied))]


def larger_subtree(root: Node, tied: list[int], rng: np.random.Generator) -> int:
    """The tied action with the most nodes below it (pi-IW(1)+), at random among equals."""
    sizes = [_subtree_size(root.children[action]) for action in tied]
    return random_tie(root, [a for a, size in zip(tied, sizes, strict=True) if size == max(sizes)], rng)


def by_policy(root: Node, tied: list[int], rng: np.random.Generator) -> int:
    """One of the tied actions, drawn from the root's base policy; at random if that is not known."""
    return (root.base_policy or UNIFORM).sample(tied, rng=rng)


TIE_BREAKINGS: dict[str, TieBreaking] = {
    "random": random_tie,
    "larger-subtree": larger_subtree,
    "policy": by_policy,
}


def _subtree_size(node: Node | None) -> int:
    if node is None:
        return 0
    size = 0
    stack = [node]
    while stack:
        size += 1
        stack.extend(child for child in stack.pop().children if child is not None)
    return size
