"""What a trial tells whoever watches it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from noveltree.learning.schedule import Verdict

Stage = Literal["playing", "learning", "evaluating"]


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


def _ignore(told: Any) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Watcher:
    """Who is told what happens in a trial: perhaps in another thread than the one that trains."""

    progress: Callable[[Progress], None] = _ignore
    metrics: Callable[[dict[str, Any]], None] = _ignore
    notice: Callable[[str], None] = _ignore
