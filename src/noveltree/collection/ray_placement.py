"""Worker processes on a Ray cluster: each is an actor, with one core of its own."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import socket
import threading
import time
from multiprocessing.connection import Connection
from typing import Any

from noveltree.collection.cluster import Cluster
from noveltree.collection.placement import WorkerProcess
from noveltree.collection.worker_loop import WorkArguments, work
from noveltree.errors import NoRoomError

#: How long Ray may take to find room for workers and to start them.
_SECONDS_TO_START = 120.0
_SECONDS_BETWEEN_LOOKS = 0.5
#: How long an actor waits for something to say before it says that there is nothing.
_SECONDS_TO_HEAR = 1.0


class RayPlacement:
    """Starts worker processes on a Ray cluster, one per core."""

    def __init__(self, address: str | None, *, cores: int | None = None) -> None:
        self._cluster = Cluster(address, cores=cores)
        self._started: list[_RayProcess] = []
        # Without restarts: a worker that is gone is replaced by whoever had it started.
        self._actor = self._cluster.ray.remote(num_cpus=1, max_restarts=0, max_concurrency=3)(_Worker)

    def start(self, arguments: WorkArguments, count: int) -> list[WorkerProcess]:
        ray = self._cluster.ray
        self._started = [process for process in self._started if not process.ended]
        if (room := self._room()) < 1:
            raise NoRoomError(f"The Ray cluster has no room for more than {len(self._started)} workers.")
        actors = {(actor := self._actor.remote()).begin.remote(arguments): actor for _ in range(min(count, room))}
        ready: list[Any] = []
        give_up = time.monotonic() + _SECONDS_TO_START
        # A node that has just died may be counted for a while, so look again how much room there is.
        while len(ready) < min(len(actors), self._room()) and time.monotonic() < give_up:
            ready, _ = ray.wait(list(actors), num_returns=len(actors), timeout=_SECONDS_BETWEEN_LOOKS)
        for late in actors.keys() - ready:
            ray.kill(actors[late])
        started: list[_RayProcess] = []
        for begun in ready:
            with contextlib.suppress(ray.exceptions.RayError):
                started.append(_RayProcess(ray, actors[begun], ray.get(begun)))
        if not started:
            raise NoRoomError("The Ray cluster has no room for a worker: none could be started.")
        self._started += started
        return list(started)

    def close(self) -> None:
        self._cluster.close()

    def _room(self) -> int:
        """How many more workers there are cores for."""
        return sum(self._cluster.cores()) - len(self._started)


class _RayProcess:
    """An actor seen from here: what goes into its end of a pipe is told to it, what it says comes out."""

    def __init__(self, ray: Any, actor: Any, pid: int) -> None:
        self.pid = pid
        self.ended = False
        self._ray, self._actor = ray, actor
        self._died_of = "it ended"
        self.connection, self._other_end = multiprocessing.Pipe()
        for pump in (self._tell, self._hear):
            threading.Thread(target=pump, daemon=True).start()

    def end(self) -> None:
        self.ended = True
        with contextlib.suppress(Exception):  # it may be gone, or the cluster
            self._ray.kill(self._actor)
        self.connection.close()

    def died_of(self) -> str:
        return self._died_of

    def _tell(self) -> None:
        with contextlib.suppress(EOFError, OSError, self._ray.exceptions.RayError):
            while True:  # one after another: calls of an actor that has several threads may overtake each other
                self._ray.get(self._actor.tell.remote(self._other_end.recv()))

    def _hear(self) -> None:
        try:
            while not self.ended:
                for message in self._ray.get(self._actor.hear.remote()):
                    self._other_end.send(message)
        except (EOFError, OSError, self._ray.exceptions.RayError) as error:
            self._died_of = str(error).strip().splitlines()[0] if str(error).strip() else "it ended"
        finally:
            _hang_up(self._other_end)


def _hang_up(connection: Connection) -> None:
    """End a connection though another thread is reading from it, which closing it would wait for."""
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as end:
        end.shutdown(socket.SHUT_RDWR)


class _Worker:
    """The actor: a worker in a thread, between two queues. It is a channel to that worker, too."""

    def __init__(self) -> None:
        self._told: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._said: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def begin(self, arguments: WorkArguments) -> int:
        """Start to work; the process id."""
        threading.Thread(target=work, args=(self, arguments), daemon=True).start()
        return os.getpid()

    def tell(self, message: Any) -> None:
        self._told.put(message)

    def hear(self) -> list[Any]:
        """What the worker has said since it was last asked; wait a moment for it."""
        said = []
        with contextlib.suppress(queue.Empty):
            said.append(self._said.get(timeout=_SECONDS_TO_HEAR))
            while True:
                said.append(self._said.get_nowait())
        return said

    def send(self, message: Any) -> None:
        self._said.put(message)

    def recv(self) -> Any:
        return self._told.get()

    def poll(self) -> bool:
        return not self._told.empty()
