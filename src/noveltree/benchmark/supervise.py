"""Supervision: start the process of a trial, wait for it, and say how it ended."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from noveltree.benchmark.trial_process import Task
from noveltree.errors import INTERRUPTED, OutputError
from noveltree.records.files import file_digest, make_directory

#: How the process of a trial ended. `killed`: from outside, which is not its failure. `busy`: another process is
#: working on it. `output`: nothing can be written.
Ending = Literal["finished", "failed", "killed", "interrupted", "busy", "output"]
#: What ends a process that has done nothing wrong: the kernel where memory is short, whoever runs the machine or
#: preempts the job, a terminal that is closed. A process that crashes gets another signal.
_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_SECONDS_TO_STOP = 15.0
_SECONDS_BETWEEN_LOOKS = 0.1


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a trial's process ended."""

    ending: Ending
    seconds: float
    error: str = ""


class Supervised:
    """The process of a trial. It does not outlive this one."""

    def __init__(self, task: Task) -> None:
        self.outcome: Outcome | None = None
        """How it ended, once it has."""
        self._started = time.monotonic()
        self._log = Path(task.log)
        self._stopping = threading.Event()
        try:
            make_directory(self._log.parent)
            output = self._log.open("ab")
        except OSError as error:
            raise OutputError(f"Cannot write {self._log}: {error.strerror or error}.") from error
        with output as log:
            self._log_begins = log.tell()
            # In a session of its own: Ctrl-C is for the supervisor, which then ends it. With -P, so that nothing is
            # imported from the directory in which the benchmark is run.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", "from noveltree.benchmark.trial_process import main; main()"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it is already dead: waiting for it says how
            self._process.stdin.write(json.dumps(asdict(task)).encode() + b"\n")
            self._process.stdin.flush()
        threading.Thread(target=self._wait, daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait(self) -> Outcome:
        """Wait until it has ended, interruptibly; how it ended."""
        while self.outcome is None:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        return self.outcome

    def stop(self) -> Outcome:
        """End the process, by force if it takes too long; how it ended."""
        self._stopping.set()
        self._process.terminate()
        try:
            self._process.wait(_SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            self._process.kill()
        return self.wait()

    def _wait(self) -> None:
        assert self._process.stdout is not None
        assert self._process.stdin is not None
        said = self._process.stdout.read().splitlines()
        code = self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
        self.outcome = self._outcome(said[-1] if said else b"", code)

    def _outcome(self, last_words: bytes, code: int) -> Outcome:
        seconds = time.monotonic() - self._started
        error = self._error(code)
        with contextlib.suppress(OSError):  # it may have been deleted
            if self._log.stat().st_size == 0:
                self._log.unlink()
        try:
            ending = json.loads(last_words)
        except ValueError:
            ending = None
        if code == 0 and ending == {}:
            return Outcome("finished", seconds)
        if self._stopping.is_set():
            return Outcome("interrupted", seconds)
        if code == 1 and ending:
            kinds: dict[str, Ending] = {"output": "output", "busy": "busy"}
            return Outcome(kinds.get(ending["kind"], "failed"), seconds, ending["error"])
        from_outside = code == INTERRUPTED or -code in _FROM_OUTSIDE
        return Outcome("killed" if from_outside else "failed", seconds, error)

    def _error(self, code: int) -> str:
        """What a process died of without a report: its exit code, and the last line it printed."""
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        if code == INTERRUPTED:
            how = "was told to end"
        lines: list[str] = []
        with contextlib.suppress(OSError), self._log.open("rb") as log:
            log.seek(self._log_begins)
            lines = log.read().decode(errors="replace").strip().splitlines()
        return f"Its process {how}" + (f": {lines[-1].strip()}" if lines else ".")


def supervise(task: Task) -> Outcome:
    """Run a trial in a process of its own, to its end; on whatever machine this is called."""
    if not _sees(Path(task.plan), task.plan_digest):
        where = f"{socket.gethostname()} does not see {Path(task.plan).parent}"
        return Outcome("output", 0.0, f"{where}: all hosts must have it under the same path.")
    try:
        supervised = Supervised(task)
    except OutputError as error:
        return Outcome("output", 0.0, str(error))
    try:
        return supervised.wait()
    except BaseException:
        supervised.stop()
        raise


def _sees(plan: Path, digest: str) -> bool:
    """Whether this host sees the benchmark's directory, and the right one."""
    try:
        return file_digest(plan) == digest
    except OSError:
        return False
