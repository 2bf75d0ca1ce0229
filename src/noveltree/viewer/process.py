"""Processes that work for a session, each at the other end of a pipe: they end with whoever holds this end."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection

from noveltree.errors import NoveltreeError
from noveltree.signals import INTERRUPTS
from noveltree.simulators.permission import permissions, take_over
from noveltree.viewer.messages import Command, pack, parse_command, unpack
from noveltree.viewer.spec import Spec
from noveltree.viewer.stage import Stage

_SPAWN = multiprocessing.get_context("spawn")


class Process:
    """Runs something in a process of its own; what it sends is handed to `receive`, in a thread."""

    def __init__(
        self,
        target: Callable[..., None],
        *arguments: object,
        receive: Callable[[bytes], None],
        ended: Callable[[], None],
    ) -> None:
        """`target` is called with a connection and the arguments. `ended` is called once, when the process is gone:
        it was closed, has done what it had to, failed, or was killed."""
        self._here, there = _SPAWN.Pipe()
        self._sending = threading.Lock()
        self._process = _SPAWN.Process(target=target, args=(there, *arguments), daemon=True)
        self._process.start()
        there.close()
        self._thread = threading.Thread(target=self._listen, args=(receive, ended), daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int | None:
        return self._process.pid

    def send(self, command: Command, lookahead: bytes = b"") -> None:
        """Send a command, with the columns of a kept lookahead if it is about one."""
        # A process that has ended says so by itself.
        with contextlib.suppress(OSError), self._sending:
            self._here.send_bytes(pack(command.model_dump(), lookahead))

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.join()

    def _listen(self, receive: Callable[[bytes], None], ended: Callable[[], None]) -> None:
        try:
            while True:
                receive(self._here.recv_bytes())
        except (EOFError, OSError):
            ended()
        finally:
            self._process.join()
            self._here.close()


def start_planning(spec: Spec, receive: Callable[[bytes], None], ended: Callable[[], None]) -> Process:
    """A process with a stage on which the episode is shown."""
    return Process(_perform, spec.model_dump_json(), permissions(), receive=receive, ended=ended)


class _Pipe:
    """The commands that come through a pipe."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def poll(self, timeout: float | None) -> bool:
        return self._connection.poll(timeout)

    def next(self) -> tuple[Command, bytes]:
        head, payload = unpack(self._connection.recv_bytes())
        return parse_command(json.dumps(head)), payload


def ignore_interrupts() -> None:
    """Whoever started the server is asked, and ends this process."""
    for number in INTERRUPTS:
        signal.signal(number, signal.SIG_IGN)


def _perform(connection: Connection, spec: str, allowed: dict[str, str]) -> None:
    """What runs in the process."""
    take_over(allowed)
    ignore_interrupts()
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        try:
            Stage(Spec.model_validate_json(spec), _Pipe(connection), connection.send_bytes).run()
        except NoveltreeError as error:
            connection.send_bytes(pack({"kind": "failed", "error": str(error)}))
