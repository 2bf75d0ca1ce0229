"""The process of one trial.

One line on its standard input says what to do. The input then stays open: when it closes, the supervisor is dead,
and the process ends. Its last line on standard output says how the trial ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from noveltree.benchmark.directory import PROGRESS, read_notices
from noveltree.errors import INTERRUPTED, BusyError, NoveltreeError, OutputError
from noveltree.protocol import parse_protocol
from noveltree.records.files import write_atomically, write_quickly
from noveltree.signals import INTERRUPTS, is_loading_code, unblock
from noveltree.simulators import permissions, take_over
from noveltree.trial import Progress, Watcher, run_trial

_SECONDS_BETWEEN_REPORTS = 1.0
#: How long it may take to end once the supervisor is gone.
_SECONDS_TO_END = 20.0


@dataclass(frozen=True, slots=True)
class Task:
    """A trial to run, as it is handed to its process."""

    directory: str
    log: str
    notices: str
    plan: str
    """The benchmark's plan, and its SHA-256 digest: a host that sees it sees the benchmark's directory."""
    plan_digest: str
    protocol: dict[str, Any]
    seed: int
    episodes: int
    workers: int = 1
    permissions: Mapping[str, str] = field(default_factory=permissions)
    """Whose code it may import."""


def main() -> None:
    """Run the trial that standard input describes."""
    try:
        _heed(_interrupt)
        if not (line := sys.stdin.readline()):
            sys.exit(INTERRUPTED)
        threading.Thread(target=_end_with_supervisor, daemon=True).start()
        task = Task(**json.loads(line))
        _run(task)
        (Path(task.directory) / PROGRESS).unlink(missing_ok=True)
        _report_end()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except NoveltreeError as error:
        _report_end(error=str(error), kind=_kind(error))
        sys.exit(1)


def _run(task: Task) -> None:
    take_over(task.permissions)
    protocol = parse_protocol(task.protocol)
    directory = Path(task.directory)
    watcher = Watcher(progress=_Reporter(directory), notice=_Notices(Path(task.notices)))
    with contextlib.redirect_stdout(sys.stderr):  # what a simulator prints belongs into the log
        run_trial(
            directory, protocol, seed=task.seed, episodes=task.episodes, workers=task.workers, watcher=watcher
        )


def _kind(error: NoveltreeError) -> str:
    match error:
        case OutputError():
            return "output"
        case BusyError():
            return "busy"
        case _:
            return "trial"


def _report_end(**ending: str) -> None:
    sys.stdout.write(json.dumps(ending) + "\n")
    sys.stdout.flush()


class _Reporter:
    """Writes the trial's progress into its run directory, now and then."""

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


class _Notices:
    """Writes down what the trial has to say: a sentence a line, each once, however often the trial is started."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __call__(self, notice: str) -> None:
        known = read_notices(self._file)
        line = " ".join(notice.split()).encode(errors="backslashreplace").decode()
        if line not in known:
            write_atomically(self._file, "".join(f"{each}\n" for each in (*known, line)).encode())


def _end_with_supervisor() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_SECONDS_TO_END)
    os._exit(INTERRUPTED)


def _interrupt(number: int, frame: FrameType | None) -> None:
    if is_loading_code(frame):
        os._exit(INTERRUPTED)
    _heed(signal.SIG_IGN)
    raise KeyboardInterrupt


def _heed(handler: Callable[[int, FrameType | None], None] | signal.Handlers) -> None:
    for number in INTERRUPTS:
        signal.signal(number, handler)
    unblock()
