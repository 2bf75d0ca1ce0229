"""The high level of a hierarchical lookahead: which abstract nodes are open, and which one is chosen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from noveltree.features import FeatureSet
from noveltree.lookahead.abstract_nodes import AbstractNode
from noveltree.novelty import DepthTable
from noveltree.tree import NO_FEATURE

#: An abstract state that was visited n times is chosen with a probability proportional to exp(1 / (n + 1) / this).
TEMPERATURE = 0.005


class OpenNodes:
    """The abstract nodes that are open, one for each abstract state, and the novelty table over abstract depths."""

    def __init__(self, features: FeatureSet, nodes: Iterable[AbstractNode]) -> None:
        """Begin a time step with the abstract nodes that there are, in the order in which they were entered."""
        self._features = features
        self._table = DepthTable()
        self._open: dict[int, AbstractNode] = {}
        #: By abstract state, the last that was opened, even if it is expanded by now.
        self._last: dict[int, AbstractNode] = {}
        for node in nodes:
            self.enter(node)

    def __len__(self) -> int:
        return len(self._open)

    def __contains__(self, node: AbstractNode) -> bool:
        return self._open.get(node.state) is node

    def enter(self, node: AbstractNode) -> bool:
        """Enter an abstract node into the table, and open it if it is novel. Returns whether it is.

        An older one with the same abstract state is closed, and so are its descendants.
        """
        features = self._features(node.root)
        if self._features.size > self._table.size:
            self._table.make_room(self._features.size)
        if self._table.enter(features, node.depth) == NO_FEATURE:
            return False
        if node.state in self._last:
            self.close_family(self._last[node.state])
        self._open[node.state] = self._last[node.state] = node
        return True

    def is_novel(self, node: AbstractNode) -> bool:
        """Whether an abstract node that was novel when it was entered still is."""
        return self._table.holder(self._features(node.root), node.depth) != NO_FEATURE

    def choose(self, visits: Sequence[int], *, rng: np.random.Generator) -> AbstractNode:
        """An open abstract node, the more likely the less often its abstract state was visited."""
        nodes = list(self._open.values())
        counts = [visits[node.state] for node in nodes]
        fewest = min(counts)
        largest = _exponent(fewest)
        # Many nodes are open at once, and most of them were visited equally often.
        weight_of = {count: math.exp(_exponent(count) - largest) for count in set(counts)}
        weights = [weight_of[count] for count in counts]
        remainder = rng.random() * sum(weights)
        for node, weight in zip(nodes, weights, strict=True):
            remainder -= weight
            if remainder < 0.0:
                return node
        return nodes[counts.index(fewest)]  # rounding left a remainder

    def close(self, node: AbstractNode) -> None:
        """An abstract node is expanded."""
        del self._open[node.state]

    def close_family(self, node: AbstractNode) -> None:
        """An abstract node is not novel any more: neither it nor what was entered below it is open."""
        for each in node.family():
            if each in self:
                self.close(each)


def _exponent(visits: int) -> float:
    return 1.0 / (visits + 1) / TEMPERATURE
