"""Survive first: an action is chosen among those below which a way is known on which the life is kept.

Rewards and survival are two questions. A simulator that is a function gives the same again, and the subtree of the
executed action stays: whoever has seen a way of some steps without a loss can follow it. So who executes only
actions below which such a way is known may choose among them as greedily as it likes.
"""

from __future__ import annotations

import numpy as np

from noveltree.errors import RecordError
from noveltree.lookahead.action_selection import ActionSelection
from noveltree.lookahead.planner import ActionValues, RemembersEpisode
from noveltree.simulators.simulator import lives_of
from noveltree.tree import Arrays, Lookahead, Node, outcomes


class SafeActions:
    """Around a selection: the values of other actions are withheld from it.

    An action is safe if a way is known below it, of `steps` actions or of half as many as the longest way of all,
    on which the episode goes on and no life is lost: where no way is long all are in danger, and the longest alone
    would leave no choice.
    """

    def __init__(self, select: ActionSelection, steps: int) -> None:
        self._select = select
        self._steps = steps

    def __call__(self, root: Node, values: ActionValues, rng: np.random.Generator) -> int:
        known = known_ways(root)
        enough = min(self._steps, max(known) / 2)
        safe = [value if steps >= enough else None for value, steps in zip(values, known, strict=True)]
        return self._select(root, values if all(value is None for value in safe) else safe, rng)

    def memory(self) -> Arrays:
        return self._select.memory() if isinstance(self._select, RemembersEpisode) else {}

    def remember(self, memory: Arrays, lookahead: Lookahead) -> None:
        if isinstance(self._select, RemembersEpisode):
            self._select.remember(memory, lookahead)
        elif memory:
            raise RecordError(
                "The choice among safe actions remembers nothing, but there is something to remember."
            )


def known_ways(root: Node) -> list[int]:
    """Of each action of the root: how many actions the longest known way has that begins with it and on which
    the episode goes on with as many lives as at the root. Where chance decides, it goes on after every outcome.
    """
    lives = lives_of(root.state)
    nodes = [root]
    for node in nodes:
        if node is root or _goes_on(node, lives):
            nodes.extend(node.offspring())
    #: How many actions such a way has below a node; -1 where it has ended with the node itself.
    longest: dict[Node, int] = {}

    def below(first: Node | None) -> int:
        """How many actions the longest way has that begins with the action of these outcomes."""
        return 0 if first is None else 1 + min(longest[outcome] for outcome in outcomes(first))

    for node in reversed(nodes[1:]):
        longest[node] = max(map(below, node.children)) if _goes_on(node, lives) else -1
    return [below(child) for child in root.children]


def _goes_on(node: Node, lives: int) -> bool:
    return not node.terminal and lives_of(node.state) >= lives
