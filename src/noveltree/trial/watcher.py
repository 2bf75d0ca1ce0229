"""What a trial tells whoever watches it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from noveltree.learning.schedule import Verdict


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a trial is, for whoever watches it."""

    interval: int
    interactions: int
    """Spent so far, in all intervals."""
    returns: tuple[float, ...]
    """Of this interval's episodes that were learnt from."""
    previous_return: float | None
    """The mean return of the interval before."""
    verdict: Verdict | None
    """On the interval before."""
    stage: str
    """What is being done: playing, learning or evaluating."""


@dataclass(frozen=True, slots=True)
class Watcher:
    """Who is told what happens in a trial."""

    progress: Callable[[Progress], None] = lambda progress: None
    metrics: Callable[[dict[str, Any]], None] = lambda line: None
    notice: Callable[[str], None] = lambda text: None
