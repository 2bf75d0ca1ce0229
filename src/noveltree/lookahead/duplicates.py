"""Duplicates: actions that lead to the same state as another action does, and are better left out.

In many games a good part of all interactions is spent on a state that is there already: a button that does nothing
now leads where doing nothing leads. Which actions are alike changes with the situation, but slowly, so that the
lookahead itself tells: whenever two children of a node are there, their states are compared.
"""

from __future__ import annotations

import itertools

import numpy as np

from noveltree.tree import Lookahead, Node


class Duplicates:
    """How often each pair of actions has led to the same state, counted over the nodes of one lookahead."""

    def begin(self, lookahead: Lookahead) -> None:
        """Count what the lookahead holds when a time step begins."""
        actions = len(lookahead.root.children)
        self._pairs = [[0] * actions for _ in range(actions)]
        self._alike = [[0] * actions for _ in range(actions)]
        for node in lookahead.nodes():
            for first, second in itertools.combinations(_certain_children(node), 2):
                self._compare(first, second)

    def learn(self, child: Node) -> None:
        """Compare a new node with its siblings, as far as chance had no say in them."""
        assert child.parent is not None
        for sibling in _certain_children(child.parent) if child.certain else ():
            if sibling is not child:
                self._compare(child, sibling)

    def left_out(self, node: Node, action: int, *, rng: np.random.Generator) -> bool:
        """Whether this action is not tried in this time step, which is decided with the probability below."""
        probability = self.probability(node, action)
        return probability > 0.0 and rng.random() < probability

    def probability(self, node: Node, action: int) -> float:
        """That this action leads where one that was tried at this node leads, 0 if it was tried itself.

        If two actions were alike n of m times, it is n / (m + 1); the action that is the most alike counts.
        """
        if node.children[action] is not None:
            return 0.0
        pairs, alike = self._pairs[action], self._alike[action]
        return max(
            (alike[a] / (pairs[a] + 1) for a, child in enumerate(node.children) if child is not None), default=0.0
        )

    def _compare(self, first: Node, second: Node) -> None:
        assert first.action is not None
        assert second.action is not None
        same = alike(first, second)
        for one, other in ((first.action, second.action), (second.action, first.action)):
            self._pairs[one][other] += 1
            self._alike[one][other] += same


def _certain_children(node: Node) -> list[Node]:
    """The children that tell where an action leads; those that chance brought do not."""
    return [child for child in node.children if child is not None and child.certain]


def alike(first: Node, second: Node) -> bool:
    """Whether two children of a node cannot be told apart: the same is observed and paid, and both end or not."""
    return (
        first.reward == second.reward
        and first.terminal == second.terminal
        and np.array_equal(first.state.observation, second.state.observation)
    )
