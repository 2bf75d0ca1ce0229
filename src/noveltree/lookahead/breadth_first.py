"""Breadth-first search, pruned by novelty: IW(1) of Lipovetzky et al. (2015), plain BFS without pruning."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from noveltree.lookahead.backup import Backup
from noveltree.lookahead.budget import Meter
from noveltree.lookahead.marked_node import MarkedNode
from noveltree.lookahead.planner import ActionValues
from noveltree.lookahead.pruning import Pruning
from noveltree.lookahead.questions import Planning
from noveltree.tree import Lookahead, Node, outcomes

#: In which order the actions of a node are tried.
SuccessorOrder = Callable[[Node, np.random.Generator], Sequence[int]]


def in_order(node: Node, rng: np.random.Generator) -> Sequence[int]:
    """As the simulator numbers them."""
    return range(len(node.children))


def random_order(node: Node, rng: np.random.Generator) -> Sequence[int]:
    """At random; those that were tried already first, as they came (Lipovetzky et al. 2015)."""
    tried = sorted((child.number, action) for action, child in enumerate(node.children) if child is not None)
    untried = [action for action, child in enumerate(node.children) if child is None]
    return [action for _, action in tried] + (rng.permutation(untried).tolist() if untried else [])


SUCCESSOR_ORDERS: dict[str, SuccessorOrder] = {"in-order": in_order, "random": random_order}


@dataclass(slots=True)
class BreadthFirst:
    """Expands nodes in the order of their depth, all actions of a node one after another.

    An action whose outcome is not certain is drawn as often as the lookahead has `samples`; all outcomes follow.
    """

    pruning: Pruning
    horizon: int
    backup: Backup
    order: SuccessorOrder = in_order
    node_type: type[Node] = Node

    def plan(self, lookahead: Lookahead, meter: Meter, *, rng: np.random.Generator) -> Planning:
        yield from self.pruning.begin(lookahead)
        yield from self._search(lookahead, meter, rng)
        yield from self.backup.ask(lookahead)

    def action_values(self, lookahead: Lookahead) -> ActionValues:
        return self.backup.action_values(lookahead)

    @property
    def needs_certainty(self) -> bool:
        return issubclass(self.node_type, MarkedNode)  # whose rules know one outcome of an action

    def _search(self, lookahead: Lookahead, meter: Meter, rng: np.random.Generator) -> Planning:
        root = lookahead.root
        queue = deque([root])
        while queue:
            node = queue.popleft()
            for action in self.order(node, rng):
                children = list(outcomes(node.children[action]))
                for child in children:
                    self.pruning.meet_again(lookahead, child)
                while lookahead.undersampled(node, action):
                    if meter.exhausted(lookahead):
                        return
                    child = yield from self.pruning.generate(lookahead, node, action)
                    if child.draws == 1:
                        children.append(child)
                for child in children:
                    if child.novel and not child.terminal and lookahead.depth(child) < self.horizon:
                        queue.append(child)
        root.solved = True
