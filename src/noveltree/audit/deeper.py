"""Going deeper than replay: episodes planned again, and runs that learn again."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from noveltree.audit.episodes import run_of
from noveltree.collection.tuning import prepare_process
from noveltree.errors import NoveltreeError
from noveltree.heuristics import UNINFORMED, Heuristics
from noveltree.learning.deployment import Deployment
from noveltree.records import read_episode
from noveltree.records.run_directory import RunDirectory, place_of_episode
from noveltree.replay import plan_again, stands_alone, why_never_again
from noveltree.trial.checkpoint_state import deployments_of


@dataclass(frozen=True, slots=True)
class ToPlan:
    """An episode that is to be planned again, with the networks of a run if it was played with any."""

    path: Path
    run: Path | None


@dataclass(frozen=True, slots=True)
class ToLearn:
    """A run that is to learn again, and those of its episodes that are to be planned again on the way."""

    run: Path
    planned: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Learnt:
    """What came of it."""

    difference: str
    """What the run says of its learning and does not come out, if anything."""
    planned: dict[Path, str]
    """Episodes that were planned again, and what came out differently of each."""


def plan_episode(task: ToPlan) -> str:
    """What comes out differently; nothing if every decision agrees."""
    try:
        record = read_episode(task.path)
        heuristics = UNINFORMED
        if record.weights is not None:
            assert task.run is not None
            heuristics = _heuristics(task.run, record.weights)
        return plan_again(record, heuristics)
    except NoveltreeError as error:
        return str(error)


def plan_file(path: Path) -> tuple[bool, str]:
    """Whether an episode file comes out again when it is planned, and what is to be said of that.

    Its networks are those of the run that it lies in.
    """
    path = path.resolve()
    record, run = read_episode(path), run_of(Path(path.anchor), path)
    if reason := why_never_again(record.protocol):
        return True, f"not planned again: {reason.rstrip('.')}"
    gone = record.weights and (run is None or record.weights not in _deployments(run))
    if gone or not stands_alone(record):
        return True, "not planned again: that takes networks that are not there, or learning again"
    difference = plan_episode(ToPlan(path, run))
    return not difference, f"planned again, it is another one: {difference}" if difference else "planned again"


@functools.lru_cache(maxsize=2)
def _heuristics(run: Path, weights: str) -> Heuristics:
    return _deployments(run)[weights].heuristics()


@functools.lru_cache(maxsize=1)
def _deployments(run: Path) -> dict[str, Deployment]:
    return deployments_of(RunDirectory.open(run))


def learn_again(task: ToLearn) -> Learnt:
    """Let a run learn again from its records."""
    from noveltree.trial.relearning import relearn  # planners do without torch

    prepare_process()
    run = RunDirectory.open(task.run)
    training = {place: path for path in task.planned if (place := _trained(task.run, path)) is not None}
    evaluation = [path for path in task.planned if path not in training.values()]
    try:
        weights = {path: read_episode(path).weights for path in evaluation}
        made = relearn(
            run, planned=frozenset(training), wanted=frozenset(digest for digest in weights.values() if digest)
        )
        planned = {training[place]: found for place, found in made.planned.items() if place in training}
        for path, digest in weights.items():
            if digest is None or digest in made.networks:
                heuristics = UNINFORMED if digest is None else made.networks[digest].heuristics()
                planned[path] = plan_again(read_episode(path), heuristics)
            else:
                planned[path] = "the networks that it says it was played with did not come out"
    except NoveltreeError as error:
        return Learnt(str(error), {})
    return Learnt(made.difference, planned)


def _trained(run: Path, path: Path) -> tuple[int, int] | None:
    """Interval and index of an episode that a run learnt from; None of one of its evaluation."""
    return place_of_episode(path) if path.is_relative_to(run / "episodes") else None


def known_networks(runs: set[Path | None]) -> Iterator[tuple[Path | None, set[str]]]:
    """The networks in the checkpoints of runs, by their digests; an episode outside of runs knows none."""
    _deployments.cache_clear()  # runs may have gone on since this process read them last
    _heuristics.cache_clear()
    for run in runs:
        try:
            yield run, set() if run is None else set(deployments_of(RunDirectory.open(run)))
        except (NoveltreeError, ImportError):
            yield run, set()
