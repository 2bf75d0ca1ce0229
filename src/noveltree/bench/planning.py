"""How much planning costs beside the emulator: CPU seconds per planning step, as a ratio to raw emulation.

A planning step and the same number of raw `act` calls alternate in one process on one core, so that whatever
slows the machine down slows both. The raw calls hold random actions from the root of the step that was just
measured; where one ends the game, the emulator goes back to that root, which is not counted.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from noveltree.episodes import Play, drive
from noveltree.errors import InputError
from noveltree.protocol import make_protocol
from noveltree.simulators import Atari, AtariState

_WARM_UP_STEPS = 3


@dataclass(frozen=True, slots=True)
class PlanningCost:
    """The cost of planning in one game with one budget."""

    game: str
    agent: str
    features: str | None
    budget: int
    steps: int
    """Planning steps that were measured."""
    ratio: float
    """Median over the steps of planning's CPU seconds to those of as many raw calls."""
    ratio_low: float
    ratio_high: float
    """Quartiles of the same."""
    interaction_us: float
    """Median CPU microseconds of planning per interaction."""
    raw_us: float
    """Median CPU microseconds of a raw call."""
    node_bytes: float | None
    """Memory per node of the lookahead, from the process's resident set; None where it grew too little."""


def measure_planning(
    games: Sequence[str],
    *,
    agent: str = "riw-c",
    features: str | None = None,
    budgets: Sequence[int] = (100,),
    steps: int = 30,
    on_cost: Callable[[PlanningCost], None] | None = None,
) -> dict[str, Any]:
    """Measure all games with all budgets; `steps` planning steps each (fewer for large budgets)."""
    if steps < 1:
        raise InputError(f"At least 1 planning step must be measured, not {steps}.")
    costs = []
    for budget in budgets:
        for game in games:
            # At least three steps, otherwise about the same number of interactions for every budget.
            cost = _measure(game, agent, features, budget, max(3, steps * min(budgets) // budget))
            costs.append(cost)
            if on_cost is not None:
                on_cost(cost)
    return {
        "agent": agent,
        "games": [asdict(cost) for cost in costs],
        "median_ratio": {
            str(budget): statistics.median(cost.ratio for cost in costs if cost.budget == budget)
            for budget in budgets
        },
    }


def _measure(game: str, agent: str, features: str | None, budget: int, steps: int) -> PlanningCost:
    protocol = make_protocol(game, agent=agent, features=features, budget=budget)
    simulator = protocol.make_simulator()
    if not isinstance(simulator, Atari):
        raise InputError(f"Planning is compared with raw emulation, and {game} is no Atari game.")
    play = protocol.make_play(simulator, seed=0, index=0)
    drive([play], decisions=min(_WARM_UP_STEPS, steps))
    rng = np.random.default_rng(0)
    ratios: list[float] = []
    planning_us: list[float] = []
    raw_us: list[float] = []
    index = 0
    node_bytes = None
    for _ in range(steps):
        if play.finished:
            index += 1
            play = protocol.make_play(simulator, seed=0, index=index)
        root = play.lookahead.root.state
        assert isinstance(root, AtariState)
        gc.collect()
        resident = _resident_bytes()
        before = time.process_time()
        interactions = _decide(play)
        planning = time.process_time() - before
        grown = _resident_bytes() - resident
        if grown > 4 * 2**20:
            node_bytes = max(node_bytes or 0.0, grown / interactions)
        raw = simulator.time_raw_calls(root, rng.integers(len(simulator.actions), size=interactions).tolist())
        ratios.append(planning / raw)
        planning_us.append(planning / interactions * 1e6)
        raw_us.append(raw / interactions * 1e6)
    low, _, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    return PlanningCost(
        game=protocol.game,
        agent=protocol.agent,
        features=protocol.features,
        budget=budget,
        steps=len(ratios),
        ratio=round(statistics.median(ratios), 4),
        ratio_low=round(low, 4),
        ratio_high=round(high, 4),
        interaction_us=round(statistics.median(planning_us), 1),
        raw_us=round(statistics.median(raw_us), 1),
        node_bytes=None if node_bytes is None else round(node_bytes),
    )


def _decide(play: Play) -> int:
    drive([play], decisions=1)
    return play.decisions[-1].interactions


def _resident_bytes() -> int:
    """The resident set of this process, where the system tells."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    except OSError:
        return 0
