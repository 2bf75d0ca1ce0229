"""Collecting in several worker processes, of this machine or of others, which may die.

A thread of this process talks to the workers, so that they never wait for whoever learns from their episodes. A
worker that dies is replaced, and what it was playing is played again from where it was ordered: since an episode
depends on nothing but the networks and its seed, nobody can tell the difference.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections import deque
from dataclasses import dataclass, field, replace
from multiprocessing.connection import wait
from typing import Any

from noveltree.collection.collector import Listener
from noveltree.collection.orders import Collected, Order
from noveltree.collection.placement import LocalPlacement, Placement, WorkerProcess
from noveltree.collection.worker_loop import Deploy, Pause, Spent, WorkArguments
from noveltree.errors import NoRoomError, SimulatorError
from noveltree.learning.deployment import Deployment
from noveltree.protocol import Protocol

#: So many deaths in a row, without an episode in between, and something is wrong with more than one worker, or with
#: more than the machine that several of them were on.
_MOST_DEATHS, _MOST_DEATHS_PER_WORKER = 5, 2


@dataclass(slots=True)
class _Worker:
    process: WorkerProcess
    playing: list[Order] = field(default_factory=list)
    dead: bool = False


class Workers:
    """Plays `at_once` episodes at a time in each of `workers` processes."""

    def __init__(
        self,
        protocol: Protocol,
        *,
        seed: int,
        workers: int,
        at_once: int,
        device: str = "cpu",
        placement: Placement | None = None,
    ) -> None:
        self.listener = Listener()
        self.may_lose_lanes = True
        self._arguments = WorkArguments(protocol.model_dump(mode="json"), seed, at_once, device)
        self._at_once = at_once
        self._placement = placement or LocalPlacement()
        self._deployment: Deployment | None = None
        self._orders: deque[Order] = deque()
        #: The workers that have played on each episode, and still have it if it is paused.
        self._homes: dict[tuple[int, int], _Worker] = {}
        self._results: queue.SimpleQueue[Collected | BaseException] = queue.SimpleQueue()
        self._deaths = 0
        self._pausing = False
        self._closing = threading.Event()
        #: Held by whoever sends to workers or replaces them.
        self._lock = threading.Lock()
        self._workers = [_Worker(process) for process in self._placement.start(self._arguments, workers)]
        self._thread = threading.Thread(target=self._talk, daemon=True)
        self._thread.start()

    @property
    def processes(self) -> list[int]:
        """The process ids of the workers."""
        return [worker.process.pid for worker in self._workers]

    def deploy(self, deployment: Deployment | None) -> None:
        with self._lock:
            self._deployment = deployment
            for worker in self._workers:
                with contextlib.suppress(OSError):  # a worker that is dead will be told when it is replaced
                    worker.process.connection.send(Deploy(deployment))

    def order(self, order: Order) -> None:
        self._orders.append(order)

    def pause(self) -> None:
        with self._lock:
            self._pausing = True
            for worker in self._workers:
                with contextlib.suppress(OSError):
                    worker.process.connection.send(Pause())

    def collect(self) -> Collected:
        result = self._results.get()
        if isinstance(result, BaseException):
            raise result
        return result

    def close(self) -> None:
        self._closing.set()
        self._thread.join()
        for worker in self._workers:
            worker.process.end()

    def _talk(self) -> None:
        """Hand out orders and take in episodes until the collector is closed."""
        try:
            while not self._closing.is_set():
                with self._lock:
                    self._replace_dead()
                    self._hand_out()
                for connection in wait([worker.process.connection for worker in self._workers], timeout=0.02):
                    self._take_in(connection)
        except BaseException as error:
            self._results.put(error)

    def _hand_out(self) -> None:
        """Give every order to the worker that has its episode, or to the one that plays the fewest and has room."""
        while self._orders and (living := [worker for worker in self._workers if not worker.dead]):
            order = self._orders[0]
            place = order.interval, order.index
            home = self._homes.get(place)
            at_home = home is not None and home in living
            worker = home if home is not None and at_home else min(living, key=lambda each: len(each.playing))
            if len(worker.playing) >= self._at_once and not (at_home or self._pausing):
                return
            self._orders.popleft()
            self._homes[place] = worker
            worker.playing.append(order)
            try:
                worker.process.connection.send(replace(order, paused=None) if at_home else order)
            except OSError:
                worker.dead = True

    def _take_in(self, connection: Any) -> None:
        worker = next(worker for worker in self._workers if worker.process.connection is connection)
        try:
            message = worker.process.connection.recv()
        except (EOFError, OSError):
            worker.dead = True
            return
        match message:
            case Spent(interactions):
                self.listener.interactions(interactions)
            case Collected():
                self._deaths = 0
                place = message.interval, message.index
                worker.playing = [order for order in worker.playing if (order.interval, order.index) != place]
                if message.over:
                    self._homes.pop(place, None)
                self.listener.collected(message)
                self._results.put(message)
            case _:
                raise message

    def _replace_dead(self) -> None:
        """Put new workers into the places of those that died, and their orders back to the front.

        If there is no room for them any more, since a machine is gone, the others go on without.
        """
        dead = [worker for worker in self._workers if worker.dead]
        if not dead:
            return
        for worker in dead:
            worker.process.end()
            self._orders.extendleft(reversed(worker.playing))
        self._deaths += len(dead)
        if self._deaths >= max(_MOST_DEATHS, _MOST_DEATHS_PER_WORKER * len(self._workers)):
            raise SimulatorError(
                f"Worker processes keep dying ({dead[0].process.died_of()}); "
                "perhaps there is not enough memory: try fewer workers, or fewer episodes at once."
            )
        self._workers = [worker for worker in self._workers if not worker.dead]
        try:
            started = self._placement.start(self._arguments, len(dead))
        except NoRoomError:
            if not self._workers:
                raise
            return
        for process in started:
            self._workers.append(_Worker(process))
            with contextlib.suppress(OSError):
                process.connection.send(Deploy(self._deployment))
                if self._pausing:
                    process.connection.send(Pause())
