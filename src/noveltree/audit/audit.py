"""An audit: is everything in a directory true?

Every episode is replayed; results, learning and tables are compared with the episodes. If that is asked for,
episodes are planned again and runs learn again. What was done, and how deep, is signed off in a manifest.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from noveltree.audit.benchmarks import check_benchmark
from noveltree.audit.deeper import ToLearn, ToPlan, known_networks, learn_again, plan_episode
from noveltree.audit.episodes import Trace, has_to_be_episode, missing_indices, replay_episode, run_of, same_actions
from noveltree.audit.findings import Audit, Finding, Lack, name_in
from noveltree.audit.processes import each
from noveltree.audit.runs import check_run
from noveltree.audit.sampling import draw, new_number
from noveltree.benchmark.directory import JOURNAL, PLAN, SUITE
from noveltree.errors import BusyError, InputError, RecordError
from noveltree.records.files import check_writable
from noveltree.records.lock import is_locked
from noveltree.records.manifest import (
    MANIFEST,
    NO_FILE,
    SIGNATURE,
    Checked,
    Manifest,
    checksums,
    files_digest,
    read_manifest,
    write_manifest,
)
from noveltree.records.run_directory import RUN, RunDirectory
from noveltree.version import __version__
from noveltree.wording import counted

#: Told what is being done, and how many of how many are done.
Progress = Callable[[str, int, int], None]
_Task = TypeVar("_Task")
_Outcome = TypeVar("_Outcome")
_PACKAGES = ("ale-py", "gymnasium", "numpy", "numba", "torch", "onnxruntime")


@dataclass(frozen=True, slots=True)
class Depth:
    """How deep an audit goes beyond replaying every episode."""

    replan: int | None = None
    """How many episodes are planned again; None: none of them, but for those that look like copies."""
    number: str | None = None
    """With which these are drawn; None: one that nobody could foresee."""
    relearn: bool = False
    """Whether runs learn again what they have learnt."""
    partial: bool = False
    """Whether runs are accepted of whose learning there is no evidence; the manifest names them."""
    registered: str | None = None
    """The digest that was published when benchmarks were registered, if it has to be theirs."""


class _Auditor:
    """What is known of a directory, and what was found so far."""

    def __init__(self, directory: Path, depth: Depth, workers: int, progress: Progress) -> None:
        self.directory, self.depth = directory, depth
        self._workers, self._progress = workers, progress
        self.files = checksums(directory)
        self.findings = [
            Finding(name, False, "is not a regular file")
            for name, digest in self.files.items()
            if digest == NO_FILE
        ]
        self.episodes = [name for name in self.files if has_to_be_episode(directory / name)]
        self.runs = _places(directory, RUN)
        self.learners: list[Path] = []
        self.traces: dict[str, Trace] = {}
        #: Episodes that were planned again.
        self.planned: set[str] = set()
        self.relearnt: set[Path] = set()
        self.number: str | None = None
        self.sample: tuple[int, int] | None = None

    def add(self, path: Path, holds: bool, sentence: str) -> None:
        self.findings.append(Finding(name_in(self.directory, path), holds, sentence))

    def replay(self) -> None:
        """Replay every episode."""
        paths = [self.directory / name for name in self.episodes]
        for path, outcome in self._each("Replaying", replay_episode, paths):
            name = name_in(self.directory, path)
            if outcome.trace is not None:
                self.traces[name] = outcome.trace
            if outcome.sentence:
                self.findings.append(Finding(name, outcome.holds, outcome.sentence, outcome.happened))
        self.findings.sort(key=lambda finding: finding.file)
        loose = ((self.directory / name, trace) for name, trace in self.traces.items())
        loose = ((path, trace) for path, trace in loose if run_of(self.directory, path) is None)
        for folder, sentence in missing_indices(loose):
            self.add(folder, True, sentence)

    def check_runs(self) -> None:
        for run in self.runs:
            self.findings += check_run(self.directory, run)
            with contextlib.suppress(RecordError):
                if RunDirectory.open(run).protocol.learning is not None:
                    self.learners.append(run)

    def go_deeper(self) -> None:
        """Plan episodes again, and let runs learn again."""
        places = {name: run_of(self.directory, self.directory / name) for name in self.traces}
        networks = dict(known_networks({places[name] for name, trace in self.traces.items() if any(trace.weights)}))
        ready, later = [], []
        for name, trace in self.traces.items():
            run = places[name]
            if not trace.follows_from_seed:
                continue
            if trace.stands_alone and (trace.weights[0] is None or trace.weights[0] in networks[run]):
                ready.append(name)
            elif self.depth.relearn and run is not None:
                later.append(name)
        wanted = self._sample([*ready, *later]) | self._alike({*ready, *later})
        tasks = [ToPlan(self.directory / name, places[name]) for name in ready if name in wanted]
        for task, difference in self._each("Planning", plan_episode, tasks):
            self._planned(task.path, difference)
        if not self.depth.relearn:
            return
        learning = [
            ToLearn(run, tuple(self.directory / name for name in later if name in wanted and places[name] == run))
            for run in self.learners
        ]
        for again, learnt in self._each("Learning", learn_again, learning):
            for path, difference in learnt.planned.items():
                self._planned(path, difference)
            if learnt.difference:
                self.add(again.run, False, learnt.difference)
            else:
                self.relearnt.add(again.run)

    def settle_lacks(self) -> dict[str, str]:
        """Decide what evidence that is not there means; the runs that are accepted without it, and what it is."""
        accepted: dict[str, str] = {}
        settled: list[Finding] = []
        for finding in self.findings:
            if not isinstance(finding, Lack):
                settled.append(finding)
            elif self.directory / finding.file in self.relearnt:
                continue
            elif self.depth.partial:
                accepted[finding.file] = "; ".join(filter(None, [accepted.get(finding.file), finding.sentence]))
                settled.append(Finding(finding.file, True, finding.sentence))
            else:
                advice = "learn it again with --relearn, or have the rest checked with --partial"
                settled.append(replace(finding, sentence=f"{finding.sentence}; {advice}"))
        self.findings = settled
        return accepted

    def _sample(self, names: Sequence[str]) -> set[str]:
        """The episodes that are to be planned again."""
        if self.depth.replan is None:
            return set()
        left = len(self.traces) - len(names)
        if left:
            sentence = (
                f"{counted(left, 'episode')} cannot be planned again: networks that they were played with are not "
                "there (--relearn has them made again), or planning ended by the clock"
            )
            self.findings.append(Finding("", True, sentence))
        self.sample = len(names), min(self.depth.replan, len(names))
        if self.depth.replan >= len(names):
            return set(names)
        self.number = self.depth.number or new_number()
        return set(draw(names, self.depth.replan, digest=files_digest(self.files), number=self.number))

    def _alike(self, can_be_planned: set[str]) -> set[str]:
        """Two of each group of episodes with the same actions: of copies, one at most comes out again."""
        wanted: set[str] = set()
        unknown = 0
        for group in same_actions(self.traces):
            pair = [name for name in group if name in can_be_planned][:2]
            unknown += len(pair) < 2
            wanted.update(pair)
        if unknown:
            what = "groups of episodes have" if unknown > 1 else "group of episodes has"
            sentence = f"{unknown} {what} the same actions, and they cannot be planned again to tell copies"
            self.findings.append(Finding("", True, sentence))
        return wanted

    def _planned(self, path: Path, difference: str) -> None:
        self.planned.add(name_in(self.directory, path))
        if difference:
            self.add(path, False, f"planned again from protocol, seed and index, it is another one: {difference}")

    def _each(
        self, what: str, work: Callable[[_Task], _Outcome], tasks: Sequence[_Task]
    ) -> Iterator[tuple[_Task, _Outcome]]:
        return each(work, tasks, workers=self._workers, progress=lambda *count: self._progress(what, *count))


def audit(
    directory: Path,
    *,
    depth: Depth | None = None,
    workers: int = 1,
    renew: bool = False,
    on_progress: Progress = lambda what, done, total: None,
) -> Audit:
    """Verify everything in a directory; if all of it holds, sign it off in a manifest.

    An existing manifest must fit, unless it is to be renewed. It stays as it is, unless more was done now.
    """
    depth = depth or Depth()
    if not directory.is_dir():
        raise InputError(f"There is no directory {directory}.")
    benchmarks = _places(directory, SUITE, PLAN, JOURNAL)
    for place in {directory, *_places(directory, RUN), *benchmarks}:
        if is_locked(place):
            raise BusyError(f"A process is still working on {place}; verify it afterwards.")
    _check_imports(directory)
    if not (directory / MANIFEST).exists() or renew:
        check_writable(directory)
    work = _Auditor(directory, depth, workers, on_progress)
    before = None if renew else read_manifest(directory)
    if before is not None:
        work.findings += _changes(directory, directory, before, work.files)
    for signed in _places(directory, MANIFEST):
        if signed != directory and (manifest := read_manifest(signed)) is not None:
            work.findings += _changes(directory, signed, manifest, checksums(signed))
    if not work.episodes:
        raise InputError(f"There are no episodes in {directory}.")
    work.replay()
    work.check_runs()
    work.go_deeper()
    for benchmark in benchmarks:
        work.findings += check_benchmark(directory, benchmark, registered=depth.registered)
    checked = _checked(work, work.settle_lacks())
    made = Audit(checked, work.findings, Manifest(checked, work.files), work.sample)
    if checksums(directory) != work.files:
        raise BusyError(f"{directory} was changed while it was verified; verify it again.")
    if not made.holds:
        return made
    if before is None or renew or _surpasses(directory, made.manifest, before):
        write_manifest(directory, made.manifest)
        return made
    return replace(made, manifest=before)


def _checked(work: _Auditor, lacking: dict[str, str]) -> Checked:
    versions = {"noveltree": __version__, "python": platform.python_version(), "machine": platform.machine()}
    for package in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return Checked(
        episodes=len(work.episodes),
        replanned=len(work.planned),
        number=work.number,
        learners=len(work.learners),
        relearnt=len(work.relearnt),
        lacking=lacking,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=versions,
    )


def _surpasses(directory: Path, made: Manifest, before: Manifest) -> bool:
    """Whether a manifest that fits is to be replaced by one that says more; what somebody signed stays."""
    signed = (directory / SIGNATURE).exists()
    return made.checked.deeper_than(before.checked) and not signed and os.access(directory, os.W_OK)


def _check_imports(directory: Path) -> None:
    """Raise InputError if simulators of the user's own would have to be imported, and may not be."""
    for run in _places(directory, RUN):
        with contextlib.suppress(RecordError):  # which is found out later
            protocol = RunDirectory.open(run).protocol
            protocol.simulator_kind.check_import(protocol.game, protocol.source)


def _places(directory: Path, *names: str) -> list[Path]:
    """The directories, this one or below, that have one of these files."""
    return sorted({file.parent for name in names for file in directory.rglob(name)})


def _changes(directory: Path, signed: Path, manifest: Manifest, now: dict[str, str]) -> Iterator[Finding]:
    """What has changed since a directory was signed off."""
    for name, what in manifest.changes(now):
        yield Finding(name_in(directory, signed / name), False, f"{what} after it was signed off")
