"""Best-first search: queues of nodes in some order, from which the first is expanded.

With one queue by collected reward and novelty by reward it is p-IW(1) of Shleyfman et al. (2016), with a queue to
explore and one to exploit, which take turns, 2BFS of Lipovetzky et al. (2015).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from noveltree.lookahead.backup import Backup
from noveltree.lookahead.breadth_first import SuccessorOrder, in_order
from noveltree.lookahead.budget import Meter
from noveltree.lookahead.planner import ActionValues
from noveltree.lookahead.pruning import Pruning
from noveltree.lookahead.questions import Planning
from noveltree.tree import Lookahead, Node

#: By what a queue is ordered, the smallest first, given a node and the reward that was collected on the way to it;
#: None: the node does not enter the queue.
Order = Callable[[Node, float], tuple[float, ...] | None]


def novel_by_reward(node: Node, collected: float) -> tuple[float, ...] | None:
    """Novel nodes, those with the most reward first; others are pruned."""
    return (-collected,) if node.novel else None


def exploring(node: Node, collected: float) -> tuple[float, ...] | None:
    """Nodes without reward, the novel ones first."""
    return None if collected else (not node.novel,)


def exploiting(node: Node, collected: float) -> tuple[float, ...] | None:
    """Nodes with reward, those with the most first, and of equals the novel ones."""
    return (-collected, not node.novel) if collected else None


@dataclass(slots=True)
class BestFirst:
    """Expands the first node of each queue in turn, all its actions one after another.

    Of equals, the one that entered the queue first is the first. Kept nodes with actions that were not tried enter
    before anything is generated, in the order of their generation. An action whose outcome is not certain is drawn
    as often as the lookahead has `samples`.
    """

    pruning: Pruning
    orders: tuple[Order, ...]
    """Of the queues."""
    horizon: int
    backup: Backup
    discount: float = 1.0
    """Weight of a reward one action later, in what was collected."""
    successors: SuccessorOrder = in_order
    node_type: type[Node] = Node

    def plan(self, lookahead: Lookahead, meter: Meter, *, rng: np.random.Generator) -> Planning:
        yield from self.pruning.begin(lookahead)
        yield from self._search(lookahead, meter, rng)
        yield from self.backup.ask(lookahead)

    def action_values(self, lookahead: Lookahead) -> ActionValues:
        return self.backup.action_values(lookahead)

    def _search(self, lookahead: Lookahead, meter: Meter, rng: np.random.Generator) -> Planning:
        queues = _Queues(self.orders)
        for node in sorted(lookahead.nodes(), key=lambda node: node.number):
            self._enter(lookahead, node, queues)
        for node in queues:
            for action in self.successors(node, rng):
                while lookahead.undersampled(node, action):
                    if meter.exhausted(lookahead):
                        return
                    child = yield from self.pruning.generate(lookahead, node, action)
                    if child.draws == 1:
                        self._enter(lookahead, child, queues)
        lookahead.root.solved = True

    def _enter(self, lookahead: Lookahead, node: Node, queues: _Queues) -> None:
        """Let a node enter the queues that take it, if there is anything to expand."""
        to_draw = any(lookahead.undersampled(node, action) for action in range(len(node.children)))
        if to_draw and not node.terminal and lookahead.depth(node) < self.horizon:
            queues.enter(node, lookahead.collected(node, self.discount))


#: What a node is ordered by, when it entered, and the node.
_Place = tuple[tuple[float, ...], int, Node]


class _Queues:
    """Queues of nodes; iterating takes the first node of each in turn, as long as there are any."""

    def __init__(self, orders: tuple[Order, ...]) -> None:
        self._queues: list[tuple[Order, list[_Place]]] = [(order, []) for order in orders]
        self._entered = 0

    def enter(self, node: Node, collected: float) -> None:
        for order, queue in self._queues:
            key = order(node, collected)
            if key is not None:
                heappush(queue, (key, self._entered, node))
        self._entered += 1

    def __iter__(self) -> Iterator[Node]:
        while any(queue for _, queue in self._queues):
            for _, queue in self._queues:
                if queue:
                    yield heappop(queue)[-1]
