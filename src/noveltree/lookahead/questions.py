"""A planner asks, a driver answers.

Whatever a planner needs to know of a node and cannot compute is the output of a network: a head. It yields a
question, and whoever drives it sends the answers back, having collected the questions of many planners into one
batch. A planner that needs nothing never yields.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from noveltree.tree import Lookahead, Node, Probabilities

#: The base policy pi_b, the termination cost V^T, and hidden units. Other heads are kept in the slot of their name.
POLICY, VALUE, UNITS = "policy", "value", "units"
_SLOTS = {POLICY: "base_policy", VALUE: "termination_cost"}


@dataclass(frozen=True, slots=True)
class Question:
    """What do these heads say of these nodes?"""

    nodes: Sequence[Node]
    heads: tuple[str, ...]


#: By head, a row for each node: (nodes, actions) for a policy, (nodes,) for a value, (nodes, units) for units.
Answers = Mapping[str, NDArray[Any]]
Planning = Generator[Question, Answers, None]


def ask(nodes: Sequence[Node], *heads: str) -> Planning:
    """Ask for some heads of nodes in one question, and keep the answers with the nodes."""
    answers = yield Question(nodes, heads)
    for head in heads:
        rows = answers[head]
        if head == POLICY:
            for node, row in zip(nodes, rows.tolist(), strict=True):
                node.base_policy = Probabilities(row)
        elif head == VALUE:
            for node, value in zip(nodes, rows.tolist(), strict=True):
                node.termination_cost = value
        else:
            for node, row in zip(nodes, rows if rows.ndim > 1 else rows.tolist(), strict=True):
                setattr(node, head, row)


def ask_of_child(lookahead: Lookahead, child: Node, *heads: str) -> Planning:
    """Ask for some heads of a child; what was said of a sibling that looks the same is said of it, too.

    About half of all actions show what another shows, and to ask costs a hundred times as much as to compare.
    """
    sibling = lookahead.look_alike(child)
    slots = [_SLOTS.get(head, head) for head in heads]
    if sibling is None or any(getattr(sibling, slot) is None for slot in slots):
        yield from ask((child,), *heads)
    else:
        for slot in slots:
            setattr(child, slot, getattr(sibling, slot))
