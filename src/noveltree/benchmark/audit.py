"""An audit: is everything in a directory true? Replay all its episodes, and compare all that is said of them."""

from __future__ import annotations

import contextlib
import multiprocessing
import statistics
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from noveltree.benchmark.collect import collect
from noveltree.benchmark.directory import BenchmarkDirectory
from noveltree.errors import BusyError, InputError, NoveltreeError, RecordError
from noveltree.records import read_episode, verify_episode
from noveltree.records.episode_file import FORMAT
from noveltree.records.lock import is_locked
from noveltree.records.manifest import Manifest, checksums, read_manifest, write_manifest
from noveltree.records.run_directory import RUN, RunDirectory

RESULTS = "results.csv"
#: How an episode file begins.
_BEGINNING = f'{{\n"format": "{FORMAT}"'.encode()


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
    """Verify all that is in a directory; if everything holds, sign it off in a manifest.

    A manifest that is there already must fit, unless it is to be renewed.
    """
    if not directory.is_dir():
        raise InputError(f"There is no directory {directory}.")
    before = read_manifest(directory)
    runs = sorted(file.parent for file in directory.rglob(RUN))
    for place in (directory, *runs):
        if is_locked(place):
            raise BusyError(f"A process is still working on {place}; verify it when that is over.")
    now = checksums(directory)
    findings: list[Finding] = []
    if before is not None and not renew:
        findings += [Finding(name, False, f"{what} after it was signed off") for name, what in before.changes(now)]
    episodes = list(_episodes(directory))
    if not episodes:
        raise InputError(f"There are no episodes in {directory}.")
    findings += sorted(_replay(directory, episodes, workers, on_progress), key=lambda finding: finding.file)
    for run in runs:
        findings += _check_run(directory, run)
    findings += _check_table(directory)
    made = Audit(len(episodes), findings, Manifest(len(episodes), now))
    if made.holds and (before is None or before != made.manifest):
        write_manifest(directory, made.manifest)
    return made


def _episodes(directory: Path) -> Iterator[Path]:
    """All episode files: those that look like one, and those that stand where a run has its episodes."""
    for path in sorted(directory.rglob("*.json")):
        if path.name.startswith("."):
            continue
        if path.parent.parent.name in ("episodes", "evaluation"):
            yield path
            continue
        with contextlib.suppress(OSError), path.open("rb") as file:
            if file.read(len(_BEGINNING)) == _BEGINNING:
                yield path


def _replay(
    directory: Path, episodes: list[Path], workers: int, on_progress: Callable[[int, int], None]
) -> Iterator[Finding]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(episodes)), mp_context=context) as pool:
        try:
            replays = {pool.submit(_verify, path): path for path in episodes}
            for done, future in enumerate(as_completed(replays), start=1):
                holds, sentence = future.result()
                on_progress(done, len(episodes))
                if sentence:
                    yield Finding(_name(directory, replays[future]), holds, sentence)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


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
        if result is None:
            return
        evaluation = run.evaluation_paths(result)
        records = [read_episode(each) for each in evaluation]
        scores = [record.episode.score for record in records]
        if scores != result["scores"] or result["score"] != statistics.fmean(scores):
            yield Finding(name, False, "its result does not have the scores of its episodes")
        for each, record in zip(evaluation, records, strict=True):
            if (record.protocol, record.seed, record.index) != (run.protocol, run.seed, int(each.stem)):
                yield Finding(_name(directory, each), False, "it is an episode of another run, or another of this")
    except NoveltreeError as error:
        yield Finding(name, False, str(error))
    except (KeyError, TypeError, statistics.StatisticsError):
        yield Finding(name, False, "its result is not one that noveltree writes")


def _check_table(directory: Path) -> Iterator[Finding]:
    """Whether the table of a benchmark says what its episodes say."""
    try:
        benchmark = BenchmarkDirectory.open(directory)
    except RecordError as error:
        if (directory / "plan.json").exists():
            yield Finding("plan.json", False, str(error))
        return
    for trial in benchmark.trials:
        path = benchmark.run_path(trial)
        with contextlib.suppress(RecordError):  # complained about already
            run = RunDirectory.open(path) if (path / RUN).exists() else None
            if run is not None and (run.protocol, run.seed) != (trial.protocol, trial.seed):
                yield Finding(trial.name, False, "it is not the run that was planned")
    table = directory / RESULTS
    if not table.exists():
        return
    try:
        expected = collect([benchmark], relative_to=directory).to_csv()
    except NoveltreeError as error:
        yield Finding(RESULTS, False, str(error))
        return
    if table.read_text() != expected:
        yield Finding(RESULTS, False, "it is not the table of these episodes; collect it again")


def _name(directory: Path, path: Path) -> str:
    return path.relative_to(directory).as_posix()
