"""Everything about one node that a page shows when somebody points at it."""

from __future__ import annotations

from noveltree.lookahead import UctNode
from noveltree.tree import UNIFORM, Lookahead, Node
from noveltree.viewer.marks import marks
from noveltree.viewer.messages import Head
from noveltree.viewer.screens import lives
from noveltree.viewer.seat import Seat
from noveltree.viewer.why import explain, novelty_of


def details_of(seat: Seat, lookahead: Lookahead, node: Node) -> Head:
    """A node's path, values, base policy, and why it is novel or pruned."""
    root = lookahead.root
    path: list[int] = []
    above = node
    while above is not root and above.parent is not None and above.action is not None:
        path.append(above.action)
        above = above.parent
    discount = seat.protocol.discount or 1.0
    policy = node.base_policy
    return {
        "number": node.number,
        "depth": lookahead.depth(node),
        "path": path[::-1],
        "reward": 0.0 if node is root else node.reward,
        "collected": lookahead.collected(node),
        "value": node.value,
        "q": None if node is root else node.reward + discount * node.value,
        "policy": None if policy is None else list(policy.probabilities(len(node.children))),
        "uniform": policy is UNIFORM,
        "termination_cost": node.termination_cost,
        "visits": node.visits if isinstance(node, UctNode) else None,
        "novel": node.novel,
        "solved": node.solved,
        "cached": node.cached,
        "terminal": node.terminal,
        "lives": lives(node.state),
        "why": _why(seat, lookahead, node),
    }


def _why(seat: Seat, lookahead: Lookahead, node: Node) -> Head | None:
    pruning = novelty_of(seat.planner)
    if pruning is None:
        return None
    # A planner of its own: the features are the same, and the table of the one that plans is left alone.
    found = explain(lookahead, node, pruning, seat.heuristics)
    if not found.tested:
        return {"tested": False}
    return {
        "tested": True,
        "features": found.features,
        "first": int(found.first.size),
        "holders": [{"number": number, "features": count} for number, count in found.holders],
        **marks(pruning.features, found.first, node),
    }
