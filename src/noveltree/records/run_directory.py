"""The directory of a run, which is a trial: what it is, how far it has come, and all its episodes.

A trial without learning has only an evaluation, as its interval 0.

run.json                              the protocol and the seed: what the run is
lock                                  held by the process that works on it
checkpoints/000003/                   networks and schedule when interval 3 was over; the last two
episodes/interval-0003/00012.json     every episode, as a file that `noveltree verify` replays
evaluation/interval-0004/00000.json   episodes played with what was deployed before interval 4
paused/                               episodes that were paused when training was interrupted
metrics.jsonl                         one line per episode and per interval
result.json                           the scores, once the run is over
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from noveltree.episodes import Episode
from noveltree.errors import InputError, OutputError, RecordError
from noveltree.protocol import Protocol, compare_protocols, parse_protocol
from noveltree.records import disk
from noveltree.records.checkpoint import Checkpoint, read_latest_checkpoint, write_checkpoint
from noveltree.records.episode_file import EpisodeRecord, read_episode, write_episode
from noveltree.records.files import (
    check_writable,
    checksum,
    is_unfinished,
    read_json,
    sweep,
    sync_tree,
    write_atomically,
)
from noveltree.records.journal import Journal
from noveltree.records.lock import LOCK, is_locked, locked

_FORMAT, _VERSION = "noveltree-run", 1
RUN, CHECKPOINTS, PAUSED, METRICS = "run.json", "checkpoints", "paused", "metrics.jsonl"
#: What a run has once it is over.
RESULT = "result.json"


class RunDirectory:
    """A run on disk. Reading needs no lock; the process that works on it holds one."""

    def __init__(self, path: Path, protocol: Protocol, seed: int) -> None:
        self.path = path
        self.protocol = protocol
        self.seed = seed
        self._metrics = Journal(path / METRICS)

    @classmethod
    def open(cls, path: Path) -> RunDirectory:
        """The run in an existing directory."""
        file = path / RUN
        if not file.is_file():
            raise RecordError(f"There is no run in {path}: it has no {RUN}.")
        content = read_json(file)
        seed = content.get("seed")
        if content.get("format") != _FORMAT or type(seed) is not int or seed < 0:
            raise RecordError(f"{file} is not a run of noveltree.")
        if content.get("version") != _VERSION:
            raise RecordError(
                f"{file} has format version {content.get('version')!r}; this noveltree reads {_VERSION}."
            )
        try:
            protocol = parse_protocol(content.get("protocol"))
        except RecordError as error:
            raise RecordError(f"{file}: {error}") from error
        if content.get("protocol_hash") != protocol.hash:
            raise RecordError(f"{file} was changed after it was written: its hash does not fit its protocol.")
        if content.get("checksum", (made := checksum(content))) != made:  # older runs have none
            raise RecordError(f"{file} was changed after it was written: its checksum does not fit.")
        if (content.get("game"), content.get("agent")) != (protocol.game, protocol.agent):
            raise RecordError(f"{file} contradicts itself: its game and agent are not those of its protocol.")
        return cls(path, protocol, seed)

    @classmethod
    def create(cls, path: Path, protocol: Protocol, seed: int) -> RunDirectory:
        """The run with this protocol and seed in `path`: a new one, or the one that is there already.

        A run with another protocol or seed is refused, as is a directory that holds anything else.
        """
        if (path / RUN).exists():
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
            raise InputError(f"{path} is not empty and holds no run; choose another --out, or empty it.")
        check_writable(path)
        run = cls(path, protocol, seed)
        with locked(path):
            if not (path / RUN).exists():  # otherwise another process has been faster
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
        content["checksum"] = checksum(content)
        write_atomically(self.path / RUN, json.dumps(content, indent=1).encode() + b"\n")

    def discard(self) -> None:
        """Remove the run if nothing was ever done in it: there is no more than what it is and who works on it."""
        if {entry.name for entry in self.path.iterdir()} <= {RUN, LOCK}:
            disk.remove_tree(self.path)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only process that works on this run; what others left behind who were killed is put in order."""
        with locked(self.path):
            try:
                sweep(self.path.rglob(".*"))
                sync_tree(self.path)
            except OSError as error:
                raise OutputError(f"Cannot write to {self.path}: {error.strerror or error}.") from error
            yield

    @property
    def is_locked(self) -> bool:
        """Whether a process is working on this run."""
        return is_locked(self.path)

    def write_checkpoint(self, number: int, checkpoint: Checkpoint) -> None:
        state = {**checkpoint.state, "protocol_hash": self.protocol.hash, "seed": self.seed}
        write_checkpoint(self.path / CHECKPOINTS, number, Checkpoint(checkpoint.arrays, state))

    def read_checkpoint(self) -> tuple[Checkpoint | None, list[str]]:
        """The newest intact checkpoint, None before the first; and what is wrong with newer ones."""
        checkpoint, problems = read_latest_checkpoint(self.path / CHECKPOINTS)
        if checkpoint is not None:
            found = checkpoint.state.get("protocol_hash"), checkpoint.state.get("seed")
            if found != (self.protocol.hash, self.seed):
                raise RecordError(f"The checkpoints in {self.path} are of another run.")
        return checkpoint, problems

    def episode_path(self, interval: int, index: int) -> Path:
        return self.path / "episodes" / f"interval-{interval:04}" / f"{index:05}.json"

    def evaluation_path(self, interval: int, index: int) -> Path:
        return self.path / "evaluation" / f"interval-{interval:04}" / f"{index:05}.json"

    def write_episode(
        self,
        path: Path,
        episode: Episode,
        *,
        interval: int,
        index: int,
        weights: str | None,
        refreshed: tuple[tuple[int, str], ...] = (),
        evaluation: bool = False,
    ) -> None:
        """Record an episode that was played with these networks, in training or in an evaluation."""
        level = self.protocol.level_of(index, interval=interval, evaluation=evaluation)
        record = EpisodeRecord(episode, self.protocol, self.seed, index, interval, weights, refreshed, level=level)
        learning = self.protocol.learning
        write_episode(path, record, action_values=learning is not None and learning.needs_action_values)

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

    def _paused_path(self, interval: int, index: int, weights: str | None) -> Path:
        return self.path / PAUSED / f"interval-{interval:04}-{index:05}-{weights or 'no-networks'}.safetensors"

    def write_paused(self, interval: int, index: int, data: bytes, *, weights: str | None) -> None:
        """Keep an episode that was paused, and was played with these networks."""
        write_atomically(self._paused_path(interval, index, weights), data)

    def read_paused(self, interval: int, index: int, *, weights: str | None) -> bytes | None:
        """An episode that was paused, if its file is whole; None if it begins anew."""
        from noveltree.records.play_file import is_play  # needs safetensors, which planners do without

        try:
            data = disk.read(self._paused_path(interval, index, weights))
        except OSError:
            return None
        return data if is_play(data) else None

    def remove_paused(self) -> None:
        """Remove episodes that were paused: they are over by now."""
        with contextlib.suppress(OSError):
            disk.remove_tree(self.path / PAUSED)

    def read_learnt(self, interval: int, index: int) -> EpisodeRecord:
        """An episode of an interval that is over: its networks are gone, so it cannot be played again."""
        path = self.episode_path(interval, index)
        record = read_episode(path)
        wanted = (self.protocol, self.seed, interval, index)
        if (record.protocol, record.seed, record.interval, record.index) != wanted:
            raise RecordError(f"{path} holds another episode than its name says.")
        return record

    def read_interval(self, interval: int) -> list[EpisodeRecord]:
        """All episodes of an interval that is over."""
        count = self._episodes_by_interval().get(interval)
        if count is None:
            raise RecordError(f"{self._metrics.path} does not say how many episodes interval {interval} has.")
        return [self.read_learnt(interval, index) for index in range(count)]

    def evaluation_paths(self, result: dict[str, Any]) -> list[Path]:
        """The episodes whose scores a result holds, whether or not they are there."""
        first, count = result.get("evaluated_from", 0), len(result["scores"])
        if result.get("evaluation") != "continuing":
            return [self.evaluation_path(first, index) for index in range(count)]
        over = self._episodes_by_interval()
        paths: list[Path] = []
        for interval in itertools.count(first):
            played = min(over.get(interval, count), count - len(paths))  # the last one may still be open
            paths += [self.episode_path(interval, index) for index in range(played)]
            if len(paths) == count:
                return paths
        raise AssertionError("there is always another interval")

    def _episodes_by_interval(self) -> dict[int, int]:
        """How many episodes each interval has that is over."""
        counts: dict[int, int] = {}
        for line in self.read_metrics("interval"):
            interval, episodes = line.get("interval"), line.get("episodes")
            if type(interval) is not int or type(episodes) is not int or episodes < 0:
                raise RecordError(f"{self._metrics.path} is damaged: it has lines that noveltree does not write.")
            counts[interval] = episodes
        return counts

    def learnt_paths(self) -> list[Path]:
        """All episodes that were learnt from, in that order."""
        found = (self.path / "episodes").glob("interval-*/*.json")
        return sorted(path for path in found if place_of_episode(path) is not None)

    def evaluated_paths(self) -> list[Path]:
        """All episodes that were played with fixed networks, or without any, to be evaluated."""
        found = (self.path / "evaluation").glob("interval-*/*.json")
        return sorted(path for path in found if place_of_episode(path) is not None)

    @property
    def metrics_path(self) -> Path:
        return self._metrics.path

    def metrics_reached(self) -> dict[str, Any]:
        """How far metrics have come, for a checkpoint: these are on the disk."""
        self._metrics.sync()
        return {"metrics_size": self._metrics.size, "metrics_checksum": self._metrics.checksum}

    def cut_metrics(self, reached: Mapping[str, Any]) -> None:
        """Delete the lines that were added since: they belong to an interval that is played again."""
        self._metrics.cut(reached.get("metrics_size", 0), reached.get("metrics_checksum"))

    def add_metrics(self, line: dict[str, Any]) -> None:
        self._metrics.add(line)

    def read_metrics(self, event: str | None = None, *, having: str = "") -> list[dict[str, Any]]:
        """All whole lines; or only those of one event, or with a name in them, which is faster."""
        lines = self._metrics.read(event, having=having)
        if not all(isinstance(line, dict) and "event" in line for line in lines):
            raise RecordError(f"{self._metrics.path} is damaged: it has lines that noveltree does not write.")
        return lines

    def write_result(self, result: dict[str, Any]) -> None:
        self._metrics.sync()
        content = {**result, "checksum": checksum(result)}
        write_atomically(self.path / RESULT, json.dumps(content, indent=1).encode() + b"\n")

    def read_result(self) -> dict[str, Any] | None:
        """The scores, if the run is over."""
        if not (self.path / RESULT).exists():
            return None
        result = read_json(self.path / RESULT)
        if result.pop("checksum", None) != checksum(result):
            raise RecordError(
                f"{self.path / RESULT} was changed after it was written: its checksum does not fit. To have it "
                "written again, delete it and run again."
            )
        scores = result.get("scores")
        if not isinstance(scores, list) or not scores or not all(map(is_number, [*scores, result.get("score")])):
            raise RecordError(f"{self.path / RESULT} is not a result of noveltree: delete it and run again.")
        if not isinstance(first := result.get("evaluated_from", 0), int) or first < 0:
            raise RecordError(f"{self.path / RESULT} is not a result of noveltree: delete it and run again.")
        return result


def is_number(value: Any) -> bool:
    """Whether what was read is a finite number."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number with hundreds of digits
        return False


def place_of_episode(path: Path) -> tuple[int, int] | None:
    """Interval and index of an episode by the name of its file; None if no run writes such a name."""
    named = re.fullmatch(r"interval-(\d{4,})/(\d{5,})\.json", f"{path.parent.name}/{path.name}")
    return None if named is None else (int(named[1]), int(named[2]))


def _begins_run(entry: Path) -> bool:
    """Whether this is what a process that was killed while it began a run leaves behind."""
    return entry.name == LOCK or entry.name.startswith(f".{RUN}.") or is_unfinished(entry)
