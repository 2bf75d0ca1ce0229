"""Where novelty meets the tree: which nodes are worth looking below, as they are generated and met again."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from noveltree.features import FeatureSet, Indices
from noveltree.lookahead.cached_nodes import CachedNodes, NeverTested
from noveltree.lookahead.questions import Answers, Planning, Question, ask, ask_of_child
from noveltree.novelty import NoveltyTable
from noveltree.tree import NO_FEATURE, Lookahead, Node

#: Generates one node, and may have to ask something of it.
Generating = Generator[Question, Answers, Node]


class Pruning(Protocol):
    """Labels nodes novel or not."""

    def begin(self, lookahead: Lookahead) -> Planning:
        """Start a time step."""
        ...

    def generate(self, lookahead: Lookahead, node: Node, action: int) -> Generating:
        """Generate a child by one interaction, and label it.

        Where chance decides, that may be an outcome that was drawn before, which is then met again.
        """
        ...

    def meet_again(self, lookahead: Lookahead, child: Node) -> None:
        """Label a child that a rollout meets again."""
        ...


class NoPruning:
    """Every node is novel."""

    def begin(self, lookahead: Lookahead) -> Planning:
        yield from ()

    def generate(self, lookahead: Lookahead, node: Node, action: int) -> Generating:
        yield from ()
        return lookahead.expand(node, action)

    def meet_again(self, lookahead: Lookahead, child: Node) -> None:
        pass


class Tables(Protocol):
    """One novelty table for all nodes, which is a `NoveltyTable` itself, or several."""

    def clear(self) -> None:
        """Forget everything: a new time step begins."""
        ...

    def of(self, node: Node, root: Node) -> NoveltyTable:
        """The table in which a node below a root is looked up."""
        ...


@dataclass(slots=True)
class NoveltyPruning:
    """Nodes are novel by their features and a table. Whatever the features must ask is asked at generation."""

    features: FeatureSet
    table: Tables
    cached_nodes: CachedNodes = field(default_factory=NeverTested)
    measure: Callable[[Lookahead, Node], float] = Lookahead.depth
    """By what the table compares nodes that have the same feature."""
    _heads: tuple[str, ...] = field(default=(), init=False)
    """What is asked at generation: what the features need, but for what every new node knows already."""

    def begin(self, lookahead: Lookahead) -> Planning:
        self.table.clear()
        self._heads = lookahead.unknown(self.features.heads)
        root = lookahead.root
        if self._heads and not root.cached:
            yield from ask((root,), *self._heads)
        self.cached_nodes.begin(lookahead, partial(self.test, lookahead))

    def generate(self, lookahead: Lookahead, node: Node, action: int) -> Generating:
        child = yield from self.expand(lookahead, node, action)
        if child.draws > 1:
            self.meet_again(lookahead, child)
        elif self.cached_nodes.tested_when_generated(child):
            self.test(lookahead, child)
        return child

    def meet_again(self, lookahead: Lookahead, child: Node) -> None:
        if self.cached_nodes.tested_when_met(child):
            measure = self.measure(lookahead, child)
            table = self.table.of(child, lookahead.root)
            if not table.holds(child.witness, measure):
                child.witness = table.holder(self._features(child, table), measure)
            self._label(lookahead, child)

    def expand(self, lookahead: Lookahead, node: Node, action: int) -> Generating:
        """Generate a child by one interaction, and ask what its test will need; it is not labelled yet."""
        child = lookahead.expand(node, action)
        if self._heads and child.draws == 1 and self.cached_nodes.tested_when_generated(child):
            yield from ask_of_child(lookahead, child, *self._heads)
        return child

    def test(self, lookahead: Lookahead, node: Node) -> None:
        """Enter the features of a node, and label it by what was in the table before."""
        table = self.table.of(node, lookahead.root)
        node.witness = table.enter(self._features(node, table), self.measure(lookahead, node))
        if node is not lookahead.root:  # which is looked at in any case
            self._label(lookahead, node)

    def _features(self, node: Node, table: NoveltyTable) -> Indices:
        """The features of a node, with room for them in the table."""
        features = self.features(node)
        if self.features.size > table.size:
            table.make_room(self.features.size)
        return features

    def _label(self, lookahead: Lookahead, node: Node) -> None:
        node.novel = node.witness != NO_FEATURE
        lookahead.pruned += not node.novel
