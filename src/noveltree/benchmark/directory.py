"""The directory of a benchmark: what it runs, and how far it has come.

suite.yaml                        what is run
plan.json                         its trials, and the protocols they are played under
registration.json                 which trials were announced before any was run, if they were
journal.jsonl                     when trials began and how they ended
lock                              held by the process that runs the benchmark
trials/GAME/AGENT/trial-N/        a run directory per trial
logs/GAME-AGENT-trial-N.txt       what a trial printed, if it printed anything
logs/GAME-AGENT-trial-N.notices   what whoever runs it should know, if there is anything
results.csv, results.parquet      the tidy table
manifest.json                     checksums of all files, once they were verified

A trial is finished when its run directory has a result; nothing else counts. The journal records what cannot be
seen there: failures, and what is running.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from noveltree.benchmark.plan import PlannedTrial, protocols_of
from noveltree.benchmark.suite import MOST_TRIALS, Suite, is_label, read_suite_file
from noveltree.errors import InputError, RecordError
from noveltree.protocol import compare_protocols, parse_protocol
from noveltree.records.files import check_writable, checksum, is_unfinished, read_json, write_atomically
from noveltree.records.journal import Journal
from noveltree.records.lock import LOCK, is_locked, locked
from noveltree.records.manifest import MANIFEST, SIGNATURE
from noveltree.records.run_directory import RESULT, RunDirectory

State = Literal["failed", "running", "finished", "interrupted", "waiting"]
SUITE, PLAN, JOURNAL = "suite.yaml", "plan.json", "journal.jsonl"
REGISTRATION = "registration.json"
_FORMAT, _VERSION = "noveltree-benchmark", 1
#: The tidy table, as it is collected.
RESULTS, PARQUET = "results.csv", "results.parquet"
#: Where a trial reports its progress, in its run directory.
PROGRESS = "progress.json"
_PARTS = (SUITE, PLAN, REGISTRATION, JOURNAL, LOCK, "trials", "logs", RESULTS, PARQUET, MANIFEST, SIGNATURE)
#: How often a failing trial is retried.
RETRIES = 2


@dataclass(slots=True)
class TrialStatus:
    """Where a trial stands."""

    trial: PlannedTrial
    state: State = "waiting"
    failures: int = 0
    """In a row, without an episode recorded in between."""
    kills: int = 0
    """How often it was killed from outside in a row, without an episode recorded in between."""
    recorded: int = 0
    """Episodes on disk when it failed or was killed last."""
    error: str = ""
    """Of the last failure, or what killed it."""
    began: float | None = None
    seconds: float = 0.0
    """How long it ran, not counting the process that runs now."""


class BenchmarkDirectory:
    """A benchmark on disk. Reading needs no lock; the process that runs it holds one."""

    def __init__(self, path: Path, suite: Suite, trials: Sequence[PlannedTrial]) -> None:
        self.path = path
        self.suite = suite
        self.trials = list(trials)
        self.journal = Journal(path / JOURNAL)

    @classmethod
    def open(cls, path: Path) -> BenchmarkDirectory:
        """The benchmark in an existing directory."""
        if not (path / PLAN).is_file():
            raise RecordError(f"There is no benchmark in {path}: it has no {PLAN}.")
        try:
            suite = read_suite_file(path / SUITE)
        except InputError as error:
            raise RecordError(str(error)) from error
        return cls(path, suite, _read_plan(path / PLAN))

    @classmethod
    def create(cls, path: Path, suite: Suite, trials: Sequence[PlannedTrial]) -> BenchmarkDirectory:
        """The benchmark of these trials in `path`: a new one, or the one that is there already.

        One that has other trials is refused, unless all of its trials are among these: then it grows.
        """
        if path.is_dir() and any(not _is_part(entry) for entry in path.iterdir()):
            raise InputError(f"{path} is not empty and holds no benchmark; choose another --out.")
        check_writable(path)
        made = cls(path, suite, trials)
        with made.locked():
            if (path / PLAN).exists():
                known = {trial.name: trial for trial in trials}
                for old in _read_plan(path / PLAN):
                    _check_same(path, old, known.get(old.name))
            write_atomically(path / SUITE, suite.to_yaml().encode())
            write_atomically(path / PLAN, _encode_plan(trials))
        return made

    def locked(self) -> AbstractContextManager[None]:
        """Be the only process that runs this benchmark."""
        return locked(self.path)

    @property
    def is_locked(self) -> bool:
        """Whether a process is running this benchmark."""
        return is_locked(self.path)

    @property
    def plan_path(self) -> Path:
        return self.path / PLAN

    def run_path(self, trial: PlannedTrial) -> Path:
        return self.path / trial.name

    @property
    def log_directory(self) -> Path:
        return self.path / "logs"

    def log_path(self, trial: PlannedTrial) -> Path:
        return self._in_logs(trial, ".txt")

    def notices_path(self, trial: PlannedTrial) -> Path:
        return self._in_logs(trial, ".notices")

    def notices(self, trial: PlannedTrial) -> list[str]:
        """What a trial has said that whoever runs it should know, such as that some returns are clipped."""
        return read_notices(self.notices_path(trial))

    def _in_logs(self, trial: PlannedTrial, ending: str) -> Path:
        return self.log_directory / f"{trial.name.removeprefix('trials/').replace('/', '-')}{ending}"

    def is_finished(self, trial: PlannedTrial) -> bool:
        return (self.run_path(trial) / RESULT).exists()

    def has_whole_result(self, trial: PlannedTrial) -> bool:
        """Whether a trial has a result that can be read."""
        try:
            return RunDirectory(self.run_path(trial), trial.protocol, trial.seed).read_result() is not None
        except RecordError:
            return False

    def recorded(self, trial: PlannedTrial) -> int:
        """How many of a trial's episodes are on disk."""
        run = self.run_path(trial)
        return sum(1 for phase in ("episodes", "evaluation") for _ in (run / phase).glob("*/*.json"))

    def statuses(self) -> list[TrialStatus]:
        """Where every trial stands, by the journal and by the results that are there."""
        statuses = {trial.name: TrialStatus(trial) for trial in self.trials}
        for event in self.journal.read(parse_constant=_refuse):
            name = event.get("trial") if isinstance(event, dict) else None
            if not isinstance(name, str) or name not in statuses:
                continue
            try:
                _apply(statuses[name], event)
            except (KeyError, TypeError, OverflowError) as error:
                raise RecordError(
                    f"{self.journal.path} is damaged: it has events that noveltree does not write."
                ) from error
        alive = self.is_locked
        for status in statuses.values():
            # A trial that failed although it has a result has one that is damaged, or has been mended.
            if self.is_finished(status.trial) and (status.state != "failed" or self.has_whole_result(status.trial)):
                status.state = "finished"
            elif status.state == "finished" or (status.state == "running" and not alive):
                status.state = "interrupted"
        return list(statuses.values())

    def read_progress(self, trial: PlannedTrial) -> dict[str, Any] | None:
        """The last progress that a trial reported; None if it has reported none."""
        try:
            content = json.loads((self.run_path(trial) / PROGRESS).read_bytes())
        except (OSError, ValueError):
            return None
        return content if isinstance(content, dict) else None

    def began(self, status: TrialStatus) -> None:
        """Note that a process has started to work on a trial."""
        self._add(status, "began")

    def finished(self, status: TrialStatus, seconds: float) -> None:
        self._add(status, "finished", seconds=seconds)

    def interrupted(self, status: TrialStatus, seconds: float) -> None:
        self._add(status, "interrupted", seconds=seconds)

    def failed(self, status: TrialStatus, seconds: float, error: str) -> None:
        self._add(status, "failed", seconds=seconds, error=error, recorded=self.recorded(status.trial))

    def killed(self, status: TrialStatus, seconds: float, error: str) -> None:
        """Note that somebody else ended a trial's process: the trial has not failed."""
        self._add(status, "killed", seconds=seconds, error=error, recorded=self.recorded(status.trial))

    def retry(self, status: TrialStatus) -> None:
        """Let a failed trial run again."""
        self._add(status, "retry")

    def _add(self, status: TrialStatus, event: str, **more: Any) -> None:
        entry = {"event": event, "trial": status.trial.name, "time": round(time.time(), 3), **more}
        if "seconds" in entry:
            entry["seconds"] = round(entry["seconds"], 3)
        self.journal.add(entry)
        self.journal.sync()
        _apply(status, entry)


def read_notices(file: Path) -> list[str]:
    """The notices that a trial has written into a file; none if there is no file."""
    try:
        return file.read_bytes().decode(errors="replace").splitlines()
    except OSError:
        return []


def _apply(status: TrialStatus, event: dict[str, Any]) -> None:
    match event["event"]:
        case "began":
            status.state, status.began = "running", event["time"]
        case "failed" | "killed":
            if event["recorded"] > status.recorded:
                status.failures = status.kills = 0
            status.failures += event["event"] == "failed"
            status.kills += event["event"] == "killed"
            status.recorded, status.error = event["recorded"], event["error"]
            status.seconds += event["seconds"]
            status.state = "failed" if status.failures > RETRIES else "interrupted"
        case "retry":
            status.state, status.failures = "interrupted", 0
        case "finished" | "interrupted":
            status.state = event["event"]
            status.seconds += event["seconds"]


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")


def _check_same(path: Path, old: PlannedTrial, new: PlannedTrial | None) -> None:
    """Raise InputError if a trial is not what it was when the benchmark was started."""
    other = f"{path} holds another benchmark"
    if new is None:
        raise InputError(f"{other}: {old.name} is not in this suite; choose another --out.")
    if differences := compare_protocols(old.protocol, new.protocol):
        first = differences[0]
        raise InputError(
            f"{other}: in {old.name} {first.setting} is {first.first}, not {first.second}; choose another --out."
        )
    for what in ("seed", "episodes"):
        before, now = getattr(old, what), getattr(new, what)
        if before != now:
            raise InputError(f"{other}: in {old.name} {what} is {before}, not {now}; choose another --out.")


def _is_part(entry: Path) -> bool:
    """Whether this is part of a benchmark, or was left by one that was killed while it started."""
    beginnings = tuple(f".{part}." for part in _PARTS)
    return entry.name in _PARTS or entry.name.startswith(beginnings) or is_unfinished(entry)


def _encode_plan(trials: Sequence[PlannedTrial]) -> bytes:
    hashes = {key: protocol.hash for key, protocol in protocols_of(trials).items()}
    protocols = {hashes[key]: each.model_dump(mode="json") for key, each in protocols_of(trials).items()}
    content = {
        "format": _FORMAT,
        "version": _VERSION,
        "protocols": protocols,
        "trials": [
            [trial.label, hashes[id(trial.protocol)], trial.trial, trial.seed, trial.episodes] for trial in trials
        ],
    }
    return json.dumps({**content, "checksum": checksum(content)}).encode() + b"\n"


def _read_plan(file: Path) -> list[PlannedTrial]:
    content = read_json(file)
    if content.get("format") != _FORMAT:
        raise RecordError(f"{file} is not a benchmark of noveltree.")
    if content.get("version") != _VERSION:
        raise RecordError(f"{file} has format version {content.get('version')!r}; this noveltree reads {_VERSION}.")
    try:
        protocols = {name: parse_protocol(protocol) for name, protocol in content["protocols"].items()}
        trials = [
            PlannedTrial(str(label), protocols[name], int(trial), int(seed), int(episodes))
            for label, name, trial, seed, episodes in content["trials"]
        ]
    except RecordError as error:
        raise RecordError(f"{file}: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise RecordError(f"{file} is damaged: it does not hold the trials of a benchmark.") from error
    if not all(is_label(trial.label) and trial.game not in (".", "..") for trial in trials):
        raise RecordError(f"{file} is damaged: it has names that noveltree does not write.")
    if not all(0 <= trial.trial < MOST_TRIALS for trial in trials):
        raise RecordError(f"{file} is damaged: its trials are numbered as noveltree numbers none.")
    if any(protocol.hash != name for name, protocol in protocols.items()):
        raise RecordError(f"{file} was changed after it was written: a hash does not fit its protocol.")
    if content.get("checksum", (made := checksum(content))) != made:  # older plans have none
        raise RecordError(f"{file} was changed after it was written: its checksum does not fit.")
    return trials
