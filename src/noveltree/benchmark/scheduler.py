"""Running a benchmark: hand its trials to an executor, and retry those that failed, until none is left.

A trial that somebody killed is started again without end, after pauses that grow; only its own errors count.
"""

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
#: Seconds after which a trial that another process was working on is tried again.
_SECONDS_WHILE_BUSY = 5.0
#: Seconds after which a trial that was killed is started again: twice as many each time, up to the most.
_SECONDS_AFTER_KILL, _MOST_SECONDS_AFTER_KILL = 1.0, 300.0


@dataclass(slots=True)
class Benchmark:
    """A benchmark that is running, as its observers see it."""

    directory: BenchmarkDirectory
    statuses: dict[str, TrialStatus]
    running: dict[str, float] = field(default_factory=dict)
    """Start times of the running trials."""
    started: float = field(default_factory=time.monotonic)

    def in_state(self, *states: str) -> list[TrialStatus]:
        return [status for status in self.statuses.values() if status.state in states]


#: Called now and then, and whenever a trial has ended, with that trial.
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
                status.state = "interrupted"  # running it again reports what is wrong with it
        # Trials that were started come first.
        self._waiting = deque(self._benchmark.in_state("interrupted", "running"))
        self._waiting.extend(self._benchmark.in_state("waiting"))
        self._not_before: dict[str, float] = {}
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
            if self._not_before.get(name, 0.0) > time.monotonic():
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
            notices=str(self._directory.notices_path(trial).resolve()),
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
            case "killed":
                self._directory.killed(status, outcome.seconds, outcome.error)
                self._put_off(status, pause_after(status.kills))
            case "busy":
                self._directory.interrupted(status, outcome.seconds)
                self._put_off(status, _SECONDS_WHILE_BUSY)
            case "interrupted":
                self._directory.interrupted(status, outcome.seconds)
                self._waiting.append(status)
            case "output":
                self._directory.interrupted(status, outcome.seconds)
                raise OutputError(outcome.error)  # the other trials will not be able to write either
        self._on_change(self._benchmark, status)

    def _put_off(self, status: TrialStatus, seconds: float) -> None:
        """Start a trial again, but not at once."""
        self._not_before[status.trial.name] = time.monotonic() + seconds
        self._waiting.append(status)

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


def pause_after(kills: int) -> float:
    """Seconds until a trial is started again that was killed so many times in a row."""
    return min(_MOST_SECONDS_AFTER_KILL, _SECONDS_AFTER_KILL * 2.0 ** min(kills - 1, 30))
