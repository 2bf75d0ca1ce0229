"""Collecting in this process: many episodes at once, whose questions are answered in one batch."""

from __future__ import annotations

from collections.abc import Iterator

from noveltree.collection.collector import Listener
from noveltree.collection.lanes import Lanes
from noveltree.collection.orders import Collected, Order
from noveltree.episodes import Decision
from noveltree.errors import InputError
from noveltree.learning.deployment import Deployment
from noveltree.protocol import Protocol


class InProcess:
    """Plays `at_once` episodes at a time, whenever one is to be collected."""

    def __init__(self, protocol: Protocol, *, seed: int, at_once: int, device: str = "cpu") -> None:
        self.listener = Listener()
        self.may_lose_lanes = False
        self._lanes = Lanes(
            protocol, seed=seed, at_once=at_once, device=device, listen=lambda: None, decided=self._decided
        )
        self._collecting: Iterator[Collected] = iter(())

    def deploy(self, deployment: Deployment | None) -> None:
        self._lanes.deploy(deployment)

    def order(self, order: Order) -> None:
        self._lanes.order(order)

    def collect(self) -> Collected:
        collected = next(self._collecting, None)
        if collected is None:  # all that was ordered then is played
            self._collecting = self._lanes.run()
            collected = next(self._collecting, None)
        if collected is None:
            raise InputError("There is nothing to collect: no episode was ordered.")
        self.listener.collected(collected)
        return collected

    def pause(self) -> None:
        self._lanes.pause()

    def close(self) -> None:
        self._lanes.close()

    def _decided(self, decision: Decision) -> None:
        self.listener.interactions(decision.interactions)
