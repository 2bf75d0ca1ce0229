"""Breadth-first search, pruned by novelty: IW(1) of Lipovetzky et al. (2015), plain BFS without pruning."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from noveltree.lookahead import pruning
from noveltree.lookahead.action_selection import ask_termination_costs, back_up
from noveltree.lookahead.budget import Meter
from noveltree.lookahead.planner import ActionValues, Planning
from noveltree.lookahead.tree import Lookahead, Node
from noveltree.novelty import Novelty


@dataclass(slots=True)
class BreadthFirst:
    """Expands nodes in the order of their depth, all actions of a node one after another."""

    novelty: Novelty
    horizon: int
    discount: float
    node_type: type[Node] = Node

    def plan(self, lookahead: Lookahead, meter: Meter, *, rng: np.random.Generator) -> Planning:
        self._search(lookahead, meter)
        yield from ask_termination_costs(lookahead)

    def action_values(self, lookahead: Lookahead) -> ActionValues:
        return back_up(lookahead, self.discount)

    def _search(self, lookahead: Lookahead, meter: Meter) -> None:
        root = lookahead.root
        pruning.begin(lookahead, self.novelty)
        queue = deque([root])
        while queue:
            node = queue.popleft()
            for action, child in enumerate(node.children):
                if child is None:
                    if meter.exhausted(lookahead):
                        return
                    child = pruning.generate(lookahead, node, action, self.novelty)
                if child.novel and not child.terminal and lookahead.depth(child) < self.horizon:
                    queue.append(child)
        root.solved = True
