"""What must be the same in two runs of the same trial, however they came about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from noveltree.learning import LearningSettings
from noveltree.learning.settings import ScheduleSettings, ValueSettings
from noveltree.protocol import Protocol, make_protocol
from noveltree.records import read_episode
from noveltree.records.run_directory import RunDirectory


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
    state = {name: value for name, value in checkpoint.state.items() if name != "metrics_size"}
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
        "arrays": {name: array.tobytes() for name, array in checkpoint.arrays.items()},
        "metrics": metrics,
        "episodes": episodes,
    }


def _episode(path: Path) -> Any:
    record = read_episode(path)
    columns = [record.episode.column(name) for name in ("action", "reward", "interactions", "cached", "pruned")]
    return (columns, record.episode.end, record.episode.final_observation, record.index, record.weights)
