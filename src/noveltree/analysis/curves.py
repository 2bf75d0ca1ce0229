"""Learning curves: mean return per interval of a run, and the spread of published trials per million."""

from __future__ import annotations

import dataclasses
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from noveltree.analysis.statistics import Sample
from noveltree.errors import RecordError
from noveltree.published import TrialCurve
from noveltree.records.run_directory import is_number

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class FinishedInterval:
    """An interval of a run that is over."""

    interval: int
    interactions: int
    """Of the run up to the end of the interval."""
    episodes: int
    mean_return: float
    accepted: bool
    """Whether Welch's test kept the networks with which it was played."""


@dataclass(frozen=True, slots=True)
class RunCurve:
    """The learning curve of a run."""

    label: str
    intervals: tuple[FinishedInterval, ...]
    evaluation: float | None
    """Mean return of the evaluation, once the run is over."""

    @property
    def lost(self) -> list[int]:
        """Intervals before the last one that are not there: their lines of the metrics are damaged."""
        there = {each.interval for each in self.intervals}
        return [number for number in range(1, max(there, default=0)) if number not in there]


@dataclass(frozen=True, slots=True)
class MillionRange:
    """The mean returns of several trials in one million of their interactions."""

    million: int
    trials: int
    lowest: float
    mean: float
    highest: float


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The mean return of several trials after so many interactions, with its 90% interval."""

    interactions: float
    trials: int
    mean: float
    interval: float
    """Half its width, by Student's distribution; NaN for a single trial."""


def mean_curve(trials: Sequence[Mapping[int, tuple[float, float]]]) -> tuple[CurvePoint, ...]:
    """The curve over the trials: of each its interactions and mean return, by the number of the interval.

    An interval of which a trial has no mean return, because it ended earlier, is that of the others.
    """
    points = []
    for number in sorted(set().union(*trials)):
        there = [trial[number] for trial in trials if number in trial]
        sample = Sample.of([mean for _, mean in there])
        interactions = statistics.fmean(place for place, _ in there)
        points.append(CurvePoint(interactions, sample.count, sample.mean, sample.student_interval))
    return tuple(points)


def points_of_run(run: RunCurve) -> dict[int, tuple[float, float]]:
    """The intervals of a run as points of a curve."""
    return {each.interval: (each.interactions, each.mean_return) for each in run.intervals}


def points_of_trial(trial: TrialCurve) -> dict[int, tuple[float, float]]:
    """The millions of a published trial as points of a curve."""
    return {each.number: (each.number * _MILLION, each.mean_return) for each in trial.millions}


def finished_intervals(
    metrics: Iterable[Mapping[str, Any]], where: str = "the run"
) -> tuple[FinishedInterval, ...]:
    """The intervals that are over according to the metrics of a run; `where` is what complaints call it."""
    names = [field.name for field in dataclasses.fields(FinishedInterval)]
    try:
        intervals = tuple(
            FinishedInterval(**{name: line[name] for name in names})
            for line in metrics
            if line["event"] == "interval"
        )
    except KeyError as error:
        raise RecordError(f"The metrics of {where} are damaged: a line has no {error}.") from error
    for each in intervals:
        for number in (each.interval, each.interactions, each.mean_return):
            if not is_number(number):
                raise RecordError(f"The metrics of {where} are damaged: {number!r} is no number.")
    return intervals


def up_to(interactions: int, trials: Iterable[TrialCurve]) -> tuple[TrialCurve, ...]:
    """The first millions of the trials: as many as `interactions` are, rounded, and at least one."""
    last = max(1, round(interactions / _MILLION))
    return tuple(
        dataclasses.replace(trial, millions=tuple(million for million in trial.millions if million.number <= last))
        for trial in trials
    )


def ranges(trials: Sequence[TrialCurve]) -> tuple[MillionRange, ...]:
    """Lowest, mean and highest of the trials' means in every million; each trial that finished it counts alike."""
    means: dict[int, list[float]] = defaultdict(list)
    for trial in trials:
        for million in trial.millions:
            means[million.number].append(million.mean_return)
    return tuple(
        MillionRange(number, len(values), min(values), statistics.fmean(values), max(values))
        for number, values in sorted(means.items())
    )
