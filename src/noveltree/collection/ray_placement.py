"""Worker processes on a Ray cluster.

Ray finds room for them; they then talk to this process through a connection of their own, for which they need a key
that only Ray has told them.
"""

from __future__ import annotations

import contextlib
import os
import queue
import secrets
import threading
import time
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

from noveltree.collection.cluster import connect
from noveltree.collection.placement import WorkerProcess
from noveltree.collection.working import WorkArguments, work
from noveltree.errors import NoRoomError

#: How long Ray may take to find room for a worker and to start it.
_SECONDS_TO_START = 30.0


class RayPlacement:
    """Starts worker processes on a Ray cluster, one per core."""

    def __init__(self, address: str | None, *, cores: int | None = None) -> None:
        self._ray = connect(address, cores=cores)
        self._key = secrets.token_bytes(32)
        self._listener = Listener((self._ray.util.get_node_ip_address(), 0), authkey=self._key)
        self._started: list[_RayProcess] = []
        self._connected: queue.SimpleQueue[tuple[str, Connection]] = queue.SimpleQueue()
        # Without retries: a worker that is gone is replaced by whoever had it started.
        self._work = self._ray.remote(num_cpus=1, max_retries=0)(_work)
        threading.Thread(target=self._accept, daemon=True).start()

    def start(self, arguments: WorkArguments, count: int) -> list[WorkerProcess]:
        self._started = [process for process in self._started if not process.ended]
        cores = sum(node["Resources"].get("CPU", 0.0) for node in self._ray.nodes() if node["Alive"])
        if (room := int(cores) - len(self._started)) < 1:
            raise NoRoomError(f"The Ray cluster has no room for another worker: it has {cores:.0f} cores.")
        tasks = {
            name: self._work.remote(self._listener.address, self._key, name, arguments)
            for name in (secrets.token_hex(8) for _ in range(min(count, room)))
        }
        workers: list[_RayProcess] = []
        give_up = time.monotonic() + _SECONDS_TO_START
        while tasks and (left := give_up - time.monotonic()) > 0:
            try:
                name, connection = self._connected.get(timeout=left)
            except queue.Empty:
                break
            if name in tasks:
                workers.append(_RayProcess(self._ray, tasks.pop(name), connection))
            else:
                connection.close()  # of one that was given up before
        for task in tasks.values():
            self._ray.cancel(task, force=True)
        if not workers:
            raise NoRoomError(
                f"The Ray cluster has no room for a worker: none started within {_SECONDS_TO_START:.0f} seconds."
            )
        self._started += workers
        return list(workers)

    def close(self) -> None:
        self._listener.close()
        self._ray.shutdown()

    def _accept(self) -> None:
        while True:
            try:
                connection = self._listener.accept()
            except (AuthenticationError, EOFError, ConnectionError):
                continue  # of somebody else
            except OSError:
                return  # closed
            with contextlib.suppress(EOFError, OSError):
                self._connected.put((connection.recv(), connection))


class _RayProcess:
    def __init__(self, ray: Any, task: Any, connection: Connection) -> None:
        self.connection = connection
        self._ray, self._task = ray, task
        self._pid = int(connection.recv())
        self.ended = False

    @property
    def pid(self) -> int:
        return self._pid

    def end(self) -> None:
        self.ended = True
        self.connection.close()
        with contextlib.suppress(self._ray.exceptions.RayError, ValueError):
            self._ray.cancel(self._task, force=True)

    def died_of(self) -> str:
        try:
            self._ray.get(self._task, timeout=1.0)
        except self._ray.exceptions.RayError as error:
            return str(error).strip().splitlines()[0]
        return "it ended"


def _work(address: tuple[str, int], key: bytes, name: str, arguments: WorkArguments) -> None:
    """What a Ray task does: be a worker of the process at `address`."""
    with Client(address, authkey=key) as connection:
        connection.send(name)
        connection.send(os.getpid())
        work(connection, arguments)
