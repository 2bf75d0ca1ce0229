"""Collecting in several worker processes, which may die.

A thread of this process talks to the workers, so that they never wait for whoever learns from their episodes. A
worker that dies is replaced, and the episodes it was playing are played again from their beginning: since an
episode depends on nothing but the networks and its seed, nobody can tell the difference.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from noveltree.collection.collector import Collected, OnCollected, OnInteractions, PathRecorder
from noveltree.episodes import Decision, Play, drive_stream
from noveltree.errors import NoveltreeError, SimulatorError
from noveltree.evaluation import UNINFORMED, Evaluation
from noveltree.learning.inference import Deployment
from noveltree.protocol import Protocol

#: So many deaths in a row, without an episode in between, and something is wrong with more than one worker.
_MOST_DEATHS = 5
_SECONDS_BETWEEN_REPORTS = 0.5


@dataclass(frozen=True, slots=True)
class _Task:
    """An episode to play."""

    interval: int
    index: int


@dataclass(frozen=True, slots=True)
class _Spent:
    """A worker's report of what it has spent since the last one."""

    interactions: int


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    connection: Connection
    playing: list[_Task] = field(default_factory=list)


class Workers:
    """Plays `at_once` episodes at a time in each of `workers` processes."""

    def __init__(self, protocol: Protocol, *, seed: int, workers: int, at_once: int, device: str = "cpu") -> None:
        self._arguments = (protocol.model_dump(mode="json"), seed, at_once, device)
        self._at_once = at_once
        self._context = multiprocessing.get_context("spawn")
        self._deployment: Deployment | None = None
        self._workers = [self._start() for _ in range(workers)]
        self._deaths = 0
        self._pump: threading.Thread | None = None

    @property
    def processes(self) -> list[int]:
        """The process ids of the workers."""
        return [worker.process.pid or 0 for worker in self._workers]

    def deploy(self, deployment: Deployment | None) -> None:
        self._deployment = deployment
        for worker in self._workers:
            with contextlib.suppress(OSError):  # a worker that is dead will be told when it is replaced
                worker.connection.send(deployment)

    def collect(
        self, interval: int, indices: Sequence[int], on_collected: OnCollected, on_interactions: OnInteractions
    ) -> Iterator[Collected]:
        results: queue.SimpleQueue[Collected | BaseException] = queue.SimpleQueue()
        tasks = deque(_Task(interval, index) for index in indices)
        stop = threading.Event()

        def pump() -> None:
            try:
                self._run(tasks, stop, results, on_collected, on_interactions)
            except BaseException as error:
                results.put(error)

        # It starts now, not when the first result is asked for: workers play while recorded episodes are replayed.
        thread = threading.Thread(target=pump, daemon=True)
        thread.start()
        return self._results(len(indices), results, stop, thread)

    def close(self) -> None:
        for worker in self._workers:
            worker.process.kill()
            worker.process.join()
            worker.connection.close()

    def _results(
        self,
        count: int,
        results: queue.SimpleQueue[Collected | BaseException],
        stop: threading.Event,
        thread: threading.Thread,
    ) -> Iterator[Collected]:
        try:
            for _ in range(count):
                result = results.get()
                if isinstance(result, BaseException):
                    raise result
                yield result
        finally:
            stop.set()
            thread.join()

    def _run(
        self,
        tasks: deque[_Task],
        stop: threading.Event,
        results: queue.SimpleQueue[Collected | BaseException],
        on_collected: OnCollected,
        on_interactions: OnInteractions,
    ) -> None:
        while not stop.is_set():
            self._hand_out(tasks)
            if not any(worker.playing for worker in self._workers):
                return
            ready = wait([worker.connection for worker in self._workers], timeout=0.1)
            for number, worker in enumerate(self._workers):
                if worker.connection not in ready:
                    continue
                try:
                    message = worker.connection.recv()
                except (EOFError, OSError):
                    tasks.extendleft(reversed(worker.playing))
                    self._replace(number)
                    continue
                match message:
                    case _Spent(interactions):
                        on_interactions(interactions)
                    case Collected():
                        self._deaths = 0
                        worker.playing.remove(_Task(message.interval, message.index))
                        on_collected(message)
                        results.put(message)
                    case _:
                        raise message

    def _hand_out(self, tasks: deque[_Task]) -> None:
        """Give every task to the worker that plays the fewest, as long as one has room."""
        while tasks:
            number, worker = min(enumerate(self._workers), key=lambda pair: len(pair[1].playing))
            if len(worker.playing) >= self._at_once:
                return
            worker.playing.append(tasks.popleft())
            try:
                worker.connection.send(worker.playing[-1])
            except OSError:
                tasks.extendleft(reversed(worker.playing))
                self._replace(number)

    def _replace(self, number: int) -> None:
        worker = self._workers[number]
        worker.process.kill()
        worker.process.join()
        worker.connection.close()
        self._deaths += 1
        if self._deaths >= _MOST_DEATHS:
            raise SimulatorError(
                f"Worker processes keep dying (exit code {worker.process.exitcode}); "
                "perhaps there is not enough memory: try fewer workers, or fewer episodes at once."
            )
        self._workers[number] = self._start()
        with contextlib.suppress(OSError):
            self._workers[number].connection.send(self._deployment)

    def _start(self) -> _Worker:
        here, there = self._context.Pipe()
        process = self._context.Process(target=_work, args=(there, os.getpid(), *self._arguments), daemon=True)
        process.start()
        there.close()
        return _Worker(process, here)


def _work(
    connection: Connection, parent: int, protocol: dict[str, Any], seed: int, at_once: int, device: str
) -> None:
    """What a worker process does: play what it is told to until whoever told it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then ends its workers
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with contextlib.suppress(EOFError, OSError):
        try:
            _Playing(connection, parent, Protocol.model_validate(protocol), seed, at_once, device).run()
        except NoveltreeError as error:
            connection.send(error)
        except (EOFError, OSError):
            raise
        except Exception as error:
            connection.send(SimulatorError(f"A worker failed: {type(error).__name__}: {error}"))


class _Playing:
    """A worker's side: an iterator over the plays it is told to begin, without waiting while others go on."""

    def __init__(
        self, connection: Connection, parent: int, protocol: Protocol, seed: int, at_once: int, device: str
    ) -> None:
        self._connection = connection
        self._parent = parent
        self._protocol = protocol
        self._seed = seed
        self._at_once = at_once
        self._device = device
        self._simulator = protocol.make_simulator()
        self._evaluation: Evaluation = UNINFORMED
        self._driven_with: Evaluation = UNINFORMED
        self._tasks: dict[Play, _Task] = {}
        self._recorders: dict[Play, PathRecorder] = {}
        self._begin: deque[_Task] = deque()
        self._spent = 0
        self._reported = time.monotonic()

    def run(self) -> None:
        while True:
            if not self._begin:
                self._listen()
            self._driven_with = self._evaluation
            plays = drive_stream(self, self._evaluation, at_once=self._at_once, on_decision=self._decided)
            for play in plays:
                task = self._tasks.pop(play)
                episode = play.episode()
                path = self._recorders.pop(play).path(episode)
                self._report()
                self._connection.send(Collected(task.interval, task.index, episode, path))

    def __iter__(self) -> _Playing:
        return self

    def __next__(self) -> Play:
        while self._connection.poll():
            self._listen()
        if not self._begin or self._evaluation is not self._driven_with:
            raise StopIteration  # for now; there may be more later, or with the networks that have just come
        task = self._begin.popleft()
        play = self._protocol.make_play(self._simulator, seed=self._seed, index=task.index, interval=task.interval)
        self._tasks[play] = task
        self._recorders[play] = PathRecorder(play)
        return play

    def _listen(self) -> None:
        """Take one message in: an episode to play, or other networks, which come when nothing is played."""
        message = self._connection.recv()
        if isinstance(message, _Task):
            self._begin.append(message)
        else:
            self._evaluation = UNINFORMED if message is None else message.evaluation(device=self._device)

    def _decided(self, play: Play, decision: Decision) -> None:
        self._recorders[play].decided(play, decision)
        self._spent += decision.interactions
        if time.monotonic() - self._reported > _SECONDS_BETWEEN_REPORTS:
            self._report()
            if os.getppid() != self._parent:
                raise EOFError  # nobody is interested any more

    def _report(self) -> None:
        self._connection.send(_Spent(self._spent))
        self._spent = 0
        self._reported = time.monotonic()
