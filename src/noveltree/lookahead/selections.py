"""The ways to choose the action that is executed, by name."""

from __future__ import annotations

from collections.abc import Callable

from noveltree.lookahead.action_selection import (
    TEMPERATURE,
    ActionSelection,
    best_action,
    by_policy,
    larger_subtree,
    longest_branch,
    random_tie,
    softmax_action,
)
from noveltree.lookahead.unseen import UnseenIfIdle

#: Time steps after which what an episode has seen is unseen again, where it forgets.
_LATELY = 100

#: How the action to execute is chosen, by how ties are broken; made anew for every episode, which it may remember.
SELECTIONS: dict[str, Callable[[], ActionSelection]] = {
    "random": lambda: best_action(random_tie),
    "larger-subtree": lambda: best_action(larger_subtree),
    "unseen-if-idle": UnseenIfIdle,
    "unseen-lately-if-idle": lambda: UnseenIfIdle(forgets_after=_LATELY),
    "policy": lambda: best_action(by_policy),
    "longest-branch": lambda: best_action(longest_branch),
    "softmax": lambda: softmax_action(TEMPERATURE),
    "product": lambda: softmax_action(TEMPERATURE, times_sizes=True),
}
