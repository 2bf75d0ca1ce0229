"""What a plan takes: time, from a short measurement on this machine, and disk space."""

from __future__ import annotations

import contextlib
import functools
import heapq
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from noveltree.agents import PAPER_BUDGET, get_agent
from noveltree.benchmark.plan import PlannedTrial, protocols_of
from noveltree.episodes import drive
from noveltree.lookahead import Interactions
from noveltree.protocol import Protocol
from noveltree.published import authors_curve

#: How many games of a suite are tried.
_GAMES = 2
#: What an interaction of planning costs, as a ratio to the emulator's, and one of training, by the kind of learner:
#: `noveltree bench` measures them. Others cost as much as CPL.
_PLANNING, _TRAINING = 1.13, {"cpl": 1.46, "joint": 1.45, "pi": 1.6, "vae": 1.34}
#: Bytes of an episode file per decision and besides, and of a trial's checkpoints of 84 x 84 screens.
_BYTES_PER_STEP, _BYTES_PER_EPISODE, _BYTES_OF_CHECKPOINTS = 36, 2_500, 135_000_000
#: Frames of an interaction that `relative_cost` is about.
_FRAMES = 15
#: Which of the authors' agents played like one of ours, and in which of their millions of interactions: before it
#: had learnt anything, or at the end.
_PLAYED_LIKE = {
    **{"riw-c": ("n-cpl", 0), "riw-d": ("n-cpl-d", 0), "unpruned": ("cpl", 0)},
    **{agent: (agent, -1) for agent in ("n-cpl", "n-cpl-d", "cpl")},
}


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

    As many as the authors' took; as many as there may be in games that they did not play, or not like this.
    """
    if protocol.frame_skip != _FRAMES:
        return protocol.max_steps
    episodes = _authors_episodes(protocol.game, *_PLAYED_LIKE.get(protocol.agent, ("n-cpl", 0)))
    return protocol.max_steps if episodes is None else min(protocol.max_steps, 1e6 / PAPER_BUDGET / episodes)


@functools.cache
def _authors_episodes(game: str, agent: str, million: int) -> float | None:
    """Episodes in a million of the authors' interactions, on average over their trials."""
    counts = [trial.millions[million].episodes for trial in authors_curve(game, agent) if trial.millions]
    return statistics.fmean(counts) if counts else None


def expected_work(trial: PlannedTrial) -> float:
    """Interactions that a trial is expected to take; seconds, if its budget is one of seconds."""
    protocol = trial.protocol
    budget = protocol.make_budget()
    per_step = budget.limit if isinstance(budget, Interactions) else protocol.budget
    return trial.episodes * expected_steps(protocol) * per_step + protocol.training_interactions


def relative_cost(protocol: Protocol) -> float:
    """What an interaction costs, about, if one of the paper's costs 1; enough to say how far a mixed suite is."""
    return protocol.frame_skip / _FRAMES


def _estimate(trial: PlannedTrial, rates: dict[str, float]) -> Estimate:
    protocol = trial.protocol
    work = expected_work(trial)
    budget = protocol.make_budget()
    if not isinstance(budget, Interactions):  # by the clock
        return Estimate(0, work, _size(trial.episodes, work / protocol.budget))
    steps, seconds = work / budget.limit, work * rates[_key(protocol)]
    size = _size(steps / expected_steps(protocol), steps)
    if protocol.learning is not None:
        cost = _TRAINING.get(protocol.learning.kind, _TRAINING["cpl"])
        seconds = seconds * cost / _PLANNING + protocol.learning.training_seconds()
        size += _BYTES_OF_CHECKPOINTS
    return Estimate(round(work), seconds, size)


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
    """CPU time of an interaction without networks; of rollouts, if the agent cannot do without them."""
    if get_agent(protocol.agent).needs_networks:
        protocol = protocol.model_copy(update={"agent": "unpruned"})
    with contextlib.closing(protocol.make_simulator()) as simulator:
        for budget in (1.0, float(PAPER_BUDGET)):  # what is compiled and loaded in the first is not measured
            tried = protocol.model_copy(update={"budget": budget, "budget_unit": "interactions"})
            play = tried.make_play(simulator, seed=0, index=0)
            began = time.process_time()
            drive([play], decisions=1)
            spent = time.process_time() - began
        return spent / max(1, play.decisions[0].interactions)
