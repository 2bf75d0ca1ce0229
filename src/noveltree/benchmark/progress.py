"""How much of a benchmark is done and left, in interactions of the emulator."""

from __future__ import annotations

from noveltree.benchmark.directory import BenchmarkDirectory, TrialStatus
from noveltree.benchmark.estimate import expected_work, relative_cost
from noveltree.benchmark.scheduler import Benchmark
from noveltree.lookahead import Interactions


class Work:
    """The work of a benchmark since it was begun or gone on with."""

    def __init__(self, benchmark: Benchmark) -> None:
        trials = [status.trial for status in benchmark.statuses.values()]
        self._expected = {trial.name: expected_work(trial) * relative_cost(trial.protocol) for trial in trials}
        self._before = self._done(benchmark)

    def look(self, benchmark: Benchmark) -> tuple[float, float]:
        """What was done in this life of the benchmark, and what is left; nobody waits for what has failed."""
        done = self._done(benchmark)
        since = sum(max(0.0, each - self._before[name]) for name, each in done.items())
        waited_for = benchmark.in_state("running", "interrupted", "waiting")
        return since, sum(self._expected[each.trial.name] - done[each.trial.name] for each in waited_for)

    def _done(self, benchmark: Benchmark) -> dict[str, float]:
        return {
            name: self._done_of(benchmark.directory, status, self._expected[name])
            for name, status in benchmark.statuses.items()
        }

    @staticmethod
    def _done_of(directory: BenchmarkDirectory, status: TrialStatus, expected: float) -> float:
        if status.state == "finished":
            return expected
        progress = None if status.state == "waiting" else directory.read_progress(status.trial)
        if progress is None:
            return 0.0
        protocol = status.trial.protocol
        if not isinstance(protocol.make_budget(), Interactions):  # by the clock: each episode counts alike
            return min(expected, expected * float(progress.get("episodes") or 0) / status.trial.episodes)
        return min(expected, float(progress.get("interactions") or 0) * relative_cost(protocol))
