"""The learning schedule: an update is kept unless the episodes played with it are worse than those before.

`judge` is a pure function of two lists of returns; `Schedule` keeps the books.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import stats

from noveltree.learning.settings import ScheduleSettings, Sides


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

    Fewer than two episodes on a side, or no variance at all, are no evidence of deterioration.
    """
    if len(returns) < 2 or len(previous) < 2:
        return Verdict(True, None)
    means = [statistics.fmean(side) for side in (returns, previous)]
    variances = [statistics.variance(side) / len(side) for side in (returns, previous)]
    total = sum(variances)
    if total == 0.0:
        return Verdict(True, None)
    t = (means[0] - means[1]) / math.sqrt(total)
    degrees = total**2 / sum(
        variance**2 / (len(side) - 1) for variance, side in zip(variances, (returns, previous), strict=True)
    )
    below = float(stats.t.cdf(t, degrees))
    p = 2.0 * min(below, 1.0 - below) if sides == "two-sided" else below
    return Verdict(not (t < 0.0 and p < p_value), p)


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval that is over."""

    interactions: int
    returns: tuple[float, ...]

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
    episodes: int | None = None
    """How many episodes it has; None in the first one, which grows in waves until it is full."""
    baseline: tuple[float, ...] | None = None
    """The returns that this one's are compared with: those before the last update. None: no test."""

    @property
    def finished(self) -> bool:
        """Whether the training budget is spent: less than half an interval is left of it."""
        left = self.settings.interactions - self.interactions
        return self.interval > 1 and left < self.settings.interval / 2

    def episodes_to_play(self, interactions: Sequence[int]) -> int:
        """The number of episodes of this interval, as far as it is known when these have been played."""
        if self.episodes is not None:
            return self.episodes
        full = sum(interactions) >= self.settings.interval
        waves = math.ceil(len(interactions) / self.settings.wave)
        played_out = len(interactions) == waves * self.settings.wave
        return (waves + (played_out and not full)) * self.settings.wave

    def judge(self, interval: Interval) -> Verdict:
        """Accept or reject the update that this interval was played with."""
        if self.baseline is None:
            return Verdict(True, None)
        return judge(interval.returns, self.baseline, p_value=self.settings.p_value, sides=self.settings.sides)

    def after(self, interval: Interval, verdict: Verdict) -> Schedule:
        """The schedule when the interval is over."""
        mean = max(1.0, interval.interactions / len(interval.returns))
        return Schedule(
            settings=self.settings,
            interval=self.interval + 1,
            interactions=self.interactions + interval.interactions,
            episodes=max(1, math.ceil(self.settings.interval / mean)),
            baseline=interval.returns if verdict.accepted else None,
        )
