"""The directory of a run, a trial that learns: what it is, how far it is, and all its episodes.

run.json                              the protocol and the seed: what the run is
lock                                  held by the process that trains
checkpoints/000003/                   networks and schedule when interval 3 was over; the last two
episodes/interval-0003/00012.json     every episode, as a file that `noveltree verify` replays
evaluation/00000.json                 the episodes of the evaluation
metrics.jsonl                         one line per episode and per interval
result.json                           the scores, once the run is over
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from noveltree.errors import InputError, OutputError, RecordError
from noveltree.protocol import Protocol, compare_protocols, parse_protocol
from noveltree.records.checkpoint import Checkpoint, read_latest_checkpoint, write_checkpoint
from noveltree.records.episode_file import EpisodeRecord, read_episode, write_episode
from noveltree.records.files import check_writable, checksum, write_atomically

_FORMAT, _VERSION = "noveltree-run", 1
_RUN, _LOCK, _METRICS, _RESULT = "run.json", "lock", "metrics.jsonl", "result.json"


class RunDirectory:
    """A run on disk. Reading needs no lock; whoever trains holds one."""

    def __init__(self, path: Path, protocol: Protocol, seed: int) -> None:
        self.path = path
        self.protocol = protocol
        self.seed = seed

    @classmethod
    def open(cls, path: Path) -> RunDirectory:
        """The run in an existing directory."""
        file = path / _RUN
        if not file.is_file():
            raise RecordError(f"There is no run in {path}: it has no {_RUN}.")
        content = _read_json(file)
        if content.get("format") != _FORMAT or not isinstance(content.get("seed"), int):
            raise RecordError(f"{file} is not a run of noveltree.")
        if content.get("version") != _VERSION:
            raise RecordError(
                f"{file} has format version {content.get('version')!r}; this noveltree reads {_VERSION}."
            )
        return cls(path, parse_protocol(content.get("protocol")), content["seed"])

    @classmethod
    def create(cls, path: Path, protocol: Protocol, seed: int) -> RunDirectory:
        """The run with this protocol and seed in `path`: a new one, or the one that is there already.

        A run with another protocol or seed is refused, as is a directory that holds anything else.
        """
        if (path / _RUN).exists():
            run = cls.open(path)
            if run.seed != seed:
                raise InputError(f"{path} holds a run with seed {run.seed}, not {seed}; choose another --out.")
            if differences := compare_protocols(run.protocol, protocol):
                first = differences[0]
                raise InputError(
                    f"{path} holds another run: its {first.setting} is {first.first}, not {first.second}; "
                    "choose another --out."
                )
            return run
        if path.is_dir() and any(entry.name != _LOCK for entry in path.iterdir()):
            raise InputError(f"{path} is not empty and holds no run; choose another --out.")
        check_writable(path)
        content = {
            "format": _FORMAT,
            "version": _VERSION,
            "game": protocol.game,
            "agent": protocol.agent,
            "seed": seed,
            "protocol_hash": protocol.hash,
            "protocol": protocol.model_dump(mode="json"),
        }
        write_atomically(path / _RUN, json.dumps(content, indent=1).encode() + b"\n")
        return cls(path, protocol, seed)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only process that works on this run; the lock ends with the process, however that ends."""
        try:
            handle = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise OutputError(f"Cannot lock {self.path}: {error.strerror or error}.") from error
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                holder = os.read(handle, 20).decode(errors="replace").strip() or "another one"
                raise InputError(f"A process is already working on {self.path} (process {holder}).") from None
            os.ftruncate(handle, 0)
            os.write(handle, f"{os.getpid()}\n".encode())
            yield
        finally:
            os.close(handle)

    @property
    def is_locked(self) -> bool:
        """Whether a process is working on this run."""
        try:
            with (self.path / _LOCK).open("r+") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return False

    def write_checkpoint(self, number: int, checkpoint: Checkpoint) -> None:
        write_checkpoint(self.path / "checkpoints", number, checkpoint)

    def read_checkpoint(self) -> tuple[Checkpoint | None, list[str]]:
        """The newest whole checkpoint, None before the first; and complaints about newer ones."""
        return read_latest_checkpoint(self.path / "checkpoints")

    def episode_path(self, interval: int, index: int) -> Path:
        return self.path / "episodes" / f"interval-{interval:04}" / f"{index:05}.json"

    def evaluation_path(self, index: int) -> Path:
        return self.path / "evaluation" / f"{index:05}.json"

    def write_episode(self, path: Path, record: EpisodeRecord) -> None:
        write_episode(path, record)

    def read_episode(self, path: Path, *, interval: int, index: int, weights: str | None) -> EpisodeRecord | None:
        """An episode that was recorded whole, with these networks; None if it has to be played."""
        if not path.exists():
            return None
        try:
            record = read_episode(path)
        except RecordError:
            return None
        wanted = (self.protocol, self.seed, interval, index, weights)
        found = (record.protocol, record.seed, record.interval, record.index, record.weights)
        return record if found == wanted else None

    def read_interval(self, interval: int) -> list[EpisodeRecord]:
        """All episodes of an interval that is over."""
        return [read_episode(path) for path in sorted(self.episode_path(interval, 0).parent.glob("*.json"))]

    def metrics_size(self) -> int:
        path = self.path / _METRICS
        return path.stat().st_size if path.exists() else 0

    def cut_metrics(self, size: int) -> None:
        """Forget lines after the first `size` bytes: they are of an interval that is played again."""
        path = self.path / _METRICS
        if path.exists():
            with path.open("r+b") as file:
                file.truncate(min(size, path.stat().st_size))

    def add_metrics(self, line: dict[str, Any]) -> None:
        try:
            with (self.path / _METRICS).open("ab") as file:
                file.write(json.dumps(line).encode() + b"\n")
        except OSError as error:
            raise OutputError(f"Cannot write {self.path / _METRICS}: {error.strerror or error}.") from error

    def read_metrics(self) -> list[dict[str, Any]]:
        """All lines that were written whole."""
        path = self.path / _METRICS
        lines = []
        for line in path.read_bytes().splitlines() if path.exists() else ():
            with contextlib.suppress(ValueError):  # the last one, if the process was killed while it wrote
                lines.append(json.loads(line))
        return lines

    def write_result(self, result: dict[str, Any]) -> None:
        content = {**result, "checksum": checksum(result)}
        write_atomically(self.path / _RESULT, json.dumps(content, indent=1).encode() + b"\n")

    def read_result(self) -> dict[str, Any] | None:
        """The scores, if the run is over."""
        if not (self.path / _RESULT).exists():
            return None
        result = _read_json(self.path / _RESULT)
        if result.pop("checksum", None) != checksum(result):
            raise RecordError(f"{self.path / _RESULT} was changed after it was written: its checksum does not fit.")
        return result


def _read_json(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_bytes())
    except OSError as error:
        raise RecordError(f"Cannot read {file}: {error.strerror or error}.") from error
    except ValueError as error:
        raise RecordError(f"{file} is damaged: it is no valid JSON.") from error
    if not isinstance(content, dict):
        raise RecordError(f"{file} is damaged: it is no JSON object.")
    return content
