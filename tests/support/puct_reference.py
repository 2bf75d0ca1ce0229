"""An independent reference of PUCT: a list of simulations, from which everything is counted anew at every step."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from tests.support.worlds import TableWorld

Path = tuple[int, ...]


@dataclass
class PuctReference:
    world: TableWorld
    policy: dict[int, list[float]]
    values: dict[int, float]
    exploration: float
    discount: float
    scaled: bool
    budget: int
    rng: np.random.Generator
    root: int = 0
    simulations: list[Path] = field(default_factory=list)

    def state(self, path: Path) -> int:
        state = self.root
        for action in path:
            state = self.world.table[state][action][0]
        return state

    def returned(self, simulation: Path, start: int) -> float:
        """What a simulation returned from its action number `start` on."""
        total = self.value(simulation)
        for place in reversed(range(start, len(simulation))):
            reward = self.world.table[self.state(simulation[:place])][simulation[place]][1]
            total = reward + self.discount * total
        return total

    def value(self, path: Path) -> float:
        return 0.0 if self.state(path) in self.world.terminal else self.values[self.state(path)]

    def visits(self, path: Path) -> int:
        return sum(simulation[: len(path)] == path for simulation in self.simulations)

    def returns(self, path: Path) -> float:
        return sum(
            self.returned(simulation, len(path) - 1)
            for simulation in self.simulations
            if simulation[: len(path)] == path
        )

    def nodes(self) -> set[Path]:
        return {(), *(each[: end + 1] for each in self.simulations for end in range(len(each)))}

    def bounds(self, path: Path, width: float) -> list[float]:
        children = [(*path, action) for action in range(len(self.world.actions))]
        visits = [self.visits(child) for child in children]
        return [
            (self.returns(child) + self.value(path)) / (n + 1) / width
            + self.exploration * p * math.sqrt(sum(visits) + len(children)) / (n + 2)
            for child, n, p in zip(children, visits, self.policy[self.state(path)], strict=True)
        ]

    def plan(self) -> int:
        """Simulate; how many simulations found a node that was not there."""
        seen = [self.value(node) for node in self.nodes() if self.state(node) not in self.world.terminal]
        seen += [self.returns(node) / self.visits(node) for node in self.nodes() if node]
        found = 0
        for _ in range(self.budget):
            width = (max(seen) - min(seen) or 1.0) if self.scaled else 1.0
            nodes, path = self.nodes(), ()
            while path in nodes and self.state(path) not in self.world.terminal:
                bounds = self.bounds(path, width)
                tied = [action for action, bound in enumerate(bounds) if bound >= max(bounds) - 1e-7]
                path = (*path, tied[0] if len(tied) == 1 else tied[int(self.rng.random() * len(tied))])
            found += path not in nodes
            self.simulations.append(path)
            if self.state(path) not in self.world.terminal:
                seen.append(self.value(path))
            seen += [self.returns(path[:end]) / self.visits(path[:end]) for end in range(1, len(path) + 1)]
        return found

    def advance(self, action: int) -> None:
        through = [simulation[1:] for simulation in self.simulations if simulation[0] == action]
        self.simulations = [simulation for simulation in through if simulation]
        self.root = self.state((action,))
