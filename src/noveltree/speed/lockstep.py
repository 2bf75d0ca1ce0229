"""What training in lockstep costs: a real trial in a directory that is thrown away, with its checkpoints.

The first interval, in which networks are not trained yet, warms up; the second is measured, with its checkpoints.
Raw calls are timed a few times a second in between, and their time is taken out.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from noveltree.learning.settings import LearnerSettings, LearningSettings, LockstepSettings
from noveltree.protocol import Protocol
from noveltree.reading import with_choices
from noveltree.simulators import Atari, AtariState
from noveltree.speed.emulator import time_raw_calls
from noveltree.trial import Progress, Watcher, train
from noveltree.trial.lockstep import DECISIONS_BETWEEN_CHECKPOINTS

_RAW_CALLS = 25
#: Decisions of an episode, for learners that wait until it is over; and those of a lane in an interval, if budgets
#: are spent. Networks of which lookaheads are made are then measured when they tell states apart; before, roots
#: are solved after a few interactions, and what is learnt from every decision weighs more than it does in training.
_EPISODE = 48
_INTERVAL = 40


class _Enough(Exception):
    """The interval that is measured is over."""


class _Meter:
    """Watches the trial, and times raw calls whenever it hears of it."""

    def __init__(self, simulator: Atari) -> None:
        self._simulator = simulator
        self._rng = np.random.default_rng(0)
        self._state = simulator.start()
        self._started = self._interrupted = self._raw_seconds = 0.0
        self._raw_calls = 0
        self._interactions = 0
        self.ratio = 0.0

    def progress(self, progress: Progress) -> None:
        before = time.process_time()
        actions = self._rng.integers(len(self._simulator.actions), size=_RAW_CALLS).tolist()
        self._raw_seconds += time_raw_calls(self._simulator, self._state, actions)
        self._raw_calls += _RAW_CALLS
        # Random play, so that raw calls are not all from the same screens.
        for action in actions[:2]:
            transition = self._simulator.step(self._state, action)
            assert isinstance(transition.state, AtariState)
            self._state = self._simulator.start() if transition.terminal else transition.state
        self._interrupted += time.process_time() - before

    def metrics(self, line: dict[str, Any]) -> None:
        """Start when the first interval is over, just before its checkpoint; stop when the second is."""
        if line["event"] != "interval":
            return
        now = time.process_time()
        if line["interval"] == 1:
            self._started, self._interactions = now, line["interactions"]
            self._interrupted, self._raw_seconds, self._raw_calls = 0.0, 0.0, 0
            return
        spent = (now - self._started - self._interrupted) / (line["interactions"] - self._interactions)
        self.ratio = spent / (self._raw_seconds / self._raw_calls)
        raise _Enough


def in_the_middle(learning: LearnerSettings) -> LearnerSettings:
    """The same settings, but CPL's value network learns from the first transition on, as later in an interval."""
    return (
        with_choices(learning, {"value": {"at_least": 0}}) if isinstance(learning, LearningSettings) else learning
    )


def measure_lockstep(protocol: Protocol, *, lanes: int, decisions: int = 10) -> float:
    """CPU seconds per interaction of training in lockstep, as a ratio to raw calls.

    Two intervals of about so many decisions of each lane. A learner that waits for whole episodes has them so short
    that it has learnt something before the second one begins.
    """
    learning = protocol.learning
    assert learning is not None
    loop: dict[str, Any] = {"kind": "lockstep", "lanes": lanes}
    if not isinstance(learning.loop, LockstepSettings):
        loop["decisions"] = decisions
    if learning.whole_episodes:
        decisions = max(
            decisions, _INTERVAL, DECISIONS_BETWEEN_CHECKPOINTS // lanes
        )  # so that there is a checkpoint
        protocol = protocol.model_copy(update={"max_frames": _EPISODE * protocol.frame_skip})
    interval = lanes * decisions * int(protocol.budget)
    learning = with_choices(
        in_the_middle(learning),
        {"schedule": {"interactions": 2 * interval, "interval": interval * 9 // 10}, "loop": loop},
    )
    with (
        tempfile.TemporaryDirectory() as directory,
        contextlib.closing(protocol.make_simulator()) as simulator,
    ):
        assert isinstance(simulator, Atari)
        meter = _Meter(simulator)
        with contextlib.suppress(_Enough):
            train(
                Path(directory) / "run",
                protocol.model_copy(update={"learning": learning}),
                watcher=Watcher(progress=meter.progress, metrics=meter.metrics),
            )
        return meter.ratio
