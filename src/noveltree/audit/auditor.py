"""Whoever audits a directory: what is known of it, what was found so far, and how deep it is looked at."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from noveltree.audit.deeper import ToLearn, ToPlan, known_networks, learn_again, plan_episode
from noveltree.audit.episodes import Trace, has_to_be_episode, missing_indices, replay_episode, run_of, same_actions
from noveltree.audit.findings import Finding, Lack, name_in
from noveltree.audit.processes import each
from noveltree.audit.runs import check_run
from noveltree.audit.sampling import draw, new_number
from noveltree.errors import RecordError
from noveltree.records.manifest import NO_FILE, checksums, files_digest
from noveltree.records.run_directory import RUN, RunDirectory
from noveltree.wording import counted

#: Told what is being done, and how many of how many are done.
Progress = Callable[[str, int, int], None]
_Task = TypeVar("_Task")
_Outcome = TypeVar("_Outcome")


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


class Auditor:
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
        self.runs = places_with(directory, RUN)
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
                "there (--relearn has them made again), planning ended by the clock, or they were played with what "
                "noveltree no longer has"
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


def places_with(directory: Path, *names: str) -> list[Path]:
    """The directories, this one or below, that have one of these files."""
    return sorted({file.parent for name in names for file in directory.rglob(name)})
