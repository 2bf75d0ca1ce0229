"""Lockstep followed once more: which lane played what in which round, and with which networks."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from noveltree.audit.training import Ledger, episode_line
from noveltree.episodes import End
from noveltree.learning.schedule import Interval, Schedule
from noveltree.learning.settings import LockstepSettings
from noveltree.records import EpisodeRecord


@dataclass(slots=True)
class _Lane:
    """Where a lane stands: at a step of an episode, which may not be begun."""

    index: int
    step: int = 0


class _EndOfRecords(Exception):
    """A lane has no record of what it played next."""


class _Rounds:
    """All lanes, round by round."""

    def __init__(self, ledger: Ledger, loop: LockstepSettings) -> None:
        learning = ledger.run.protocol.learning
        assert learning is not None
        self._ledger, self._loop, self._settings = ledger, loop, learning.schedule
        self._records = {record.index: record for record in ledger.training.values()}
        self._lanes = [_Lane(index) for index in range(loop.lanes)]
        self._weights = ledger.weights[0]
        self._spent = self._decisions = 0
        self._reward = 0.0
        self._returns: tuple[float, ...] = ()
        self.schedule = Schedule(learning.schedule)
        self.rounds = 0

    def follow(self) -> None:
        """Enter round after round, until training is over or records end."""
        for lane in self._lanes:
            self._begin(lane)
        while not self.schedule.finished:
            self._round()
            closes = self._spent >= self._settings.interval
            before = self._weights
            self._deploy(closes=closes)
            if closes:
                self._close(before)
            for lane in self._lanes:
                if not lane.step:
                    self._begin(lane)
            self.rounds += 1
            self._ledger.schedules[self.rounds] = {
                **self.schedule.to_json(),
                "rounds": self.rounds,
                "spent": self._spent,
                "returns": list(self._returns),
            }

    def _record(self, lane: _Lane) -> EpisodeRecord:
        record = self._records.get(lane.index)
        if record is None:
            later = (index for index in self._records if index % self._loop.lanes == lane.index % self._loop.lanes)
            self._ledger.tail = max(later, default=-1) < lane.index
            raise _EndOfRecords(f"episode {lane.index} is not there")
        return record

    def _begin(self, lane: _Lane) -> None:
        """Check the networks that an episode is begun with."""
        record = self._records.get(lane.index)
        if record is None:
            return
        place = record.interval, record.index
        self._ledger.take(place)
        if record.interval != self.schedule.interval:
            path = self._ledger.run.episode_path(*place)
            self._ledger.wrong.append((path, f"it was begun in interval {self.schedule.interval}"))
        self._ledger.check_weights(place, record.weights, self._weights)

    def _round(self) -> None:
        """Let every lane make its decisions; episodes that end are entered in the order of the lanes."""
        ended: list[EpisodeRecord] = []
        for lane in self._lanes:
            left = self._loop.decisions
            while left:
                record = self._record(lane)
                made = record.episode.decisions[lane.step : lane.step + left]
                self._spent += sum(decision.interactions for decision in made)
                self._reward += sum(decision.reward for decision in made)
                self._decisions += len(made)
                lane.step += len(made)
                left -= len(made)
                if lane.step < record.episode.steps:
                    continue
                if record.episode.end in (End.TERMINAL, End.TRUNCATED):
                    ended.append(record)
                    lane.index, lane.step = lane.index + self._loop.lanes, 0
                    if left:
                        self._begin(lane)
                elif left:
                    raise _EndOfRecords(f"episode {lane.index} was played on")
        at = self.schedule.interactions + self._spent
        self._ledger.lines += [episode_line(record, at=at) for record in ended]
        self._returns += tuple(record.episode.score for record in ended)

    def _deploy(self, *, closes: bool) -> None:
        """Check that all lanes went on with the same networks, and which these are."""
        due = self._ledger.played_with(self.schedule.interval + 1) if closes else None
        claims: dict[tuple[str, ...], list[EpisodeRecord]] = {}
        for lane in self._lanes:
            record = self._records.get(lane.index)
            if record is None or not lane.step or lane.step == record.episode.steps:
                continue  # not begun, or at the end of training
            claims.setdefault(tuple(d for step, d in record.refreshed if step == lane.step), []).append(record)
        if self._loop.refresh == "interval":
            changed = closes and due is not None and due != self._weights
            expected: tuple[str, ...] = (due,) if changed and due is not None else ()
            self._compare(claims, expected)
            self._weights = due if closes else self._weights
            return
        most = max(claims, key=lambda claim: len(claims[claim]), default=())
        self._compare(claims, most)
        after = most[-1] if most else self._weights_of_beginners() or self._weights
        if closes and claims and due is not None and after != due:
            sentence = (
                f"interval {self.schedule.interval} ends with the networks {due}, but lanes went on with {after}"
            )
            self._ledger.wrong.append((self._ledger.run.metrics_path, sentence))
        self._weights = due if closes and due is not None else after

    def _weights_of_beginners(self) -> str | None:
        """The networks of the episodes that lanes begin next, if no lane is in the middle of one."""
        beginners = (self._records.get(lane.index) for lane in self._lanes if not lane.step)
        return next((record.weights for record in beginners if record is not None), None)

    def _compare(self, claims: dict[tuple[str, ...], list[EpisodeRecord]], due: tuple[str, ...]) -> None:
        for claim, records in claims.items():
            if claim != due:
                for record in records:
                    self._ledger.check_weights(
                        (record.interval, record.index),
                        ", then ".join(claim) or "as before",
                        ", then ".join(due) or "the same as before",
                    )

    def _close(self, before: str | None) -> None:
        """Enter an interval that is over."""
        schedule = self.schedule
        interval = Interval(self._spent, self._returns)
        verdict = schedule.judge(interval)
        self.schedule = schedule.after(interval, verdict)
        self._ledger.lines.append(
            {
                "event": "interval",
                "interval": schedule.interval,
                "episodes": len(self._returns),
                "interactions": self.schedule.interactions,
                "mean_return": statistics.fmean(self._returns) if self._returns else None,
                "accepted": verdict.accepted,
                "tested": schedule.baseline is not None and schedule.closes_window(interval),
                "p_value": verdict.p_value,
                "reward_per_decision": round(self._reward / self._decisions, 6),
            }
        )
        self._spent = self._decisions = 0
        self._reward, self._returns = 0.0, ()


def follow_rounds(ledger: Ledger) -> None:
    """Enter what lanes made of the recorded episodes."""
    learning = ledger.run.protocol.learning
    assert learning is not None
    assert isinstance(learning.loop, LockstepSettings)
    rounds = _Rounds(ledger, learning.loop)
    try:
        rounds.follow()
    except _EndOfRecords as end:
        ledger.missing = str(end)
