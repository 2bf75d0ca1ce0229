"""A trial's life on disk, whatever its loop is: episodes, metrics, checkpoints, and at last its result."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from noveltree.collection import Collected, Collector
from noveltree.episodes import Episode, EpisodeChance
from noveltree.errors import LearningError, RecordError
from noveltree.learning.deployment import Deployment
from noveltree.learning.inputs import InputShape
from noveltree.learning.learner import Learner, Losses
from noveltree.learning.retention import Retention
from noveltree.learning.schedule import Schedule
from noveltree.learning.settings import LearnerSettings
from noveltree.learning.snapshot import Snapshot
from noveltree.records.checkpoint import Checkpoint, check_space
from noveltree.records.run_directory import RunDirectory
from noveltree.replay import replay
from noveltree.simulators import Simulator
from noveltree.trial.checkpoint_state import unpack
from noveltree.trial.evaluation import frozen_episodes
from noveltree.trial.watcher import Tracker, Watcher

_Place = TypeVar("_Place")
#: The key of the random numbers of the networks that learning begins with, and what it is in two loops instead.
_FIRST = (0, 0, 1)
_FIRST_OF = {"lockstep": (0, 1, 4), "pretraining": (0, 2, 7)}


class Loop(Protocol):
    """How episodes and learning take turns until the training budget is spent."""

    def train(self) -> None:
        """Play and learn from wherever the trial stands on disk, until the training budget is spent."""
        ...

    def evaluate(self) -> list[Episode]:
        """The episodes that the trial's score is the mean of."""
        ...

    def outcome(self) -> dict[str, Any]:
        """What the result says besides the scores."""
        ...


class Trial:
    """What a loop works with."""

    def __init__(
        self,
        run: RunDirectory,
        collector: Collector,
        watcher: Watcher,
        *,
        device: str = "cpu",
        milestones: bool = True,
    ) -> None:
        """With `milestones` the agent is evaluated on the way, if that is chosen; training is the same without."""
        self.run = run
        self.collector = collector
        self.device = device
        self.milestones = milestones
        self.simulator = run.protocol.make_simulator()
        self.tracker = Tracker(watcher)
        self._watcher = watcher
        #: Whether the trial is to stop as soon as what is played is paused.
        self.stopping: Callable[[], bool] = lambda: False
        self._paused = False

    @property
    def settings(self) -> LearnerSettings:
        """How the agent learns."""
        assert self.run.protocol.learning is not None, "a planner has no loop that asks for this"
        return self.run.protocol.learning

    def can_pause(self) -> bool:
        """Whether episodes are being played that are worth pausing."""
        return self.tracker.stage == "playing"

    def complete(self, loop: Loop) -> dict[str, Any]:
        """Train, evaluate, and write the result."""
        loop.train()
        scores = [episode.score for episode in loop.evaluate()]
        result = {
            "game": self.run.protocol.game,
            "agent": self.run.protocol.agent,
            "seed": self.run.seed,
            "protocol_hash": self.run.protocol.hash,
            **loop.outcome(),
            "score": statistics.fmean(scores),
            "scores": scores,
        }
        self.run.write_result(result)
        self.run.remove_paused()
        return result

    def evaluate_frozen(self, deployment: Deployment | None, interval: int, count: int) -> list[Episode]:
        """The first episodes that begin after training, played with what is deployed then."""
        tracker = self.tracker
        tracker.stage, tracker.returns = "evaluating", ()
        episodes: dict[int, Episode] = {}
        played = frozen_episodes(self.run, self.collector, deployment, interval, count, tracker.add_interactions)
        for index, episode in played:
            episodes[index] = episode
            tracker.returns = (*tracker.returns, episode.score)
            tracker.report(always=True)
        return [episodes[index] for index in sorted(episodes)]

    def add_interactions(self, interactions: int) -> None:
        """Count interactions as they are spent; if the trial is to stop, have what is played paused."""
        self.tracker.add_interactions(interactions)
        if self.stopping() and not self._paused:
            self._paused = True
            self.collector.pause()

    def chance(self, interval: int, index: int) -> EpisodeChance:
        """The level and the dice of an episode of training."""
        return self.run.protocol.chance_of(seed=self.run.seed, index=index, interval=interval)

    def replay(self, interval: int, index: int, episode: Episode) -> Collected:
        """Collect an episode of training that was recorded, without planning, to learn from it."""
        return replay(self.simulator, self.chance(interval, index), episode)

    def tell(self, notices: list[str]) -> None:
        """Pass on what a learner has to say."""
        while notices:
            self._watcher.notice(notices.pop(0))

    def add_metrics(self, event: str, **line: Any) -> None:
        line = {"event": event, **line}
        self.run.add_metrics(line)
        self._watcher.metrics(line)

    def add_episode(self, collected: Collected, losses: Losses, **more: Any) -> None:
        """Add an episode that was learnt from to the metrics."""
        episode = collected.episode
        self.add_metrics(
            "episode",
            interval=collected.interval,
            index=collected.index,
            **{"return": episode.score},
            steps=episode.steps,
            interactions=episode.interactions,
            end=str(episode.end),
            **{f"{name}_loss": _mean(values) for name, values in losses.items()},
            **more,
        )

    def add_evaluation(self, episodes: Sequence[Episode], **more: Any) -> None:
        """Add an evaluation of what was learnt to the metrics; `more` says when it was made, if on the way."""
        scores = [episode.score for episode in episodes]
        self.add_metrics("evaluation", **more, mean_return=statistics.fmean(scores), returns=scores)

    def outcome(self, schedule: Schedule, *, evaluated_from: int | None = None) -> dict[str, Any]:
        """How much was trained, and with which interval the evaluation began: with the next one, or this."""
        return {
            "interactions": schedule.interactions,
            "intervals": schedule.interval - 1,
            "evaluation": self.settings.evaluation,
            "evaluated_from": evaluated_from or schedule.interval,
        }

    def read_checkpoint(self) -> Checkpoint | None:
        """The last whole checkpoint; metrics that were added since are forgotten, for they will come again."""
        checkpoint, complaints = self.run.read_checkpoint()
        for complaint in complaints:
            self._watcher.notice(f"{complaint} Going on from the one before.")
        if checkpoint is not None:
            self._check_networks(checkpoint)
        self.run.cut_metrics({} if checkpoint is None else checkpoint.state)
        return checkpoint

    def _check_networks(self, checkpoint: Checkpoint) -> None:
        """Raise RecordError if a checkpoint has other networks than this trial: they might be of any size."""
        first, actions = self.first_snapshot(), len(self.simulator.actions)
        snapshots = [snapshot for snapshot in unpack(checkpoint).values() if snapshot is not None]
        if not all(snapshot.fits(first, actions) for snapshot in snapshots):
            raise RecordError(f"The checkpoints in {self.run.path} have other networks than the run.")

    def write_checkpoint(self, number: int, checkpoint: Checkpoint) -> None:
        """Write a checkpoint of everything, with how far metrics have come."""
        state = {**checkpoint.state, **self.run.metrics_reached()}
        self.run.write_checkpoint(number, Checkpoint(checkpoint.arrays, state))

    def check_space(self, snapshot: Snapshot) -> None:
        """Raise OutputError if the disk is full, before anything is played rather than after."""
        check_space(self.run.path, 2 * sum(array.nbytes for array in snapshot.arrays().values()))

    def first_snapshot(self) -> Snapshot:
        """What learning begins with."""
        return first_snapshot(self.run, self.simulator)

    def rng(self, *key: int) -> np.random.Generator:
        """A generator of the trial's own; keys of three numbers are never those of an episode."""
        return _rng(self.run, *key)


def first_snapshot(run: RunDirectory, simulator: Simulator) -> Snapshot:
    """What the learning of a run begins with."""
    learning = run.protocol.learning
    assert learning is not None, "a planner has nothing to begin with"
    shape = InputShape.of(simulator.start().observation)
    rng = _rng(run, *_FIRST_OF.get(learning.loop.kind, _FIRST))
    return learning.initial_snapshot(shape, len(simulator.actions), rng=rng)


def _rng(run: RunDirectory, *key: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(run.seed, spawn_key=key))


def check_finite(snapshot: Snapshot) -> None:
    """Raise LearningError if weights are not finite numbers."""
    for name, array in snapshot.arrays().items():
        if not np.isfinite(array).all():
            raise LearningError(f"The weights {name} are not finite numbers any more; the last checkpoint is good.")


def retain(learner: Learner, retention: Retention, held: Sequence[_Place], dropped: int) -> Sequence[_Place]:
    """Drop the paths that do not outlive an interval, and the `dropped` newest; where the others come from."""
    left = len(held) - dropped
    kept = retention.keep([len(path) for path in learner.experience.paths[:left]])
    learner.keep(kept, drop_newest=dropped)
    return held[left - kept : left]


def training_tail(episodes: Iterable[Mapping[str, Any]], interactions: int) -> dict[str, Any]:
    """The episodes that ended in the last tenth of so many interactions: how many, and their mean return."""
    last = [line["return"] for line in episodes if line["at"] > 0.9 * interactions]
    return {"episodes": len(last), "mean_return": statistics.fmean(last) if last else None}


def rounded(losses: Losses) -> dict[str, list[float]]:
    """The losses of an interval as metrics have them."""
    return {f"{name}_losses": [round(loss, 6) for loss in values] for name, values in losses.items()}


def _mean(losses: Sequence[float]) -> float | None:
    return round(statistics.fmean(losses), 6) if losses else None
