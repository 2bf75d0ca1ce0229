"""Rollouts that go on as they began: where actions are drawn anew at every step, a rollout stays where it is."""

from __future__ import annotations

import numpy as np

from noveltree.errors import RecordError
from noveltree.lookahead.action_set import ActionSet
from noveltree.lookahead.safe_actions import known_ways
from noveltree.simulators.simulator import lives_of
from noveltree.tree import Arrays, Lookahead, Node

_LOSS = "actions.loss"


class PersistentActions:
    """Around a set of actions: every rollout repeats its last action with a probability of its own, drawn uniformly
    from 0 to 1 where the rollout begins, if there is anything left to look at below that action.

    So some rollouts go far in one direction, and others look at what is near. Whoever is in danger has to look at
    what is near. No rollout is persistent for some time steps after the loss of a life, the `caution`, nor while no
    way of `safe_steps` actions is known on which no life is lost.
    """

    def __init__(self, actions: ActionSet, caution: int = 0, safe_steps: int = 0) -> None:
        self._actions = actions
        self._caution = caution
        self._safe_steps = safe_steps
        #: The last time step that began with the loss of a life.
        self._loss: int | None = None
        self._in_danger = False
        self._repeated = 0.0

    def begin(self, lookahead: Lookahead) -> None:
        self._actions.begin(lookahead)
        root = lookahead.root
        if root.parent is not None and lives_of(root.state) < lives_of(root.parent.state):
            self._loss = root.time
        cautious = self._loss is not None and root.time - self._loss < self._caution
        self._in_danger = cautious or not self._way_is_known(root)

    def sample(self, node: Node, root: Node, *, rng: np.random.Generator) -> int:
        if not self._in_danger:
            if node is root:
                self._repeated = rng.random()
            elif rng.random() < self._repeated and node.action in node.unsolved:
                return node.action
        return self._actions.sample(node, root, rng=rng)

    def _way_is_known(self, root: Node) -> bool:
        """Whether a way of enough actions is left of the last lookahead, if states tell of lives at all."""
        return not self._safe_steps or not lives_of(root.state) or max(known_ways(root)) >= self._safe_steps

    def learn(self, lookahead: Lookahead) -> None:
        self._actions.learn(lookahead)

    def memory(self) -> Arrays:
        known = self._caution and self._loss is not None
        return {**self._actions.memory(), **({_LOSS: np.array([self._loss], dtype=np.int64)} if known else {})}

    def remember(self, memory: Arrays, lookahead: Lookahead) -> None:
        loss = memory.get(_LOSS)
        if loss is not None and self._caution:
            if loss.dtype != np.int64 or loss.shape != (1,) or not 0 < loss[0] <= lookahead.root.time:
                raise RecordError("When a life was lost last is something else.")
            self._loss = int(loss[0])
            memory = {name: array for name, array in memory.items() if name != _LOSS}
        self._actions.remember(memory, lookahead)
