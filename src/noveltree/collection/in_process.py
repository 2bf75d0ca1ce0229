"""Collecting in this process: many episodes at once, whose questions are answered in one batch."""

from __future__ import annotations

from collections.abc import Iterator

from noveltree.collection.collector import Collected, Listener
from noveltree.collection.playing import Order, Playing
from noveltree.episodes import Decision
from noveltree.errors import InputError
from noveltree.learning.deployment import Deployment
from noveltree.protocol import Protocol


class InProcess:
    """Plays `at_once` episodes at a time, whenever one is to be collected."""

    def __init__(self, protocol: Protocol, *, seed: int, at_once: int, device: str = "cpu") -> None:
        self.listener = Listener()
        self._playing = Playing(
            protocol, seed=seed, at_once=at_once, device=device, listen=lambda: None, decided=self._decided
        )
        self._collecting: Iterator[Collected] = iter(())

    def deploy(self, deployment: Deployment | None) -> None:
        self._playing.deploy(deployment)

    def order(self, interval: int, index: int) -> None:
        self._playing.order(Order(interval, index))

    def collect(self) -> Collected:
        collected = next(self._collecting, None)
        if collected is None:  # all that was ordered then is played
            self._collecting = self._playing.run()
            collected = next(self._collecting, None)
        if collected is None:
            raise InputError("There is nothing to collect: no episode was ordered.")
        self.listener.collected(collected)
        return collected

    def close(self) -> None:
        self._playing.close()

    def _decided(self, decision: Decision) -> None:
        self.listener.interactions(decision.interactions)
