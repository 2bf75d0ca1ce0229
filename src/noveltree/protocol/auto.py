"""Choosing an agent for a simulator that nobody knows yet: a short look at it, and rules that say why.

What is looked at are seeded random walks, so that the agent is the same wherever and whenever it is chosen, unless
a simulator is so slow that the time is up before. Interactions of a decision, if nobody chooses them, follow from
what a step takes. A protocol never says `auto`: it records what was chosen.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from noveltree.errors import InputError
from noveltree.features import default_features
from noveltree.simulators import Simulator, State, Transition, chance_of
from noveltree.simulators.fingerprint import Fingerprint, learn_clocks
from noveltree.simulators.patience import Patience
from noveltree.wording import counted

#: What is said instead of an agent's name to have one chosen.
AUTO = "auto"
#: Interactions that are spent on looking, fewer where images are observed; actions after which a walk begins anew.
PROBED, _PROBED_IMAGES = 2_000, 500
#: Seconds after which looking ends in any case.
_SECONDS = 10.0
_WALK = 200
#: Steps for which an action is held on every other walk, which leads further where steps are small.
_HELD = 5
#: Of continuous variables: how many there may be for all cells of their space to be visited.
_FEW_VARIABLES = 3
#: The share of states that were met before, from which on a world is small.
_OFTEN = 0.2
#: Interactions of a decision unless they are chosen: the most that take at most so many seconds, or the least.
_BUDGETS, _SECONDS_OF_A_DECISION = (500, 100, 20), 2.0
#: Where steps cost, a pruned leaf is not worth 0.
_COSTS = {"pruned_leaves": "extrapolated", "cached_nodes": "tested-first"}


@dataclass(frozen=True, slots=True)
class Probe:
    """What random walks have shown of a simulator."""

    actions: int
    interactions: int
    rewards: tuple[float, ...]
    """Those that were met, each once, in ascending order."""
    paid: float
    """The share of actions that paid something."""
    cost: float
    """The share of actions that cost something."""
    ended: int
    """Walks that met a terminal state."""
    again: float
    """The share of states that were met before, as far as they are told apart."""
    drawn: float
    """The share of actions about which chance decided."""
    kind: str
    """What is observed: an image, whole numbers, or continuous numbers."""
    variables: int
    """How many numbers are observed."""
    keys: str = "observed"
    """By what states are told apart: `held` if an action led elsewhere from states that are observed alike."""
    seconds: float = field(default=0.0, compare=False)
    """What a step took, the median."""


@dataclass(frozen=True, slots=True)
class AutoChoice:
    """An agent, its settings where they are not the agent's own, and the reasons in two sentences."""

    agent: str
    why: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    budget: int | None = None
    """Interactions of a decision that suit what a step takes; None if they are chosen otherwise."""
    seconds: float = 0.0
    """What a step takes."""


def probe(simulator: Simulator, start: State | None = None) -> Probe:
    """Look at a simulator on random walks from a start; an action is held for some steps on every other one."""
    rng = np.random.default_rng(0)
    start = simulator.start() if start is None else start
    chance, kind = chance_of(simulator), _kind(start)
    patience = Patience(_PROBED_IMAGES if kind == "image" else PROBED, _SECONDS)
    steps: list[_Step] = []
    times: list[float] = []
    walks, more = 0, True
    while more:
        state, action = start, 0
        walks += 1
        for step in range(_WALK):
            if not (more := patience.more()):
                break
            if step % _HELD == 0 or walks % 2:
                action = int(rng.integers(len(simulator.actions)))
            began, certain = time.perf_counter(), True
            if chance is None:
                transition = simulator.step(state, action)
            else:
                transition, certain = chance.draw(state, action, int(rng.integers(2**63)))
            times.append(time.perf_counter() - began)
            steps.append(_Step(state, action, transition, certain))
            state = transition.state
            if transition.terminal:
                break
    keys, again = _told_apart(simulator, steps)
    rewards = np.array([step.transition.reward for step in steps])
    return Probe(
        actions=len(simulator.actions),
        interactions=len(steps),
        rewards=tuple(sorted(set(rewards.tolist()))),
        paid=float(np.mean(rewards > 0)),
        cost=float(np.mean(rewards < 0)),
        ended=sum(step.transition.terminal for step in steps),
        again=again,
        drawn=float(np.mean([not step.certain for step in steps])),
        kind=kind,
        variables=start.observation.size,
        keys=keys,
        seconds=float(np.median(times)),
    )


class _Step(NamedTuple):
    state: State
    action: int
    transition: Transition
    certain: bool


def _told_apart(simulator: Simulator, steps: Sequence[_Step]) -> tuple[str, float]:
    """By what states are to be told apart, and which share of them was met before then."""
    if not _contradict(steps):
        return "observed", _again(steps, _observed)
    try:
        held = Fingerprint(simulator, learn_clocks(simulator))
        return "held", _again(steps, held)
    except InputError:  # nobody can look into them
        return "observed", 0.0


def _contradict(steps: Sequence[_Step]) -> bool:
    """Whether an action that leaves nothing to chance led elsewhere from states that are observed alike."""
    led: dict[tuple[bytes, int], tuple[bytes, bool]] = {}
    return any(
        led.setdefault((_observed(state), action), outcome) != outcome
        for state, action, (following, _, terminal), certain in steps
        if certain
        for outcome in [(_observed(following), terminal)]
    )


def _again(steps: Sequence[_Step], key: Callable[[State], bytes]) -> float:
    seen = {key(steps[0].state)}
    again = 0
    for step in steps:
        met = key(step.transition.state)
        again += met in seen
        seen.add(met)
    return again / len(steps)


def _observed(state: State) -> bytes:
    return state.observation.tobytes()


def choose_agent(simulator: Simulator, start: State | None = None) -> AutoChoice:
    """Look at a simulator, from a start that may not be its own, and choose an agent for it."""
    return choose(probe(simulator, start))


def choose(found: Probe) -> AutoChoice:
    """The agent that suits what was found, and interactions of a decision that suit what a step takes."""
    affordable = [budget for budget in _BUDGETS if budget * found.seconds <= _SECONDS_OF_A_DECISION]
    budget = next(iter(affordable), _BUDGETS[-1])
    return dataclasses.replace(_choose(found), budget=budget, seconds=found.seconds)


def _choose(found: Probe) -> AutoChoice:
    small = found.again >= _OFTEN
    if found.kind == "image" and not (small and not found.drawn):
        return AutoChoice(
            "riw-c",
            f"An image of {found.variables:,} numbers is observed, and {_rarely(found)}. "
            "Rollouts that are pruned by the novelty of its pixels look far ahead in such worlds.",
            _COSTS if found.cost > 0.5 else {},
        )
    if found.paid > 0.5:
        return AutoChoice(
            "uct",
            f"{found.paid:.0%} of the actions of random walks paid something, so that random rollouts tell good "
            "states from bad ones. UCT goes by what they return in the mean.",
        )
    if found.kind == "continuous" and found.variables <= _FEW_VARIABLES:
        return AutoChoice(
            "r-max",
            f"What is observed is {counted(found.variables, 'continuous number')}: so small a space can be cut "
            "into cells and explored as a whole. R-max goes where it knows the least until it knows what pays.",
        )
    if found.kind == "continuous":
        return AutoChoice(
            "graph",
            f"{found.variables} continuous numbers are observed, too many to explore the whole of their space. "
            "A graph of states that expands those in new cells first gets far with few interactions.",
        )
    if small:
        return AutoChoice(
            "graph",
            f"{found.again:.0%} of the states of random walks had been met before, so that the world is small"
            f"{_though(found)}. Value iteration over a graph of its states finds {_best_way(found)}.",
            {} if found.keys == "observed" else {"state_keys": found.keys},
        )
    return AutoChoice(
        "riw-d",
        f"Only {found.again:.0%} of the states of random walks had been met before, so that the world is large. "
        "Rollouts that are pruned by the novelty of what is observed look far ahead in such worlds.",
        _COSTS if found.cost > 0.5 else {},
    )


def _rarely(found: Probe) -> str:
    if found.again >= _OFTEN:
        return f"chance decides about {found.drawn:.0%} of all actions"
    return f"only {found.again:.0%} of the states of random walks had been met before"


def _though(found: Probe) -> str:
    return ", though states are observed alike that are not the same" if found.keys == "held" else ""


def _best_way(found: Probe) -> str:
    share = f"about {found.drawn:.0%} of all actions"
    return f"what is best on average, for chance decides {share}" if found.drawn else "the best way through it"


def _kind(start: State) -> str:
    if default_features(start) == "pixels":
        return "image"
    return "continuous" if start.observation.dtype.kind == "f" else "whole"
