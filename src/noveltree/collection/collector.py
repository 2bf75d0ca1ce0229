"""What every way of collecting episodes offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from noveltree.collection.orders import Collected, Order
from noveltree.learning.deployment import Deployment


def _ignore(told: Any) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Listener:
    """Who is told what happens while episodes are collected, perhaps in another thread."""

    collected: Callable[[Collected], None] = _ignore
    """Of every order as soon as it is done, in whatever order that is."""
    interactions: Callable[[int], None] = _ignore
    """Of interactions as they are spent."""


class Collector(Protocol):
    """Plays the episodes that are ordered, with the networks that are deployed."""

    listener: Listener
    may_lose_lanes: bool
    """Whether a paused episode can get lost, because a process that has it may die alone."""

    def deploy(self, deployment: Deployment | None) -> None:
        """Play with these networks from now on; None: a uniform policy and a termination cost of zero.

        Everything that was ordered must have been collected. Episodes that are paused go on with these networks.
        """
        ...

    def order(self, order: Order) -> None:
        """Have this played. Orders may come while others are being played."""
        ...

    def collect(self) -> Collected:
        """An order that is done; wait for it if there is none yet."""
        ...

    def pause(self) -> None:
        """Have everything that is ordered paused after the decision that is being made, and stored.

        What was ordered is still to be collected. What was not begun yet comes back as it was ordered.
        """
        ...

    def close(self) -> None:
        """Release what the collector holds."""
        ...


def collect_all(collector: Collector, orders: Iterable[Order]) -> Iterator[Collected]:
    """Order all of these, and return each when it is done."""
    count = 0
    for order in orders:
        collector.order(order)
        count += 1
    for _ in range(count):
        yield collector.collect()
