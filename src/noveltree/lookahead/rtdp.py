"""RTDP as in the paper's test for sparse meaningful rewards: one step ahead, closed by a random rollout."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noveltree.lookahead.backup import LeafValues
from noveltree.lookahead.budget import Meter
from noveltree.lookahead.planner import ActionValues
from noveltree.lookahead.questions import Planning
from noveltree.lookahead.random_rollout import random_rollout
from noveltree.tree import Lookahead, Node


@dataclass(slots=True)
class OneStepRollouts:
    """Each action's value is its reward plus the return of one random rollout of `rollout_depth` steps."""

    rollout_depth: int
    discount: float
    node_type: type[Node] = Node

    def plan(self, lookahead: Lookahead, meter: Meter, *, rng: np.random.Generator) -> Planning:
        yield from ()  # rollouts are uniformly random and take the place of a termination cost
        root = lookahead.root
        for action in range(len(root.children)):
            if meter.exhausted(lookahead):
                return
            child = root.children[action] or lookahead.expand(root, action)
            child.termination_cost = random_rollout(
                lookahead, meter, child, self.rollout_depth, self.discount, rng=rng
            )
        root.solved = True

    def action_values(self, lookahead: Lookahead) -> ActionValues:
        return LeafValues(self.discount).action_values(lookahead)
