"""Worker processes on a Ray cluster.

Ray finds room for them; they then talk to this process through a connection of their own, for which they need a key
that only Ray has told them.
"""

from __future__ import annotations

import contextlib
import os
import queue
import secrets
import socket
import threading
import time
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener, answer_challenge, deliver_challenge
from typing import Any

from noveltree.collection.cluster import Cluster
from noveltree.collection.placement import WorkerProcess
from noveltree.collection.working import WorkArguments, work
from noveltree.errors import NoRoomError

#: How long Ray may take to find room for workers and to start them.
_SECONDS_TO_START = 30.0
#: A connection whose other end is silent is asked for a sign of life after so many seconds, and so often.
_SECONDS_OF_SILENCE, _SECONDS_BETWEEN_QUESTIONS, _QUESTIONS = 30, 10, 3


class RayPlacement:
    """Starts worker processes on a Ray cluster, one per core."""

    def __init__(self, address: str | None, *, cores: int | None = None) -> None:
        self._cluster = Cluster(address, cores=cores)
        self._key = secrets.token_bytes(32)
        self._listener = Listener((self._cluster.ray.util.get_node_ip_address(), 0))
        self._started: list[_RayProcess] = []
        self._connected: queue.SimpleQueue[tuple[str, int, Connection]] = queue.SimpleQueue()
        # Without retries: a worker that is gone is replaced by whoever had it started.
        self._work = self._cluster.ray.remote(num_cpus=1, max_retries=0)(_work)
        threading.Thread(target=self._accept, daemon=True).start()

    def start(self, arguments: WorkArguments, count: int) -> list[WorkerProcess]:
        self._started = [process for process in self._started if not process.ended]
        cores = sum(self._cluster.cores())
        if (room := cores - len(self._started)) < 1:
            raise NoRoomError(f"The Ray cluster has no room for another worker: it has {cores} cores.")
        tasks = {
            name: self._work.remote(self._listener.address, self._key, name, arguments)
            for name in (secrets.token_hex(8) for _ in range(min(count, room)))
        }
        workers: list[_RayProcess] = []
        give_up = time.monotonic() + _SECONDS_TO_START
        while tasks and (left := give_up - time.monotonic()) > 0:
            try:
                name, pid, connection = self._connected.get(timeout=left)
            except queue.Empty:
                break
            if name in tasks:
                workers.append(_RayProcess(self._cluster.ray, tasks.pop(name), pid, connection))
            else:
                connection.close()  # of one that was given up before
        for task in tasks.values():
            self._cluster.ray.cancel(task, force=True)
        if not workers:
            raise NoRoomError(
                f"The Ray cluster has no room for a worker: none started within {_SECONDS_TO_START:.0f} seconds."
            )
        self._started += workers
        return list(workers)

    def close(self) -> None:
        self._listener.close()
        self._cluster.close()

    def _accept(self) -> None:
        while True:
            try:
                connection = self._listener.accept()
            except OSError:
                return  # closed
            # Whoever connects and then says nothing keeps nobody else waiting.
            threading.Thread(target=self._greet, args=(connection,), daemon=True).start()

    def _greet(self, connection: Connection) -> None:
        """Let in whoever has the key."""
        try:
            deliver_challenge(connection, self._key)
            answer_challenge(connection, self._key)
            _keep_alive(connection)
            name, pid = connection.recv()
        except (AuthenticationError, EOFError, OSError):
            connection.close()
            return
        self._connected.put((name, pid, connection))


class _RayProcess:
    def __init__(self, ray: Any, task: Any, pid: int, connection: Connection) -> None:
        self.connection = connection
        self.pid = pid
        self.ended = False
        self._ray, self._task = ray, task

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
        _keep_alive(connection)
        connection.send((name, os.getpid()))
        work(connection, arguments)


def _keep_alive(connection: Connection) -> None:
    """Notice when the other end is gone without a word, as when a host loses its power."""
    with socket.socket(fileno=os.dup(connection.fileno())) as end:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in (
            ("TCP_KEEPIDLE", _SECONDS_OF_SILENCE),
            ("TCP_KEEPINTVL", _SECONDS_BETWEEN_QUESTIONS),
            ("TCP_KEEPCNT", _QUESTIONS),
            ("TCP_USER_TIMEOUT", 1000 * (_SECONDS_OF_SILENCE + _SECONDS_BETWEEN_QUESTIONS * _QUESTIONS)),
        ):
            if hasattr(socket, option):  # not everywhere
                end.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
