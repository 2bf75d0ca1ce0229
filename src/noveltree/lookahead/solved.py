"""Solved labels: below which nodes nothing is left to look at in this time step."""

from __future__ import annotations

from noveltree.tree import Node


def update_solved_labels(node: Node, root: Node) -> None:
    """Label `node` solved, and its ancestors up to `root` as long as all their actions lead to solved nodes."""
    node.solved = True
    while node is not root:
        parent, action = node.parent, node.action
        assert parent is not None
        assert action is not None
        parent.unsolved.remove(action)
        if parent.unsolved or parent.solved:
            return
        parent.solved = True
        node = parent
