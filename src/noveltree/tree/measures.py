"""How large a part of a tree is, and how deep."""

from __future__ import annotations

from noveltree.tree.node import Node, outcomes


def subtree_size(node: Node) -> int:
    """How many nodes there are below and including a node, and those that its action led to otherwise."""
    size = 0
    stack = list(outcomes(node))
    while stack:
        size += 1
        stack.extend(stack.pop().offspring())
    return size


def subtree_height(node: Node) -> int:
    """How many actions below a node, or what its action led to otherwise, the deepest descendant is."""
    height = 0
    stack = list(outcomes(node))
    while stack:
        deepest = stack.pop()
        height = max(height, deepest.time - node.time)
        stack.extend(deepest.offspring())
    return height
