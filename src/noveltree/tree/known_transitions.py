"""What the simulator has answered already: the same state and action are never simulated twice.

A lookahead meets one state by several ways, wherever a button does nothing. Nodes are ways, so that each of them is
a node; but what an action leads to from there is known as soon as one of them was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from noveltree.simulators.simulator import State, Transition
from noveltree.tree.node import Node


class KnownTransitions:
    """The transitions of one lookahead by what makes their states and actions the same.

    When a time step begins they are those between the nodes that were kept, and nothing else, so that they follow
    from the tree: a lookahead that was stored goes on as if it had not been.
    """

    def __init__(self, identity: Callable[[State], Hashable]) -> None:
        self._identity = identity
        self._transitions: dict[Hashable, dict[int, Transition]] = {}

    def begin(self, nodes: Iterable[Node]) -> None:
        """Forget all but the transitions between these nodes and their children."""
        self._transitions.clear()
        for node in nodes:
            if not node.is_leaf():
                self._transitions.setdefault(self._identity(node.state), {}).update(
                    (action, Transition(child.state, child.reward, child.terminal))
                    for action, child in enumerate(node.children)
                    if child is not None
                )

    def find(self, state: State, action: int) -> Transition | None:
        """What an action leads to, if that is known."""
        actions = self._transitions.get(self._identity(state))
        return None if actions is None else actions.get(action)

    def add(self, state: State, action: int, transition: Transition) -> None:
        self._transitions.setdefault(self._identity(state), {})[action] = transition
