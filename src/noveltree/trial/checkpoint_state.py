"""Snapshots in checkpoints, and what a run has deployed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from noveltree.errors import InputError, NoveltreeError, RecordError
from noveltree.learning.deployment import Deployment
from noveltree.learning.inputs import InputShape
from noveltree.learning.snapshot import Snapshot, read_snapshot
from noveltree.protocol import Protocol
from noveltree.records import EpisodeRecord
from noveltree.records.checkpoint import Arrays, Checkpoint, checkpoint_paths, read_checkpoint
from noveltree.records.run_directory import CHECKPOINTS, RunDirectory
from noveltree.simulators import Simulator

#: The snapshot that agents play with, in the checkpoints of every loop.
CURRENT = "current"


def pack(snapshots: Mapping[str, Snapshot | None], state: Mapping[str, Any], arrays: Arrays) -> Checkpoint:
    """A checkpoint of snapshots by name, some of which may not be there, and of whatever else a loop needs.

    A snapshot that is the same as another is stored once.
    """
    arrays = dict(arrays)
    names: dict[str, str | None] = {}
    stored: dict[str, Snapshot] = {}
    for name, snapshot in snapshots.items():
        if snapshot is None:
            names[name] = None
            continue
        same = next((other for other in stored if stored[other] is snapshot), None)
        names[name] = same or name
        if same is None:
            stored[name] = snapshot
            arrays |= {f"{name}.{array}": content for array, content in snapshot.arrays().items()}
    states = {name: snapshot.state() for name, snapshot in stored.items()}
    return Checkpoint(arrays, {**state, "snapshots": names, "states": states})


def unpack(checkpoint: Checkpoint) -> dict[str, Snapshot | None]:
    """The snapshots of a checkpoint."""
    stored = {
        name: read_snapshot(
            {
                array.removeprefix(f"{name}."): content
                for array, content in checkpoint.arrays.items()
                if array.startswith(f"{name}.")
            },
            state,
        )
        for name, state in checkpoint.state["states"].items()
    }
    return {name: None if same is None else stored[same] for name, same in checkpoint.state["snapshots"].items()}


def lanes_of(run: RunDirectory) -> list[EpisodeRecord]:
    """The episodes that lanes in lockstep are playing, as the last checkpoint has them; none in other loops."""
    checkpoint, _ = run.read_checkpoint()
    records = []
    for number, lane in enumerate(() if checkpoint is None else checkpoint.state.get("lanes", ())):
        assert checkpoint is not None
        data = checkpoint.arrays.get(f"lane.{number}")
        if data is None or not isinstance(lane, dict):
            continue
        from noveltree.records.play_file import decode_play  # needs safetensors, which planners do without

        with contextlib.closing(run.protocol.make_simulator()) as simulator:
            episode = decode_play(data.tobytes(), run.protocol, simulator, heuristics=None).episode()
        refreshed = tuple((step, digest) for step, digest in lane["refreshed"])
        place = lane["index"], lane["interval"]
        records.append(EpisodeRecord(episode, run.protocol, run.seed, *place, lane["weights"], refreshed))
    return records


def deployments_of(run: RunDirectory) -> dict[str, Deployment]:
    """All networks in the checkpoints of a run that agents played with, by their digests."""
    found: dict[str, Deployment] = {}
    for path in checkpoint_paths(run.path / CHECKPOINTS):
        with contextlib.suppress(RecordError):  # which is found out elsewhere
            for name, snapshot in unpack(read_checkpoint(path)).items():
                if name in (CURRENT, "previous") and snapshot is not None and snapshot.deployment is not None:
                    found[snapshot.deployment.digest] = snapshot.deployment
    return found


@contextlib.contextmanager
def made_up_is_refused(run: RunDirectory) -> Iterator[None]:
    """Raise RecordError where the checkpoints of a run have checksums that fit, and something else in them.

    Whatever it is, it may make any library fail in its own way.
    """
    try:
        yield
    except NoveltreeError:
        raise
    except Exception as error:
        if not (run.path / CHECKPOINTS).exists():
            raise
        problem = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise RecordError(
            f"The checkpoints in {run.path} have checksums that fit, but not what belongs into them ({problem})."
        ) from error


def read_deployment(run: RunDirectory) -> tuple[Deployment, int]:
    """What a run has deployed, and the interval that it would be played in next.

    A damaged checkpoint is not passed over: scores of older networks would go by the name of newer ones.
    """
    if run.protocol.learning is None:
        raise InputError(f"The run in {run.path} has no networks: {run.protocol.agent} learns nothing.")
    with made_up_is_refused(run):
        return _read_deployment(run)


def _read_deployment(run: RunDirectory) -> tuple[Deployment, int]:
    checkpoint, complaints = run.read_checkpoint()
    if complaints:
        raise RecordError(f"{complaints[0]} Train on: that goes back to the one before.")
    if checkpoint is None and run.read_metrics("interval"):
        raise InputError(
            f"The run in {run.path} was trained, but its networks are not there; perhaps they were not shipped. "
            f"Copy {run.path / CHECKPOINTS} from where it was trained, or train it again in another directory."
        )
    current = None if checkpoint is None else unpack(checkpoint)[CURRENT]
    if checkpoint is None or current is None:
        raise InputError(f"The run in {run.path} has not deployed any networks yet; train it on.")
    if current.deployment is None:
        raise InputError(
            f"The run in {run.path} plays without networks: its only update was taken back. Train it on."
        )
    interval = checkpoint.state["interval"]
    if type(interval) is not int or interval < 0:
        raise ValueError(f"interval {interval!r}")
    return current.deployment, interval


def read_weights(run: RunDirectory, protocol: Protocol, simulator: Simulator) -> Deployment:
    """What a run has deployed, for playing under a protocol: of the same game and agent, with networks that fit."""
    for what, theirs, ours in (
        ("game", run.protocol.game, protocol.game),
        ("agent", run.protocol.agent, protocol.agent),
    ):
        if theirs != ours:
            raise InputError(f"The weights in {run.path} are of another {what}: {theirs}, not {ours}.")
    deployment, _ = read_deployment(run)
    check_fits(run, deployment, simulator)
    return deployment


def check_fits(run: RunDirectory, deployment: Deployment, simulator: Simulator) -> None:
    """Raise InputError if networks are not those that the agent of a run has in a simulator."""
    shape = InputShape.of(simulator.start().observation)
    actions = len(simulator.actions)
    assert run.protocol.learning is not None
    first = run.protocol.learning.initial_snapshot(shape, actions, rng=np.random.default_rng(0))
    if not deployment.fits(first.networks, actions):
        raise InputError(
            f"The weights in {run.path} are of another network: it does not have {actions} actions and "
            f"observations of shape {shape.observation}."
        )
