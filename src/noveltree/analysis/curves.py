"""Learning curves: the mean over trials."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from noveltree.published import TrialCurve, authors_curve
from noveltree.results.curves import RunCurve
from noveltree.results.sample import Sample

_MILLION = 1_000_000
_LAST_MILLION = 20
#: Interactions so far and mean return of a trial, by the number of the interval.
Trial = Mapping[int, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The mean return of several trials at a number of interactions, with its 90% interval."""

    interactions: float
    trials: int
    mean: float
    interval: float
    """Half its width, by Student's distribution; NaN for a single trial."""


def mean_curve(trials: Sequence[Trial]) -> tuple[CurvePoint, ...]:
    """The curve over the trials.

    An interval of which a trial has no mean return, because it ended earlier, is that of the others.
    """
    points = []
    for number in sorted(set().union(*trials)):
        there = [trial[number] for trial in trials if number in trial]
        sample = Sample.of([mean for _, mean in there])
        interactions = statistics.fmean(place for place, _ in there)
        points.append(CurvePoint(interactions, sample.count, sample.mean, sample.student_interval))
    return tuple(points)


@dataclass(frozen=True, slots=True)
class AuthorsWay:
    """How far the authors' N-CPL came in a game: the mean return of their trials in two of their millions."""

    first: float
    """In the first million, before which nothing was learnt."""
    last: float
    """In the 20th, with which the paper ends."""

    def share(self, score: float) -> float:
        """How much of that way a score has come: 0 at its beginning, 1 at its end, and more beyond."""
        return (score - self.first) / (self.last - self.first)


def authors_way(game: str) -> AuthorsWay | None:
    """The authors' way in a game; None if they did not play it, or came nowhere."""
    first, last = (
        [each.mean_return for trial in authors_curve(game, "n-cpl") for each in trial.millions if each.number == n]
        for n in (1, _LAST_MILLION)
    )
    if not first or not last:
        return None
    way = AuthorsWay(statistics.fmean(first), statistics.fmean(last))
    return None if way.first == way.last else way


def points_of_run(run: RunCurve) -> Trial:
    """The intervals of a run as points of a curve."""
    return {each.interval: (each.interactions, each.mean_return) for each in run.points}


def points_of_trial(trial: TrialCurve) -> Trial:
    """The millions of a published trial as points of a curve."""
    return {each.number: (each.number * _MILLION, each.mean_return) for each in trial.millions}


def up_to(interactions: int, trials: Iterable[TrialCurve]) -> tuple[TrialCurve, ...]:
    """The first millions of the trials: as many as `interactions` are, rounded, and at least one."""
    last = max(1, round(interactions / _MILLION))
    return tuple(
        dataclasses.replace(trial, millions=tuple(million for million in trial.millions if million.number <= last))
        for trial in trials
    )
