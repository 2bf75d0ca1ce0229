"""Lanes in lockstep: networks change between rounds, in mid-episode.

Each lane plays one episode after another. In a round every lane makes some decisions; then, in the order of the
lanes, what is new of their critical paths is learnt from, and an interval is closed once it has taken its
interactions: networks are deployed, or taken back. A learner may want whole episodes, and its networks may be
deployed after every round. A round follows from what was before it and from the seed, and there is a checkpoint,
with the lookahead of every lane, after every round; where networks change with every round, after about 240
decisions. So a trial that was killed loses at most that and ends with the same networks, bit for bit, whatever the
number of processes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from noveltree.collection import Collected, Listener, Order, Paused, collect_all
from noveltree.collection.orders import cut_path
from noveltree.episodes import Episode
from noveltree.errors import InputError
from noveltree.learning.deployment import Deployment, digest_of
from noveltree.learning.experience import CriticalPath, joined
from noveltree.learning.foresight import FORESIGHT, FORESIGHT_LOSSES
from noveltree.learning.learner import Losses
from noveltree.learning.schedule import Interval, Schedule
from noveltree.learning.settings import LockstepSettings
from noveltree.learning.snapshot import Snapshot
from noveltree.records.checkpoint import Arrays, Checkpoint
from noveltree.records.play_file import decode_play
from noveltree.replay.actions import replay_path
from noveltree.simulators import StorableStates
from noveltree.trial.checkpoint_state import CURRENT, pack, unpack
from noveltree.trial.trial import Trial, check_finite, retain, rounded, training_tail

#: Decisions from one checkpoint to the next where networks change with every round, which is short then.
#: To play them again takes some 20 seconds; to write a checkpoint takes as long as four of them.
DECISIONS_BETWEEN_CHECKPOINTS = 240
#: Purposes of the learner's random numbers.
_ON_THE_WAY, _CLOSING = 5, 6


@dataclass(slots=True)
class _Lane:
    """The episode that a lane is playing."""

    interval: int
    """In which it was begun."""
    index: int
    weights: str | None
    """The networks that it was begun with."""
    refreshed: tuple[tuple[int, str], ...] = ()
    """Time steps from which on it was played with other networks, and their digests."""
    steps: int = 0
    paused: Paused | None = None
    """Where it goes on, as of the last time when it was stored."""
    episode: Episode | None = None
    """As far as it was played in the last round."""
    pieces: list[CriticalPath] = field(default_factory=list)
    """What was played of it, if the learner takes it in when it is over."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Where a path that is held comes from: transitions `first` to `first + count` of an episode."""

    interval: int
    index: int
    first: int
    count: int


@dataclass(slots=True)
class _State:
    """A trial between two rounds."""

    schedule: Schedule
    deployment: Deployment | None
    """The networks that lanes play with."""
    current: Snapshot
    """Theirs, as of the last interval or checkpoint."""
    training: Snapshot
    """Where training goes on."""
    previous: Snapshot | None
    """What was deployed when the window before this one began: what a rejection brings back."""
    anchor: Snapshot
    """What was deployed when this window began; without windows it is what is deployed."""
    lanes: list[_Lane]
    rounds: int = 0
    spent: int = 0
    """Interactions of the open interval."""
    returns: tuple[float, ...] = ()
    """Of the episodes that ended in it."""
    decisions: int = 0
    reward: float = 0.0
    """What all of its decisions paid."""
    losses: dict[str, tuple[float, int]] = field(default_factory=dict)
    """By what is trained after rounds: the sum of its losses, and how many they are."""
    held: list[_Piece] = field(default_factory=list)
    """The paths that the learner holds."""
    kept: int = 0
    """How many of them are of intervals before the open one."""


class Lockstep:
    """The loop for learners whose networks change in mid-episode."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._settings = trial.settings
        assert isinstance(self._settings.loop, LockstepSettings)
        self._loop = self._settings.loop
        if not isinstance(trial.simulator, StorableStates):
            raise InputError(
                f"Networks cannot change in mid-episode in {trial.run.protocol.game}: its states cannot be stored, "
                "so that a run could not be resumed. Choose the loop 'intervals', which has no windows of a test: "
                "--loop intervals --set learning.schedule.window=null."
            )
        self._state = self._resume()
        self._learner = self._settings.make_learner(self._state.training, device=trial.device)
        if not self._state.schedule.finished:
            self._recall()
        trial.collector.listener = Listener(interactions=trial.add_interactions)
        trial.collector.deploy(self._state.deployment)
        trial.tracker.spent = trial.tracker.replayed = self._interactions
        trial.tracker.pays = tuple(
            line["reward_per_decision"] for line in trial.run.read_metrics("interval", having="reward_per_decision")
        )
        trial.tracker.foresight = tuple(
            loss
            for line in trial.run.read_metrics("interval", having=FORESIGHT_LOSSES)
            for loss in line[FORESIGHT_LOSSES]
        )

    def train(self) -> None:
        started = time.monotonic()
        while not self._state.schedule.finished:
            self._trial.check_space(self._state.training)
            before = self._state.schedule.interactions
            self._round()
            if self._state.spent >= self._settings.schedule.interval:
                self._close_interval(time.monotonic() - started)
                # Before the checkpoint: whoever resumes from that does not come here again.
                self._evaluate_on_the_way(before)
                started = time.monotonic()
            if self._state.schedule.finished:
                self._record_unfinished()
            if self._checkpoint_is_due(self._state.rounds) or self._state.schedule.finished:
                self._write_checkpoint()

    def evaluate(self) -> list[Episode]:
        episodes = self._evaluate_frozen()
        self._trial.add_evaluation(episodes)
        return episodes

    def _evaluate_on_the_way(self, before: int) -> None:
        """Evaluate the agent if the interval that was just closed came to a milestone; then training goes on."""
        trial, schedule = self._trial, self._state.schedule
        passed = self._loop.passes_milestone(before, schedule.interactions)
        if not trial.milestones or schedule.finished or not passed:
            return
        listener = trial.collector.listener
        episodes = self._evaluate_frozen()
        trial.collector.listener = listener
        trial.add_evaluation(episodes, interval=schedule.interval, interactions=schedule.interactions)

    def _evaluate_frozen(self) -> list[Episode]:
        interval, count = self._state.schedule.interval, self._settings.evaluation_episodes
        return self._trial.evaluate_frozen(self._state.deployment, interval, count)

    def outcome(self) -> dict[str, Any]:
        trial, schedule = self._trial, self._state.schedule
        tail = training_tail(trial.run.read_metrics("episode"), schedule.settings.interactions)
        return {**trial.outcome(schedule), "tail": tail}

    @property
    def _interactions(self) -> int:
        return self._state.schedule.interactions + self._state.spent

    def _round(self) -> None:
        """Let every lane make its decisions, and learn from them in the order of the lanes."""
        state, tracker = self._state, self._trial.tracker
        tracker.stage, tracker.interval = "playing", state.schedule.interval
        pieces = self._play()
        tracker.stage = "learning"
        rng = self._trial.rng(state.rounds, 1, _ON_THE_WAY)
        state.spent += sum(interactions for played in pieces for _, interactions in played)
        tracker.spent = self._interactions
        before = state.decisions
        for number, played in enumerate(pieces):
            for collected, _ in played:
                losses = self._take_in(state.lanes[number], collected, rng)
                state.decisions += len(collected.path)
                state.reward += float(collected.path.rewards.sum())
                if collected.over:
                    self._record(state.lanes[number], collected, losses)
                    state.lanes[number] = self._next_episode(state.lanes[number])
        for lane, played in zip(state.lanes, pieces, strict=True):
            last, _ = played[-1]
            if not last.over:
                lane.steps, lane.paused, lane.episode = last.episode.steps, last.paused, last.episode
        for name, losses_of_round in self._learner.close_round(state.decisions - before, rng=rng).items():
            total, count = state.losses.get(name, (0.0, 0))
            state.losses[name] = total + sum(losses_of_round), count + len(losses_of_round)
        self._trial.tell(self._learner.notices)
        if self._loop.refresh == "round":
            self._deploy(self._learner.deployment())
        state.rounds += 1
        tracker.report()

    def _take_in(self, lane: _Lane, collected: Collected, rng: np.random.Generator) -> Losses:
        """Hand what a lane played to the learner, or keep it until the episode is over."""
        path, first = collected.path, collected.episode.steps - len(collected.path)
        if self._settings.whole_episodes:
            lane.pieces.append(path)
            if not collected.over:
                return {}
            path, first = joined(lane.pieces), 0
        self._state.held.append(_Piece(collected.interval, collected.index, first, len(path)))
        return self._learner.take_in(path, rng=rng)

    def _deploy(self, deployment: Deployment | None) -> None:
        """Let lanes go on with these networks."""
        state, before, digest = self._state, digest_of(self._state.deployment), digest_of(deployment)
        state.deployment = deployment
        for lane in state.lanes:
            if not lane.steps:  # it is not begun yet
                lane.interval, lane.weights = state.schedule.interval, digest
            elif digest is not None and digest != before:
                lane.refreshed = (*lane.refreshed, (lane.steps, digest))
        self._trial.collector.deploy(deployment)

    def _checkpoint_is_due(self, rounds: int) -> bool:
        """Whether there is a checkpoint after so many rounds."""
        if self._loop.refresh == "interval":
            return True
        return rounds % max(1, DECISIONS_BETWEEN_CHECKPOINTS // (self._loop.lanes * self._loop.decisions)) == 0

    def _play(self) -> list[list[tuple[Collected, int]]]:
        """What each lane played in a round, and the interactions that each piece took.

        A lane whose episode ends before its decisions are made begins the next one.
        """
        collector, state = self._trial.collector, self._state
        lanes = list(state.lanes)
        # In this process lanes cannot be lost, so that they are stored for checkpoints only.
        store = collector.may_lose_lanes or self._checkpoint_is_due(state.rounds + 1)
        left = [self._loop.decisions] * len(lanes)
        played: list[list[tuple[Collected, int]]] = [[] for _ in lanes]
        waiting = set(range(len(lanes)))
        while waiting:
            numbers = {(lanes[number].interval, lanes[number].index): number for number in waiting}
            orders = [
                Order(lane.interval, lane.index, decisions=left[number], paused=lane.paused, store=store)
                for number, lane in enumerate(lanes)
                if number in waiting
            ]
            waiting = set()
            for collected in collect_all(collector, orders):
                number = numbers[collected.interval, collected.index]
                made = len(collected.path)
                before = collected.episode.steps - made
                spent = sum(decision.interactions for decision in collected.episode.decisions[before:])
                played[number].append((collected, spent))
                left[number] -= made
                if collected.over and left[number]:
                    lanes[number] = self._next_episode(lanes[number])
                    waiting.add(number)
                elif left[number]:
                    raise KeyboardInterrupt  # paused before its decisions were made: the trial is to stop
        return played

    def _next_episode(self, lane: _Lane) -> _Lane:
        """The episode of a lane after this one: its index is the next that leaves the same remainder."""
        state = self._state
        return _Lane(state.schedule.interval, lane.index + self._loop.lanes, digest_of(state.deployment))

    def _record(self, lane: _Lane, collected: Collected, losses: Losses) -> None:
        """Write an episode that is over to its file and to the metrics."""
        state = self._state
        self._write(lane, collected.episode)
        state.returns = (*state.returns, collected.episode.score)
        self._trial.tracker.returns = state.returns
        self._trial.add_episode(collected, losses, at=self._interactions)

    def _record_unfinished(self) -> None:
        """Write what lanes were playing when training was over: it was learnt from, and nobody goes on with it."""
        for lane in self._state.lanes:
            if lane.steps and lane.episode is not None:
                lane.refreshed = tuple(refresh for refresh in lane.refreshed if refresh[0] < lane.steps)
                self._write(lane, lane.episode)

    def _write(self, lane: _Lane, episode: Episode) -> None:
        run = self._trial.run
        run.write_episode(
            run.episode_path(lane.interval, lane.index),
            episode,
            interval=lane.interval,
            index=lane.index,
            weights=lane.weights,
            refreshed=lane.refreshed,
        )

    def _close_interval(self, seconds: float) -> None:
        """Keep what was learnt, or go back; lanes go on with the networks that are deployed then."""
        state, learner, tracker = self._state, self._learner, self._trial.tracker
        schedule = state.schedule
        interval = Interval(state.spent, state.returns)
        verdict = schedule.judge(interval)
        losses: Losses = {}
        if verdict.accepted:
            tracker.report(always=True)
            losses = learner.close_interval(rng=self._trial.rng(schedule.interval, 1, _CLOSING))
            current = learner.snapshot()
            if schedule.closes_window(interval):
                state.previous, state.anchor = state.anchor, current
        else:
            assert state.previous is not None, "only an update can be rejected"
            learner.restore(state.previous)
            state.anchor = current = state.previous
            state.previous = None
        check_finite(current)
        state.schedule = schedule.after(interval, verdict)
        dropped = 0 if verdict.accepted else len(state.held) - state.kept
        state.held = list(retain(learner, self._settings.retention, state.held, dropped))
        state.kept = len(state.held)
        state.current = current
        self._deploy(current.deployment)
        state.spent, state.returns = 0, ()
        mean = interval.mean_return if interval.returns else None
        reward = state.reward / state.decisions
        tracker.last_return, tracker.verdict, tracker.returns = mean, verdict, ()
        tracker.pays = (*tracker.pays, reward)
        tracker.foresight = (*tracker.foresight, *losses.get(FORESIGHT, ()))
        losses |= {name: [total / count] for name, (total, count) in state.losses.items() if count}
        state.decisions, state.reward, state.losses = 0, 0.0, {}
        self._trial.add_metrics(
            "interval",
            interval=schedule.interval,
            episodes=len(interval.returns),
            interactions=state.schedule.interactions,
            mean_return=mean,
            accepted=verdict.accepted,
            tested=schedule.baseline is not None and schedule.closes_window(interval),
            p_value=verdict.p_value,
            **rounded(losses),
            weights=digest_of(state.deployment),
            reward_per_decision=round(reward, 6),
            seconds=round(seconds, 3),
        )

    def _recall(self) -> None:
        """Hold what was held when the checkpoint was written, by replaying what each lane played."""
        episodes: dict[tuple[int, int], tuple[Episode, list[Any]]] = {}

        def recalled(piece: _Piece) -> CriticalPath:
            place = piece.interval, piece.index
            if place not in episodes:
                episode = self._episode(*place)
                chance = self._trial.chance(*place)
                episodes[place] = episode, replay_path(self._trial.simulator, episode, chance)
            return cut_path(*episodes[place], of=place, first=piece.first, last=piece.first + piece.count)

        for piece in self._state.held:
            self._learner.experience.add(recalled(piece))
        if self._settings.whole_episodes:
            for lane in self._state.lanes:
                if lane.steps:
                    lane.pieces = [recalled(_Piece(lane.interval, lane.index, 0, lane.steps))]

    def _episode(self, interval: int, index: int) -> Episode:
        """An episode of which something is held: as it was recorded, or as far as its lane has played it."""
        run, simulator = self._trial.run, self._trial.simulator
        for lane in self._state.lanes:
            if (lane.interval, lane.index) == (interval, index) and lane.paused is not None:
                return decode_play(lane.paused.data, run.protocol, simulator, heuristics=None).episode()
        return run.read_learnt(interval, index).episode

    def _resume(self) -> _State:
        """Where the trial stands on disk, or its beginning."""
        trial = self._trial
        checkpoint = trial.read_checkpoint()
        if checkpoint is not None:
            return self._read(checkpoint)
        snapshot = trial.first_snapshot()
        lanes = [_Lane(1, index, snapshot.digest) for index in range(self._loop.lanes)]
        schedule = Schedule(self._settings.schedule)
        return _State(schedule, snapshot.deployment, snapshot, snapshot, None, snapshot, lanes)

    def _read(self, checkpoint: Checkpoint) -> _State:
        state, snapshots = checkpoint.state, unpack(checkpoint)
        current, training, anchor = snapshots[CURRENT], snapshots["training"], snapshots["anchor"]
        assert current is not None
        assert training is not None
        assert anchor is not None
        return _State(
            schedule=Schedule.from_json(self._settings.schedule, state),
            deployment=current.deployment,
            current=current,
            training=training,
            previous=snapshots["previous"],
            anchor=anchor,
            lanes=[_read_lane(checkpoint, number) for number in range(len(state["lanes"]))],
            rounds=state["rounds"],
            spent=state["spent"],
            returns=tuple(state["returns"]),
            decisions=state["decisions"],
            reward=state["reward"],
            losses={name: (total, count) for name, (total, count) in state.get("losses", {}).items()},
            held=[_Piece(*piece) for piece in state["held"]],
            kept=state["kept"],
        )

    def _write_checkpoint(self) -> None:
        state, schedule = self._state, self._state.schedule
        if schedule.finished:
            for lane in state.lanes:  # which nobody goes on with
                lane.paused = None
        # Right after a deployment the same weights are in training.
        fresh = not state.spent and state.current.deployed
        state.training = state.current if fresh else self._learner.snapshot()
        if self._loop.refresh == "round":
            state.current = state.training
        arrays: Arrays = {
            f"lane.{number}": np.frombuffer(lane.paused.data, dtype=np.uint8)
            for number, lane in enumerate(state.lanes)
            if lane.paused is not None
        }
        content = {
            **schedule.to_json(),
            "rounds": state.rounds,
            "spent": state.spent,
            "returns": list(state.returns),
            "decisions": state.decisions,
            "reward": state.reward,
            "losses": state.losses,
            "held": [[piece.interval, piece.index, piece.first, piece.count] for piece in state.held],
            "kept": state.kept,
            "lanes": [
                {
                    "interval": lane.interval,
                    "index": lane.index,
                    "weights": lane.weights,
                    "refreshed": [list(refresh) for refresh in lane.refreshed],
                    "steps": lane.steps,
                    "paused_with": None if lane.paused is None else lane.paused.weights,
                }
                for lane in state.lanes
            ],
        }
        snapshots = {
            CURRENT: state.current,
            "training": state.training,
            "previous": state.previous,
            "anchor": state.anchor,
        }
        self._trial.write_checkpoint(state.rounds, pack(snapshots, content, arrays))


def _read_lane(checkpoint: Checkpoint, number: int) -> _Lane:
    lane = checkpoint.state["lanes"][number]
    data = checkpoint.arrays.get(f"lane.{number}")
    return _Lane(
        interval=lane["interval"],
        index=lane["index"],
        weights=lane["weights"],
        refreshed=tuple((step, digest) for step, digest in lane["refreshed"]),
        steps=lane["steps"],
        paused=None if data is None else Paused(data.tobytes(), lane["paused_with"]),
    )
