"""A trial of an agent that learns nothing: its evaluation, begun in a directory or gone on with."""

from __future__ import annotations

import contextlib
import statistics
from pathlib import Path
from typing import Any

from noveltree.collection import make_collector
from noveltree.collection.tuning import prepare_process
from noveltree.episodes import Episode
from noveltree.errors import InputError
from noveltree.protocol import Protocol
from noveltree.records.run_directory import RunDirectory
from noveltree.trial.evaluate import frozen_episodes
from noveltree.trial.watcher import Progress, Watcher


def play_trial(
    directory: Path,
    protocol: Protocol,
    *,
    seed: int = 0,
    episodes: int = 10,
    workers: int = 1,
    watcher: Watcher | None = None,
) -> dict[str, Any]:
    """Play the first `episodes` episodes of a seed in `directory`, but for those recorded there; the result."""
    if protocol.learning is not None:
        raise InputError(f"{protocol.agent} plays with what it has learnt: train it.")
    run = RunDirectory.create(directory, protocol, seed)
    with run.locked():
        result = run.read_result()
        if result is not None and len(result["scores"]) == episodes:
            return result
        prepare_process()
        with contextlib.closing(make_collector(protocol, seed, workers=workers, at_once=1)) as collector:
            books = _Books(watcher or Watcher())
            for index, episode in frozen_episodes(run, collector, None, 0, episodes, books.add_interactions):
                books.add_episode(index, episode)
        result = {
            "game": protocol.game,
            "agent": protocol.agent,
            "seed": seed,
            "protocol_hash": protocol.hash,
            "interactions": sum(episode.interactions for episode in books.episodes.values()),
            "score": statistics.fmean(books.scores()),
            "scores": books.scores(),
        }
        run.write_result(result)
        return result


class _Books:
    """What has been played so far, and who is told."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._current = 0
        self.episodes: dict[int, Episode] = {}

    def scores(self) -> list[float]:
        return [self.episodes[index].score for index in sorted(self.episodes)]

    def add_interactions(self, interactions: int) -> None:
        self._current += interactions
        self._tell()

    def add_episode(self, index: int, episode: Episode) -> None:
        self.episodes[index] = episode
        self._current = max(0, self._current - episode.interactions)
        self._tell()

    def _tell(self) -> None:
        recorded = sum(episode.interactions for episode in self.episodes.values())
        self._watcher.progress(
            Progress(
                stage="evaluating",
                interval=0,
                interactions=recorded + self._current,
                replayed=0,
                returns=tuple(self.scores()),
                last_return=None,
                verdict=None,
            )
        )
