"""Running a benchmark on the command line: where its trials run, what is shown of them, and how they stop."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

import typer

from noveltree.benchmark import BenchmarkDirectory, PlannedTrial, run_benchmark
from noveltree.benchmark.directory import TrialStatus
from noveltree.benchmark.executors import Executor, LocalExecutor
from noveltree.cli.benchmark_view import View
from noveltree.cli.common import apart_from_results, check_executor, need_extra
from noveltree.cli.console import cores, err
from noveltree.errors import INTERRUPTED


class Where:
    """Where trials are to run."""

    def __init__(
        self,
        executor: str = "local",
        address: str | None = None,
        workers: int | None = None,
        trial_workers: int = 1,
    ) -> None:
        check_executor(executor, address)
        self.executor, self.address, self.workers, self.trial_workers = executor, address, workers, trial_workers

    def make(self) -> Executor:
        if self.executor == "local":
            return LocalExecutor(self.workers or max(1, cores() // self.trial_workers))
        from noveltree.benchmark.executors.ray import RayExecutor

        return RayExecutor(self.address, most=self.workers, cores_per_trial=self.trial_workers)


def need_packages(trials: Iterable[PlannedTrial]) -> None:
    """Raise InputError if some of the trials need packages that are not installed."""
    if any(trial.protocol.training_interactions for trial in trials):
        need_extra("Training")


def run_in_view(
    directory: BenchmarkDirectory, where: Where, view: View, *, to_resume: Sequence[str]
) -> list[TrialStatus]:
    """Run what is left of a benchmark; where its trials stand then. `to_resume` is the command that resumes it."""
    need_packages(directory.trials)
    try:
        with view, apart_from_results(where.executor):
            return run_benchmark(directory, where.make(), trial_workers=where.trial_workers, on_change=view.show)
    except KeyboardInterrupt:
        err.print(f"Interrupted; no finished episode is lost. To resume: {shlex.join(to_resume)}", soft_wrap=True)
        raise typer.Exit(INTERRUPTED) from None
