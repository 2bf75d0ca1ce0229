"""Rules around a pruning, which earlier planners had: each is a pruning itself, with another one inside.

`Repetitions`, `LostNodes` and `CountedVisits` are those of Bandres et al. (2018), `PrunedTested` and `SubtreeCap`
those of Lipovetzky et al. (2015).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from noveltree.features import FeatureSet, Indices
from noveltree.lookahead.marked_node import MarkedNode
from noveltree.lookahead.pruning import Generating, NoveltyPruning, Pruning
from noveltree.lookahead.questions import Planning
from noveltree.tree import Lookahead, Node, outcomes, subtree_size


@dataclass(slots=True)
class _Around:
    """Does what the pruning inside does."""

    pruning: Pruning

    def begin(self, lookahead: Lookahead) -> Planning:
        yield from self.pruning.begin(lookahead)

    def generate(self, lookahead: Lookahead, node: Node, action: int) -> Generating:
        return (yield from self.pruning.generate(lookahead, node, action))

    def meet_again(self, lookahead: Lookahead, child: Node) -> None:
        self.pruning.meet_again(lookahead, child)


@dataclass(slots=True)
class LostNodes(_Around):
    """A node that loses its novelty when it is met again leaves the backup, for as long as it exists."""

    def meet_again(self, lookahead: Lookahead, child: Node) -> None:
        assert isinstance(child, MarkedNode)
        self.pruning.meet_again(lookahead, child)
        child.lost |= not child.novel and not child.repetitions


@dataclass(slots=True)
class CountedVisits(_Around):
    """A cached node counts as an interaction when it is first met in a time step, and so does the root.

    The authors kept nodes without their emulator states, so that walking through one cost a call of the simulator.
    """

    _met: set[Node] = field(default_factory=set, init=False)

    def begin(self, lookahead: Lookahead) -> Planning:
        self._met.clear()
        lookahead.interactions += lookahead.root.cached
        yield from self.pruning.begin(lookahead)

    def meet_again(self, lookahead: Lookahead, child: Node) -> None:
        if child.cached and child not in self._met:
            self._met.add(child)
            lookahead.interactions += 1
        self.pruning.meet_again(lookahead, child)


@dataclass(slots=True)
class SubtreeCap(_Around):
    """Below an action of the root nothing is added in this time step if so many nodes were kept there."""

    nodes: int

    def begin(self, lookahead: Lookahead) -> Planning:
        yield from self.pruning.begin(lookahead)
        for first in lookahead.root.children:
            if first is not None and subtree_size(first) >= self.nodes:
                for child in outcomes(first):
                    child.novel = False


@dataclass(slots=True)
class PrunedTested:
    """Cached nodes that had been pruned are tested again when they are met; others are novel without a test.

    The root enters the table in every time step, cached nodes below it only by being tested.
    """

    pruning: NoveltyPruning

    def begin(self, lookahead: Lookahead) -> Planning:
        yield from self.pruning.begin(lookahead)
        if lookahead.root.cached:
            self.pruning.test(lookahead, lookahead.root)

    def generate(self, lookahead: Lookahead, node: Node, action: int) -> Generating:
        child = yield from self.pruning.generate(lookahead, node, action)
        assert isinstance(child, MarkedNode)
        child.pruned = not child.novel
        return child

    def meet_again(self, lookahead: Lookahead, child: Node) -> None:
        assert isinstance(child, MarkedNode)
        if child.pruned:
            self.pruning.test(lookahead, child)
            child.pruned = not child.novel
        else:
            self.pruning.meet_again(lookahead, child)


@dataclass(slots=True)
class Repetitions:
    """While an action changes no feature it is repeated, and nothing is tested nor entered into the table.

    The third node in a row that has the features of its parent is pruned.
    """

    pruning: NoveltyPruning
    _features: _LatestFeatures = field(init=False)

    def __post_init__(self) -> None:
        self._features = self.pruning.features = _LatestFeatures(self.pruning.features)

    def begin(self, lookahead: Lookahead) -> Planning:
        self._features.forget()
        for node in lookahead.nodes():
            assert isinstance(node, MarkedNode)
            if node.repetitions:
                self._count(node, 0 if node is lookahead.root else _repetitions(node.parent) + 1)
        yield from self.pruning.begin(lookahead)

    def generate(self, lookahead: Lookahead, node: Node, action: int) -> Generating:
        child = yield from self.pruning.expand(lookahead, node, action)
        if not child.terminal and np.array_equal(self._features(child), self._features(node)):
            self._count(child, _repetitions(node) + 1)
            self._label(lookahead, child)
        elif self.pruning.cached_nodes.tested_when_generated(child):
            self.pruning.test(lookahead, child)
        return child

    def meet_again(self, lookahead: Lookahead, child: Node) -> None:
        if _repetitions(child):
            self._label(lookahead, child)
        else:
            self.pruning.meet_again(lookahead, child)

    def _count(self, node: Node, repetitions: int) -> None:
        """Set the number of repetitions; from the first on only the action that led here is left."""
        assert isinstance(node, MarkedNode)
        node.repetitions = repetitions
        if repetitions:
            assert node.action is not None
            node.unsolved = [node.action]

    def _label(self, lookahead: Lookahead, node: Node) -> None:
        node.novel = _repetitions(node) < _TOO_MANY
        lookahead.pruned += not node.novel


#: Repetitions in a row after which nothing is expected any more: with 15 frames an action, more than 30 frames.
_TOO_MANY = 3


def _repetitions(node: Node | None) -> int:
    assert isinstance(node, MarkedNode)
    return node.repetitions


class _LatestFeatures(FeatureSet):
    """The same features, with those of the last two nodes remembered: a node and its parent are compared."""

    def __init__(self, features: FeatureSet) -> None:
        self._inside = features
        self.heads = features.heads
        self._latest: list[tuple[Node, Indices]] = []

    @property
    def size(self) -> int:  # type: ignore[override]
        return self._inside.size

    def forget(self) -> None:
        self._latest.clear()

    def __call__(self, node: Node) -> Indices:
        for known, features in self._latest:
            if known is node:
                return features
        features = self._inside(node)
        self._latest = [*self._latest[-1:], (node, features)]
        return features
