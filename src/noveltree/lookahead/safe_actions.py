"""Survive first: an action is chosen among those below which a way is known on which no life is lost.

Rewards and survival are two questions. A simulator that is a function gives the same again, and the subtree of the
executed action stays: whoever has seen a way of some steps without a loss can follow it. Whoever executes only
actions below which such a way is known may choose among them as greedily as it likes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from noveltree.lookahead.planner import ActionValues
from noveltree.simulators.simulator import lives_of
from noveltree.tree import Node, outcomes


@dataclass(frozen=True, slots=True)
class SafeActions:
    """Withholds the values of actions that are not safe from whoever chooses, and from what is learnt of values.

    An action is safe if a way is known below it, of `steps` actions or of half as many as the longest way of all,
    on which no life is lost: where no way is long all are in danger, and the longest alone would leave no choice.
    Nothing is withheld where states do not tell how many lives are left.
    """

    steps: int

    def __call__(self, root: Node, values: ActionValues) -> ActionValues:
        """The values of safe actions, or of all if none of these has one."""
        if not lives_of(root.state):
            return values
        known = known_ways(root)
        enough = min(self.steps, max(known) / 2)
        safe = [value if steps >= enough else None for value, steps in zip(values, known, strict=True)]
        return values if all(value is None for value in safe) else safe


def known_ways(root: Node) -> list[float]:
    """Of each action of the root: how many actions the longest known way has that begins with it and on which no
    life is lost, without end if the episode ends on it. Where chance decides, it goes on after every outcome.
    """
    lives = lives_of(root.state)
    nodes = [root]
    for node in nodes:
        if lives_of(node.state) >= lives:
            nodes.extend(node.offspring())
    #: How many actions such a way has below a node; -1 where a life was lost on the way to the node itself.
    longest: dict[Node, float] = {}

    def beginning_with(first: Node | None) -> float:
        """How many actions the longest way has that begins with the action of these outcomes."""
        return 0 if first is None else 1 + min(longest[outcome] for outcome in outcomes(first))

    for node in reversed(nodes[1:]):
        if lives_of(node.state) < lives:
            longest[node] = -1
        else:
            longest[node] = math.inf if node.terminal else max(map(beginning_with, node.children))
    return [beginning_with(child) for child in root.children]
