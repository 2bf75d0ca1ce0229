"""What a worker process does: play what it is told to, until whoever told it is gone."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from noveltree.collection.playing import Order, Playing
from noveltree.collection.tuning import prepare_process
from noveltree.episodes import Decision
from noveltree.errors import InputError, NoveltreeError, SimulatorError
from noveltree.learning.deployment import Deployment
from noveltree.protocol import Protocol

_SECONDS_BETWEEN_REPORTS = 0.5


@dataclass(frozen=True, slots=True)
class WorkArguments:
    """What a worker has to know before it is told what to play."""

    protocol: dict[str, Any]
    seed: int
    at_once: int
    device: str


@dataclass(frozen=True, slots=True)
class Spent:
    """A worker's report of what it has spent since the last one."""

    interactions: int


def work(connection: Connection, arguments: WorkArguments, *, orphaned: Callable[[], bool] = lambda: False) -> None:
    """Play what comes through a connection, until that ends or the process is orphaned."""
    prepare_process()
    with contextlib.suppress(EOFError, OSError):
        try:
            _Work(connection, arguments, orphaned).run()
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

    def __init__(self, connection: Connection, arguments: WorkArguments, orphaned: Callable[[], bool]) -> None:
        self._connection = connection
        self._orphaned = orphaned
        self._playing = Playing(
            Protocol.model_validate(arguments.protocol),
            seed=arguments.seed,
            at_once=arguments.at_once,
            device=arguments.device,
            listen=self._listen,
            decided=self._decided,
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
            if self._orphaned():
                raise EOFError  # nobody is interested any more

    def _report(self) -> None:
        self._connection.send(Spent(self._spent))
        self._spent = 0
        self._reported = time.monotonic()
