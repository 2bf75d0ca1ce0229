"""Episode files: an episode with its protocol and seed, as JSON that anyone can read, and verify by replay."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from noveltree.episodes import Decision, End, Episode, EpisodeChance
from noveltree.errors import RecordError
from noveltree.protocol import Protocol, parse_protocol
from noveltree.reading import validated
from noveltree.records import disk
from noveltree.records.files import checksum, file_digest, numbered, write_atomically
from noveltree.records.parsing import LARGEST_FILE, parse_json

FORMAT = "noveltree-episode"
#: The first version had neither the values of actions nor networks that change in mid-episode. An episode without
#: either is still written so.
VERSIONS = (1, 2)


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """An episode and where it comes from."""

    episode: Episode
    protocol: Protocol
    seed: int
    index: int
    """Which of the episodes of that seed it is."""
    interval: int = 0
    """Of which interval of a trial that learns."""
    weights: str | None = None
    """The digest of the networks it was played with, if any; where they changed, of those it began with."""
    refreshed: tuple[tuple[int, str], ...] = ()
    """The time steps from which on it was played with other networks, and their digests."""
    level: int | None = None
    """The level that it began in, if there are several."""

    @property
    def chance(self) -> EpisodeChance:
        """The level that it began in, and the dice that were thrown in it if there is chance."""
        return EpisodeChance(self.seed, self.index, self.interval, self.level)

    def without_account(self) -> EpisodeRecord:
        """The same without how long decisions took, and without the values that only some records have."""
        bare = (replace(each, seconds=0.0, action_values=(), root_value=None) for each in self.episode.decisions)
        return replace(self, episode=replace(self.episode, decisions=tuple(bare)))

    def file_name(self) -> str:
        """A name that says what is inside."""
        place = f"interval{self.interval}-episode{self.index}" if self.interval else f"episode{self.index}"
        return f"{self.protocol.stem}-{self.protocol.agent}-seed{self.seed}-{place}-{self.protocol.hash[:8]}.json"


_Count = Annotated[int, Field(ge=0)]
_AS_LIST = Field(strict=False)  # JSON has no tuples


class _Columns(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    action: list[_Count]
    reward: list[float]
    interactions: list[_Count]
    cached: list[_Count]
    pruned: list[_Count]
    solved: list[bool]
    depth: list[_Count]
    seconds: list[Annotated[float, Field(ge=0)]]
    action_values: list[Annotated[tuple[float | None, ...], _AS_LIST]] | None = None
    root_value: list[float | None] | None = None


class _File(BaseModel):
    """The file as it stands on disk. The summary at its top is for people; `decisions` is the episode."""

    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal["noveltree-episode"]
    version: Literal[1, 2]
    game: str
    agent: str
    seed: int
    index: int
    interval: int
    level: _Count | None = None
    weights: str | None = None
    refreshed: list[Annotated[tuple[_Count, str], _AS_LIST]] = []
    score: float
    steps: int
    interactions: int
    seconds: float
    end: Literal["terminal", "truncated", "stopped", "interrupted"]
    protocol_hash: str
    protocol: dict[str, Any]
    final_observation: str
    decisions: _Columns
    checksum: str


def write_episode(path: Path, record: EpisodeRecord, *, action_values: bool = False) -> None:
    """Write an episode file, atomically; if asked to, with the values by which its actions were chosen."""
    write_atomically(path, encode_episode(record, action_values=action_values))


def keep_episode(directory: Path, record: EpisodeRecord, *, action_values: bool = False) -> tuple[Path, bool]:
    """Write an episode into a directory, unless it is there; its file, and whether it was there already.

    The same episode is one with the same decisions, however long they took. No other one is ever overwritten.
    """
    names = numbered(directory / record.file_name())
    path = next(name for name in names if not name.exists() or _has(name, record, action_values=action_values))
    if there := path.exists():
        return path, there
    write_episode(path, record, action_values=action_values)
    return path, there


def _has(path: Path, record: EpisodeRecord, *, action_values: bool) -> bool:
    """Whether a file has an episode, with the values by which its actions were chosen if these are asked for."""
    try:
        there = read_episode(path)
    except RecordError:
        return False
    known = all(decision.action_values for decision in there.episode.decisions)
    return there.without_account() == record.without_account() and (known or not action_values)


def encode_episode(record: EpisodeRecord, *, action_values: bool = False) -> bytes:
    """The bytes of an episode file."""
    episode = record.episode
    decisions = {field.name: episode.column(field.name) for field in fields(Decision)}
    if not action_values:
        del decisions["action_values"]
    if not action_values or all(value is None for value in decisions["root_value"]):
        del decisions["root_value"]
    decisions["seconds"] = [round(seconds, 6) for seconds in decisions["seconds"]]
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": 2 if action_values or record.refreshed else 1,
        "game": record.protocol.game,
        "agent": record.protocol.agent,
        "seed": record.seed,
        "index": record.index,
        "interval": record.interval,
        **({} if record.level is None else {"level": record.level}),
        **({} if record.weights is None else {"weights": record.weights}),
        **({"refreshed": [list(refresh) for refresh in record.refreshed]} if record.refreshed else {}),
        "score": episode.score,
        "steps": episode.steps,
        "interactions": episode.interactions,
        "seconds": round(sum(decisions["seconds"]), 6),
        "end": str(episode.end),
        "protocol_hash": record.protocol.hash,
        "protocol": record.protocol.model_dump(mode="json"),
        "final_observation": episode.final_observation,
        "decisions": decisions,
    }
    content["checksum"] = checksum(content)
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in content.items() if key != "decisions"]
    columns = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(values, separators=(',', ':'))}" for name, values in decisions.items()
    )
    lines.insert(-1, f'"decisions": {{\n{columns}\n}}')
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def read_episode(path: Path) -> EpisodeRecord:
    """Read an episode file; complain if it is corrupt, truncated or something else."""
    content = _parse(path)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise RecordError(f"{path} is not an episode of noveltree.")
    if content.get("version") not in VERSIONS:
        raise RecordError(f"{path} has format version {content.get('version')!r}; this noveltree reads 1 and 2.")
    file = validated(_File, content, where=f"{path} is damaged: ", error=RecordError)
    if file.checksum != checksum(content):
        raise RecordError(f"{path} was changed after it was written: its checksum does not fit.")
    try:
        protocol = parse_protocol(file.protocol)
    except RecordError as error:
        raise RecordError(f"{path}: {error}") from error
    columns = file.decisions.model_dump(exclude_none=True)
    if len({len(column) for column in columns.values()}) != 1:
        raise RecordError(f"{path} is damaged: its columns have different lengths.")
    decisions = tuple(
        Decision(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)
    )
    episode = Episode(decisions, End(file.end), file.final_observation)
    summary = (file.score, file.steps, file.interactions, file.seconds)
    if summary != (episode.score, episode.steps, episode.interactions, round(sum(columns["seconds"]), 6)):
        raise RecordError(f"{path} contradicts itself: its summary does not fit its decisions.")
    if (file.game, file.agent, file.protocol_hash) != (protocol.game, protocol.agent, protocol.hash):
        raise RecordError(f"{path} contradicts itself: its summary does not fit its protocol.")
    refreshed = tuple(file.refreshed)
    return EpisodeRecord(
        episode, protocol, file.seed, file.index, file.interval, file.weights, refreshed, level=file.level
    )


class EpisodeSummary(BaseModel):
    """What an episode file says at its top, and the digest of the whole file."""

    model_config = ConfigDict(frozen=True, strict=True, allow_inf_nan=False)

    score: float
    steps: int
    interactions: int
    seconds: float
    digest: str


def read_summary(path: Path) -> EpisodeSummary:
    """The summary of an episode file, if its checksum fits; decisions are not looked at."""
    content = _parse(path)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise RecordError(f"{path} is not an episode of noveltree.")
    if content.get("checksum") != checksum(content):
        raise RecordError(f"{path} was changed after it was written: its checksum does not fit.")
    numbers = {name: content.get(name) for name in ("score", "steps", "interactions", "seconds")}
    return validated(
        EpisodeSummary, {**numbers, "digest": file_digest(path)}, where=f"{path} is damaged: ", error=RecordError
    )


def is_episode(path: Path) -> bool:
    """Whether this file says that it is an episode."""
    if path.suffix != ".json" or not path.is_file():
        return False
    with path.open("rb") as file:
        if FORMAT.encode() in file.read(100):  # where noveltree writes it
            return True
        file.seek(0)
        data = file.read(LARGEST_FILE)
    try:
        content = parse_json(data) if FORMAT.encode() in data else None
    except ValueError:
        return False
    return isinstance(content, dict) and content.get("format") == FORMAT


def _parse(path: Path) -> Any:
    try:
        return parse_json(disk.read(path, most=LARGEST_FILE))
    except OSError as error:
        raise RecordError(f"Cannot read {path}: {error.strerror or error}.") from error
    except ValueError as error:
        raise RecordError(f"{path} is not an episode of noveltree, or is truncated: {error}.") from error
