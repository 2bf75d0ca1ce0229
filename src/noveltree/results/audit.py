"""An audit: is everything in a directory true? Replay its episodes, and compare results and tables with them."""

from __future__ import annotations

import contextlib
import importlib.util
import multiprocessing
import statistics
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path

from noveltree.benchmark.directory import JOURNAL, PARQUET, PLAN, RESULTS, SUITE, BenchmarkDirectory
from noveltree.benchmark.plan import PlannedTrial, plan_suite
from noveltree.episodes import End
from noveltree.errors import BusyError, InputError, NoveltreeError, RecordError, SimulatorError
from noveltree.records import read_episode
from noveltree.records.episode_file import is_episode
from noveltree.records.files import check_writable
from noveltree.records.lock import is_locked
from noveltree.records.manifest import MANIFEST, NO_FILE, Manifest, checksums, read_manifest, write_manifest
from noveltree.records.run_directory import RUN, RunDirectory, place_of_episode
from noveltree.replay import verify_episode
from noveltree.results.collect import Table, collect
from noveltree.results.parquet import read_parquet
from noveltree.signals import leave_to_parent, starting_processes
from noveltree.simulators import permissions, take_over


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not true, or a caveat."""

    file: str
    holds: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found in a directory."""

    episodes: int
    findings: list[Finding]
    manifest: Manifest

    @property
    def holds(self) -> bool:
        return all(finding.holds for finding in self.findings)


def audit(
    directory: Path,
    *,
    workers: int = 1,
    renew: bool = False,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Audit:
    """Verify everything in a directory; if all of it holds, sign it off in a manifest.

    An existing manifest must fit, unless it is to be renewed.
    """
    if not directory.is_dir():
        raise InputError(f"There is no directory {directory}.")
    runs, benchmarks = _places(directory, RUN), _places(directory, SUITE, PLAN, JOURNAL)
    for place in {directory, *runs, *benchmarks}:
        if is_locked(place):
            raise BusyError(f"A process is still working on {place}; verify it afterwards.")
    for run in runs:
        with contextlib.suppress(RecordError):  # which is found out below
            protocol = RunDirectory.open(run).protocol
            protocol.simulator_kind.check_import(protocol.game, protocol.source)
    if not (directory / MANIFEST).exists() or renew:
        check_writable(directory)
    now = checksums(directory)
    findings = [Finding(name, False, "is not a regular file") for name, digest in now.items() if digest == NO_FILE]
    before = None if renew else read_manifest(directory)
    if before is not None:
        findings += _changes(directory, directory, before, now)
    for signed in _places(directory, MANIFEST):
        if signed != directory and (manifest := read_manifest(signed)) is not None:
            findings += _changes(directory, signed, manifest, checksums(signed))
    episodes = [directory / name for name in now if _has_to_be_episode(directory / name)]
    if not episodes:
        raise InputError(f"There are no episodes in {directory}.")
    findings += sorted(_replay(directory, episodes, workers, on_progress), key=lambda finding: finding.file)
    for run in runs:
        findings += _check_run(directory, run)
    for benchmark in benchmarks:
        findings += check_benchmark(directory, benchmark)
    made = Audit(len(episodes), findings, Manifest(len(episodes), now))
    if checksums(directory) != now:
        raise BusyError(f"{directory} was changed while it was verified; verify it again.")
    if made.holds and before != made.manifest:
        write_manifest(directory, made.manifest)
    return made


def _places(directory: Path, *names: str) -> list[Path]:
    """The directories, this one or below, that have one of these files."""
    return sorted({file.parent for name in names for file in directory.rglob(name)})


def _changes(directory: Path, signed: Path, manifest: Manifest, now: dict[str, str]) -> Iterator[Finding]:
    """What has changed since a directory was signed off."""
    for name, what in manifest.changes(now):
        yield Finding(_name(directory, signed / name), False, f"{what} after it was signed off")


def _has_to_be_episode(path: Path) -> bool:
    """Whether this says that it is an episode, or stands where a run has its episodes."""
    if path.suffix != ".json" or path.is_symlink() or not path.is_file():
        return False
    if path.parent.parent.name in ("episodes", "evaluation"):
        return True
    with contextlib.suppress(OSError):
        return is_episode(path)
    return False


def _replay(
    directory: Path, episodes: list[Path], workers: int, on_progress: Callable[[int, int], None]
) -> Iterator[Finding]:
    if workers == 1:
        replays = ((path, *_verify(path)) for path in episodes)
    else:
        replays = _replay_in_processes(episodes, workers)
    with contextlib.closing(replays):
        for done, (path, holds, sentence) in enumerate(replays, start=1):
            on_progress(done, len(episodes))
            if sentence:
                yield Finding(_name(directory, path), holds, sentence)


def _replay_in_processes(episodes: list[Path], workers: int) -> Generator[tuple[Path, bool, str]]:
    context = multiprocessing.get_context("spawn")
    others = multiprocessing.active_children()
    with ProcessPoolExecutor(
        min(workers, len(episodes)), mp_context=context, initializer=_begin, initargs=(permissions(),)
    ) as pool:
        try:
            with starting_processes():
                replays = {pool.submit(_verify, path): path for path in episodes}
            for future in as_completed(replays):
                yield (replays[future], *future.result())
        except BrokenProcessPool as error:
            raise SimulatorError(
                "A process that replayed episodes died; perhaps there is not enough memory."
            ) from error
        except BaseException:
            for process in multiprocessing.active_children():
                if process not in others:
                    process.kill()  # the pool would wait for what it has begun
            raise


def _begin(allowed: Mapping[str, str]) -> None:
    leave_to_parent()
    take_over(allowed)
    sys.stdout = sys.stderr  # what a simulator prints is no result


def _verify(path: Path) -> tuple[bool, str]:
    try:
        verification = verify_episode(read_episode(path))
    except NoveltreeError as error:
        return False, str(error)
    return verification.holds, verification.finding


def _check_run(directory: Path, path: Path) -> Iterator[Finding]:
    """Whether a run's result is that of its episodes, and these are its own."""
    name = _name(directory, path)
    try:
        run = RunDirectory.open(path)
        result = run.read_result()
        evaluation = [] if result is None else run.evaluation_paths(result)
        if result is not None and len(evaluation) != len(result["scores"]):
            yield Finding(name, False, "its result has more scores than episodes")
            return
        records = {each: read_episode(each) for each in (*evaluation, *run.learnt_paths())}
    except NoveltreeError as error:
        yield Finding(name, False, str(error))
        return
    for folder in ("episodes", "evaluation"):
        for each in (path / folder).rglob("*.json"):
            if place_of_episode(each) is None or each.parent.parent != path / folder:
                yield Finding(_name(directory, each), False, "a run does not name its episodes like this")
    for each, record in records.items():
        known = (record.protocol, record.seed, (record.interval, record.index))
        expected = (run.protocol, run.seed, place_of_episode(each))
        if known != expected or (record.weights and not run.protocol.training_interactions):
            yield Finding(_name(directory, each), False, "it belongs to another run, or elsewhere in this run")
        stopped = record.episode.end is End.STOPPED and each not in evaluation  # enough was seen of it
        if record.episode.end not in (End.TERMINAL, End.TRUNCATED) and not stopped:
            yield Finding(_name(directory, each), False, "it was not played to its end")
    if result is None:
        return
    scores = [records[each].episode.score for each in evaluation]
    about = {"game": run.protocol.game, "agent": run.protocol.agent, "seed": run.seed}
    said = {**about, "protocol_hash": run.protocol.hash, "score": statistics.fmean(scores), "scores": scores}
    if not run.protocol.training_interactions:  # else they are those of training
        said["interactions"] = sum(records[each].episode.interactions for each in evaluation)
    if any(result.get(key) != value for key, value in said.items()):
        yield Finding(name, False, "its result is not that of its episodes")


def check_benchmark(directory: Path, path: Path) -> Iterator[Finding]:
    """What does not fit together in the benchmark in `path`: its suite, its plan, its trials and its tables."""

    def finding(name: str, sentence: str, *, holds: bool = False) -> Finding:
        return Finding(_name(directory, path / name), holds, sentence)

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
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return rows == table.rows()


def _name(directory: Path, path: Path) -> str:
    return path.relative_to(directory).as_posix()
