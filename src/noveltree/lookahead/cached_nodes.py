"""What happens to cached nodes, those that were kept from the time step before: rules, each a part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from noveltree.lookahead.solved import update_solved_labels
from noveltree.tree import Lookahead, Node

#: Enters the features of a node into the novelty table, and labels it novel or not.
Test = Callable[[Node], None]


class CachedNodes(Protocol):
    """A rule for cached nodes."""

    def begin(self, lookahead: Lookahead, test: Test) -> None:
        """Test what is tested before anything is generated in a time step."""
        ...

    def tested_when_generated(self, node: Node) -> bool:
        """Whether a newly generated node is tested."""
        ...

    def tested_when_met(self, node: Node) -> bool:
        """Whether a node that a rollout meets again is tested again."""
        ...


class NeverTested:
    """Cached nodes are novel, and their features do not enter the table (N-CPL and its family).

    The first root of an episode is not cached: it is entered.
    """

    def begin(self, lookahead: Lookahead, test: Test) -> None:
        if not lookahead.root.cached:
            test(lookahead.root)

    def tested_when_generated(self, node: Node) -> bool:
        return True

    def tested_when_met(self, node: Node) -> bool:
        return not node.cached


class TestedWhenMet:
    """Cached nodes do not enter the table, but stay novel only while they hold a feature (pi-IW of 2019).

    A rollout that meets one whose features were all seen at smaller depths in this time step ends there. Terminal
    nodes are solved from the beginning.
    """

    __test__ = False  # not a test of pytest's

    def begin(self, lookahead: Lookahead, test: Test) -> None:
        _solve_terminal_nodes(lookahead)
        if not lookahead.root.cached:
            test(lookahead.root)

    def tested_when_generated(self, node: Node) -> bool:
        return True

    def tested_when_met(self, node: Node) -> bool:
        return True


class TestedFirst:
    """Cached nodes enter the table before anything is generated, in the order of their generation (pi-IW of 2021).

    One that is not novel then is pruned and solved, whatever is below it. Terminal nodes never enter.
    """

    __test__ = False

    def begin(self, lookahead: Lookahead, test: Test) -> None:
        _solve_terminal_nodes(lookahead)
        root = lookahead.root
        for node in sorted(lookahead.nodes(), key=lambda node: node.number):
            if not node.terminal:
                test(node)
                if not node.novel and not node.solved:
                    update_solved_labels(node, root, lookahead.samples)

    def tested_when_generated(self, node: Node) -> bool:
        return not node.terminal

    def tested_when_met(self, node: Node) -> bool:
        return True


class LabelledFirst:
    """Cached nodes enter the table before anything is generated, in the order of their generation.

    Novelty is a label of them and no more: for searches that it tells what comes first, and that prune nothing.
    """

    def begin(self, lookahead: Lookahead, test: Test) -> None:
        for node in sorted(lookahead.nodes(), key=lambda node: node.number):
            test(node)

    def tested_when_generated(self, node: Node) -> bool:
        return True

    def tested_when_met(self, node: Node) -> bool:
        return False


#: By their names in protocols.
CACHED_NODES: dict[str, CachedNodes] = {
    "never-tested": NeverTested(),
    "tested-when-met": TestedWhenMet(),
    "tested-first": TestedFirst(),
}


def _solve_terminal_nodes(lookahead: Lookahead) -> None:
    for node in list(lookahead.nodes()):
        if node.terminal:
            update_solved_labels(node, lookahead.root, lookahead.samples)
