"""The learning schedule: an update is kept unless the episodes played with it are worse than those before.

`judge` is a pure function of two lists of returns; `Schedule` tracks where a trial stands.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from noveltree.learning.settings import ScheduleSettings, Sides
from noveltree.welch import Moments, welch_test

#: Episodes that an interval begins with at most, if that follows from how long they can be.
_LARGEST_WAVE = 8


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an interval's returns say about the update that was deployed in it."""

    accepted: bool
    p_value: float | None
    """Of Welch's test; None if there was nothing to test."""


def judge(
    returns: Sequence[float], previous: Sequence[float], *, p_value: float = 0.1, sides: Sides = "two-sided"
) -> Verdict:
    """Reject if Welch's t-test finds `returns` lower than `previous` with a p-value below `p_value`.

    Fewer than two episodes on a side, or no variance at all, are not evidence of deterioration.
    """
    if len(returns) < 2 or len(previous) < 2:
        return Verdict(True, None)
    ours, theirs = (
        Moments(statistics.fmean(side), statistics.variance(side), len(side)) for side in (returns, previous)
    )
    test = welch_test(ours, theirs)
    if test is None:
        return Verdict(True, None)
    below = test.probability_below(test.t)
    p = 2.0 * min(below, 1.0 - below) if sides == "two-sided" else below
    return Verdict(not (test.t < 0.0 and p < p_value), p)


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval that is over, or several of them."""

    interactions: int
    returns: tuple[float, ...]

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.interactions + other.interactions, self.returns + other.returns)

    @property
    def mean_return(self) -> float:
        return statistics.fmean(self.returns)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Where a trial stands in its schedule. Every step returns the next schedule."""

    settings: ScheduleSettings
    interval: int = 1
    """The interval that is being played, from 1."""
    interactions: int = 0
    """Of all intervals before it."""
    baseline: tuple[float, ...] | None = None
    """The returns that this one's are compared with: those before the last update. None: no test."""
    window: Interval = field(default_factory=lambda: Interval(0, ()))
    """What was played since the last test, before this interval."""

    @classmethod
    def from_json(cls, settings: ScheduleSettings, data: Mapping[str, Any]) -> Schedule:
        """The schedule that `to_json` wrote."""
        baseline = data["baseline"]
        window = data.get("window", {"interactions": 0, "returns": ()})  # the first checkpoints have none
        return cls(
            settings,
            interval=data["interval"],
            interactions=data["interactions"],
            baseline=None if baseline is None else tuple(baseline),
            window=Interval(window["interactions"], tuple(window["returns"])),
        )

    def to_json(self) -> dict[str, Any]:
        """Where the trial stands, as checkpoints have it."""
        baseline = None if self.baseline is None else list(self.baseline)
        return {
            "interval": self.interval,
            "interactions": self.interactions,
            "baseline": baseline,
            "window": {"interactions": self.window.interactions, "returns": list(self.window.returns)},
        }

    @property
    def finished(self) -> bool:
        """Whether the training budget is spent: less than half an interval is left of it."""
        left = self.settings.interactions - self.interactions
        return self.interval > 1 and left < self.settings.interval / 2

    def episodes_to_start(self, interactions: Sequence[int], *, longest: int) -> int:
        """How many episodes the interval has at least, given how many interactions each of its first ones took.

        These, and what is then expected to fill it; but never more ahead than `wave`, or than what is known, for
        episodes played with new networks may be many times longer than those before. Since that depends on the
        episodes before alone, the interval's episodes do not depend on timing, and none is wasted. `longest` is
        the most interactions that an episode can take.
        """
        wave = self.settings.wave or min(_LARGEST_WAVE, max(1, self.settings.interval // longest))
        known, spent = len(interactions), sum(interactions)
        left = self.settings.interval - spent
        if left <= 0:
            return known
        expected = math.ceil(left * known / spent) if spent else wave
        return known + min(expected, max(wave, known))

    def closes_window(self, interval: Interval) -> bool:
        """Whether there is a test when this interval is over; without windows there is one after each.

        Episodes may be much longer than a window, and a test of hardly any would find nothing: it waits for them.
        """
        settings, window = self.settings, self.window + interval
        if settings.window is None:
            return True
        return window.interactions >= settings.window and len(window.returns) >= settings.window_episodes

    def judge(self, interval: Interval) -> Verdict:
        """Accept or reject the updates that this interval, and those since the last test, were played with."""
        if self.baseline is None or not self.closes_window(interval):
            return Verdict(True, None)
        returns = (self.window + interval).returns
        return judge(returns, self.baseline, p_value=self.settings.p_value, sides=self.settings.sides)

    def after(self, interval: Interval, verdict: Verdict) -> Schedule:
        """The schedule when the interval is over."""
        following = replace(
            self, interval=self.interval + 1, interactions=self.interactions + interval.interactions
        )
        window = self.window + interval
        if not self.closes_window(interval):
            return replace(following, window=window)
        tested = verdict.accepted and self.settings.p_value > 0.0
        return replace(following, baseline=window.returns if tested else None, window=Interval(0, ()))
