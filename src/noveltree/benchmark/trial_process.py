"""The process of one trial.

It is told what to do by one line on its standard input, which then stays open: when it closes, whoever supervises
this process is dead, and the process ends. Its last line on standard output says how the trial ended.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from noveltree.benchmark.directory import PROGRESS
from noveltree.errors import INTERRUPTED, BusyError, NoveltreeError, OutputError
from noveltree.protocol import parse_protocol
from noveltree.records.files import write_quickly
from noveltree.signals import unblock
from noveltree.trial import Progress, Watcher, play_trial, train

_SECONDS_BETWEEN_REPORTS = 1.0
#: How long an ending may take once nobody waits for it any more.
_SECONDS_TO_END = 20.0


@dataclass(frozen=True, slots=True)
class Task:
    """A trial to run, as it is handed to its process."""

    directory: str
    log: str
    plan: str
    """The benchmark's plan, and its SHA-256 digest: whoever sees it sees the benchmark's directory."""
    plan_digest: str
    protocol: dict[str, Any]
    seed: int
    episodes: int
    workers: int = 1


def main() -> None:
    """All that the process does."""
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGINT, _interrupt)
    unblock()
    if not (line := sys.stdin.readline()):
        sys.exit(INTERRUPTED)
    task = Task(**json.loads(line))
    threading.Thread(target=_end_with_supervisor, daemon=True).start()
    try:
        _run(task)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except NoveltreeError as error:
        _say(error=str(error), kind=_kind(error))
        sys.exit(1)
    (Path(task.directory) / PROGRESS).unlink(missing_ok=True)
    _say()


def _run(task: Task) -> None:
    protocol = parse_protocol(task.protocol)
    directory = Path(task.directory)
    watcher = Watcher(progress=_Reporter(directory))
    if protocol.learning is None:
        play_trial(
            directory, protocol, seed=task.seed, episodes=task.episodes, workers=task.workers, watcher=watcher
        )
    else:
        train(directory, protocol, seed=task.seed, workers=task.workers, watcher=watcher)


def _kind(error: NoveltreeError) -> str:
    match error:
        case OutputError():
            return "output"
        case BusyError():
            return "busy"
        case _:
            return "trial"


def _say(**ending: str) -> None:
    sys.stdout.write(json.dumps(ending) + "\n")
    sys.stdout.flush()


class _Reporter:
    """Writes how far the trial is into its run directory, now and then."""

    def __init__(self, directory: Path) -> None:
        self._file = directory / PROGRESS
        self._last = 0.0

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._last < _SECONDS_BETWEEN_REPORTS:
            return
        self._last = now
        report = asdict(progress)
        returns = report.pop("returns")
        report["episodes"] = len(returns)
        report["mean_return"] = sum(returns) / len(returns) if returns else None
        write_quickly(self._file, json.dumps({**report, "time": round(time.time(), 1)}).encode())


def _end_with_supervisor() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_SECONDS_TO_END)
    os._exit(INTERRUPTED)


def _interrupt(number: int, frame: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt
