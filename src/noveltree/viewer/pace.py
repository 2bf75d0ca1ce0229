"""How time passes on a stage: what a decision took, when it is shown while it grows, and how it is spread out."""

from __future__ import annotations

import time

from noveltree.lookahead import Interactions
from noveltree.tree import Lookahead
from noveltree.viewer.screens import seconds_per_decision
from noveltree.viewer.seat import Seat

#: While a lookahead grows it is shown so often at most, and showing it may take so little of the time.
_SHOWN_EVERY = 0.05
_SHARE_OF_TIME = 0.04
#: How much of a time step the growing of a lookahead is spread over.
_SPREAD = 0.8
#: Waiting for less is not worth it.
_SHORT = 0.004


class Pace:
    """Times of the decision in progress. `speed`: 1 is that of the console, 0 as fast as planning goes."""

    def __init__(self) -> None:
        self.speed = 1.0
        self._began = self._since = self._spent = 0.0
        self._shown_at = self._cost = self._executed = 0.0

    def begin(self) -> None:
        """A decision begins."""
        self._began = self._since = time.perf_counter()
        self._spent = self._shown_at = self._cost = 0.0

    def stop(self) -> None:
        """The planner has to wait: that is not time it takes."""
        self._spent += time.perf_counter() - self._since

    def resume(self) -> None:
        self._since = time.perf_counter()

    @property
    def seconds(self) -> float:
        """What planning has taken while it was not stopped."""
        return self._spent

    @property
    def growth_is_due(self) -> bool:
        """Whether the growing lookahead should be shown again."""
        return time.perf_counter() - self._shown_at >= max(_SHOWN_EVERY, self._cost / _SHARE_OF_TIME)

    def growth_shown(self, began: float) -> None:
        """The growing lookahead was shown, which began at a time."""
        self._shown_at = time.perf_counter()
        self._cost = self._shown_at - began

    def executed(self) -> None:
        """An action was executed now: the next one follows a time step later."""
        self._executed = time.perf_counter()

    def begin_episode(self) -> None:
        self._executed = 0.0

    def next_execution(self, seat: Seat) -> float:
        """When the next action is executed."""
        return self._executed + self._length_of_step(seat)

    def next_interaction(self, seat: Seat, lookahead: Lookahead) -> float:
        """When planning goes on: at the speed of the console and below it is spread over most of a time step."""
        budget = seat.budget.budget
        if not 0 < self.speed <= 1 or not isinstance(budget, Interactions):
            return 0.0
        length = _SPREAD * self._length_of_step(seat) * min(1.0, lookahead.interactions / budget.limit)
        due = self._began + length
        return due if due - time.perf_counter() > _SHORT else 0.0

    def _length_of_step(self, seat: Seat) -> float:
        """Seconds that a time step takes on the page."""
        length = seconds_per_decision(seat.simulator, seat.protocol.frame_skip)
        return length / self.speed if self.speed else 0.0
