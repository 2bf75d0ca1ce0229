"""Algorithm 1: rollouts from the root, guided by a base policy, cut short where nothing is novel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noveltree.lookahead import pruning
from noveltree.lookahead.action_selection import ask_termination_costs, back_up
from noveltree.lookahead.base_policy import Probabilities
from noveltree.lookahead.budget import Meter
from noveltree.lookahead.planner import ActionValues, BasePolicyQuestion, Planning
from noveltree.lookahead.tree import Lookahead, Node
from noveltree.novelty import Novelty


@dataclass(slots=True)
class Rollouts:
    """RIW(1) with any novelty and any base policy."""

    novelty: Novelty
    horizon: int
    discount: float
    node_type: type[Node] = Node

    def plan(self, lookahead: Lookahead, meter: Meter, *, rng: np.random.Generator) -> Planning:
        root = lookahead.root
        pruning.begin(lookahead, self.novelty)
        while not root.solved and not meter.exhausted(lookahead):
            yield from self._rollout(lookahead, meter, rng)
        yield from ask_termination_costs(lookahead)

    def action_values(self, lookahead: Lookahead) -> ActionValues:
        return back_up(lookahead, self.discount)

    def _rollout(self, lookahead: Lookahead, meter: Meter, rng: np.random.Generator) -> Planning:
        node = root = lookahead.root
        horizon = root.time + self.horizon
        while node.novel and not node.terminal and node.time < horizon:
            if node.base_policy is None:
                answer = yield BasePolicyQuestion((node,))
                node.base_policy = Probabilities(answer[0].tolist())
            action = sample_unsolved_child(node, rng=rng)
            child = node.children[action]
            if child is None:
                if meter.exhausted(lookahead):
                    return
                child = pruning.generate(lookahead, node, action, self.novelty)
            else:
                pruning.meet_again(lookahead, child, self.novelty)
            node = child
        update_solved_labels(node, root)


def sample_unsolved_child(node: Node, *, rng: np.random.Generator) -> int:
    """An action drawn from the node's base policy restricted to actions whose child is not solved."""
    assert node.base_policy is not None
    return node.base_policy.sample(node.unsolved, rng=rng)


def update_solved_labels(node: Node, root: Node) -> None:
    """Label `node` solved, and its ancestors up to `root` as long as all their actions lead to solved nodes."""
    node.solved = True
    while node is not root:
        parent, action = node.parent, node.action
        assert parent is not None
        assert action is not None
        parent.unsolved.remove(action)
        if parent.unsolved:
            return
        parent.solved = True
        node = parent
