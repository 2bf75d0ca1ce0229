"""Solved labels: below which nodes nothing is left to look at in this time step."""

from __future__ import annotations

from noveltree.tree import Node, outcomes


def update_solved_labels(node: Node, root: Node, samples: int = 1) -> None:
    """Label `node` solved, and its ancestors up to `root` as long as all their actions lead to solved nodes.

    An action whose outcome is not certain does so when all its known outcomes are solved, but not before it was
    drawn `samples` times: one lucky draw does not close it.
    """
    node.solved = True
    while node is not root:
        parent, action = node.parent, node.action
        assert parent is not None
        assert action is not None
        if not (node.certain or _is_solved(parent, action, samples)):
            return
        parent.unsolved.remove(action)
        if parent.unsolved or parent.solved:
            return
        parent.solved = True
        node = parent


def _is_solved(parent: Node, action: int, samples: int) -> bool:
    draws = 0
    for outcome in outcomes(parent.children[action]):
        if not outcome.solved:
            return False
        draws += outcome.draws
    return draws >= samples
