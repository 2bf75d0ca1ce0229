"""Duplicates, exactly: a state that was met before is not looked at twice.

Unlike `Duplicates`, which learns which actions are probably alike and does not try them, this compares what was
generated with all of the lookahead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from noveltree.lookahead.pruned_leaves import PrunedLeaves, Worth, termination_costs
from noveltree.lookahead.pruning import Generating, Pruning
from noveltree.lookahead.questions import Planning
from noveltree.tree import Lookahead, Node


@dataclass(slots=True)
class ExactDuplicates:
    """Around a pruning: a node is pruned whose state was met at no greater depth and with no less reward collected.

    Whatever can be reached from there, its twin reaches as soon and with as much. So it is left out of the backup,
    for which `worths` is the rule; other leaves that were pruned are worth what the rule inside says.
    """

    pruning: Pruning
    others: PrunedLeaves = termination_costs
    _met: dict[bytes, Node] = field(default_factory=dict, init=False)
    _duplicates: set[Node] = field(default_factory=set, init=False)

    def begin(self, lookahead: Lookahead) -> Planning:
        yield from self.pruning.begin(lookahead)
        self._met.clear()
        self._duplicates.clear()
        for node in sorted(lookahead.nodes(), key=lambda node: (node.time, node.number)):
            self._compare(lookahead, node)

    def generate(self, lookahead: Lookahead, node: Node, action: int) -> Generating:
        child = yield from self.pruning.generate(lookahead, node, action)
        if child.draws == 1:  # otherwise it was drawn, and compared, before
            self._compare(lookahead, child)
        return child

    def meet_again(self, lookahead: Lookahead, child: Node) -> None:
        self.pruning.meet_again(lookahead, child)
        child.novel &= child not in self._duplicates

    def worths(self, lookahead: Lookahead, discount: float) -> Worth:
        """What pruned leaves are worth, for the backup."""
        other = self.others(lookahead, discount)
        return lambda node: -math.inf if node in self._duplicates else other(node)

    def _compare(self, lookahead: Lookahead, node: Node) -> None:
        if node.terminal:  # it is worth nothing more, whatever was collected
            return
        key = lookahead.key(node.state)
        twin = self._met.setdefault(key, node)
        if twin is node:
            return
        collected = lookahead.collected(node)
        if twin.time <= node.time and lookahead.collected(twin) >= collected:
            lookahead.pruned += node.novel
            node.novel = False
            self._duplicates.add(node)
        elif node.time <= twin.time and collected >= lookahead.collected(twin):
            self._met[key] = node
