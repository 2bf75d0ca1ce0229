"""Definition 2: choosing the action to execute by the values of the root's actions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from noveltree.lookahead.planner import ActionValues
from noveltree.tree import UNIFORM, Node, subtree_height, subtree_size

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


def random_tie(root: Node, tied: list[int], rng: np.random.Generator) -> int:
    """Any of the tied actions, uniformly at random."""
    return tied[int(rng.random() * len(tied))]


def larger_subtree(root: Node, tied: list[int], rng: np.random.Generator) -> int:
    """The tied action with the most nodes below it (pi-IW(1)+), at random among equals."""
    return random_tie(root, _largest(root, tied, subtree_size), rng)


def longest_branch(root: Node, tied: list[int], rng: np.random.Generator) -> int:
    """If the root is worth nothing, the tied action with the longest branch, at random among equals; otherwise any.

    So risk-averse RIW(1) of Bandres et al. (2018) stays alive where nothing is to be gained. An action that was not
    tried has no branch, and neither has one that nothing follows.
    """
    if abs(root.value) > TIE_TOLERANCE:
        return random_tie(root, tied, rng)
    return random_tie(root, _largest(root, tied, subtree_height), rng)


def by_policy(root: Node, tied: list[int], rng: np.random.Generator) -> int:
    """One of the tied actions, drawn from the root's base policy; at random if that is not known."""
    return (root.base_policy or UNIFORM).sample(tied, rng=rng)


TIE_BREAKINGS: dict[str, TieBreaking] = {
    "random": random_tie,
    "larger-subtree": larger_subtree,
    "policy": by_policy,
    "longest-branch": longest_branch,
}


def _largest(root: Node, actions: list[int], measure: Callable[[Node], int]) -> list[int]:
    """The actions below which a measure of the subtree is the largest."""
    children = [root.children[action] for action in actions]
    measures = [0 if child is None else measure(child) for child in children]
    return [action for action, value in zip(actions, measures, strict=True) if value == max(measures)]
