"""Algorithm 1: rollouts from the root, guided by a base policy, cut short where nothing is novel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noveltree.lookahead.backup import Backup
from noveltree.lookahead.budget import Meter
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
    node_type: type[Node] = Node

    def plan(self, lookahead: Lookahead, meter: Meter, *, rng: np.random.Generator) -> Planning:
        root = lookahead.root
        yield from self.pruning.begin(lookahead)
        while not root.solved and not meter.exhausted(lookahead):
            yield from self._rollout(lookahead, meter, rng)
        yield from self.backup.ask(lookahead)

    def action_values(self, lookahead: Lookahead) -> ActionValues:
        return self.backup.action_values(lookahead)

    def _rollout(self, lookahead: Lookahead, meter: Meter, rng: np.random.Generator) -> Planning:
        node = root = lookahead.root
        horizon = root.time + self.horizon
        while node.novel and not node.terminal and node.time < horizon:
            if node.base_policy is None:
                yield from ask((node,), POLICY)
            action = sample_unsolved_child(node, rng=rng)
            child = node.children[action]
            if child is None:
                if meter.exhausted(lookahead):
                    return
                child = yield from self.pruning.generate(lookahead, node, action)
            else:
                self.pruning.meet_again(lookahead, child)
            node = child
        update_solved_labels(node, root)


def sample_unsolved_child(node: Node, *, rng: np.random.Generator) -> int:
    """An action drawn from the node's base policy restricted to actions whose child is not solved."""
    assert node.base_policy is not None
    return node.base_policy.sample(node.unsolved, rng=rng)
