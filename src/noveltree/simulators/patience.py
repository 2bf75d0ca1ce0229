"""Looking at a simulator that nobody knows yet: as many steps as usual, or as many as there is time for."""

from __future__ import annotations

import math
import time
import warnings

#: Seconds that one look at a simulator may take, unless said otherwise.
SECONDS = 10.0


class SlowSimulatorWarning(UserWarning):
    """Steps of a simulator take so long that less was established of it than usual."""


class Patience:
    """Says whether to take one step more: `usual` steps, or as many as `seconds` allow, but one in any case."""

    def __init__(self, usual: int, seconds: float = SECONDS) -> None:
        self.usual, self.taken = usual, 0
        #: Whether time was up before all steps were taken.
        self.cut_short = False
        self._seconds, self._began = seconds, time.perf_counter()
        self._last, self._quickest = self._began, math.inf

    def more(self) -> bool:
        """Whether to take a step more; asked before each of them."""
        now = time.perf_counter()
        if self.taken:
            # The first step may be slow for once, if something is compiled.
            self._quickest = min(self._quickest, now - self._last)
        self._last, elapsed = now, now - self._began
        ahead = self._quickest if self.taken > 1 else 0.0
        if self.taken == self.usual:
            return False
        self.cut_short = self.taken > 0 and elapsed + ahead > self._seconds
        self.taken += not self.cut_short
        return not self.cut_short

    @property
    def count(self) -> int:
        """How many steps to go by: those that were taken or, if time was up, a power of two.

        What is concluded from so many steps is concluded again on a machine that is about as fast.
        """
        return 2 ** int(math.log2(self.taken)) if self.cut_short else self.taken


def warn_of_slowness(whose: str, *looks: str) -> None:
    """Say of a slow simulator what was established of it with fewer steps than usual."""
    warnings.warn(f"Steps of {whose} take long: {'; '.join(looks)}.", SlowSimulatorWarning, stacklevel=3)
