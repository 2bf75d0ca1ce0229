"""Forging records: whoever does this knows every format, and recomputes every checksum."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from noveltree.collection import Order, collect_all, make_collector
from noveltree.episodes import Decision
from noveltree.protocol import Protocol
from noveltree.records import EpisodeRecord, read_episode, write_episode
from noveltree.records.checkpoint import Checkpoint, checkpoint_paths, read_checkpoint, write_checkpoint
from noveltree.records.files import checksum
from noveltree.records.journal import Journal
from noveltree.records.manifest import Manifest, checksums, read_manifest, write_manifest
from noveltree.records.run_directory import RunDirectory
from noveltree.trial import play_trial
from noveltree.trial.checkpoint_state import deployments_of


def forge_episode(path: Path, **changes: Any) -> EpisodeRecord:
    """Change an episode record, with a checksum that fits."""
    record = replace(read_episode(path), **changes)
    write_episode(path, record)
    return record


def forge_decision(path: Path, step: int, **changes: Any) -> EpisodeRecord:
    """Change one decision, with totals and a checksum that fit."""
    episode = read_episode(path).episode
    decisions = list(episode.decisions)
    decisions[step] = replace(decisions[step], **changes)
    return forge_episode(path, episode=replace(episode, decisions=tuple(decisions)))


def forge_decisions(path: Path, change: Callable[[Decision], Decision]) -> EpisodeRecord:
    """Change all decisions, with totals and a checksum that fit."""
    episode = read_episode(path).episode
    return forge_episode(path, episode=replace(episode, decisions=tuple(map(change, episode.decisions))))


def forge_json(path: Path, **changes: Any) -> None:
    """Change a JSON file, with a checksum that fits."""
    content = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({**content, "checksum": checksum(content)}))


def forge_lines(run: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Change the metrics of a run; `change` changes the list of its lines, or what is in them. Checksums fit."""
    path = run / "metrics.jsonl"
    lines = Journal(path).read()
    change(lines)
    path.unlink()
    forged = Journal(path)
    for line in lines:
        forged.add(line)


def forge_result(run: Path, **changes: Any) -> None:
    """Change the result of a run, with a checksum that fits."""
    opened = RunDirectory.open(run)
    result = opened.read_result()
    assert result is not None
    opened.write_result({**result, **changes})


def forge_score(run: Path) -> None:
    """Let a result be that of the episodes as they are now."""
    opened = RunDirectory.open(run)
    result = opened.read_result()
    assert result is not None
    scores = [read_episode(path).episode.score for path in opened.evaluation_paths(result)]
    forge_result(run, scores=scores, score=sum(scores) / len(scores))
    if opened.protocol.learning is not None:
        forge_lines(run, lambda lines: lines[-1].update(returns=scores, mean_return=sum(scores) / len(scores)))


def forge_checkpoint(run: Path, change: Callable[[Checkpoint], Checkpoint]) -> None:
    """Change the last checkpoint of a run, with digests that fit."""
    path = checkpoint_paths(run / "checkpoints")[-1]
    write_checkpoint(run / "checkpoints", int(path.name), change(read_checkpoint(path)))


def with_other_weights(checkpoint: Checkpoint, part: str) -> Checkpoint:
    """A checkpoint one of whose weights is a little larger."""
    name = next(name for name in checkpoint.arrays if name.startswith(f"current.{part}."))
    changed: Any = checkpoint.arrays[name].copy()
    changed.flat[0] = np.nextafter(changed.flat[0], np.float32(np.inf))
    return replace(checkpoint, arrays={**checkpoint.arrays, name: changed})


def flip_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def forge_manifest(directory: Path, change: Callable[[Manifest], Manifest] | None = None) -> None:
    """Change a manifest, with a digest that fits; by default it then signs off the files as they are now."""
    manifest = read_manifest(directory)
    assert manifest is not None
    signature = directory / "manifest.json.sig"
    kept = signature.read_bytes() if signature.exists() else None
    change = change or (lambda old: replace(old, files=checksums(directory)))
    write_manifest(directory, change(manifest))
    if kept is not None:
        signature.write_bytes(kept)


def played_elsewhere(place: Path, protocol: Protocol, *, seed: int, episodes: int = 1) -> list[Path]:
    """Episodes of another trial, to be passed off as those of a run."""
    play_trial(place, protocol, seed=seed, episodes=episodes)
    return sorted((place / "evaluation").rglob("*.json"))


def played_with(run: Path, weights: str | None, *, interval: int, episodes: int, evaluation: bool = True) -> None:
    """Evaluate a run in an interval, with networks of its checkpoints or without any; or play as in training."""
    opened = RunDirectory.open(run)
    orders = (Order(interval, index, evaluation=evaluation) for index in range(episodes))
    with contextlib.closing(make_collector(opened.protocol, opened.seed, workers=1, at_once=episodes)) as collector:
        collector.deploy(None if weights is None else deployments_of(opened)[weights])
        for made in collect_all(collector, orders):
            opened.write_episode(
                opened.evaluation_path(interval, made.index),
                made.episode,
                interval=interval,
                index=made.index,
                weights=weights,
                evaluation=evaluation,
            )


def forge_evaluated_from(run: Path, interval: int) -> None:
    """Let a result be that of the episodes that were played as an evaluation of this interval."""
    forge_result(run, evaluated_from=interval)
    forge_score(run)


def pass_off(source: Path, target: Path, protocol: Protocol | None = None) -> EpisodeRecord:
    """Put an episode in the place of another one: all that says where it comes from is that of the other."""
    other, record = read_episode(target), read_episode(source)
    place = {name: getattr(other, name) for name in ("seed", "index", "interval", "weights", "refreshed", "level")}
    record = replace(record, protocol=protocol or other.protocol, **place)
    shutil.copy(source, target)
    write_episode(target, record)
    return record
