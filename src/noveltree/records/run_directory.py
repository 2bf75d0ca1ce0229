"""The directory of a run, a trial that learns: what it is, how far it is, and all its episodes.

run.json                              the protocol and the seed: what the run is
lock                                  held by the process that trains
checkpoints/000003/                   networks and schedule when interval 3 was over; the last two
episodes/interval-0003/00012.json     every episode, as a file that `noveltree verify` replays
evaluation/interval-0004/00000.json   episodes played with what was deployed before interval 4
metrics.jsonl                         one line per episode and per interval
result.json                           the scores, once the run is over
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from noveltree.episodes import Episode
from noveltree.errors import InputError, OutputError, RecordError
from noveltree.protocol import Protocol, compare_protocols, parse_protocol
from noveltree.records.checkpoint import Checkpoint, read_latest_checkpoint, write_checkpoint
from noveltree.records.episode_file import EpisodeRecord, read_episode, write_episode
from noveltree.records.files import check_writable, checksum, write_atomically

_FORMAT, _VERSION = "noveltree-run", 1
_RUN, _LOCK, _METRICS, _RESULT = "run.json", "lock", "metrics.jsonl", "result.json"
#: How long a lock is waited for: whoever only asks whether a run is locked holds it for an instant.
_SECONDS_TO_LOCK = 0.5


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
        seed = content.get("seed")
        if content.get("format") != _FORMAT or not isinstance(seed, int) or seed < 0:
            raise RecordError(f"{file} is not a run of noveltree.")
        if content.get("version") != _VERSION:
            raise RecordError(
                f"{file} has format version {content.get('version')!r}; this noveltree reads {_VERSION}."
            )
        try:
            protocol = parse_protocol(content.get("protocol"))
        except RecordError as error:
            raise RecordError(f"{file}: {error}") from error
        if protocol.learning is None:
            raise RecordError(f"{file} is not a run of noveltree: its protocol says nothing of learning.")
        if content.get("protocol_hash") != protocol.hash:
            raise RecordError(f"{file} was changed after it was written: its hash does not fit its protocol.")
        return cls(path, protocol, seed)

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
        if path.is_dir() and any(not _begins_run(entry) for entry in path.iterdir()):
            raise InputError(f"{path} is not empty and holds no run; choose another --out.")
        check_writable(path)
        run = cls(path, protocol, seed)
        with run.locked():
            if not (path / _RUN).exists():  # otherwise another process has been faster
                run._write()
        return cls.create(path, protocol, seed)

    def _write(self) -> None:
        """Write down what the run is."""
        content = {
            "format": _FORMAT,
            "version": _VERSION,
            "game": self.protocol.game,
            "agent": self.protocol.agent,
            "seed": self.seed,
            "protocol_hash": self.protocol.hash,
            "protocol": self.protocol.model_dump(mode="json"),
        }
        write_atomically(self.path / _RUN, json.dumps(content, indent=1).encode() + b"\n")

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only process that works on this run; the lock ends with the process, however that ends."""
        try:
            handle = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise OutputError(f"Cannot lock {self.path}: {error.strerror or error}.") from error
        try:
            try:
                locked = _lock(handle)
            except OSError as error:
                raise OutputError(f"Cannot lock {self.path}: {error.strerror or error}.") from error
            if not locked:
                holder = os.read(handle, 20).decode(errors="replace").strip() or "another one"
                raise InputError(f"A process is already working on {self.path} (process {holder}).")
            with contextlib.suppress(OSError):  # the lock holds on a full disk, too
                os.ftruncate(handle, 0)
                os.write(handle, f"{os.getpid()}\n".encode())
            yield
        finally:
            os.close(handle)

    @property
    def is_locked(self) -> bool:
        """Whether a process is working on this run."""
        try:
            with (self.path / _LOCK).open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:  # no process could lock what is not there
            return False
        return False

    def write_checkpoint(self, number: int, checkpoint: Checkpoint) -> None:
        state = {**checkpoint.state, "protocol_hash": self.protocol.hash, "seed": self.seed}
        write_checkpoint(self.path / "checkpoints", number, Checkpoint(checkpoint.arrays, state))

    def read_checkpoint(self) -> tuple[Checkpoint | None, list[str]]:
        """The newest whole checkpoint, None before the first; and complaints about newer ones."""
        checkpoint, complaints = read_latest_checkpoint(self.path / "checkpoints")
        if checkpoint is not None:
            found = checkpoint.state.get("protocol_hash"), checkpoint.state.get("seed")
            if found != (self.protocol.hash, self.seed):
                raise RecordError(f"The checkpoints in {self.path} are of another run.")
        return checkpoint, complaints

    def episode_path(self, interval: int, index: int) -> Path:
        return self.path / "episodes" / f"interval-{interval:04}" / f"{index:05}.json"

    def evaluation_path(self, interval: int, index: int) -> Path:
        return self.path / "evaluation" / f"interval-{interval:04}" / f"{index:05}.json"

    def write_episode(
        self, path: Path, episode: Episode, *, interval: int, index: int, weights: str | None
    ) -> None:
        """Record an episode that was played with these networks."""
        write_episode(path, EpisodeRecord(episode, self.protocol, self.seed, index, interval, weights))

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

    def read_learnt(self, interval: int, index: int) -> EpisodeRecord:
        """An episode of an interval that is over: there are no networks any more to play it again with."""
        path = self.episode_path(interval, index)
        record = read_episode(path)
        wanted = (self.protocol, self.seed, interval, index)
        if (record.protocol, record.seed, record.interval, record.index) != wanted:
            raise RecordError(f"{path} holds another episode than its name says.")
        return record

    def read_interval(self, interval: int) -> list[EpisodeRecord]:
        """All episodes of an interval that is over."""
        count = len(list(self.episode_path(interval, 0).parent.glob("*.json")))
        return [self.read_learnt(interval, index) for index in range(count)]

    def metrics_size(self) -> int:
        path = self.path / _METRICS
        return path.stat().st_size if path.exists() else 0

    def cut_metrics(self, size: int) -> None:
        """Forget lines after the first `size` bytes: they are of an interval that is played again."""
        path = self.path / _METRICS
        if path.exists():
            with path.open("r+b") as file:
                kept = file.read(size)
                file.truncate(len(kept))
                if kept and not kept.endswith(b"\n"):  # of a file that was damaged
                    file.write(b"\n")

    def add_metrics(self, line: dict[str, Any]) -> None:
        try:
            with (self.path / _METRICS).open("ab") as file:
                file.write(json.dumps(line).encode() + b"\n")
        except OSError as error:
            raise OutputError(f"Cannot write {self.path / _METRICS}: {error.strerror or error}.") from error

    def read_metrics(self) -> list[dict[str, Any]]:
        """All lines that were written whole."""
        path = self.path / _METRICS
        try:
            data = path.read_bytes() if path.exists() else b""
        except OSError as error:
            raise RecordError(f"Cannot read {path}: {error.strerror or error}.") from error
        lines = []
        for line in data.splitlines():
            with contextlib.suppress(ValueError):  # the last one, if the process was killed while it wrote
                lines.append(json.loads(line))
        if not all(isinstance(line, dict) and "event" in line for line in lines):
            raise RecordError(f"{path} is damaged: it has lines that noveltree does not write.")
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
            raise RecordError(
                f"{self.path / _RESULT} was changed after it was written: its checksum does not fit. To have it "
                "written again, delete it and train on."
            )
        return result


def _begins_run(entry: Path) -> bool:
    """Whether this is what a process that was killed while it began a run leaves behind."""
    return entry.name == _LOCK or entry.name.startswith(f".{_RUN}.")


def _lock(handle: int) -> bool:
    """Lock an open file; False if another process keeps it locked."""
    give_up = time.monotonic() + _SECONDS_TO_LOCK
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > give_up:
                return False
            time.sleep(0.02)
        else:
            return True


def _read_json(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_bytes())
    except OSError as error:
        raise RecordError(f"Cannot read {file}: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{file} is damaged: it is no valid JSON.") from error
    if not isinstance(content, dict):
        raise RecordError(f"{file} is damaged: it is no JSON object.")
    return content
