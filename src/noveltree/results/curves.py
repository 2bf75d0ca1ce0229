"""Learning curves of runs: mean return by the interactions that the run has taken."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from noveltree.errors import RecordError
from noveltree.learning.foresight import FORESIGHT_LOSSES, foreseen
from noveltree.protocol import Protocol, flat_settings
from noveltree.records.run_directory import RunDirectory, is_number

_MILLION = 1_000_000
_MOST_STEPS = 20
_COUNTS = ("interval", "interactions", "episodes")


@dataclass(frozen=True, slots=True)
class RunPoint:
    """The episodes of a run that ended in one of its intervals."""

    interval: int
    interactions: int
    """Of the run up to the end of the interval."""
    episodes: int
    mean_return: float
    accepted: bool = True
    """Whether Welch's test kept the networks with which they were played."""


@dataclass(frozen=True, slots=True)
class RunCurve:
    """The learning curve of a run."""

    label: str
    points: tuple[RunPoint, ...]
    evaluation: float | None
    """Mean return of the evaluation, once the run is over."""
    lost: tuple[int, ...] = ()
    """Intervals before the last one that are not there: their lines of the metrics are damaged."""
    milestones: tuple[tuple[int, float], ...] = ()
    """Evaluations on the way: interactions, and the mean return."""


@dataclass(frozen=True, slots=True)
class Evaluations:
    """What a run scored when it was evaluated: interactions of training, and the mean return."""

    on_the_way: tuple[tuple[int, float], ...] = ()
    at_the_end: tuple[int, float] | None = None


@dataclass(frozen=True, slots=True)
class EpochCurve:
    """How well an encoder, which is trained once, lets screens be drawn again that it was not trained on."""

    label: str
    points: tuple[tuple[int, float], ...]
    """Epochs, and the mean loss of screens that are held out."""
    evaluation: float | None
    """Mean return of the evaluation, once the run is over."""
    milestones: tuple[tuple[int, float], ...] = ()
    """There are none: until it is trained nothing is played with it."""


@dataclass(frozen=True, slots=True)
class PayCurve:
    """What a decision of a run's training paid: there long before episodes end."""

    label: str
    points: tuple[tuple[int, float], ...]
    """Interactions, and the mean reward of a decision since the point before."""
    foresight: tuple[tuple[int, float], ...]
    """Interactions, and the probability that the policy gave to what was chosen since the point before, if the run
    says so."""
    evaluation: float | None
    """Mean return of the evaluation, once the run is over."""
    milestones: tuple[tuple[int, float], ...] = ()
    """Evaluations on the way: interactions, and the mean return."""


def read_curve(run: RunDirectory, label: str, evaluation: float | None) -> RunCurve | None:
    """The learning curve of a run; None if there is nothing to draw yet.

    Lines of episodes that say `at` which of the run's interactions they ended are counted by that, in steps as long
    as an interval. If there are none, the lines of finished intervals are the points.
    """
    where = str(run.path)
    intervals = run.read_metrics("interval")
    if episodes := run.read_metrics("episode", having="at"):
        reached = int(_number(intervals[-1], "interactions", where)) if intervals else 0
        points = points_of_episodes(episodes, interval_length(run.protocol), where, reached=reached)
        return RunCurve(label, points, evaluation, milestones=read_milestones(run)) if points else None
    if not (points := points_of_intervals(intervals, where)):
        return None
    there = {line["interval"] for line in intervals}
    lost = tuple(number for number in range(1, max(there)) if number not in there)
    return RunCurve(label, points, evaluation, lost)


def read_pay(run: RunDirectory, label: str, evaluation: float | None) -> PayCurve | None:
    """What decisions of a run paid, in steps as long as those of its learning curve; None if it does not say."""
    where, length = str(run.path), interval_length(run.protocol)
    paid: dict[int, list[tuple[int, float]]] = {}
    losses: dict[int, list[tuple[int, float]]] = {}
    for line in run.read_metrics("interval", having="reward_per_decision"):
        at = int(_number(line, "interactions", where))
        paid.setdefault(-(-at // length), []).append((at, _number(line, "reward_per_decision", where)))
        for loss in line.get(FORESIGHT_LOSSES, ()):
            losses.setdefault(-(-at // length), []).append((at, loss))
    points = tuple((step[-1][0], fmean(reward for _, reward in step)) for _, step in sorted(paid.items()))
    foresight = tuple((step[-1][0], foreseen([loss for _, loss in step])) for _, step in sorted(losses.items()))
    return PayCurve(label, points, foresight, evaluation, read_milestones(run)) if points else None


def read_epochs(run: RunDirectory, label: str, evaluation: float | None) -> EpochCurve | None:
    """How a run's encoder was trained; None before its first epoch is over."""
    where = str(run.path)
    points = tuple(
        (int(_number(line, "epoch", where)), _number(line, "held_out_reconstruction", where))
        for line in run.read_metrics("epoch")
    )
    return EpochCurve(label, points, evaluation) if points else None


def read_milestones(run: RunDirectory) -> tuple[tuple[int, float], ...]:
    """The evaluations of a run that were made on the way: interactions of training, and the mean return."""
    where = str(run.path)
    lines = run.read_metrics("evaluation", having="interactions")
    return tuple((int(_number(line, "interactions", where)), _number(line, "mean_return", where)) for line in lines)


def read_evaluations(run: RunDirectory) -> Evaluations:
    """All evaluations of a run, finished or not."""
    result = run.read_result()
    end = None if result is None else (int(result["interactions"]), float(result["score"]))
    return Evaluations(read_milestones(run), end)


def points_of_intervals(metrics: Iterable[Mapping[str, Any]], where: str = "the run") -> tuple[RunPoint, ...]:
    """The finished intervals in which an episode ended; `where` is the run's name in errors."""
    points = []
    for line in metrics:
        interval, interactions, episodes = (_number(line, name, where) for name in _COUNTS)
        if episodes or _value(line, "mean_return", where) is not None:
            mean, accepted = _number(line, "mean_return", where), bool(_value(line, "accepted", where))
            points.append(RunPoint(interval, interactions, episodes, mean, accepted))
    return tuple(points)


def points_of_episodes(
    metrics: Sequence[Mapping[str, Any]], length: int, where: str = "the run", *, reached: int = 0
) -> tuple[RunPoint, ...]:
    """Steps of `length` interactions that the run has completed; an episode counts in the one in which it ended.

    The run has come as far as its last episode, or farther if it has `reached` more.
    """
    returns: dict[int, list[float]] = {}
    for line in metrics:
        at = int(_number(line, "at", where))
        reached = max(reached, at)
        returns.setdefault(max(1, -(-at // length)), []).append(_number(line, "return", where))
    return tuple(
        RunPoint(step, step * length, len(ended), sum(ended) / len(ended))
        for step, ended in sorted(returns.items())
        if step * length <= reached
    )


def interval_length(protocol: Protocol) -> int:
    """Interactions in a step of the curve: an interval of training, and at least a twentieth of the whole of it.

    A million, as in the paper, if the protocol does not say.
    """
    settings = flat_settings(protocol)
    interval = settings.get("learning.schedule.interval") or _MILLION
    return max(interval, (settings.get("learning.schedule.interactions") or 0) // _MOST_STEPS)


def _value(line: Mapping[str, Any], name: str, where: str) -> Any:
    try:
        return line[name]
    except KeyError as error:
        raise RecordError(f"The metrics of {where} are damaged: a line has no {error}.") from error


def _number(line: Mapping[str, Any], name: str, where: str) -> Any:
    if not is_number(number := _value(line, name, where)):
        raise RecordError(f"The metrics of {where} are damaged: {number!r} is not a number.")
    return number
