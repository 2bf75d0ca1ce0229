"""How much planning costs beside the emulator: CPU seconds per planning step, as a ratio to raw emulation.

A planning step and the same number of raw `act` calls alternate in one process on one core, half of the calls
before the step and half after it, so that whatever slows the machine down slows both. The raw calls hold random
actions from the root of the step; where one ends the game, the emulator goes back to that root, which is not
counted.
"""

from __future__ import annotations

import contextlib
import statistics
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from noveltree.episodes import Play, drive
from noveltree.errors import InputError
from noveltree.protocol import Protocol, make_protocol
from noveltree.simulators import Atari, AtariState
from noveltree.speed.emulator import time_raw_calls
from noveltree.tree import Lookahead

_WARM_UP_STEPS = 3
_MEASURED_NODES = 1_000


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
    node_bytes: float
    """Memory per node, with its state: what a lookahead of 1,000 nodes has allocated."""


def measure_planning(
    games: Sequence[str],
    *,
    agent: str = "riw-c",
    features: str | None = None,
    budgets: Sequence[int] = (100,),
    steps: int = 40,
    on_cost: Callable[[PlanningCost], None] | None = None,
) -> dict[str, Any]:
    """Measure all games with all budgets; `steps` planning steps each (fewer for large budgets)."""
    if steps < 1 or not games or not budgets:
        raise InputError("At least 1 planning step must be measured, in at least 1 game with at least 1 budget.")
    costs = []
    for budget in budgets:
        for game in games:
            # About as many interactions for every budget, but at least three steps if that many are wanted.
            cost = _measure(game, agent, features, budget, max(min(3, steps), steps * min(budgets) // budget))
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
    if protocol.simulator != "atari":
        raise InputError(f"Planning is compared with raw emulation, and {game} is no Atari game.")
    with contextlib.closing(protocol.make_simulator()) as simulator:
        assert isinstance(simulator, Atari)
        return _measure_in(simulator, protocol, steps)


def _measure_in(simulator: Atari, protocol: Protocol, steps: int) -> PlanningCost:
    budget = int(protocol.budget)
    node_bytes = _measure_node_bytes(simulator)
    play = protocol.make_play(simulator, seed=0, index=0)
    drive([play], decisions=min(_WARM_UP_STEPS, steps))
    rng = np.random.default_rng(0)
    ratios: list[float] = []
    planning_us: list[float] = []
    raw_us: list[float] = []
    index = 0
    for _ in range(steps):
        if play.finished:
            index += 1
            play = protocol.make_play(simulator, seed=0, index=index)
        root = play.lookahead.root.state
        assert isinstance(root, AtariState)
        actions = rng.integers(len(simulator.actions), size=budget).tolist()
        raw = time_raw_calls(simulator, root, actions[: budget // 2])
        before = time.process_time()
        interactions = _decide(play)
        planning = time.process_time() - before
        raw += time_raw_calls(simulator, root, actions[budget // 2 :])
        raw *= interactions / budget  # a solved root leaves some of the budget unspent
        ratios.append(planning / raw)
        planning_us.append(planning / interactions * 1e6)
        raw_us.append(raw / interactions * 1e6)
    low, high = quartiles(ratios)
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
        node_bytes=round(node_bytes),
    )


def quartiles(ratios: Sequence[float]) -> tuple[float, float]:
    """The lower and the upper one, among what was measured: of a few steps the usual method would extrapolate."""
    low, _, high = statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else [*ratios] * 3
    return low, high


def _measure_node_bytes(simulator: Atari) -> float:
    """Grow a lookahead and see what it has allocated."""
    rng = np.random.default_rng(0)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        lookahead = Lookahead(simulator, simulator.start(), base_policy=None, termination_cost=None)
        nodes = [lookahead.root]
        while len(nodes) <= _MEASURED_NODES:
            node = nodes[int(rng.integers(len(nodes)))]
            action = int(rng.integers(len(simulator.actions)))
            if node.children[action] is None and not node.terminal:
                nodes.append(lookahead.expand(node, action))
        after, _ = tracemalloc.get_traced_memory()
        return (after - before) / _MEASURED_NODES
    finally:
        tracemalloc.stop()


def _decide(play: Play) -> int:
    drive([play], decisions=1)
    return play.decisions[-1].interactions
