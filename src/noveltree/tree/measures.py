"""How large a part of a tree is, and how deep."""

from __future__ import annotations

from noveltree.tree.node import Node


def subtree_size(node: Node) -> int:
    """How many nodes there are below and including a node."""
    size = 0
    stack = [node]
    while stack:
        size += 1
        stack.extend(child for child in stack.pop().children if child is not None)
    return size


def subtree_height(node: Node) -> int:
    """How many actions below a node its deepest descendant is."""
    height = 0
    stack = [node]
    while stack:
        deepest = stack.pop()
        height = max(height, deepest.time - node.time)
        stack.extend(child for child in deepest.children if child is not None)
    return height
