"""Starting a trial in a directory, or resuming the one that is there."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from noveltree.collection import Placement, make_collector
from noveltree.collection.tuning import prepare_process
from noveltree.errors import InputError
from noveltree.learning.deployment import check_device
from noveltree.protocol import Protocol
from noveltree.records.run_directory import RunDirectory
from noveltree.signals import asked_to_stop
from noveltree.trial.checkpoint_state import made_up_is_refused
from noveltree.trial.memory import check_memory
from noveltree.trial.planning import Planning
from noveltree.trial.trial import Loop, Trial
from noveltree.trial.watcher import Watcher

#: Episodes that a process plays at once unless said otherwise: more do not make batches cheaper.
EPISODES_AT_ONCE = 32


def _intervals(trial: Trial) -> Loop:
    # Imported here, as below, so that whoever only plays does not need what learning needs.
    from noveltree.trial.intervals import Intervals

    return Intervals(trial)


def _lockstep(trial: Trial) -> Loop:
    from noveltree.trial.lockstep import Lockstep

    return Lockstep(trial)


def _pretraining(trial: Trial) -> Loop:
    from noveltree.trial.pretraining import Pretraining

    return Pretraining(trial)


#: The loops in which learners are trained, by the kind of their settings.
LOOPS: dict[str, Callable[[Trial], Loop]] = {
    "intervals": _intervals,
    "lockstep": _lockstep,
    "pretraining": _pretraining,
}


def begin_loop(trial: Trial) -> Loop:
    """The loop of a trial, from where it stands on disk; RecordError if that is not what the loop has written."""
    with made_up_is_refused(trial.run):
        return LOOPS[trial.settings.loop.kind](trial)


def train(
    directory: Path,
    protocol: Protocol,
    *,
    seed: int = 0,
    workers: int = 1,
    episodes_at_once: int = EPISODES_AT_ONCE,
    device: str = "cpu",
    placement: Placement | None = None,
    watcher: Watcher | None = None,
) -> dict[str, Any]:
    """Train an agent in `directory`, or go on if it was begun there, and evaluate it; its result.

    With one worker everything happens in this process; with more, that many others play, on this machine or
    wherever `placement` puts them. The result is the same.
    """
    check_device(device)
    learning = protocol.learning
    if learning is None:
        raise InputError(f"{protocol.agent} learns nothing, so there is nothing to train.")
    learning.check()
    check_memory(protocol, workers=workers if placement is None else 1, at_once=episodes_at_once)
    run = RunDirectory.create(directory, protocol, seed)
    with run.locked():
        if (result := run.read_result()) is not None:
            return result
        prepare_process()
        with contextlib.closing(
            make_collector(
                protocol, seed, workers=workers, at_once=episodes_at_once, device=device, placement=placement
            )
        ) as collector:
            trial = Trial(run, collector, watcher or Watcher(), device=device)
            try:
                loop = begin_loop(trial)
            except InputError:  # it cannot be trained like this, so that there is nothing to resume
                run.discard()
                raise
            with asked_to_stop(trial.can_pause) as trial.stopping:
                return trial.complete(loop)


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
            trial = Trial(run, collector, watcher or Watcher())
            return trial.complete(Planning(trial, episodes))


def run_trial(
    directory: Path,
    protocol: Protocol,
    *,
    seed: int = 0,
    episodes: int = 10,
    workers: int = 1,
    watcher: Watcher | None = None,
) -> dict[str, Any]:
    """Start or resume whichever trial the protocol is of; its result.

    How many `episodes` a learner is evaluated in is among the settings of its protocol.
    """
    if protocol.learning is None:
        return play_trial(directory, protocol, seed=seed, episodes=episodes, workers=workers, watcher=watcher)
    return train(directory, protocol, seed=seed, workers=workers, watcher=watcher)
