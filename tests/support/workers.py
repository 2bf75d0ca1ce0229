"""Workers that die."""

from __future__ import annotations

import os
import signal

from noveltree.collection import Collected, Workers
from noveltree.protocol import Protocol


class DyingWorkers(Workers):
    """Two workers of which one is killed after every few results, in the middle of its work, four times."""

    def __init__(self, protocol: Protocol, *, every: int) -> None:
        super().__init__(protocol, seed=0, workers=2, at_once=2)
        self.deaths = 0
        self._every = every
        self._collected = 0

    def collect(self) -> Collected:
        collected = super().collect()
        self._collected += 1
        if self._collected % self._every == 0 and self.deaths < 4:
            os.kill(self.processes[self.deaths % 2], signal.SIGKILL)
            self.deaths += 1
        return collected
