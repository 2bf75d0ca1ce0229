"""Where novelty meets the tree: labelling nodes as they are generated and met again."""

from __future__ import annotations

from noveltree.lookahead.tree import Lookahead, Node
from noveltree.novelty import Novelty


def begin(lookahead: Lookahead, novelty: Novelty) -> None:
    """Start a time step: only the first root of an episode, which is not cached, is entered."""
    novelty.clear()
    if not lookahead.root.cached:
        novelty.enter(lookahead.root.state, 0)


def generate(lookahead: Lookahead, node: Node, action: int, novelty: Novelty) -> Node:
    """Generate a child by one interaction, and label it by its novelty."""
    child = lookahead.expand(node, action)
    child.novel = novelty.enter(child.state, lookahead.depth(child))
    lookahead.pruned += not child.novel
    return child


def meet_again(lookahead: Lookahead, child: Node, novelty: Novelty) -> None:
    """Label a child that a rollout meets again; cached nodes are never tested."""
    if not child.cached:
        child.novel = novelty.holds(child.state, lookahead.depth(child))
        lookahead.pruned += not child.novel
