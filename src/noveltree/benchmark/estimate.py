"""What a plan takes: time, from a short measurement on this machine, and disk."""

from __future__ import annotations

import contextlib
import functools
import heapq
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from noveltree.agents import PAPER_BUDGET
from noveltree.benchmark.plan import PlannedTrial, protocols_of
from noveltree.episodes import drive
from noveltree.lookahead import Interactions
from noveltree.protocol import Protocol
from noveltree.published import authors_curve
from noveltree.speed.emulator import time_emulator

#: How many games of a suite are tried, and with how many calls of the emulator.
_GAMES, _CALLS = 2, 25
#: What an interaction costs if a call of the bare emulator costs 1, as `noveltree bench planning` and
#: `noveltree bench learning` measure it.
_PLANNING, _LEARNING = 1.13, 1.46
#: Bytes of an episode file per decision and besides, and of a trial's checkpoints of 84 x 84 screens.
_BYTES_PER_STEP, _BYTES_PER_EPISODE, _BYTES_OF_CHECKPOINTS = 36, 2_500, 135_000_000
#: Which of the authors' agents played like one of ours, in their first million of interactions.
_BEFORE_LEARNING = {"riw-c": "n-cpl", "riw-d": "n-cpl-d", "unpruned": "cpl"}


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a trial is expected to take: simulator interactions, seconds on one core, bytes."""

    interactions: int
    seconds: float
    size: int


def estimate(trials: Sequence[PlannedTrial]) -> list[Estimate]:
    """What trials are expected to take, each, on a machine like this one."""
    rates = _measure_rates(list(protocols_of(trials).values()))
    known: dict[int, Estimate] = {}
    for trial in trials:
        if id(trial.protocol) not in known:
            known[id(trial.protocol)] = _estimate(trial, rates)
    return [known[id(trial.protocol)] for trial in trials]


def makespan(seconds: Sequence[float], workers: int) -> float:
    """When the last trial is over, if `workers` take them one after another."""
    free = [0.0] * min(workers, max(1, len(seconds)))
    for each in seconds:
        heapq.heapreplace(free, free[0] + each)
    return max(free)


def expected_steps(protocol: Protocol) -> float:
    """How many decisions an episode is expected to take.

    As many as the authors' took: in the first million of interactions for an agent that learns nothing, in the last
    for one that does. As many as there may be in games which they did not play.
    """
    if protocol.simulator != "atari" or protocol.frame_skip != 15:
        return protocol.max_steps
    learns = protocol.learning is not None
    agent = protocol.agent if learns else _BEFORE_LEARNING.get(protocol.agent, "n-cpl")
    episodes = _authors_episodes(protocol.game, agent, -1 if learns else 0)
    return protocol.max_steps if episodes is None else min(protocol.max_steps, 1e6 / PAPER_BUDGET / episodes)


@functools.cache
def _authors_episodes(game: str, agent: str, million: int) -> float | None:
    """Episodes in a million of the authors' interactions, on average over their trials."""
    counts = [trial.millions[million].episodes for trial in authors_curve(game, agent) if trial.millions]
    return statistics.fmean(counts) if counts else None


def expected_work(trial: PlannedTrial) -> float:
    """Interactions that a trial is expected to take; seconds, if its budget is one of seconds."""
    protocol, learning = trial.protocol, trial.protocol.learning
    budget = protocol.make_budget()
    per_step = budget.limit if isinstance(budget, Interactions) else protocol.budget
    evaluation = trial.episodes * expected_steps(protocol) * per_step
    return evaluation if learning is None else evaluation + learning.schedule.interactions


def relative_cost(protocol: Protocol) -> float:
    """What an interaction costs, about, if an emulated one costs 1; enough to say how far a mixed suite is."""
    return 1.0 if protocol.simulator == "atari" else 0.02


def _estimate(trial: PlannedTrial, rates: dict[str, float]) -> Estimate:
    protocol = trial.protocol
    steps_per_episode = expected_steps(protocol)
    work = expected_work(trial)
    budget = protocol.make_budget()
    if not isinstance(budget, Interactions):  # by the clock
        return Estimate(0, work, _size(trial.episodes, work / protocol.budget))
    steps, seconds = work / budget.limit, work * rates[_key(protocol)]
    if protocol.learning is None:
        return Estimate(round(work), seconds, _size(trial.episodes, steps))
    size = _size(steps / steps_per_episode, steps) + _BYTES_OF_CHECKPOINTS
    return Estimate(round(work), seconds / _PLANNING * _LEARNING, size)


def _size(episodes: float, steps: float) -> int:
    return round(episodes * _BYTES_PER_EPISODE + steps * _BYTES_PER_STEP)


def _key(protocol: Protocol) -> str:
    """What makes an interaction cost what it does, besides the game."""
    return f"{protocol.simulator} {protocol.frame_skip} {protocol.features == 'bprost'}"


def _measure_rates(protocols: Sequence[Protocol]) -> dict[str, float]:
    """Seconds per interaction, by what they depend on; measured in some of the games."""
    alike: dict[str, dict[str, Protocol]] = {}
    for protocol in protocols:
        if isinstance(protocol.make_budget(), Interactions):
            alike.setdefault(_key(protocol), {}).setdefault(protocol.game, protocol)
    rates = {}
    for key, by_game in alike.items():
        known = list(by_game.values())
        chosen = known[:: max(1, len(known) // _GAMES)][:_GAMES]
        rates[key] = statistics.fmean(_seconds_per_interaction(protocol) for protocol in chosen)
    return rates


def _seconds_per_interaction(protocol: Protocol) -> float:
    """CPU time of an interaction without networks."""
    if protocol.simulator == "atari":
        return _PLANNING * time_emulator(protocol.game, frame_skip=protocol.frame_skip, calls=_CALLS)
    with contextlib.closing(protocol.make_simulator()) as simulator:
        for budget in (1.0, float(PAPER_BUDGET)):  # what is compiled and loaded in the first is not measured
            tried = protocol.model_copy(update={"budget": budget, "budget_unit": "interactions"})
            play = tried.make_play(simulator, seed=0, index=0)
            began = time.process_time()
            drive([play], decisions=1)
            spent = time.process_time() - began
        return spent / max(1, play.decisions[0].interactions)
