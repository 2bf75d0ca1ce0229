"""Budgets: how much may be looked at before a decision.

A budget is declared once and starts a meter at every time step. The meter is asked before each interaction.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

from noveltree.errors import InputError
from noveltree.tree import Lookahead


class Meter(Protocol):
    """What is left of a budget in the current time step."""

    def exhausted(self, lookahead: Lookahead, *, besides: int = 0) -> bool:
        """Must planning stop before the next interaction?

        `besides` is what a planner did without the simulator and counts like so many interactions.
        """
        ...


class Budget(Protocol):
    """How much may be looked at before each decision."""

    def start(self) -> Meter:
        """Begin a time step."""
        ...


#: Transitions that may come for free with each interaction: in a small world all are known soon, and rollouts
#: that cost nothing would never end.
_FREE_PER_INTERACTION = 10


@dataclass(frozen=True, slots=True)
class Interactions:
    """At most `limit` calls of the simulator. What is not spent is not carried over."""

    limit: int

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise InputError(f"A budget must be at least 1 interaction, not {self.limit}.")

    def start(self) -> Meter:
        return self  # nothing but the lookahead's own count changes within a time step

    def exhausted(self, lookahead: Lookahead, *, besides: int = 0) -> bool:
        spent = lookahead.interactions + besides >= self.limit
        return spent or lookahead.for_free >= _FREE_PER_INTERACTION * self.limit


def frames(limit: int, *, frame_skip: int) -> Interactions:
    """At most `limit` emulated frames, that is whole interactions of `frame_skip` frames."""
    if limit < frame_skip:
        raise InputError(f"A budget of {limit} frames is less than one interaction of {frame_skip} frames.")
    return Interactions(limit // frame_skip)


@dataclass(frozen=True, slots=True)
class Seconds:
    """At most `limit` seconds by the wall clock."""

    limit: float

    def __post_init__(self) -> None:
        if not self.limit > 0:
            raise InputError(f"A budget must be more than 0 seconds, not {self.limit:g}.")

    def start(self) -> Meter:
        return _Stopwatch(self.limit)


@dataclass(frozen=True, slots=True)
class Bounded:
    """A budget that is exhausted, too, as soon as the lookahead holds `nodes` nodes."""

    budget: Budget
    nodes: int

    def start(self) -> Meter:
        return _Bound(self.budget.start(), self.nodes)


@dataclass(frozen=True, slots=True)
class _Bound:
    meter: Meter
    nodes: int

    def exhausted(self, lookahead: Lookahead, *, besides: int = 0) -> bool:
        return _nodes(lookahead) >= self.nodes or self.meter.exhausted(lookahead, besides=besides)


class _Stopwatch:
    """Stops early enough for one more interaction, and for what is left to do with all nodes, to end in time."""

    # Backing values up, comparing subtrees, and freeing what is not kept: about 3 microseconds a node, measured.
    _CLOSING_SECONDS_PER_NODE = 5e-6

    __slots__ = ("_deadline", "_last", "_longest")

    def __init__(self, limit: float) -> None:
        self._last = time.perf_counter()
        self._deadline = self._last + limit
        self._longest = 0.0

    def exhausted(self, lookahead: Lookahead, *, besides: int = 0) -> bool:
        now = time.perf_counter()
        # The longest of the recent interactions; a single hiccup is forgotten within a few dozen.
        self._longest = max(0.95 * self._longest, now - self._last)
        self._last = now
        closing = _nodes(lookahead) * self._CLOSING_SECONDS_PER_NODE
        return now + self._longest + closing >= self._deadline


def _nodes(lookahead: Lookahead) -> int:
    """About how many nodes there are: those that were kept, and one for each transition of this time step."""
    return lookahead.cached + lookahead.interactions + lookahead.for_free
