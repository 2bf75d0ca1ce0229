"""Networks that are trained once, before the agent plays with them: collect screens, train, evaluate.

Screens are collected in rounds: every lane makes some decisions of its episode, and nodes of their lookaheads
are sampled. There is a checkpoint after every round, with the lookaheads of the lanes and the screens so far, and
one about every minute while networks are trained. Everything follows from the checkpoint before it and from the
seed. So a trial that was killed loses about a minute at most and ends with the same networks, bit for bit, whatever
the number of processes.
"""

from __future__ import annotations

import math
import statistics
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from noveltree.collection import Collected, Listener, Order, Paused, collect_all
from noveltree.episodes import Episode
from noveltree.learning.snapshot import Snapshot
from noveltree.learning.vae_settings import VaeSettings
from noveltree.records.checkpoint import Arrays, Checkpoint
from noveltree.trial.checkpoint_state import CURRENT, pack, unpack
from noveltree.trial.trial import Trial, check_finite, rounded

#: Between two checkpoints while networks are trained.
SECONDS_BETWEEN_CHECKPOINTS = 60.0
#: The interval of the episodes in which screens are collected, and that of those with trained networks.
_COLLECTING, _TRAINED = 1, 2
#: Purposes of the learner's random numbers.
_ON_THE_WAY, _LEARNING = 8, 9


@dataclass(slots=True)
class _Lane:
    """The episode that a lane is playing."""

    index: int
    paused: Paused | None = None
    """Where it goes on, if it was begun."""


@dataclass(slots=True)
class _State:
    """What the trial goes on from, besides the learner."""

    lanes: list[_Lane]
    interval: int = _COLLECTING
    rounds: int = 0
    spent: int = 0
    """Interactions."""
    returns: tuple[float, ...] = ()
    """Of the episodes that ended."""
    collected: bool = False
    """Whether there are screens enough."""


class Pretraining:
    """The loop for learners whose networks are trained once."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        assert isinstance(trial.settings, VaeSettings)
        self._settings, self._loop = trial.settings, trial.settings.loop
        self._state, snapshot = self._resume()
        self._learner = self._settings.make_learner(snapshot, device=trial.device)
        trial.collector.listener = Listener(interactions=trial.add_interactions)
        trial.tracker.spent = trial.tracker.replayed = self._state.spent

    def train(self) -> None:
        while not self._state.collected:
            self._trial.check_space(self._learner.snapshot())
            self._round()
            self._write_checkpoint()
        if self._state.interval == _COLLECTING:
            self._learn()
            self._write_checkpoint()

    def evaluate(self) -> list[Episode]:
        deployment = self._learner.snapshot().deployment
        episodes = self._trial.evaluate_frozen(deployment, _TRAINED, self._settings.evaluation_episodes)
        self._trial.add_evaluation(episodes)
        return episodes

    def outcome(self) -> dict[str, Any]:
        return {
            "interactions": self._state.spent,
            "intervals": _COLLECTING,
            "evaluation": self._settings.evaluation,
            "evaluated_from": _TRAINED,
        }

    def _round(self) -> None:
        """Let every lane make its decisions, and take in what was sampled in the order of the lanes."""
        trial, state, loop = self._trial, self._state, self._loop
        trial.tracker.stage, trial.tracker.interval = "playing", _COLLECTING
        missing = loop.screens - self._learner.screens
        decisions = min(loop.decisions, math.ceil(missing / (loop.lanes * (1 + loop.nodes))))
        played = self._play(decisions)
        trial.tracker.stage = "learning"
        rng = trial.rng(state.rounds, 2, _ON_THE_WAY)
        for collected in played:
            self._learner.take_in(collected.path, rng=rng)
            before = collected.episode.steps - len(collected.path)
            state.spent += sum(decision.interactions for decision in collected.episode.decisions[before:])
        enough = self._learner.screens >= loop.screens
        state.collected = enough or state.spent >= self._settings.schedule.interactions
        for lane, collected in zip(state.lanes, played, strict=True):
            lane.paused = collected.paused
            if collected.over or state.collected:
                self._record(collected)
                lane.index, lane.paused = lane.index + loop.lanes, None
        state.rounds += 1
        trial.tracker.spent = state.spent
        trial.tracker.report()

    def _play(self, decisions: int) -> list[Collected]:
        """What each lane plays in a round; one whose episode ends before waits for the next round."""
        orders = [
            Order(
                _COLLECTING,
                lane.index,
                decisions=decisions,
                paused=lane.paused,
                store=True,
                sample=self._loop.nodes,
            )
            for lane in self._state.lanes
        ]
        played = {collected.index: collected for collected in collect_all(self._trial.collector, orders)}
        if any(not collected.over and len(collected.path) < decisions for collected in played.values()):
            raise KeyboardInterrupt  # paused before its decisions were made: the trial is to stop
        return [played[lane.index] for lane in self._state.lanes]

    def _record(self, collected: Collected) -> None:
        """Write an episode that is over, or is not wanted any more, to its file and to the metrics."""
        run, index = self._trial.run, collected.index
        path = run.episode_path(_COLLECTING, index)
        run.write_episode(path, collected.episode, interval=_COLLECTING, index=index, weights=None)
        if collected.over:
            self._state.returns = (*self._state.returns, collected.episode.score)
            self._trial.tracker.returns = self._state.returns
        self._trial.add_episode(collected, {})

    def _learn(self) -> None:
        """Train networks on the screens from wherever that stands, until they can be deployed."""
        trial, learner, state = self._trial, self._learner, self._state
        trial.tracker.stage, trial.tracker.interval = "learning", _COLLECTING
        began = written = time.monotonic()
        epoch = learner.epoch
        for _ in learner.training(rng=trial.rng(0, 2, _LEARNING)):
            now = time.monotonic()
            if learner.epoch > epoch:
                epoch = learner.epoch
                losses = {name: round(values[-1], 6) for name, values in learner.losses().items()}
                trial.add_metrics("epoch", epoch=epoch, **losses, seconds=round(now - began, 3))
                began = now
            trial.tracker.trained = learner.progress
            trial.tracker.report()
            if now - written >= SECONDS_BETWEEN_CHECKPOINTS:
                self._write_checkpoint()
                written = time.monotonic()
        learner.keep(0)  # the screens are not needed any more
        state.interval = _TRAINED
        snapshot = learner.snapshot()
        check_finite(snapshot)
        trial.add_metrics(
            "interval",
            interval=_COLLECTING,
            episodes=len(state.returns),
            interactions=state.spent,
            mean_return=statistics.fmean(state.returns) if state.returns else None,
            accepted=True,
            tested=False,
            p_value=None,
            **rounded(learner.losses()),
            weights=snapshot.digest,
        )

    def _resume(self) -> tuple[_State, Snapshot]:
        """Where the trial stands on disk, or its beginning."""
        trial = self._trial
        checkpoint = trial.read_checkpoint()
        if checkpoint is not None:
            return self._read(checkpoint)
        return _State([_Lane(index) for index in range(self._loop.lanes)]), trial.first_snapshot()

    def _read(self, checkpoint: Checkpoint) -> tuple[_State, Snapshot]:
        state, snapshots = checkpoint.state, unpack(checkpoint)
        snapshot = snapshots[CURRENT] or snapshots["training"]
        assert snapshot is not None
        lanes = []
        for number, index in enumerate(state["lanes"]):
            data = checkpoint.arrays.get(f"lane.{number}")
            lanes.append(_Lane(index, None if data is None else Paused(data.tobytes(), None)))
        return (
            _State(
                lanes=lanes,
                interval=state["interval"],
                rounds=state["rounds"],
                spent=state["spent"],
                returns=tuple(state["returns"]),
                collected=state["collected"],
            ),
            snapshot,
        )

    def _write_checkpoint(self) -> None:
        state, snapshot = self._state, self._learner.snapshot()
        arrays: Arrays = {
            f"lane.{number}": np.frombuffer(lane.paused.data, dtype=np.uint8)
            for number, lane in enumerate(state.lanes)
            if lane.paused is not None
        }
        content = {
            "interval": state.interval,
            "rounds": state.rounds,
            "spent": state.spent,
            "returns": list(state.returns),
            "collected": state.collected,
            "lanes": [lane.index for lane in state.lanes],
        }
        trained = state.interval == _TRAINED
        snapshots = {CURRENT: snapshot if trained else None, "training": None if trained else snapshot}
        number = state.rounds + snapshot.counters["optimiser_steps"] + trained
        self._trial.write_checkpoint(number, pack(snapshots, content, arrays))
