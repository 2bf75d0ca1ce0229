"""Where worker processes come to be: on this machine, or wherever another placement puts them."""

from __future__ import annotations

import multiprocessing
import os
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Protocol

from noveltree.collection.worker_loop import WorkArguments, work
from noveltree.signals import leave_to_parent, starting_processes


class WorkerProcess(Protocol):
    """A worker process, and how to talk to it."""

    connection: Connection

    @property
    def pid(self) -> int:
        """Its process id, on its machine."""
        ...

    def end(self) -> None:
        """Kill the process."""
        ...

    def died_of(self) -> str:
        """What it died of, in a few words."""
        ...


class Placement(Protocol):
    """Starts worker processes."""

    def start(self, arguments: WorkArguments, count: int) -> list[WorkerProcess]:
        """Start `count` workers; fewer, but at least one, if there is no room for all."""
        ...

    def close(self) -> None:
        """Release what the placement holds."""
        ...


class LocalPlacement:
    """Starts worker processes on this machine."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")

    def start(self, arguments: WorkArguments, count: int) -> list[WorkerProcess]:
        return [self._start(arguments) for _ in range(count)]

    def close(self) -> None:
        pass

    def _start(self, arguments: WorkArguments) -> WorkerProcess:
        here, there = self._context.Pipe()
        process = self._context.Process(target=_work, args=(there, os.getpid(), arguments), daemon=True)
        with starting_processes():
            process.start()
        there.close()
        return _LocalProcess(process, here)


class _LocalProcess:
    def __init__(self, process: BaseProcess, connection: Connection) -> None:
        self.connection = connection
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid or 0

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self.connection.close()

    def died_of(self) -> str:
        return f"exit code {self._process.exitcode}"


def _work(connection: Connection, parent: int, arguments: WorkArguments) -> None:
    leave_to_parent()
    work(connection, arguments, orphaned=lambda: os.getppid() != parent)
