r"""Abstract nodes: the tree of nodes cut into low-level trees, wherever the abstract state changes.

      A           There is one tree of nodes. A node whose abstract state is not that of its parent is an entry
    /   \         point: a leaf of the low-level tree above it, and the root of the one below it. The low-level
   A     B        trees are the abstract nodes, here A, two times B, and C: an abstract state that is entered by
 /   \    \       two paths is two abstract nodes.
B     A    C
"""

from __future__ import annotations

from collections.abc import Iterator

from noveltree.features import FeatureSet
from noveltree.lookahead.abstract_states import abstract_of
from noveltree.novelty import DepthTable
from noveltree.tree import Node


class TreeNovelty:
    """Depth novelty within a low-level tree: depths are those below its root."""

    __slots__ = ("_features", "_root_time", "_table")

    def __init__(self, features: FeatureSet, root: Node) -> None:
        self._features = features
        self._root_time = root.time
        self._table = DepthTable()

    def enter(self, node: Node) -> int:
        """Enter a node; one of its features that was true nowhere as shallow before, or NO_FEATURE."""
        features = self._features(node)
        if self._features.size > self._table.size:
            self._table.make_room(self._features.size)
        return self._table.enter(features, node.time - self._root_time)

    def holder(self, node: Node) -> int:
        """One of the features of a node that was entered that is true nowhere shallower, or NO_FEATURE."""
        depth = node.time - self._root_time
        if self._table.holds(node.witness, depth):
            return node.witness
        return self._table.holder(self._features(node), depth)


class AbstractNode:
    """A low-level tree, as a node of the abstract tree."""

    __slots__ = ("children", "depth", "novelty", "root", "state")

    def __init__(self, root: Node, depth: int) -> None:
        #: The root of the low-level tree: the node by which it was entered, or the root of the lookahead.
        self.root = root
        #: The number of the abstract state.
        self.state = abstract_of(root)
        #: How many abstract nodes are above.
        self.depth = depth
        #: Those that are entered from the low-level tree.
        self.children: list[AbstractNode] = []
        #: Novelty within the low-level tree, None until it is needed in this time step.
        self.novelty: TreeNovelty | None = None

    def add(self, entry_point: Node) -> AbstractNode:
        """The abstract node that is entered from here by a node."""
        child = AbstractNode(entry_point, self.depth + 1)
        self.children.append(child)
        return child

    def family(self) -> Iterator[AbstractNode]:
        """This abstract node and its descendants."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(node.children)


def is_entry_point(node: Node) -> bool:
    """Whether a low-level tree of its own begins at a node. A terminal node enters nothing."""
    assert node.parent is not None
    return not node.terminal and abstract_of(node) != abstract_of(node.parent)


def low_level_tree(root: Node) -> Iterator[Node]:
    """The nodes of the low-level tree below `root`, with the entry points among its leaves; parents come first."""
    yield root
    stack = [root]
    while stack:
        for child in stack.pop().children:
            if child is not None:
                yield child
                if not is_entry_point(child):
                    stack.append(child)


def abstract_nodes(root: Node) -> list[AbstractNode]:
    """All abstract nodes of the lookahead below `root`, in the order in which they were entered."""
    top = AbstractNode(root, 0)
    found = [top]
    stack = [(root, top)]
    while stack:
        node, holder = stack.pop()
        for child in node.children:
            if child is not None:
                below = holder
                if is_entry_point(child):
                    below = holder.add(child)
                    found.append(below)
                stack.append((child, below))
    found.sort(key=lambda abstract: abstract.root.number)
    return found
