"""Means with intervals, Welch's t-test, and which agents are the best by it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from noveltree.welch import Moments, welch_test

#: The 95% quantile of the normal distribution: 90% of it lie within so many standard deviations of its mean.
_QUANTILE = 1.6448536269514722


@dataclass(frozen=True, slots=True)
class Sample:
    """What is known of a sample of scores."""

    mean: float
    sd: float
    """With n - 1 in the denominator; NaN for a single score."""
    count: int

    @classmethod
    def of(cls, scores: ArrayLike) -> Sample:
        """Of the scores themselves."""
        values = np.asarray(scores, dtype=np.float64)
        if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
            raise ValueError("A sample is one or more finite scores.")
        if len(values) == 1:
            return cls(float(values[0]), math.nan, 1)
        if values.min() == values.max():  # exactly this, whereas a sum of fractions would be rounded
            return cls(float(values[0]), 0.0, len(values))
        return cls(float(values.mean()), float(values.std(ddof=1)), len(values))

    @classmethod
    def published(cls, mean: float, interval: float, count: int) -> Sample:
        """Of a published mean and 90% interval. The paper's intervals come from standard deviations with n."""
        if count < 2:
            raise ValueError("An interval is that of two scores or more.")
        return cls(mean, interval / _QUANTILE * math.sqrt(count) * math.sqrt(count / (count - 1)), count)

    @property
    def population_sd(self) -> float:
        """With n in the denominator, as the paper's standard deviations have it; NaN for a single score."""
        return self.sd * math.sqrt((self.count - 1) / self.count)

    @property
    def interval(self) -> float:
        """Half the width of the 90% interval of the mean, as the paper computes it; NaN for a single score."""
        if self.count < 2:
            return math.nan
        return _QUANTILE * self.population_sd / math.sqrt(self.count)

    @property
    def student_interval(self) -> float:
        """The same by Student's distribution, which holds for few values too, as those of trials are."""
        if self.count < 2:
            return math.nan
        from scipy import special

        return float(special.stdtrit(self.count - 1, 0.95)) * self.standard_error

    @property
    def standard_error(self) -> float:
        return self.sd / math.sqrt(self.count)


def welch_p_value(first: Sample, second: Sample) -> float | None:
    """The two-sided p-value of Welch's t-test that two means are equal; None if it cannot be said.

    It cannot if a sample has a single score. Samples without any variance are equal, or certainly not.
    """
    if first.count < 2 or second.count < 2:
        return None
    test = welch_test(*(Moments(sample.mean, sample.sd**2, sample.count) for sample in (first, second)))
    if test is None:
        return 1.0 if first.mean == second.mean else 0.0
    return 2.0 * test.probability_below(-abs(test.t))


def best(samples: Sequence[Sample], *, p_value: float = 0.1) -> list[bool]:
    """Which of several agents are the best of a game: those whose mean Welch's test does not find lower.

    Lower than the highest mean, that is, with a p-value below `p_value`. Where it cannot be said, the mean decides.
    """
    if not samples:
        return []
    highest = max(samples, key=lambda sample: sample.mean)

    def is_best(sample: Sample) -> bool:
        p = welch_p_value(sample, highest)
        return sample.mean == highest.mean or (p is not None and p >= p_value)

    return [is_best(sample) for sample in samples]


def significantly_best(samples: Sequence[Sample], *, p_value: float = 0.1) -> list[bool]:
    """Which agent is the best of a game as the paper's table of intervals marks it: at most one.

    Welch's test finds its mean above that of every other agent, two-sided, with a p-value below `p_value`. Where it
    cannot be said, it is not.
    """

    def is_above(sample: Sample, other: Sample) -> bool:
        p = welch_p_value(sample, other)
        return sample.mean > other.mean and p is not None and p < p_value

    return [
        all(is_above(sample, other) for other in (*samples[:place], *samples[place + 1 :]))
        for place, sample in enumerate(samples)
    ]
