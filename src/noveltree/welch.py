"""Welch's t-test: are the means of two samples the same, whatever their variances?"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Moments:
    """What the test needs of a sample."""

    mean: float
    variance: float
    """With n - 1 in the denominator."""
    count: int


@dataclass(frozen=True, slots=True)
class WelchTest:
    """The test's statistic and its degrees of freedom."""

    t: float
    degrees: float

    def probability_below(self, t: float) -> float:
        """How probable a statistic below `t` is if the means are the same."""
        from scipy import special  # a fifth of a second, which planners need not wait

        return float(special.stdtr(self.degrees, t))


def welch_test(first: Moments, second: Moments) -> WelchTest | None:
    """Compare two samples of at least two values each; None if nothing varies at all."""
    errors = [sample.variance / sample.count for sample in (first, second)]
    total = sum(errors)
    if total == 0.0:
        return None
    t = (first.mean - second.mean) / math.sqrt(total)
    degrees = total**2 / sum(
        error**2 / (sample.count - 1) for error, sample in zip(errors, (first, second), strict=True)
    )
    return WelchTest(t, degrees)
