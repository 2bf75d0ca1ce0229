"""A trial between two intervals, and how a checkpoint holds it."""

from __future__ import annotations

from dataclasses import dataclass

from noveltree.learning.inference import Deployment
from noveltree.learning.schedule import Schedule
from noveltree.learning.settings import LearningSettings
from noveltree.learning.snapshot import Snapshot, read_snapshot
from noveltree.records.checkpoint import Checkpoint
from noveltree.records.run_directory import RunDirectory


@dataclass(frozen=True, slots=True)
class TrialState:
    """A trial between two intervals: all that what follows depends on, besides protocol and seed."""

    schedule: Schedule
    current: Snapshot
    """What is deployed, and where training goes on."""
    previous: Snapshot | None = None
    """What was deployed before the last update: what a rejection brings back."""
    kept: tuple[tuple[int, int], ...] = ()
    """Interval and index of the episodes whose transitions are kept."""
    evaluated_from: int | None = None
    """The interval with which the evaluation began, if learning goes on while it is made."""


def pack(state: TrialState, metrics_size: int) -> Checkpoint:
    """A checkpoint of the state, and of how many bytes of metrics belong to it."""
    arrays = {f"current.{name}": array for name, array in state.current.arrays().items()}
    if state.previous is not None:
        arrays |= {f"previous.{name}": array for name, array in state.previous.arrays().items()}
    schedule = state.schedule
    return Checkpoint(
        arrays,
        {
            "interval": schedule.interval,
            "interactions": schedule.interactions,
            "episodes": schedule.episodes,
            "baseline": None if schedule.baseline is None else list(schedule.baseline),
            "current": state.current.state(),
            "previous": None if state.previous is None else state.previous.state(),
            "kept": [list(place) for place in state.kept],
            "evaluated_from": state.evaluated_from,
            "metrics_size": metrics_size,
        },
    )


def unpack(checkpoint: Checkpoint, settings: LearningSettings) -> TrialState:
    """The state that a checkpoint holds."""
    state = checkpoint.state

    def snapshot(which: str) -> Snapshot:
        prefix = f"{which}."
        arrays = {n.removeprefix(prefix): a for n, a in checkpoint.arrays.items() if n.startswith(prefix)}
        return read_snapshot(arrays, state[which])

    return TrialState(
        schedule=Schedule(
            settings=settings.schedule,
            interval=state["interval"],
            interactions=state["interactions"],
            episodes=state["episodes"],
            baseline=None if state["baseline"] is None else tuple(state["baseline"]),
        ),
        current=snapshot("current"),
        previous=None if state["previous"] is None else snapshot("previous"),
        kept=tuple((interval, index) for interval, index in state["kept"]),
        evaluated_from=state["evaluated_from"],
    )


def read_deployment(run: RunDirectory) -> tuple[Deployment | None, int]:
    """What a run has deployed (None: nothing yet), and the interval that it would be played in."""
    assert run.protocol.learning is not None
    checkpoint, _ = run.read_checkpoint()
    if checkpoint is None:
        return None, 1
    state = unpack(checkpoint, run.protocol.learning)
    return state.current.deployment, state.schedule.interval
