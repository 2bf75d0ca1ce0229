"""Evaluating what was learnt: episodes with fixed networks, recorded with the run."""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from noveltree.collection import Collected, Collector, Listener, Order, collect_all, make_collector
from noveltree.episodes import Episode
from noveltree.learning.deployment import Deployment, check_device, digest_of
from noveltree.records.run_directory import RunDirectory
from noveltree.trial.checkpoint_state import check_fits, read_deployment


def evaluate(
    directory: Path,
    *,
    episodes: int = 10,
    workers: int = 1,
    episodes_at_once: int = 10,
    device: str = "cpu",
    on_interactions: Callable[[int], None] = lambda interactions: None,
    on_episode: Callable[[Episode], None] = lambda episode: None,
) -> dict[str, Any]:
    """Play episodes with the networks that a run has deployed; their scores.

    Episodes that were played before with the same networks are not played again.
    """
    check_device(device)
    run = RunDirectory.open(directory)
    deployment, interval = read_deployment(run)
    with contextlib.closing(run.protocol.make_simulator()) as simulator:
        check_fits(run, deployment, simulator)
    scores: dict[int, float] = {}
    with contextlib.closing(
        make_collector(run.protocol, run.seed, workers=workers, at_once=episodes_at_once, device=device)
    ) as collector:
        for index, episode in frozen_episodes(run, collector, deployment, interval, episodes, on_interactions):
            scores[index] = episode.score
            on_episode(episode)
    in_order = [scores[index] for index in sorted(scores)]
    return {
        "game": run.protocol.game,
        "agent": run.protocol.agent,
        "seed": run.seed,
        "protocol_hash": run.protocol.hash,
        "chance": run.protocol.chance,
        "weights": deployment.digest,
        "interval": interval,
        "score": statistics.fmean(in_order),
        "scores": in_order,
        "episode_files": [str(run.evaluation_path(interval, index)) for index in sorted(scores)],
    }


def frozen_episodes(
    run: RunDirectory,
    collector: Collector,
    deployment: Deployment | None,
    interval: int,
    count: int,
    on_interactions: Callable[[int], None],
) -> Iterator[tuple[int, Episode]]:
    """The first episodes of an interval as they are played with fixed networks, with their index.

    Those that were recorded come first, the others when they are over.
    """
    weights = digest_of(deployment)
    missing = []
    for index in range(count):
        path = run.evaluation_path(interval, index)
        if record := run.read_episode(path, interval=interval, index=index, weights=weights):
            yield index, record.episode
        else:
            missing.append(index)

    def write(collected: Collected) -> None:
        path = run.evaluation_path(interval, collected.index)
        run.write_episode(
            path, collected.episode, interval=interval, index=collected.index, weights=weights, evaluation=True
        )

    collector.listener = Listener(write, on_interactions)
    collector.deploy(deployment)
    for collected in collect_all(collector, (Order(interval, index, evaluation=True) for index in missing)):
        yield collected.index, collected.episode
