"""A budget that tells somebody before each interaction, who may let the planner wait: nobody else pays for it."""

from __future__ import annotations

import time
from collections.abc import Callable

from noveltree.lookahead import Budget, Meter, Seconds
from noveltree.tree import Lookahead

#: Told before each interaction, and before each rollout, while a lookahead grows.
Watch = Callable[[Lookahead], None]


class Watched:
    """A budget around another one. Time that the planner waited is not spent."""

    def __init__(self, budget: Budget, watch: Watch) -> None:
        self.budget = budget
        self._watch = watch
        self._meter: Meter = budget.start()
        self._left = 0.0

    def start(self) -> Meter:
        self._meter = self.budget.start()
        self._left = self.budget.limit if isinstance(self.budget, Seconds) else 0.0
        self._since = time.perf_counter()
        return self

    def change(self, budget: Budget) -> None:
        """Go on with another budget, in the middle of a decision too."""
        self.budget = budget
        self.start()

    def exhausted(self, lookahead: Lookahead, *, besides: int = 0) -> bool:
        stopped = time.perf_counter()
        self._watch(lookahead)
        if isinstance(self.budget, Seconds):
            self._left -= stopped - self._since
            self._since = time.perf_counter()
            if self._left <= 0:
                return True
            self._meter = Seconds(self._left).start()
        return self._meter.exhausted(lookahead, besides=besides)
