"""Breadth-first search, pruned by novelty: IW(1) of Lipovetzky et al. (2015), plain BFS without pruning."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from noveltree.lookahead.backup import Backup
from noveltree.lookahead.budget import Meter
from noveltree.lookahead.planner import ActionValues
from noveltree.lookahead.pruning import Pruning
from noveltree.lookahead.questions import Planning
from noveltree.tree import Lookahead, Node


@dataclass(slots=True)
class BreadthFirst:
    """Expands nodes in the order of their depth, all actions of a node one after another."""

    pruning: Pruning
    horizon: int
    backup: Backup
    node_type: type[Node] = Node

    def plan(self, lookahead: Lookahead, meter: Meter, *, rng: np.random.Generator) -> Planning:
        yield from self.pruning.begin(lookahead)
        yield from self._search(lookahead, meter)
        yield from self.backup.ask(lookahead)

    def action_values(self, lookahead: Lookahead) -> ActionValues:
        return self.backup.action_values(lookahead)

    def _search(self, lookahead: Lookahead, meter: Meter) -> Planning:
        root = lookahead.root
        queue = deque([root])
        while queue:
            node = queue.popleft()
            for action, child in enumerate(node.children):
                if child is None:
                    if meter.exhausted(lookahead):
                        return
                    child = yield from self.pruning.generate(lookahead, node, action)
                if child.novel and not child.terminal and lookahead.depth(child) < self.horizon:
                    queue.append(child)
        root.solved = True
