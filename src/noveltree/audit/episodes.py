"""Every episode of a directory: replayed, and what is known of it afterwards."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from noveltree.errors import NoveltreeError
from noveltree.records import EpisodeRecord, read_episode
from noveltree.records.episode_file import is_episode
from noveltree.records.run_directory import RUN
from noveltree.replay import stands_alone, verify_episode, why_never_again


@dataclass(frozen=True, slots=True)
class Trace:
    """What is left of an episode once it was replayed."""

    protocol: str
    seed: int
    interval: int
    index: int
    actions: str
    """The digest of its actions."""
    steps: int
    weights: tuple[str | None, ...]
    """The networks that it was played with, one after the other."""
    follows_from_seed: bool
    """Whether its decisions follow from protocol and seed, by what is here now."""
    stands_alone: bool
    """Whether it can be planned again without learning again."""

    @classmethod
    def of(cls, record: EpisodeRecord) -> Trace:
        episode = record.episode
        return cls(
            protocol=record.protocol.hash,
            seed=record.seed,
            interval=record.interval,
            index=record.index,
            actions=hashlib.sha256(repr(episode.actions).encode()).hexdigest(),
            steps=episode.steps,
            weights=(record.weights, *(digest for _, digest in record.refreshed)),
            follows_from_seed=not why_never_again(record.protocol),
            stands_alone=stands_alone(record),
        )


@dataclass(frozen=True, slots=True)
class Replayed:
    """What replaying an episode gave."""

    holds: bool
    sentence: str
    trace: Trace | None = None
    happened: bool = True
    """Whether it could be replayed at all."""


def replay_episode(path: Path) -> Replayed:
    """Replay an episode file in a fresh simulator."""
    try:
        record = read_episode(path)
    except NoveltreeError as error:
        return Replayed(False, str(error))
    try:
        verification = verify_episode(record)
    except NoveltreeError as error:
        return Replayed(False, str(error), happened=False)
    return Replayed(verification.holds, verification.finding, Trace.of(record))


def has_to_be_episode(path: Path) -> bool:
    """Whether this says that it is an episode, or stands where a run has its episodes."""
    if path.suffix != ".json" or path.is_symlink() or not path.is_file():
        return False
    if path.parent.parent.name in ("episodes", "evaluation"):
        return True
    with contextlib.suppress(OSError):
        return is_episode(path)
    return False


def run_of(directory: Path, path: Path) -> Path | None:
    """The run that an episode in a directory is part of, if it is."""
    for place in path.parents:
        if (place / RUN).is_file():
            return place
        if place == directory:
            break
    return None


def same_actions(traces: dict[str, Trace]) -> Iterator[list[str]]:
    """The names of episodes with the same actions under the same protocol, but at different places."""
    groups: dict[tuple[str, str], dict[tuple[int, int, int], str]] = {}
    for name, trace in sorted(traces.items()):
        if trace.steps:
            place = trace.seed, trace.interval, trace.index
            groups.setdefault((trace.protocol, trace.actions), {}).setdefault(place, name)
    for group in groups.values():
        if len(group) > 1:
            yield list(group.values())


def missing_indices(traces: Iterable[tuple[Path, Trace]]) -> Iterator[tuple[Path, str]]:
    """Folders of episodes that were played one by one, and which of them are missing."""
    seen: dict[tuple[Path, str, int], set[int]] = {}
    for path, trace in traces:
        seen.setdefault((path.parent, trace.protocol, trace.seed), set()).add(trace.index)
    for (folder, _, seed), indices in sorted(seen.items()):
        missing = sorted(set(range(max(indices))) - indices)
        if missing:
            several = ", ".join(map(str, missing[:5])) + (", ..." if len(missing) > 5 else "")
            yield folder, f"of seed {seed} there are no episodes {several}: a choice of episodes is no score"
