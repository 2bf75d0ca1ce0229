"""Definition 2: backing up rewards through the lookahead and choosing the action to execute."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from noveltree.lookahead.planner import ActionValues, Planning, TerminationCostQuestion
from noveltree.lookahead.tree import Lookahead, Node

#: Action values this close are tied.
TIE_TOLERANCE = 1e-7

#: Chooses one of several tied actions of the root.
TieBreaking = Callable[[Node, list[int], np.random.Generator], int]


def ask_termination_costs(lookahead: Lookahead) -> Planning:
    """Ask for V^T of all non-terminal leaves that were not evaluated yet, in one question."""
    if lookahead.termination_cost is not None:
        return  # no node has to be asked for
    leaves = [
        node for node in lookahead.nodes() if node.termination_cost is None and not node.terminal and node.is_leaf()
    ]
    if leaves:
        costs = yield TerminationCostQuestion(leaves)
        for leaf, cost in zip(leaves, costs.tolist(), strict=True):
            leaf.termination_cost = cost


def back_up(lookahead: Lookahead, discount: float) -> ActionValues:
    """Set V(n) of all nodes and return Q(root, a).

    V of a leaf is 0 if it is terminal, otherwise its termination cost; V of an inner node is the maximum of
    reward + V(child) over its *existing* children.
    """
    for node in reversed(list(lookahead.nodes())):
        best = None
        for child in node.children:
            if child is not None:
                value = child.reward + discount * child.value
                if best is None or value > best:
                    best = value
        if best is None and not node.terminal:
            assert node.termination_cost is not None, "a leaf was backed up before it was evaluated"
            best = node.termination_cost
        node.value = best or 0.0
    return [None if child is None else child.reward + discount * child.value for child in lookahead.root.children]


def select_action(root: Node, values: ActionValues, break_ties: TieBreaking, *, rng: np.random.Generator) -> int:
    """An argmax of the values over the actions that were tried; over all actions if none was."""
    tried = [value for value in values if value is not None]
    if not tried:
        return break_ties(root, list(range(len(values))), rng)
    best = max(tried)
    tied = [a for a, value in enumerate(values) if value is not None and value >= best - TIE_TOLERANCE]
    return tied[0] if len(tied) == 1 else break_ties(root, tied, rng)


def random_tie(root: Node, tied: list[int], rng: np.random.Generator) -> int:
    """Any of the tied actions, uniformly at random."""
    return tied[int(rng.random() * len(tied))]


def larger_subtree(root: Node, tied: list[int], rng: np.random.Generator) -> int:
    """The tied action with the most nodes below it (pi-IW(1)+), at random among equals."""
    sizes = [_subtree_size(root.children[action]) for action in tied]
    return random_tie(root, [a for a, size in zip(tied, sizes, strict=True) if size == max(sizes)], rng)


TIE_BREAKINGS: dict[str, TieBreaking] = {"random": random_tie, "larger-subtree": larger_subtree}


def _subtree_size(node: Node | None) -> int:
    if node is None:
        return 0
    size = 0
    stack = [node]
    while stack:
        size += 1
        stack.extend(child for child in stack.pop().children if child is not None)
    return size
