"""What is known of several scores: their mean, how far they vary, and how many they are."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


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
    def published(cls, mean: float, interval: float | None, count: int) -> Sample:
        """Of a published mean and, if there is one, its 90% interval, from a standard deviation with n."""
        if interval is None:
            return cls(mean, math.nan, 1)
        if count < 2:
            raise ValueError("An interval is that of two scores or more.")
        return cls(mean, interval / _quantile() * math.sqrt(count) * math.sqrt(count / (count - 1)), count)

    @property
    def population_sd(self) -> float:
        """With n in the denominator, as the paper's standard deviations have it; NaN for a single score."""
        return self.sd * math.sqrt((self.count - 1) / self.count)

    @property
    def interval(self) -> float:
        """Half the width of the 90% interval of the mean, as the paper computes it; NaN for a single score."""
        if self.count < 2:
            return math.nan
        return _quantile() * self.population_sd / math.sqrt(self.count)

    @property
    def student_interval(self) -> float:
        """The same by Student's distribution, which holds for few values too, as those of trials are."""
        if self.count < 2:
            return math.nan
        return _quantile(self.count - 1) * self.standard_error

    @property
    def standard_error(self) -> float:
        return self.sd / math.sqrt(self.count)


@functools.cache
def _quantile(degrees: int | None = None) -> float:
    """The 95% quantile of Student's distribution, or of the normal one: 90% lie between it and its negative."""
    from scipy import special  # a fifth of a second, which planners need not wait

    return float(special.ndtri(0.95) if degrees is None else special.stdtrit(degrees, 0.95))
