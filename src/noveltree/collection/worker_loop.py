"""What a worker process does: play what it is told to, until its parent exits."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from noveltree.collection.lanes import Lanes
from noveltree.collection.orders import Order
from noveltree.collection.tuning import prepare_process
from noveltree.episodes import Decision
from noveltree.errors import InputError, NoveltreeError, SimulatorError
from noveltree.learning.deployment import Deployment
from noveltree.protocol import parse_protocol
from noveltree.simulators import permissions, take_over

_SECONDS_BETWEEN_REPORTS = 0.5


@dataclass(frozen=True, slots=True)
class WorkArguments:
    """What a worker has to know before it is told what to play."""

    protocol: dict[str, Any]
    seed: int
    at_once: int
    device: str
    permissions: Mapping[str, str] = field(default_factory=permissions)
    """Whose code it may import."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Tells a worker to pause everything that it plays."""


@dataclass(frozen=True, slots=True)
class Deploy:
    """Tells a worker which networks to play with."""

    deployment: Deployment | None


class Channel(Protocol):
    """What connects a worker with whoever tells it what to play; EOFError says that the other end is gone."""

    def send(self, message: Any) -> None: ...

    def recv(self) -> Any: ...

    def poll(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Spent:
    """A worker's report of what it has spent since the last one."""

    interactions: int


def work(channel: Channel, arguments: WorkArguments, *, orphaned: Callable[[], bool] = lambda: False) -> None:
    """Play what comes through a channel, until that ends or the process is orphaned."""
    prepare_process()
    # What a simulator prints is none of the results that go to standard output.
    with contextlib.redirect_stdout(sys.stderr), contextlib.suppress(EOFError, OSError):
        try:
            _Work(channel, arguments, orphaned).run()
        except InputError as error:
            channel.send(InputError(str(error)))
        except NoveltreeError as error:
            channel.send(SimulatorError(str(error)))
        except (EOFError, OSError):
            raise
        except Exception as error:
            channel.send(SimulatorError(f"A worker failed: {type(error).__name__}: {error}"))


class _Work:
    """A worker's side of the conversation."""

    def __init__(self, channel: Channel, arguments: WorkArguments, orphaned: Callable[[], bool]) -> None:
        self._channel = channel
        self._orphaned = orphaned
        take_over(arguments.permissions)
        self._lanes = Lanes(
            parse_protocol(arguments.protocol),
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
            self._take_in(self._channel.recv())
            for collected in self._lanes.run():
                self._report()
                self._channel.send(collected)

    def _listen(self) -> None:
        while self._channel.poll():
            self._take_in(self._channel.recv())

    def _take_in(self, message: Order | Deploy | Pause) -> None:
        match message:
            case Order():
                self._lanes.order(message)
            case Deploy(deployment):  # comes when nothing is being played
                self._lanes.deploy(deployment)
            case Pause():
                self._lanes.pause()

    def _decided(self, decision: Decision) -> None:
        self._spent += decision.interactions
        if time.monotonic() - self._reported > _SECONDS_BETWEEN_REPORTS:
            self._listen()
            self._report()
            if self._orphaned():
                raise EOFError  # nobody is interested any more

    def _report(self) -> None:
        self._channel.send(Spent(self._spent))
        self._spent = 0
        self._reported = time.monotonic()
