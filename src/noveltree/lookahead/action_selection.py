"""Definition 2: choosing the action to execute by the values of the root's actions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from noveltree.lookahead.planner import ActionValues
from noveltree.tree import UNIFORM, Node, Probabilities, subtree_height, subtree_size

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


def something_pays(values: ActionValues) -> bool:
    """Whether some action is worth more than nothing."""
    return any(value is not None and value > TIE_TOLERANCE for value in values)


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
    sizes = _measured(root, tied, subtree_size)
    return random_tie(root, [a for a, size in zip(tied, sizes, strict=True) if size == max(sizes)], rng)


def longest_branch(root: Node, tied: list[int], rng: np.random.Generator) -> int:
    """If the root is worth nothing, the tied action with the longest branch, at random among equals; otherwise any.

    So risk-averse RIW(1) of Bandres et al. (2018) stays alive where nothing is to be gained. An action that was not
    tried has no branch, and neither has one that nothing follows.
    """
    if abs(root.value) > TIE_TOLERANCE:
        return random_tie(root, tied, rng)
    heights = _measured(root, tied, subtree_height)
    return random_tie(root, [a for a, height in zip(tied, heights, strict=True) if height == max(heights)], rng)


def by_policy(root: Node, tied: list[int], rng: np.random.Generator) -> int:
    """One of the tied actions, drawn from the root's base policy; at random if that is not known."""
    return (root.base_policy or UNIFORM).sample(tied, rng=rng)


def softmax_action(temperature: float, *, times_sizes: bool = False) -> ActionSelection:
    """An action drawn from softmax(Q / temperature) over the actions that were tried (pi-IW).

    With `times_sizes` the probabilities are multiplied by the softmax of how many nodes are below the actions, as
    released for pi-IW(1)+ and pi-HIW: a branch that is worse by d wins if it has over d / temperature nodes more.
    Probabilities are in single precision, so that it never wins if they are too small for that.
    """

    def select(root: Node, values: ActionValues, rng: np.random.Generator) -> int:
        tried = [action for action, value in enumerate(values) if value is not None]
        if not tried:
            return random_tie(root, list(range(len(values))), rng)
        likely = _softmax(
            np.array([values[action] for action in tried], dtype=np.float32) / np.float32(temperature)
        )
        if times_sizes:
            sizes = _softmax(np.array(_measured(root, tried, subtree_size), dtype=np.float32))
            likely = product if (product := likely * sizes).any() else likely
        return tried[Probabilities(likely.tolist()).sample(range(len(tried)), rng=rng)]

    return select


#: Actions that are worth the same are tied in pi-IW, and nearly so are those that differ by about this much.
TEMPERATURE = 0.01


def _softmax(x: NDArray[np.float32]) -> NDArray[np.float32]:
    likely = np.exp(x - x.max())
    shares: NDArray[np.float32] = likely / likely.sum()
    return shares


def _measured(root: Node, actions: list[int], measure: Callable[[Node], int]) -> list[int]:
    """A measure of the subtrees below actions of the root; 0 where there is none."""
    children = (root.children[action] for action in actions)
    return [0 if child is None else measure(child) for child in children]
