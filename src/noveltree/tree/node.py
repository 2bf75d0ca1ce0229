"""Nodes: state-action paths, and what is known of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from noveltree.simulators.simulator import State
from noveltree.tree.base_policy import BasePolicy

#: How many ancestors of the root are kept: networks see the screens of a node and of its three ancestors.
HISTORY = 3
#: Instead of a feature's index: none.
NO_FEATURE = -1


class Node:
    """A state-action path. Reaching the same state by two paths gives two nodes."""

    __slots__ = (
        "action",
        "base_policy",
        "cached",
        "certain",
        "children",
        "draws",
        "next_outcome",
        "novel",
        "number",
        "parent",
        "reward",
        "solved",
        "state",
        "terminal",
        "termination_cost",
        "time",
        "units",
        "unsolved",
        "value",
        "witness",
    )

    def __init__(
        self,
        state: State,
        parent: Node | None,
        action: int | None,
        reward: float,
        terminal: bool,
        time: int,
        number: int,
        actions: int,
        base_policy: BasePolicy | None,
        termination_cost: float | None,
    ) -> None:
        #: The last state of the path, n^s.
        self.state = state
        #: The path without its last action; None at the start of an episode and beyond what is kept.
        self.parent = parent
        #: The action that leads here from the parent, and what it paid.
        self.action = action
        self.reward = reward
        #: Whether the episode ends here. A terminal state is absorbing and pays nothing more.
        self.terminal = terminal
        #: Time step of the episode at which this state would be the root; depth is the difference to the root's.
        self.time = time
        #: How many nodes of this episode were generated before this one.
        self.number = number
        #: C(n, a) for every action a: its first outcome, or None where the simulator was not asked yet.
        self.children: list[Node | None] = [None] * actions
        #: The outcome of the same action that was found after this one, if chance has brought another.
        self.next_outcome: Node | None = None
        #: How many draws of the action led here.
        self.draws = 1
        #: Whether no dice were consulted on the way here, so that the action has no other outcome.
        self.certain = True
        #: Kept from an earlier time step.
        self.cached = False
        #: Whether the state is novel, as far as it was tested in this time step.
        self.novel = True
        #: A feature that made the state novel in this time step, if it was tested and found novel.
        self.witness = NO_FEATURE
        #: Whether there is nothing left to look at below here in this time step.
        self.solved = False
        #: The actions whose child is not solved, whether it exists or not.
        self.unsolved = list(range(actions))
        #: pi_b(. | state), None until it is evaluated.
        self.base_policy = base_policy
        #: V^T(state), None until it is evaluated.
        self.termination_cost = termination_cost
        #: The hidden units of a network in this state, None until they are evaluated.
        self.units: NDArray[Any] | None = None
        #: V(n) of Definition 2, as of the last backup.
        self.value = 0.0

    def begin_time_step(self, *, cached: bool) -> None:
        """Be `cached` or not, and have labels of the new time step: novel and not solved."""
        self.cached = cached
        self.forget_labels()

    def forget_labels(self) -> None:
        """Be novel and not solved."""
        self.novel = True
        self.witness = NO_FEATURE
        self.solved = False
        self.unsolved = list(range(len(self.children)))

    def is_leaf(self) -> bool:
        """No action was tried here."""
        return not any(self.children)

    def offspring(self) -> Iterator[Node]:
        """All outcomes of all actions that were tried here."""
        for child in self.children:
            while child is not None:
                yield child
                child = child.next_outcome


def outcomes(first: Node | None) -> Iterator[Node]:
    """C(n, a), given its first outcome: all of them, as they were found."""
    while first is not None:
        yield first
        first = first.next_outcome
