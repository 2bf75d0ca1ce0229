"""Welch's t-test, and which agents are the best by it."""

from __future__ import annotations

from collections.abc import Sequence

from noveltree.results.sample import Sample
from noveltree.welch import Moments, welch_test


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
