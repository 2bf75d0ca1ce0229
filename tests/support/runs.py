"""What must be the same in two runs of the same trial, however they came about."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from noveltree.learning import LearningSettings
from noveltree.learning.settings import ScheduleSettings, ValueSettings
from noveltree.protocol import Protocol, make_protocol
from noveltree.records import read_episode
from noveltree.records.play_file import decode_play
from noveltree.records.run_directory import RunDirectory
from noveltree.tree import store_lookahead


def small_protocol(
    *, interactions: int = 6_000, interval: int = 1_000, value: ValueSettings | None = None, **choices: Any
) -> Protocol:
    """A trial in a corridor that takes a second or two, with several intervals and many updates."""
    learning = LearningSettings(
        schedule=ScheduleSettings(interactions=interactions, interval=interval, wave=4),
        value=value or ValueSettings(at_least=16, every=8, batch=16, refresh=100),
        **choices,
    )
    return make_protocol("corridor", agent="n-cpl", budget=5, max_frames=200, learning=learning)


def contents(directory: Path) -> dict[str, Any]:
    """Everything that a run has on disk, but for times of the clock."""
    run = RunDirectory.open(directory)
    checkpoint, complaints = run.read_checkpoint()
    assert checkpoint is not None
    assert complaints == []
    # Metrics have times of the clock in them, so that their size and checksum differ.
    state = {name: value for name, value in checkpoint.state.items() if not name.startswith("metrics_")}
    metrics = [{name: value for name, value in line.items() if name != "seconds"} for line in run.read_metrics()]
    episodes = {
        str(path.relative_to(directory)): _episode(path)
        for folder in ("episodes", "evaluation")
        for path in sorted((directory / folder).rglob("*.json"))
    }
    return {
        "run": json.loads((directory / "run.json").read_text()),
        "result": run.read_result(),
        "state": state,
        "arrays": {n: array.tobytes() for n, array in checkpoint.arrays.items() if not n.startswith("lane.")},
        "lanes": {
            name: _lane(array.tobytes(), run.protocol)
            for name, array in checkpoint.arrays.items()
            if name.startswith("lane.")
        },
        "metrics": metrics,
        "episodes": episodes,
    }


def _lane(data: bytes, protocol: Protocol) -> Any:
    """A paused episode, but for times of the clock."""
    with contextlib.closing(protocol.make_simulator()) as simulator:
        play = decode_play(data, protocol, simulator, heuristics=None)
    decisions = [replace(decision, seconds=0.0) for decision in play.decisions]
    stored = store_lookahead(play.lookahead)
    # Atoms are numbered as values are met, in each process anew.
    arrays = {name: array.tobytes() for name, array in stored.arrays.items() if name != "witness"}
    return decisions, play.rng.bit_generator.state, arrays, stored.counts


def _episode(path: Path) -> Any:
    record = read_episode(path)
    columns = [record.episode.column(name) for name in ("action", "reward", "interactions", "cached", "pruned")]
    return (columns, record.episode.end, record.episode.final_observation, record.index, record.weights)
