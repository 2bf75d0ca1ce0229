"""Algorithm 2: intervals of episodes, learning from their critical paths, acceptance, and at last the evaluation.

An interval's episodes are played with fixed networks by a `Collector`, many at once, and learnt from in the order
of their index. Everything that happens in an interval follows from the checkpoint before it and from the seed. So
a trial which was killed goes back to its last checkpoint, replays the episodes that were recorded since, which
costs about a hundredth of playing them, and ends with the same networks, bit for bit.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from noveltree.collection import Collected, Collector, Listener
from noveltree.episodes import Episode
from noveltree.errors import LearningError
from noveltree.learning.inputs import InputShape
from noveltree.learning.learner import Losses
from noveltree.learning.schedule import Interval, Schedule, Verdict
from noveltree.learning.snapshot import Snapshot
from noveltree.records.checkpoint import check_space
from noveltree.records.run_directory import RunDirectory
from noveltree.replay import replay
from noveltree.trial.evaluate import frozen_episodes
from noveltree.trial.state import TrialState, pack, unpack
from noveltree.trial.watcher import Progress, Stage, Watcher

#: Purposes of the learner's random numbers, which must not be those of an episode.
_INITIAL, _VALUE, _POLICY = 1, 2, 3
_SECONDS_BETWEEN_TELLING = 0.1


class Trial:
    """One trial, from wherever it stands on disk to its result."""

    def __init__(self, run: RunDirectory, collector: Collector, watcher: Watcher, *, device: str = "cpu") -> None:
        assert run.protocol.learning is not None
        self._run = run
        self._collector = collector
        self._watcher = watcher
        self._settings = run.protocol.learning
        self._simulator = run.protocol.make_simulator()
        self._state = self._resume()
        self._learner = self._settings.make_learner(self._state.current, device=device)
        for interval, index in self._state.kept:
            episode = run.read_learnt(interval, index).episode
            self._learner.experience.add(replay(self._simulator, interval, index, episode).path)
        self._spent = self._state.schedule.interactions
        self._replayed = self._spent
        self._last: tuple[float, Verdict] | None = None
        self._returns: tuple[float, ...] = ()
        self._told = 0.0

    def run(self) -> dict[str, Any]:
        """Train until the budget is spent, then evaluate."""
        while not self._state.schedule.finished:
            self._check_space()
            self._interval()
        continuing = self._settings.evaluation == "continuing"
        episodes = self._evaluate_continuing() if continuing else self._evaluate_frozen()
        scores = [episode.score for episode in episodes]
        self._add_metrics({"event": "evaluation", "mean_return": statistics.fmean(scores), "returns": scores})
        result = {
            "game": self._run.protocol.game,
            "agent": self._run.protocol.agent,
            "seed": self._run.seed,
            "protocol_hash": self._run.protocol.hash,
            "interactions": self._state.schedule.interactions,
            "intervals": self._state.schedule.interval - 1,
            "evaluation": self._settings.evaluation,
            "evaluated_from": self._state.evaluated_from or self._state.schedule.interval,
            "score": statistics.fmean(scores),
            "scores": scores,
        }
        self._run.write_result(result)
        return result

    def _interval(self, *, at_most: int | None = None) -> list[Episode]:
        """Play an interval and learn from it; keep what was learnt, or go back. Its episodes.

        If it has `at_most` episodes or more, so many are played and the interval stays open.
        """
        state, schedule, learner = self._state, self._state.schedule, self._learner
        started = time.monotonic()
        self._collector.deploy(state.current.deployment)
        weights = state.current.digest
        rng = self._rng(_VALUE)
        self._returns, self._spent = (), schedule.interactions
        episodes: list[Episode] = []
        for collected in self._episodes(weights, at_most):
            losses = learner.take_in(collected.path, rng=rng)
            episodes.append(collected.episode)
            self._returns = tuple(episode.score for episode in episodes)
            self._add_episode(collected, losses)
            self._tell(self._stage)
        if len(episodes) == at_most:
            return episodes
        interval = Interval(sum(episode.interactions for episode in episodes), self._returns)
        verdict = schedule.judge(interval)
        final_losses: Losses = {name: [] for name in ("policy",)}
        if verdict.accepted:
            self._tell("learning", always=True)
            final_losses = learner.close_interval(rng=self._rng(_POLICY))
            current, previous = learner.snapshot(), state.current
        else:
            assert state.previous is not None, "only an update can be rejected"
            learner.restore(state.previous)
            current, previous = state.previous, None
        _check_finite(current)
        self._state = replace(
            state,
            schedule=schedule.after(interval, verdict),
            current=current,
            previous=previous,
            kept=self._retain(len(episodes), accepted=verdict.accepted),
        )
        self._last = (interval.mean_return, verdict)
        self._add_metrics(
            {
                "event": "interval",
                "interval": schedule.interval,
                "episodes": len(episodes),
                "interactions": self._state.schedule.interactions,
                "mean_return": interval.mean_return,
                "accepted": verdict.accepted,
                "tested": schedule.baseline is not None,
                "p_value": verdict.p_value,
                **{f"{name}_losses": [round(loss, 6) for loss in losses] for name, losses in final_losses.items()},
                "weights": current.digest,
                "seconds": round(time.monotonic() - started, 3),
            }
        )
        self._write_checkpoint()
        return episodes

    def _episodes(self, weights: str | None, at_most: int | None) -> Iterator[Collected]:
        """The interval's episodes in the order of their index: replayed if they were recorded, played otherwise."""
        run, schedule = self._run, self._state.schedule
        interval = schedule.interval

        def record(collected: Collected) -> None:
            path = run.episode_path(interval, collected.index)
            run.write_episode(path, collected.episode, interval=interval, index=collected.index, weights=weights)

        self._collector.listener = Listener(record, self._add_interactions)
        recorded: dict[int, Episode] = {}
        played: dict[int, Collected] = {}
        interactions: list[int] = []
        promised = 0
        while True:
            due = schedule.episodes_promised(interactions)
            for index in range(promised, due if at_most is None else min(due, at_most)):
                path = run.episode_path(interval, index)
                if found := run.read_episode(path, interval=interval, index=index, weights=weights):
                    recorded[index] = found.episode
                else:
                    self._collector.order(interval, index)
                promised = index + 1
            index = len(interactions)
            if index == promised:
                return
            if index in recorded:
                collected = replay(self._simulator, interval, index, recorded.pop(index))
                self._replayed += collected.episode.interactions
                self._add_interactions(collected.episode.interactions)
            else:
                while index not in played:
                    over = self._collector.collect()
                    played[over.index] = over
                collected = played.pop(index)
            interactions.append(collected.episode.interactions)
            yield collected

    def _evaluate_frozen(self) -> list[Episode]:
        """The first episodes that begin after training, played with what is deployed then."""
        self._returns = ()
        episodes: dict[int, Episode] = {}
        for index, episode in frozen_episodes(
            self._run,
            self._collector,
            self._state.current.deployment,
            self._state.schedule.interval,
            self._settings.evaluation_episodes,
            self._add_interactions,
        ):
            episodes[index] = episode
            self._returns = (*self._returns, episode.score)
            self._tell("evaluating", always=True)
        return [episodes[index] for index in sorted(episodes)]

    def _evaluate_continuing(self) -> list[Episode]:
        """The first episodes that begin after training, while learning goes on."""
        first = self._state.evaluated_from or self._state.schedule.interval
        self._state = replace(self._state, evaluated_from=first)
        episodes = [
            record.episode
            for interval in range(first, self._state.schedule.interval)
            for record in self._run.read_interval(interval)
        ]
        while (missing := self._settings.evaluation_episodes - len(episodes)) > 0:
            episodes += self._interval(at_most=missing)
        return episodes[: self._settings.evaluation_episodes]

    def _retain(self, episodes: int, *, accepted: bool) -> tuple[tuple[int, int], ...]:
        """Drop the transitions that do not outlive the interval; where the others come from."""
        interval = self._state.schedule.interval
        held = [*self._state.kept, *((interval, index) for index in range(episodes))]
        dropped = 0 if accepted else episodes
        left = len(held) - dropped
        lengths = [len(path) for path in self._learner.experience.paths[:left]]
        kept = self._settings.retention.keep(lengths)
        self._learner.keep(kept, drop_newest=dropped)
        return tuple(held[left - kept : left])

    def _resume(self) -> TrialState:
        """Where the trial stands on disk, or its beginning."""
        checkpoint, complaints = self._run.read_checkpoint()
        for complaint in complaints:
            self._watcher.notice(f"{complaint} Going on from the one before.")
        if checkpoint is not None:
            self._run.cut_metrics(checkpoint.state["metrics_size"])
            return unpack(checkpoint, self._settings)
        self._run.cut_metrics(0)
        start = self._simulator.start()
        rng = np.random.default_rng(np.random.SeedSequence(self._run.seed, spawn_key=(0, 0, _INITIAL)))
        shape, actions = InputShape.of(start.observation), len(self._simulator.actions)
        snapshot = self._settings.initial_snapshot(shape, actions, rng=rng)
        return TrialState(Schedule(self._settings.schedule), snapshot)

    def _write_checkpoint(self) -> None:
        checkpoint = pack(self._state, self._run.metrics_size())
        self._run.write_checkpoint(self._state.schedule.interval - 1, checkpoint)

    def _check_space(self) -> None:
        """Complain about a full disk before an interval is played rather than after."""
        size = sum(array.nbytes for array in self._state.current.arrays().values())
        check_space(self._run.path, 2 * size)

    def _rng(self, purpose: int) -> np.random.Generator:
        key = (self._state.schedule.interval, 0, purpose)
        return np.random.default_rng(np.random.SeedSequence(self._run.seed, spawn_key=key))

    def _add_episode(self, collected: Collected, losses: Losses) -> None:
        episode = collected.episode
        self._add_metrics(
            {
                "event": "episode",
                "interval": collected.interval,
                "index": collected.index,
                "return": episode.score,
                "steps": episode.steps,
                "interactions": episode.interactions,
                "end": str(episode.end),
                **{f"{name}_loss": round(statistics.fmean(of), 6) if of else None for name, of in losses.items()},
            }
        )

    def _add_metrics(self, line: dict[str, Any]) -> None:
        self._run.add_metrics(line)
        self._watcher.metrics(line)

    def _add_interactions(self, interactions: int) -> None:
        self._spent += interactions
        self._tell(self._stage)

    @property
    def _stage(self) -> Stage:
        return "evaluating" if self._state.schedule.finished else "playing"

    def _tell(self, stage: Stage, *, always: bool = False) -> None:
        now = time.monotonic()
        if not always and now - self._told < _SECONDS_BETWEEN_TELLING:
            return
        self._told = now
        mean, verdict = self._last or (None, None)
        self._watcher.progress(
            Progress(
                stage=stage,
                interval=self._state.schedule.interval,
                interactions=self._spent,
                replayed=self._replayed,
                returns=self._returns,
                last_return=mean,
                verdict=verdict,
            )
        )


def _check_finite(snapshot: Snapshot) -> None:
    for name, array in snapshot.arrays().items():
        if not np.isfinite(array).all():
            raise LearningError(f"The weights {name} are no finite numbers any more; the last checkpoint is good.")
