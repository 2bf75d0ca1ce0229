"""Algorithm 1: rollouts from the root, guided by a base policy, cut short where nothing is novel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noveltree.lookahead.backup import Backup
from noveltree.lookahead.budget import Meter
from noveltree.lookahead.duplicates import Duplicates
from noveltree.lookahead.planner import ActionValues
from noveltree.lookahead.pruning import Pruning
from noveltree.lookahead.questions import POLICY, Planning, ask
from noveltree.lookahead.solved import update_solved_labels
from noveltree.tree import Lookahead, Node


@dataclass(slots=True)
class Rollouts:
    """RIW(1) with any pruning, any base policy and any backup."""

    pruning: Pruning
    horizon: int
    backup: Backup
    cap: int | None = None
    """Nodes that one rollout may generate. It ends there, and a later one may go on."""
    duplicates: Duplicates | None = None
    """Leaves out actions that seem to lead where others do."""
    node_type: type[Node] = Node

    def plan(self, lookahead: Lookahead, meter: Meter, *, rng: np.random.Generator) -> Planning:
        root = lookahead.root
        yield from self.pruning.begin(lookahead)
        if self.duplicates is not None:
            self.duplicates.begin(lookahead)
        while not root.solved and not meter.exhausted(lookahead):
            yield from self._rollout(lookahead, meter, rng)
        yield from self.backup.ask(lookahead)

    def action_values(self, lookahead: Lookahead) -> ActionValues:
        return self.backup.action_values(lookahead)

    def _rollout(self, lookahead: Lookahead, meter: Meter, rng: np.random.Generator) -> Planning:
        node = root = lookahead.root
        horizon = root.time + self.horizon
        left = self.cap
        while node.novel and not node.terminal and node.time < horizon:
            if node.base_policy is None:
                yield from ask((node,), POLICY)
            action = self._sample(node, rng)
            if action is None:
                break
            child = node.children[action]
            if child is None:
                if meter.exhausted(lookahead):
                    return
                if left is not None:
                    if not left:
                        return
                    left -= 1
                child = yield from self.pruning.generate(lookahead, node, action)
                if self.duplicates is not None:
                    self.duplicates.learn(child)
            else:
                self.pruning.meet_again(lookahead, child)
            node = child
        update_solved_labels(node, root)

    def _sample(self, node: Node, rng: np.random.Generator) -> int | None:
        """An action from the base policy that is not left out as a probable duplicate; None if none is left."""
        while node.unsolved:
            action = sample_unsolved_child(node, rng=rng)
            if self.duplicates is None or not self.duplicates.left_out(node, action, rng=rng):
                return action
            node.unsolved.remove(action)
        return None


def sample_unsolved_child(node: Node, *, rng: np.random.Generator) -> int:
    """An action drawn from the node's base policy restricted to actions whose child is not solved."""
    assert node.base_policy is not None
    return node.base_policy.sample(node.unsolved, rng=rng)
