"""Registration: which trials will be run, written down before any of them is.

Its digest is published. Then nobody can leave out trials afterwards, or change them, without its being seen.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from noveltree.benchmark.directory import REGISTRATION, BenchmarkDirectory
from noveltree.benchmark.plan import PlannedTrial, protocols_of
from noveltree.errors import InputError, RecordError
from noveltree.records.files import read_json, write_atomically

_FORMAT, _VERSION = "noveltree-registration", 1

#: Name, protocol hash, seed and number of episodes of a trial.
_Trial = tuple[str, str, int, int]


@dataclass(frozen=True, slots=True)
class Registration:
    """The trials that were registered, and when."""

    trials: tuple[_Trial, ...]
    date: str

    @property
    def digest(self) -> str:
        """One digest for all trials."""
        return hashlib.sha256(json.dumps(sorted(self.trials)).encode()).hexdigest()

    def missing_from(self, trials: Sequence[PlannedTrial]) -> Iterator[str]:
        """The names of registered trials that are not planned any more, or are others."""
        planned = set(_trials(trials))
        return (trial[0] for trial in self.trials if trial not in planned)


def register(directory: BenchmarkDirectory) -> Registration:
    """Register the trials of a benchmark, of which none may have begun."""
    if (there := read_registration(directory.path)) is not None:
        if sorted(there.trials) != sorted(_trials(directory.trials)):
            raise InputError(f"{directory.path} was registered with other trials; choose another --out.")
        return there
    begun = [trial.name for trial in directory.trials if directory.run_path(trial).exists()]
    if begun or directory.journal.read():
        what = begun[0] if begun else "a trial"
        raise InputError(
            f"A benchmark is registered before anything is run, but {what} was begun; choose another --out."
        )
    made = Registration(tuple(_trials(directory.trials)), datetime.now(UTC).isoformat(timespec="seconds"))
    content = {
        "format": _FORMAT,
        "version": _VERSION,
        "date": made.date,
        "digest": made.digest,
        "trials": made.trials,
    }
    write_atomically(directory.path / REGISTRATION, json.dumps(content, indent=1).encode() + b"\n")
    return made


def read_registration(path: Path) -> Registration | None:
    """The registration of the benchmark in a directory, if it has one."""
    file = path / REGISTRATION
    if not file.exists():
        return None
    content = read_json(file)
    if content.get("format") != _FORMAT or content.get("version") != _VERSION:
        raise RecordError(f"{file} is not a registration of noveltree.")
    try:
        trials = tuple(
            (str(name), str(protocol), int(seed), int(count)) for name, protocol, seed, count in content["trials"]
        )
        made = Registration(trials, str(content["date"]))
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"{file} is damaged: it does not hold the trials of a benchmark.") from error
    if content.get("digest") != made.digest:
        raise RecordError(f"{file} was changed after it was written: its digest does not fit.")
    return made


def _trials(trials: Sequence[PlannedTrial]) -> Iterator[_Trial]:
    hashes = {key: protocol.hash for key, protocol in protocols_of(trials).items()}
    return ((trial.name, hashes[id(trial.protocol)], trial.seed, trial.episodes) for trial in trials)
