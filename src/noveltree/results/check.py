"""Whether what a benchmark says of itself fits together: its suite, its plan, its trials and its tables."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from noveltree.benchmark.directory import JOURNAL, PARQUET, PLAN, RESULTS, SUITE, BenchmarkDirectory
from noveltree.benchmark.plan import PlannedTrial, plan_suite
from noveltree.errors import NoveltreeError
from noveltree.results.collect import Table, collect

#: Files by which a benchmark is known.
BENCHMARK_FILES = (SUITE, PLAN, JOURNAL)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not true, or a caveat."""

    file: str
    holds: bool
    sentence: str


def check_benchmark(directory: Path, path: Path) -> Iterator[Finding]:
    """What does not fit together in the benchmark in `path`; files are named from `directory`."""

    def finding(name: str, sentence: str, *, holds: bool = False) -> Finding:
        return Finding((path / name).relative_to(directory).as_posix(), holds, sentence)

    try:
        benchmark = BenchmarkDirectory.open(path)
        suite = {trial.name: trial for trial in plan_suite(benchmark.suite)}
    except NoveltreeError as error:
        yield finding(PLAN, str(error))
        return
    if len(suite) != len(benchmark.trials) or not all(_same(t, suite.get(t.name)) for t in benchmark.trials):
        yield finding(PLAN, "it is not the plan of the suite")
    try:
        expected = collect([benchmark], relative_to=path)
    except NoveltreeError as error:
        yield finding("trials", str(error))
        return
    if expected.missing:
        several = f"{len(expected.missing)} of {len(benchmark.trials)} planned trials are not finished"
        yield finding("trials", f"{several}, such as {expected.missing[0]}", holds=True)
    if (path / RESULTS).exists() and not _is_file_of(path / RESULTS, expected.to_csv().encode()):
        yield finding(RESULTS, "it is not the table of these episodes; collect it again")
    if (path / PARQUET).exists():
        if importlib.util.find_spec("pyarrow") is None:
            yield finding(PARQUET, "it was not checked, for pyarrow is not installed", holds=True)
        elif not _is_parquet_of(path / PARQUET, expected):
            yield finding(PARQUET, "it is not the table of these episodes; collect it again")


def _same(planned: PlannedTrial, now: PlannedTrial | None) -> bool:
    """Whether a trial is what the suite says, apart from the versions of the software."""
    if now is None:
        return False
    versions = {name: getattr(planned.protocol, name) for name in ("simulator_version", "noveltree_version")}
    return (planned.protocol, planned.label, planned.trial, planned.seed, planned.episodes) == (
        now.protocol.model_copy(update=versions),
        now.label,
        now.trial,
        now.seed,
        now.episodes,
    )


def _is_file_of(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content


def _is_parquet_of(path: Path, table: Table) -> bool:
    import pyarrow
    import pyarrow.parquet

    try:
        rows = pyarrow.parquet.read_table(path).to_pylist()
    except (OSError, pyarrow.ArrowException):
        return False
    return bool(rows == table.rows())
