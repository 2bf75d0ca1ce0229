"""Rollouts that go on as they began: where actions are drawn anew at every step, a rollout stays where it is."""

from __future__ import annotations

import numpy as np

from noveltree.lookahead.action_set import ActionSet
from noveltree.tree import Arrays, Lookahead, Node


class PersistentActions:
    """Around a set of actions: every rollout repeats its last action with a probability of its own, drawn uniformly
    from 0 to 1 where the rollout begins, if there is anything left to look at below that action.

    So some rollouts go far in one direction, and others look at what is near.
    """

    def __init__(self, actions: ActionSet) -> None:
        self._actions = actions
        self._repeated = 0.0

    def begin(self, lookahead: Lookahead) -> None:
        self._actions.begin(lookahead)

    def sample(self, node: Node, root: Node, *, rng: np.random.Generator) -> int:
        if node is root:
            self._repeated = rng.random()
        elif rng.random() < self._repeated and node.action in node.unsolved:
            return node.action
        return self._actions.sample(node, root, rng=rng)

    def learn(self, lookahead: Lookahead) -> None:
        self._actions.learn(lookahead)

    def memory(self) -> Arrays:
        return self._actions.memory()

    def remember(self, memory: Arrays, lookahead: Lookahead) -> None:
        self._actions.remember(memory, lookahead)
