"""What a trial tells whoever watches it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from noveltree.learning.schedule import Verdict

Stage = Literal["playing", "learning", "evaluating"]
_SECONDS_BETWEEN_REPORTS = 0.1


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a trial is."""

    stage: Stage
    interval: int
    interactions: int
    """Spent so far, in all intervals."""
    replayed: int
    """How many of them were not played now but replayed from what was recorded."""
    returns: tuple[float, ...]
    """Of this interval's episodes that were learnt from, or of the evaluation's."""
    last_return: float | None
    """The mean return of the interval before."""
    verdict: Verdict | None
    """On the interval before."""
    trained: tuple[int, int] | None = None
    """Batches that networks were trained on, and those that they will be, if they are trained once."""
    pays: tuple[float, ...] = ()
    """What a decision paid in each interval so far, where episodes are longer than intervals."""
    foresight: tuple[float, ...] = ()
    """The loss of the policy on what was new in each interval so far, before it was trained on it."""


def _ignore(told: Any) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Watcher:
    """Who is told what happens in a trial: perhaps in another thread than the one that trains."""

    progress: Callable[[Progress], None] = _ignore
    metrics: Callable[[dict[str, Any]], None] = _ignore
    notice: Callable[[str], None] = _ignore


class Tracker:
    """Tracks progress, and reports it a few times a second."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._last_report = 0.0
        self.stage: Stage = "playing"
        self.interval = 0
        self.spent = self.replayed = 0
        self.returns: tuple[float, ...] = ()
        self.last_return: float | None = None
        self.verdict: Verdict | None = None
        self.trained: tuple[int, int] | None = None
        self.pays: tuple[float, ...] = ()
        self.foresight: tuple[float, ...] = ()

    def add_interactions(self, interactions: int) -> None:
        """Count interactions as they are spent."""
        self.spent += interactions
        self.report()

    def report(self, *, always: bool = False) -> None:
        """Report how far the trial is; unless `always`, only if the last report was not just now."""
        now = time.monotonic()
        if not always and now - self._last_report < _SECONDS_BETWEEN_REPORTS:
            return
        self._last_report = now
        self._watcher.progress(
            Progress(
                stage=self.stage,
                interval=self.interval,
                interactions=self.spent,
                replayed=self.replayed,
                returns=self.returns,
                last_return=self.last_return,
                verdict=self.verdict,
                trained=self.trained,
                pays=self.pays,
                foresight=self.foresight,
            )
        )
