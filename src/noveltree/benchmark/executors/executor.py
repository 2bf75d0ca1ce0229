"""What every executor offers."""

from __future__ import annotations

from typing import Protocol

from noveltree.benchmark.supervise import Outcome
from noveltree.benchmark.trial_process import Task


class Executor(Protocol):
    """Runs trials, several at once."""

    def capacity(self) -> int:
        """How many trials can run at once now; on a cluster this may change."""
        ...

    def submit(self, name: str, task: Task) -> None:
        """Have a trial run."""
        ...

    def wait(self, seconds: float) -> list[tuple[str, Outcome]]:
        """The trials that have ended, and how; wait for at least one, but no longer than `seconds`."""
        ...

    def stop(self) -> list[tuple[str, Outcome]]:
        """End all that still runs; how each ended."""
        ...

    def close(self) -> None:
        """Release what the executor holds. Nothing runs any more."""
        ...
