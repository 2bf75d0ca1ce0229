"""Rollouts that go on as they began: where actions are drawn anew at every step, a rollout stays where it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noveltree.errors import RecordError
from noveltree.lookahead.action_set import ActionSet
from noveltree.lookahead.safe_actions import known_ways
from noveltree.simulators.simulator import lives_of
from noveltree.tree import Arrays, Lookahead, Node

_LOSS, _PAID = "actions.loss", "actions.paid"


class PersistentActions:
    """Around a set of actions: every rollout repeats its last action with a probability of its own, drawn uniformly
    from 0 to 1 where the rollout begins, if there is anything left to look at below that action.

    So some rollouts go far in one direction, and others look at what is near. Whoever is in danger has to look at
    what is near. No rollout is persistent for some time steps after the loss of a life, the `caution`, nor while no
    way of `safe_steps` actions is known on which no life is lost. But whoever has lived on for long without such a
    way, and was paid nothing, has to look far again: the `patience` is after how many time steps.
    """

    def __init__(
        self, actions: ActionSet, caution: int = 0, safe_steps: int = 0, patience: int | None = None
    ) -> None:
        self._actions = actions
        self._caution = caution
        self._safe_steps = safe_steps
        self._patience = patience
        #: The last time step that began with the loss of a life, and the last that began with a reward.
        self._loss: int | None = None
        self._paid: int | None = None
        self._in_danger = False
        self._repeated = 0.0

    def begin(self, lookahead: Lookahead) -> None:
        self._actions.begin(lookahead)
        root = lookahead.root
        if root.parent is not None and lives_of(root.state) < lives_of(root.parent.state):
            self._loss = root.time
        if root.reward > 0.0:
            self._paid = root.time
        cautious = self._loss is not None and root.time - self._loss < self._caution
        self._in_danger = cautious or not (self._is_impatient(root) or self._way_is_known(root))

    def sample(self, node: Node, root: Node, *, rng: np.random.Generator) -> int:
        if not self._in_danger:
            if node is root:
                self._repeated = rng.random()
            elif rng.random() < self._repeated and node.action in node.unsolved:
                return node.action
        return self._actions.sample(node, root, rng=rng)

    def _is_impatient(self, root: Node) -> bool:
        """Whether nothing was paid and no life lost for too long."""
        return self._patience is not None and root.time - max(self._loss or 0, self._paid or 0) >= self._patience

    def _way_is_known(self, root: Node) -> bool:
        """Whether a way of enough actions is left of the last lookahead, if states tell of lives at all."""
        return not self._safe_steps or not lives_of(root.state) or max(known_ways(root)) >= self._safe_steps

    def learn(self, lookahead: Lookahead) -> None:
        self._actions.learn(lookahead)

    def memory(self) -> Arrays:
        known = {_LOSS: self._loss if self._caution or self._patience else None}
        known[_PAID] = self._paid if self._patience else None
        times = {name: np.array([at], dtype=np.int64) for name, at in known.items() if at is not None}
        return {**self._actions.memory(), **times}

    def remember(self, memory: Arrays, lookahead: Lookahead) -> None:
        if self._caution or self._patience:
            self._loss = _time(memory.get(_LOSS), lookahead, "a life was lost")
            memory = {name: array for name, array in memory.items() if name != _LOSS}
        if self._patience:
            self._paid = _time(memory.get(_PAID), lookahead, "something was paid")
            memory = {name: array for name, array in memory.items() if name != _PAID}
        self._actions.remember(memory, lookahead)


def _time(stored: NDArray[Any] | None, lookahead: Lookahead, what: str) -> int | None:
    """The time step, not after the root's, that a memory has, if it has one."""
    if stored is None:
        return None
    if stored.dtype != np.int64 or stored.shape != (1,) or not 0 < stored[0] <= lookahead.root.time:
        raise RecordError(f"When {what} last is something else.")
    return int(stored[0])
