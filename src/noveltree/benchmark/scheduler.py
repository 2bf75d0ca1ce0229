"""Running a benchmark: give its trials to an executor, those that failed again, until none is left."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from noveltree.benchmark.directory import BenchmarkDirectory, TrialStatus
from noveltree.benchmark.executors import Executor
from noveltree.benchmark.supervise import Outcome
from noveltree.benchmark.trial_process import Task
from noveltree.errors import OutputError
from noveltree.records.files import file_digest

_SECONDS_BETWEEN_LOOKS = 0.5
#: After so many seconds a trial is tried again that another process was at work on.
_SECONDS_WHILE_BUSY = 5.0


@dataclass(slots=True)
class Benchmark:
    """A benchmark that is being run, for whoever watches it."""

    directory: BenchmarkDirectory
    statuses: dict[str, TrialStatus]
    running: dict[str, float] = field(default_factory=dict)
    """Since when."""
    started: float = field(default_factory=time.monotonic)

    def in_state(self, *states: str) -> list[TrialStatus]:
        return [status for status in self.statuses.values() if status.state in states]


#: Told now and then, and of every ending: the trial that ended, if any.
OnChange = Callable[[Benchmark, TrialStatus | None], None]


def run_benchmark(
    directory: BenchmarkDirectory,
    executor: Executor,
    *,
    trial_workers: int = 1,
    on_change: OnChange = lambda benchmark, ended: None,
) -> list[TrialStatus]:
    """Run all trials that are neither finished nor have failed; where they all stand then.

    Closes the executor, whatever happens. What was running is then interrupted, and goes on another time.
    """
    with contextlib.closing(executor), directory.locked():
        try:
            return _Run(directory, executor, trial_workers, on_change).run()
        finally:
            with contextlib.suppress(OSError):  # if there is a log in it
                directory.log_directory.rmdir()


class _Run:
    def __init__(
        self, directory: BenchmarkDirectory, executor: Executor, trial_workers: int, on_change: OnChange
    ) -> None:
        self._directory = directory
        self._executor = executor
        self._trial_workers = trial_workers
        self._on_change = on_change
        self._benchmark = Benchmark(directory, {each.trial.name: each for each in directory.statuses()})
        for status in self._benchmark.in_state("finished"):
            if not directory.has_whole_result(status.trial):
                status.state = "interrupted"  # what is wrong with it will be found out and reported
        # What was begun comes before what was not.
        self._waiting = deque(self._benchmark.in_state("interrupted", "running"))
        self._waiting.extend(self._benchmark.in_state("waiting"))
        self._busy_until: dict[str, float] = {}
        self._plan_digest = file_digest(directory.plan_path)

    def run(self) -> list[TrialStatus]:
        running = self._benchmark.running
        try:
            self._on_change(self._benchmark, None)
            while self._waiting or running:
                self._submit()
                for name, outcome in self._executor.wait(_SECONDS_BETWEEN_LOOKS):
                    self._take_in(self._benchmark.statuses[name], outcome)
                self._on_change(self._benchmark, None)
        finally:
            self._interrupt()
        return list(self._benchmark.statuses.values())

    def _submit(self) -> None:
        capacity = self._executor.capacity()
        for _ in range(len(self._waiting)):
            if len(self._benchmark.running) >= capacity:
                return
            status = self._waiting.popleft()
            name = status.trial.name
            if self._busy_until.get(name, 0.0) > time.monotonic():
                self._waiting.append(status)
                continue
            self._directory.began(status)
            self._benchmark.running[name] = time.monotonic()
            self._executor.submit(name, self._task(status))

    def _task(self, status: TrialStatus) -> Task:
        trial = status.trial
        return Task(
            directory=str(self._directory.run_path(trial).resolve()),
            log=str(self._directory.log_path(trial).resolve()),
            plan=str(self._directory.plan_path.resolve()),
            plan_digest=self._plan_digest,
            protocol=trial.protocol.model_dump(mode="json"),
            seed=trial.seed,
            episodes=trial.episodes,
            workers=self._trial_workers,
        )

    def _take_in(self, status: TrialStatus, outcome: Outcome) -> None:
        del self._benchmark.running[status.trial.name]
        match outcome.ending:
            case "finished" if self._directory.is_finished(status.trial):
                self._directory.finished(status, outcome.seconds)
            case "finished" | "failed":
                self._directory.failed(status, outcome.seconds, outcome.error or "It ended without a result.")
                if status.state != "failed":
                    self._waiting.appendleft(status)
            case "busy":
                self._directory.interrupted(status, outcome.seconds)
                self._busy_until[status.trial.name] = time.monotonic() + _SECONDS_WHILE_BUSY
                self._waiting.append(status)
            case "interrupted":
                self._directory.interrupted(status, outcome.seconds)
                self._waiting.append(status)
            case "output":
                self._directory.interrupted(status, outcome.seconds)
                raise OutputError(outcome.error)  # the other trials will not be able to write either
        self._on_change(self._benchmark, status)

    def _interrupt(self) -> None:
        """End what still runs."""
        outcomes = self._executor.stop()
        with contextlib.suppress(OutputError):  # on a full disk the journal says that they are running: so be it
            for name, outcome in outcomes:
                status = self._benchmark.statuses[name]
                if outcome.ending == "finished":
                    self._directory.finished(status, outcome.seconds)
                else:
                    self._directory.interrupted(status, outcome.seconds)
        self._benchmark.running.clear()
