"""Algorithm 2: intervals of whole episodes, learning from their critical paths, and acceptance.

An interval's episodes are played with fixed networks by a `Collector`, many at once, and learnt from in the order
of their index. Everything that happens in an interval follows from the checkpoint before it and from the seed. So
a trial which was killed goes back to its last checkpoint, replays the episodes that were recorded since, which
costs about a hundredth of playing them, and ends with the same networks, bit for bit.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from noveltree.collection import Collected, Listener, Order, Paused
from noveltree.episodes import Episode
from noveltree.learning.learner import Losses
from noveltree.learning.schedule import Interval, Schedule
from noveltree.learning.snapshot import Snapshot
from noveltree.trial.checkpoint_state import CURRENT, pack, unpack
from noveltree.trial.trial import Trial, check_finite, retain, rounded
from noveltree.wording import counted

#: Purposes of the learner's random numbers.
_ON_THE_WAY, _CLOSING = 2, 3


@dataclass(frozen=True, slots=True)
class _State:
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


class Intervals:
    """Algorithm 2."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._settings = trial.settings
        self._state = self._resume()
        self._learner = self._settings.make_learner(self._state.current, device=trial.device)
        for interval, index in self._state.kept:
            episode = trial.run.read_learnt(interval, index).episode
            self._learner.experience.add(trial.replay(interval, index, episode).path)
        trial.tracker.spent = trial.tracker.replayed = self._state.schedule.interactions

    def train(self) -> None:
        while not self._state.schedule.finished:
            self._trial.check_space(self._state.current)
            self._interval()

    def evaluate(self) -> list[Episode]:
        continuing = self._settings.evaluation == "continuing"
        episodes = self._evaluate_continuing() if continuing else self._evaluate_frozen()
        self._trial.add_evaluation(episodes)
        return episodes

    def outcome(self) -> dict[str, Any]:
        return self._trial.outcome(self._state.schedule, evaluated_from=self._state.evaluated_from)

    def _interval(self, *, at_most: int | None = None) -> list[Episode]:
        """Play an interval and learn from it; keep what was learnt, or go back. Its episodes.

        If it has `at_most` episodes or more, only those are played and the interval stays open.
        """
        state, schedule, learner, tracker = self._state, self._state.schedule, self._learner, self._trial.tracker
        started = time.monotonic()
        self._trial.collector.deploy(state.current.deployment)
        rng = self._trial.rng(schedule.interval, 0, _ON_THE_WAY)
        tracker.stage = "evaluating" if schedule.finished else "playing"
        tracker.interval, tracker.spent, tracker.returns = schedule.interval, schedule.interactions, ()
        episodes: list[Episode] = []
        for collected in self._episodes(state.current.digest, at_most):
            on_the_way = learner.take_in(collected.path, rng=rng)
            episodes.append(collected.episode)
            tracker.returns = tuple(episode.score for episode in episodes)
            self._trial.add_episode(collected, on_the_way)
            tracker.report()
        if len(episodes) == at_most:
            return episodes
        interval = Interval(sum(episode.interactions for episode in episodes), tracker.returns)
        verdict = schedule.judge(interval)
        losses: Losses = {}
        if verdict.accepted:
            tracker.stage = "learning"
            tracker.report(always=True)
            losses = learner.close_interval(rng=self._trial.rng(schedule.interval, 0, _CLOSING))
            current, previous = learner.snapshot(), state.current
        else:
            assert state.previous is not None, "only an update can be rejected"
            learner.restore(state.previous)
            current, previous = state.previous, None
        check_finite(current)
        self._state = replace(
            state,
            schedule=schedule.after(interval, verdict),
            current=current,
            previous=previous,
            kept=self._retain(len(episodes), accepted=verdict.accepted),
        )
        tracker.last_return, tracker.verdict = interval.mean_return, verdict
        self._trial.add_metrics(
            "interval",
            interval=schedule.interval,
            episodes=len(episodes),
            interactions=self._state.schedule.interactions,
            mean_return=interval.mean_return,
            accepted=verdict.accepted,
            tested=schedule.baseline is not None,
            p_value=verdict.p_value,
            **rounded(losses),
            weights=current.digest,
            seconds=round(time.monotonic() - started, 3),
        )
        self._write_checkpoint()
        return episodes

    def _episodes(self, weights: str | None, at_most: int | None) -> Iterator[Collected]:
        """The interval's episodes in the order of their index: replayed if they were recorded, played otherwise."""
        trial, schedule = self._trial, self._state.schedule
        run, collector, interval = trial.run, trial.collector, schedule.interval

        def record(collected: Collected) -> None:
            if collected.over:
                path = run.episode_path(interval, collected.index)
                run.write_episode(
                    path, collected.episode, interval=interval, index=collected.index, weights=weights
                )
            elif collected.paused is not None:
                run.write_paused(interval, collected.index, collected.paused.data, weights=weights)

        collector.listener = Listener(record, trial.add_interactions)
        recorded: dict[int, Episode] = {}
        played: dict[int, Collected] = {}
        ordered: set[int] = set()
        interactions: list[int] = []
        promised = 0
        while True:
            due = schedule.episodes_to_start(interactions, longest=run.protocol.longest_episode)
            for index in range(promised, due if at_most is None else min(due, at_most)):
                path = run.episode_path(interval, index)
                if found := run.read_episode(path, interval=interval, index=index, weights=weights):
                    recorded[index] = found.episode
                else:
                    data = run.read_paused(interval, index, weights=weights)
                    paused = None if data is None else Paused(data, weights)
                    collector.order(Order(interval, index, paused=paused))
                    ordered.add(index)
                promised = index + 1
            index = len(interactions)
            if index == promised:
                return
            if index in recorded:
                collected = trial.replay(interval, index, recorded.pop(index))
                trial.tracker.replayed += collected.episode.interactions
                trial.tracker.add_interactions(collected.episode.interactions)
            else:
                while index not in played:
                    done = collector.collect()
                    ordered.remove(done.index)
                    played[done.index] = done
                    if not done.over:
                        self._stop(done, len(ordered))
                collected = played.pop(index)
                if len(collected.path) < collected.episode.steps:  # it was paused when training was interrupted
                    collected = trial.replay(interval, index, collected.episode)
            interactions.append(collected.episode.interactions)
            yield collected

    def _stop(self, paused: Collected, outstanding: int) -> None:
        """Wait until everything is paused and written, and end."""
        everything = [paused, *(self._trial.collector.collect() for _ in range(outstanding))]
        lost = sum(not each.over and each.paused is None and each.episode.steps > 0 for each in everything)
        if lost:
            self._trial.tell(
                [
                    f"{counted(lost, 'episode')} will be played again from the beginning: the states of "
                    f"{self._trial.run.protocol.game} cannot be stored, for its simulator has no encode_state and "
                    "decode_state."
                ]
            )
        raise KeyboardInterrupt

    def _evaluate_frozen(self) -> list[Episode]:
        schedule = self._state.schedule
        count = self._settings.evaluation_episodes
        return self._trial.evaluate_frozen(self._state.current.deployment, schedule.interval, count)

    def _evaluate_continuing(self) -> list[Episode]:
        """The first episodes that begin after training, while learning goes on."""
        first = self._state.evaluated_from or self._state.schedule.interval
        self._state = replace(self._state, evaluated_from=first)
        episodes = [
            record.episode
            for interval in range(first, self._state.schedule.interval)
            for record in self._trial.run.read_interval(interval)
        ]
        while (missing := self._settings.evaluation_episodes - len(episodes)) > 0:
            episodes += self._interval(at_most=missing)
        return episodes[: self._settings.evaluation_episodes]

    def _retain(self, episodes: int, *, accepted: bool) -> tuple[tuple[int, int], ...]:
        """Drop the transitions that do not outlive the interval; where the others come from."""
        interval = self._state.schedule.interval
        held = [*self._state.kept, *((interval, index) for index in range(episodes))]
        dropped = 0 if accepted else episodes
        return tuple(retain(self._learner, self._settings.retention, held, dropped))

    def _resume(self) -> _State:
        """Where the trial stands on disk, or its beginning."""
        trial = self._trial
        checkpoint = trial.read_checkpoint()
        if checkpoint is None:
            return _State(Schedule(self._settings.schedule), trial.first_snapshot())
        state, snapshots = checkpoint.state, unpack(checkpoint)
        current = snapshots[CURRENT]
        assert current is not None
        return _State(
            schedule=Schedule.from_json(self._settings.schedule, state),
            current=current,
            previous=snapshots["previous"],
            kept=tuple((interval, index) for interval, index in state["kept"]),
            evaluated_from=state["evaluated_from"],
        )

    def _write_checkpoint(self) -> None:
        state, schedule = self._state, self._state.schedule
        content = {
            **schedule.to_json(),
            "kept": [list(place) for place in state.kept],
            "evaluated_from": state.evaluated_from,
        }
        snapshots = {CURRENT: state.current, "previous": state.previous}
        self._trial.write_checkpoint(schedule.interval - 1, pack(snapshots, content, {}))
        self._trial.run.remove_paused()
