"""What every way of collecting episodes offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noveltree.episodes import Decision, End, Episode, Play
from noveltree.learning.deployment import Deployment
from noveltree.learning.experience import CriticalPath


@dataclass(frozen=True, slots=True)
class Collected:
    """An episode of an interval, and its critical path to learn from."""

    interval: int
    index: int
    episode: Episode
    path: CriticalPath


def _ignore(told: Any) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Listener:
    """Who is told what happens while episodes are collected, perhaps in another thread."""

    collected: Callable[[Collected], None] = _ignore
    """Of every episode as soon as it is over, in whatever order that is."""
    interactions: Callable[[int], None] = _ignore
    """Of interactions as they are spent."""


class Collector(Protocol):
    """Plays the episodes that are ordered, with the networks that are deployed."""

    listener: Listener

    def deploy(self, deployment: Deployment | None) -> None:
        """Play with these networks from now on; None: a uniform policy and a termination cost of zero.

        All episodes that were ordered must have been collected.
        """
        ...

    def order(self, interval: int, index: int) -> None:
        """Have this episode played. Orders may come while others are being played."""
        ...

    def collect(self) -> Collected:
        """An episode that was ordered and is over; wait for it if there is none yet."""
        ...

    def close(self) -> None:
        """Release what the collector holds."""
        ...


def collect_all(collector: Collector, interval: int, indices: Iterable[int]) -> Iterator[Collected]:
    """Order these episodes of an interval, and return each when it is over."""
    ordered = list(indices)
    for index in ordered:
        collector.order(interval, index)
    for _ in ordered:
        yield collector.collect()


class PathRecorder:
    """Keeps what is observed along a critical path while it is played."""

    def __init__(self, play: Play) -> None:
        self._observations: list[NDArray[Any]] = [play.lookahead.root.state.observation]

    def decided(self, play: Play, decision: Decision) -> None:
        """Take in the state that a decision led to."""
        self._observations.append(play.lookahead.root.state.observation)

    def path(self, episode: Episode) -> CriticalPath:
        return make_path(self._observations, episode)


def make_path(observations: Sequence[NDArray[Any]], episode: Episode) -> CriticalPath:
    """The critical path of an episode in which this was observed."""
    return CriticalPath(
        observations=np.stack(observations),
        actions=np.array(episode.actions, dtype=np.int64),
        rewards=np.array(episode.rewards, dtype=np.float64),
        terminal=episode.end is End.TERMINAL,
    )
