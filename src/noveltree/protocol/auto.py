"""Choosing an agent for a simulator that nobody knows yet: a short look at it, and rules that say why.

What is looked at are seeded random walks, so that the choice is the same wherever and whenever it is made, unless a
simulator is so slow that the time is up before. A protocol never says `auto`: it records what was chosen.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from noveltree.features import default_features
from noveltree.simulators import Simulator, State, chance_of
from noveltree.wording import counted

#: What is said instead of an agent's name to have one chosen.
AUTO = "auto"
#: Interactions that are spent on looking, and actions after which a walk begins anew.
PROBED = 2_000
#: Seconds after which looking ends in any case.
_SECONDS = 10.0
_WALK = 200
#: Steps for which an action is held on every other walk, which leads further where steps are small.
_HELD = 5
#: Of continuous variables: how many there may be for all cells of their space to be visited.
_FEW_VARIABLES = 3
#: The share of states that were met before, from which on a world is small.
_OFTEN = 0.2


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
    """The share of states that were met before."""
    drawn: float
    """The share of actions about which chance decided."""
    kind: str
    """What is observed: an image, whole numbers, or continuous numbers."""
    variables: int
    """How many numbers are observed."""


@dataclass(frozen=True, slots=True)
class AutoChoice:
    """An agent, its settings where they are not the agent's own, and the reasons in two sentences."""

    agent: str
    why: str
    settings: Mapping[str, Any] = field(default_factory=dict)


def probe(simulator: Simulator, start: State | None = None) -> Probe:
    """Look at a simulator on random walks from a start; an action is held for some steps on every other one."""
    rng = np.random.default_rng(0)
    start = simulator.start() if start is None else start
    chance = chance_of(simulator)
    seen = {start.observation.tobytes()}
    rewards: list[float] = []
    again = ended = walks = drawn = 0
    kind, began = _kind(start), time.perf_counter()
    most = 1 if kind == "image" else PROBED  # an image says enough
    while len(rewards) < most and time.perf_counter() < began + _SECONDS:
        state, action = start, 0
        walks += 1
        for step in range(min(_WALK, most - len(rewards))):
            if step % _HELD == 0 or walks % 2:
                action = int(rng.integers(len(simulator.actions)))
            if chance is None:
                state, reward, terminal = simulator.step(state, action)
            else:
                (state, reward, terminal), certain = chance.draw(state, action, int(rng.integers(2**63)))
                drawn += not certain
            rewards.append(reward)
            key = state.observation.tobytes()
            again += key in seen
            seen.add(key)
            if terminal or time.perf_counter() > began + _SECONDS:
                ended += terminal
                break
    return Probe(
        actions=len(simulator.actions),
        interactions=len(rewards),
        rewards=tuple(sorted(set(rewards))),
        paid=float(np.mean(np.array(rewards) > 0)),
        cost=float(np.mean(np.array(rewards) < 0)),
        ended=ended,
        again=again / len(rewards),
        drawn=drawn / len(rewards),
        kind=kind,
        variables=start.observation.size,
    )


def choose_agent(simulator: Simulator, start: State | None = None) -> AutoChoice:
    """Look at a simulator, from a start that may not be its own, and choose an agent for it."""
    return choose(probe(simulator, start))


def choose(found: Probe) -> AutoChoice:
    """The agent that suits what was found."""
    if found.kind == "image":
        return AutoChoice(
            "riw-c",
            f"An image of {found.variables:,} numbers is observed, and those hardly ever come back as they were. "
            "Rollouts that are pruned by the novelty of its pixels look far ahead in such worlds.",
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
    if found.again >= _OFTEN:
        return AutoChoice(
            "graph",
            f"{found.again:.0%} of the states of random walks had been met before, so that the world is small. "
            f"Value iteration over a graph of its states finds {_best_way(found)}.",
        )
    return AutoChoice(
        "riw-d",
        f"Only {found.again:.0%} of the states of random walks had been met before, so that the world is large. "
        "Rollouts that are pruned by the novelty of what is observed look far ahead in such worlds.",
    )


def _best_way(found: Probe) -> str:
    share = f"about {found.drawn:.0%} of all actions"
    return f"what is best on average, for chance decides {share}" if found.drawn else "the best way through it"


def _kind(start: State) -> str:
    if default_features(start) == "pixels":
        return "image"
    return "continuous" if start.observation.dtype.kind == "f" else "whole"
