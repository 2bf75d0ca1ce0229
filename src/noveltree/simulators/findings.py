"""What a checked simulator is like, in words: what it costs, shows and pays, and what follows from that."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noveltree.simulators.patience import Patience
from noveltree.simulators.simulator import Chancy, Revisits, Simulator, State, Transition
from noveltree.wording import counted

_TIMED, _KEPT = 40, 20
_OFTEN = 0.1  # share of transitions with a reward from which on random rollouts find some
_SLOW = 10.0  # milliseconds


@dataclass(frozen=True, slots=True)
class Findings:
    """What random walks have shown of a simulator."""

    actions: int
    observation: str
    """What is observed, in words."""
    continuous: bool
    """Whether it is a vector with numbers that are not whole."""
    chance: bool | None
    """Whether chance decides what happens; None if the simulator does not say."""
    step_ms: float
    """Milliseconds of an interaction, the median."""
    snapshot_ms: float | None
    """Milliseconds of it for standing at a state and taking a snapshot, if the simulator can do only that."""
    state_bytes: int
    """Memory that a state takes with what is observed of it."""
    lowest: float
    """The lowest reward."""
    highest: float
    """The highest reward."""
    unrewarded: float
    """Share of transitions that paid nothing."""

    def sentences(self) -> list[str]:
        """All of it in words, and what follows for the choice of an agent."""
        kilobytes = self.state_bytes / 1_000
        snapshot = ""
        if self.snapshot_ms is not None:  # measured apart, so that it may be a little more than the whole
            snapshot = f", {min(self.snapshot_ms, self.step_ms):.3g} ms of them for the snapshot"
        return [
            self._chance(),
            f"{self.actions} actions; observed is {self.observation}.",
            f"An interaction takes {self.step_ms:.3g} ms{snapshot}; a state takes {kilobytes:,.3g} kB, 1,000 nodes "
            f"{kilobytes:,.3g} MB.",
            self._rewards(),
            self._advice(),
        ]

    def _chance(self) -> str:
        match self.chance:
            case None:
                return "Chance: the simulator knows of none."
            case False:
                return "Chance: none was found."
            case True:
                return "Chance: a random generator inside decides what happens; planners sample it."

    def _rewards(self) -> str:
        if self.unrewarded == 1:
            return "Rewards: none was met."
        others = f"{self.lowest:g}" if self.lowest == self.highest else f"{self.lowest:g} to {self.highest:g}"
        return f"Rewards: {self.unrewarded:.1%} of the transitions paid nothing, the others {others}."

    def _advice(self) -> str:
        if self.unrewarded == 1:
            advice = (
                "Random play finds no reward: novelty reaches further than random rollouts, so try riw-c or iw1 "
                "with a large budget"
            )
        elif self.highest <= 0:
            advice = (
                "What is paid are costs: agents that prune take a pruned state to be worth nothing, hence better "
                "than any way that costs, so try graph, r-max or uct"
            )
        elif 1 - self.unrewarded >= _OFTEN:
            advice = "Rewards are frequent: riw-c will do, and uct is worth a comparison"
        else:
            advice = "Rewards are rare: try riw-c first"
        if self.continuous:
            advice += "; its features are bins of the continuous values, whose number is the precision"
        if self.step_ms > _SLOW:
            advice += f"; a decision of 100 interactions takes about {self.step_ms / 10:.2g} s"
        return f"{advice}. The agent auto chooses one of them by a longer look."


def look_at(
    simulator: Simulator, transitions: Sequence[Transition], *, rng: np.random.Generator, seconds: float
) -> Findings:
    """What transitions of random walks, and some more interactions that are timed, show of a simulator."""
    observation = simulator.start().observation
    rewards = np.array([transition.reward for transition in transitions])
    paid = rewards[rewards != 0]
    states = [simulator.start(), *(each.state for each in transitions if not each.terminal)][:_TIMED]

    def step(state: State) -> None:
        simulator.step(state, int(rng.integers(len(simulator.actions))))

    return Findings(
        actions=len(simulator.actions),
        observation=_in_words(observation),
        continuous=observation.dtype.kind == "f",
        chance=simulator.has_chance if isinstance(simulator, Chancy) else None,
        step_ms=_median_ms(step, states, seconds),
        snapshot_ms=_median_ms(simulator.revisit, states, seconds) if isinstance(simulator, Revisits) else None,
        state_bytes=_bytes_of_a_state(simulator, seconds, rng=rng),
        lowest=float(paid.min()) if paid.size else 0.0,
        highest=float(paid.max()) if paid.size else 0.0,
        unrewarded=1 - paid.size / rewards.size,
    )


def _in_words(observation: NDArray[Any]) -> str:
    if observation.dtype == np.uint8 and observation.ndim in (2, 3):
        height, width = observation.shape[:2]
        planes = f" in {counted(observation.shape[2], 'plane')}" if observation.ndim == 3 else ""
        return f"an image of {width} x {height} pixels{planes}"
    numbers = counted(observation.size, "number" if observation.dtype.kind == "f" else "whole number")
    return f"a vector of {numbers}"


def _median_ms(act: Callable[[State], object], states: Sequence[State], seconds: float) -> float:
    times: list[float] = []
    patience = Patience(len(states), seconds)
    for state in states:
        if not patience.more():
            break
        started = time.perf_counter()
        act(state)
        times.append(time.perf_counter() - started)
    return 1_000 * float(np.median(times))


def _bytes_of_a_state(simulator: Simulator, seconds: float, *, rng: np.random.Generator) -> int:
    """Memory that one state more takes, by what Python and numpy have allocated for some of them."""
    kept: list[State] = []
    patience = Patience(_KEPT, seconds)
    state = simulator.step(simulator.start(), 0).state  # whatever is made once is there now
    traced = tracemalloc.is_tracing()
    if not traced:
        tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    while patience.more():
        state, _, terminal = simulator.step(state, int(rng.integers(len(simulator.actions))))
        kept.append(state)
        if terminal:
            state = simulator.start()
    after, _ = tracemalloc.get_traced_memory()
    if not traced:
        tracemalloc.stop()
    return max(0, after - before) // len(kept)
