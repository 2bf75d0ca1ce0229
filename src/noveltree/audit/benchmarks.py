"""Whether a benchmark fits together: its suite, its plan, its trials and its tables."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from noveltree.audit.findings import Finding, name_in
from noveltree.benchmark.directory import PARQUET, PLAN, REGISTRATION, RESULTS, BenchmarkDirectory
from noveltree.benchmark.plan import PlannedTrial, plan_suite
from noveltree.benchmark.registration import read_registration
from noveltree.errors import NoveltreeError, RecordError
from noveltree.results.collect import Table, collect
from noveltree.results.parquet import read_parquet


def check_benchmark(directory: Path, path: Path, *, registered: str | None = None) -> Iterator[Finding]:
    """What does not fit together in the benchmark in `path`: its suite, its plan, its trials and its tables.

    If it is said which digest was `registered`, it must be that of this benchmark.
    """

    def finding(name: str, sentence: str, *, holds: bool = False) -> Finding:
        return Finding(name_in(directory, path / name), holds, sentence)

    try:
        benchmark = BenchmarkDirectory.open(path)
        suite = {trial.name: trial for trial in plan_suite(benchmark.suite)}
    except NoveltreeError as error:
        yield finding(PLAN, str(error))
        return
    if len(suite) != len(benchmark.trials) or not all(_same(t, suite.get(t.name)) for t in benchmark.trials):
        yield finding(PLAN, "it is not the plan of the suite")
    try:
        announced = read_registration(path)
        if announced is not None and (gone := list(announced.missing_from(benchmark.trials))):
            yield finding(PLAN, f"{gone[0]} was registered, and is not planned any more or is another trial")
        if registered is not None and (announced is None or announced.digest != registered):
            found = "nothing" if announced is None else announced.digest
            yield finding(REGISTRATION, f"{found} was registered, not {registered}")
    except NoveltreeError as error:
        yield finding(REGISTRATION, str(error))
    try:
        expected = collect([benchmark], relative_to=path)
    except NoveltreeError as error:
        yield finding("trials", str(error))
        return
    if expected.missing:
        several = f"{len(expected.missing)} of {len(benchmark.trials)} planned trials are not finished"
        yield finding("trials", f"{several}, such as {expected.missing[0]}", holds=True)
    if (results := path / RESULTS).exists() and not (
        results.is_file() and results.read_bytes() == expected.to_csv().encode()
    ):
        yield finding(RESULTS, "it is not the table of these episodes; collect it again")
    if (path / PARQUET).exists():
        if importlib.util.find_spec("pyarrow") is None:
            yield finding(PARQUET, "it was not checked, because pyarrow is not installed", holds=True)
        elif not _is_parquet_of(path / PARQUET, expected):
            yield finding(PARQUET, "it is not the table of these episodes; collect it again")


def _same(planned: PlannedTrial, now: PlannedTrial | None) -> bool:
    """Whether a trial is what the suite says, whatever the versions of the software."""
    versions = {name: getattr(planned.protocol, name) for name in ("simulator_version", "noveltree_version")}
    return now is not None and planned == replace(now, protocol=now.protocol.model_copy(update=versions))


def _is_parquet_of(path: Path, table: Table) -> bool:
    try:
        columns = read_parquet(path)
    except RecordError:
        return False
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)] == table.rows()
