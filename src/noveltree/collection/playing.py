"""Playing what is ordered, many episodes at once: what a collector in this process and a worker process share."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from noveltree.collection.collector import Collected, PathRecorder
from noveltree.episodes import Decision, Play, drive_stream
from noveltree.heuristics import UNINFORMED, Heuristics
from noveltree.learning.deployment import Deployment
from noveltree.protocol import Protocol


@dataclass(frozen=True, slots=True)
class Order:
    """An episode to play."""

    interval: int
    index: int


class Playing:
    """Plays orders, `at_once` of them at a time.

    It is the iterator from which the driver takes plays whenever it has room. Before that it calls `listen`, which
    may bring new orders.
    """

    def __init__(
        self,
        protocol: Protocol,
        *,
        seed: int,
        at_once: int,
        device: str,
        listen: Callable[[], None],
        decided: Callable[[Decision], None],
    ) -> None:
        self._protocol = protocol
        self._seed = seed
        self._at_once = at_once
        self._device = device
        self._listen = listen
        self._decided = decided
        self._simulator = protocol.make_simulator()
        self._heuristics: Heuristics = UNINFORMED
        self._driven_with: Heuristics = UNINFORMED
        self._orders: deque[Order] = deque()
        self._playing: dict[Play, tuple[Order, PathRecorder]] = {}

    def deploy(self, deployment: Deployment | None) -> None:
        """Begin episodes with these networks from now on."""
        self._heuristics = UNINFORMED if deployment is None else deployment.heuristics(device=self._device)

    def order(self, order: Order) -> None:
        self._orders.append(order)

    def run(self) -> Iterator[Collected]:
        """Play until nothing is ordered any more; each episode when it is over."""
        while self._orders:
            self._driven_with = self._heuristics
            for play in drive_stream(self, self._driven_with, at_once=self._at_once, on_decision=self._decided_in):
                order, recorder = self._playing.pop(play)
                episode = play.episode()
                yield Collected(order.interval, order.index, episode, recorder.path(episode))

    def close(self) -> None:
        self._simulator.close()

    def __iter__(self) -> Playing:
        return self

    def __next__(self) -> Play:
        self._listen()
        if not self._orders or self._heuristics is not self._driven_with:
            raise StopIteration  # for now; there may be more later, or with the networks that have just come
        order = self._orders.popleft()
        play = self._protocol.make_play(
            self._simulator, seed=self._seed, index=order.index, interval=order.interval
        )
        self._playing[play] = order, PathRecorder(play)
        return play

    def _decided_in(self, play: Play, decision: Decision) -> None:
        self._playing[play][1].decided(play, decision)
        self._decided(decision)
