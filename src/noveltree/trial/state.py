"""A trial between two intervals, and how a checkpoint holds it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noveltree.errors import InputError, RecordError
from noveltree.learning.deployment import Deployment
from noveltree.learning.inputs import InputShape
from noveltree.learning.schedule import Schedule
from noveltree.learning.settings import LearnerSettings
from noveltree.learning.snapshot import Snapshot, read_snapshot
from noveltree.protocol import Protocol
from noveltree.records.checkpoint import Checkpoint
from noveltree.records.run_directory import CHECKPOINTS, RunDirectory
from noveltree.simulators import Simulator


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
            "baseline": None if schedule.baseline is None else list(schedule.baseline),
            "current": state.current.state(),
            "previous": None if state.previous is None else state.previous.state(),
            "kept": [list(place) for place in state.kept],
            "evaluated_from": state.evaluated_from,
            "metrics_size": metrics_size,
        },
    )


def unpack(checkpoint: Checkpoint, settings: LearnerSettings) -> TrialState:
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
            baseline=None if state["baseline"] is None else tuple(state["baseline"]),
        ),
        current=snapshot("current"),
        previous=None if state["previous"] is None else snapshot("previous"),
        kept=tuple((interval, index) for interval, index in state["kept"]),
        evaluated_from=state["evaluated_from"],
    )


def read_deployment(run: RunDirectory) -> tuple[Deployment, int]:
    """What a run has deployed, and the interval that it would be played in next.

    A damaged checkpoint is not passed over: scores of older networks would go by the name of newer ones.
    """
    if run.protocol.learning is None:
        raise InputError(f"The run in {run.path} has no networks: {run.protocol.agent} learns nothing.")
    checkpoint, complaints = run.read_checkpoint()
    if complaints:
        raise RecordError(f"{complaints[0]} Train on: that goes back to the one before.")
    if checkpoint is None and run.read_metrics("interval"):
        raise InputError(
            f"The run in {run.path} was trained, but its networks are not there; perhaps they were not shipped. "
            f"Copy {run.path / CHECKPOINTS} from where it was trained, or train it again in another directory."
        )
    state = None if checkpoint is None else unpack(checkpoint, run.protocol.learning)
    deployment = None if state is None else state.current.deployment
    if state is None or deployment is None:
        raise InputError(f"The run in {run.path} has not deployed any networks yet; train it on.")
    return deployment, state.schedule.interval


def read_weights(run: RunDirectory, protocol: Protocol, simulator: Simulator) -> Deployment:
    """What a run has deployed, for playing under a protocol: of the same game and agent, with networks that fit."""
    for what, theirs, ours in (
        ("game", run.protocol.game, protocol.game),
        ("agent", run.protocol.agent, protocol.agent),
    ):
        if theirs != ours:
            raise InputError(f"The weights in {run.path} are of another {what}: {theirs}, not {ours}.")
    deployment, _ = read_deployment(run)
    shape = InputShape.of(simulator.start().observation)
    actions = len(simulator.actions)
    assert run.protocol.learning is not None
    fitting = run.protocol.learning.initial_snapshot(shape, actions, rng=np.random.default_rng(0)).networks
    if deployment.architectures != fitting or not all(
        architecture.fits(deployment.weights[name]) for name, architecture in fitting.items()
    ):
        raise InputError(
            f"The weights in {run.path} are of another network: it does not have {actions} actions and "
            f"observations of shape {shape.observation}."
        )
    return deployment
