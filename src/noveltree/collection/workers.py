"""Collecting in several worker processes, which may die.

A thread of this process talks to the workers, so that they never wait for whoever learns from their episodes. A
worker that dies is replaced, and the episodes it was playing are played again from their beginning: since an
episode depends on nothing but the networks and its seed, nobody can tell the difference.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.resource_tracker
import os
import queue
import signal
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from noveltree.collection.collector import Collected, Listener
from noveltree.collection.playing import Order, Playing
from noveltree.collection.process import prepare_process
from noveltree.episodes import Decision
from noveltree.errors import InputError, NoveltreeError, SimulatorError
from noveltree.learning.deployment import Deployment
from noveltree.protocol import Protocol

#: So many deaths in a row, without an episode in between, and something is wrong with more than one worker.
_MOST_DEATHS = 5
_SECONDS_BETWEEN_REPORTS = 0.5


@dataclass(frozen=True, slots=True)
class _Spent:
    """A worker's report of what it has spent since the last one."""

    interactions: int


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    connection: Connection
    playing: list[Order] = field(default_factory=list)


class Workers:
    """Plays `at_once` episodes at a time in each of `workers` processes."""

    def __init__(self, protocol: Protocol, *, seed: int, workers: int, at_once: int, device: str = "cpu") -> None:
        self.listener = Listener()
        self._arguments = (protocol.model_dump(mode="json"), seed, at_once, device)
        self._at_once = at_once
        self._context = multiprocessing.get_context("spawn")
        self._deployment: Deployment | None = None
        self._orders: deque[Order] = deque()
        self._results: queue.SimpleQueue[Collected | BaseException] = queue.SimpleQueue()
        self._deaths = 0
        self._closing = threading.Event()
        #: Held by whoever sends to workers or replaces them.
        self._lock = threading.Lock()
        self._workers = [self._start() for _ in range(workers)]
        self._thread = threading.Thread(target=self._talk, daemon=True)
        self._thread.start()

    @property
    def processes(self) -> list[int]:
        """The process ids of the workers."""
        return [worker.process.pid or 0 for worker in self._workers]

    def deploy(self, deployment: Deployment | None) -> None:
        with self._lock:
            self._deployment = deployment
            for worker in self._workers:
                with contextlib.suppress(OSError):  # a worker that is dead will be told when it is replaced
                    worker.connection.send(deployment)

    def order(self, interval: int, index: int) -> None:
        self._orders.append(Order(interval, index))

    def collect(self) -> Collected:
        result = self._results.get()
        if isinstance(result, BaseException):
            raise result
        return result

    def close(self) -> None:
        self._closing.set()
        self._thread.join()
        for worker in self._workers:
            _end(worker)

    def _talk(self) -> None:
        """Hand out orders and take in episodes until the collector is closed."""
        try:
            while not self._closing.is_set():
                with self._lock:
                    self._hand_out()
                for connection in wait([worker.connection for worker in self._workers], timeout=0.02):
                    self._take_in(connection)
        except BaseException as error:
            self._results.put(error)

    def _hand_out(self) -> None:
        """Give every order to the worker that plays the fewest, as long as one has room."""
        while self._orders:
            worker = min(self._workers, key=lambda worker: len(worker.playing))
            if len(worker.playing) >= self._at_once:
                return
            worker.playing.append(self._orders.popleft())
            try:
                worker.connection.send(worker.playing[-1])
            except OSError:
                self._replace(worker)

    def _take_in(self, connection: Any) -> None:
        worker = next(worker for worker in self._workers if worker.connection is connection)
        try:
            message = worker.connection.recv()
        except (EOFError, OSError):
            with self._lock:
                self._replace(worker)
            return
        match message:
            case _Spent(interactions):
                self.listener.interactions(interactions)
            case Collected():
                self._deaths = 0
                worker.playing.remove(Order(message.interval, message.index))
                self.listener.collected(message)
                self._results.put(message)
            case _:
                raise message

    def _replace(self, worker: _Worker) -> None:
        """Put a new worker into the place of one that died, and its orders back to the front."""
        _end(worker)
        self._orders.extendleft(reversed(worker.playing))
        self._deaths += 1
        if self._deaths >= _MOST_DEATHS:
            raise SimulatorError(
                f"Worker processes keep dying (exit code {worker.process.exitcode}); "
                "perhaps there is not enough memory: try fewer workers, or fewer episodes at once."
            )
        successor = self._start()
        self._workers[self._workers.index(worker)] = successor
        with contextlib.suppress(OSError):
            successor.connection.send(self._deployment)

    def _start(self) -> _Worker:
        here, there = self._context.Pipe()
        process = self._context.Process(target=_work, args=(there, os.getpid(), *self._arguments), daemon=True)
        # Ctrl-C is for this process, which then ends its workers: they inherit that they do not heed it. A tracker
        # that is started in between would heed it again.
        multiprocessing.resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        there.close()
        return _Worker(process, here)


def _end(worker: _Worker) -> None:
    worker.process.kill()
    worker.process.join()
    worker.connection.close()


def _work(
    connection: Connection, parent: int, protocol: dict[str, Any], seed: int, at_once: int, device: str
) -> None:
    """What a worker process does: play what it is told to until whoever told it is gone."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    prepare_process()
    with contextlib.suppress(EOFError, OSError):
        try:
            _Work(connection, parent, Protocol.model_validate(protocol), seed, at_once, device).run()
        except InputError as error:
            connection.send(InputError(str(error)))
        except NoveltreeError as error:
            connection.send(SimulatorError(str(error)))
        except (EOFError, OSError):
            raise
        except Exception as error:
            connection.send(SimulatorError(f"A worker failed: {type(error).__name__}: {error}"))


class _Work:
    """A worker's side of the conversation."""

    def __init__(
        self, connection: Connection, parent: int, protocol: Protocol, seed: int, at_once: int, device: str
    ) -> None:
        self._connection = connection
        self._parent = parent
        self._playing = Playing(
            protocol, seed=seed, at_once=at_once, device=device, listen=self._listen, decided=self._decided
        )
        self._spent = 0
        self._reported = time.monotonic()

    def run(self) -> None:
        while True:
            self._take_in(self._connection.recv())
            for collected in self._playing.run():
                self._report()
                self._connection.send(collected)

    def _listen(self) -> None:
        while self._connection.poll():
            self._take_in(self._connection.recv())

    def _take_in(self, message: Order | Deployment | None) -> None:
        if isinstance(message, Order):
            self._playing.order(message)
        else:  # comes when nothing is being played
            self._playing.deploy(message)

    def _decided(self, decision: Decision) -> None:
        self._spent += decision.interactions
        if time.monotonic() - self._reported > _SECONDS_BETWEEN_REPORTS:
            self._report()
            if os.getppid() != self._parent:
                raise EOFError  # nobody is interested any more

    def _report(self) -> None:
        self._connection.send(_Spent(self._spent))
        self._spent = 0
        self._reported = time.monotonic()
