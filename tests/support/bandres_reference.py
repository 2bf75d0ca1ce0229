"""An independent reference of RIW(1) as Bandres et al. (2018) ran it: slow, plain, recomputed from scratch.

Nodes are paths (tuples of actions below the root) in dictionaries. How often an action was repeated, what was
collected, which table a node belongs to, whether it is solved and what it is worth are functions of the tree,
computed whenever they are needed. Nothing of noveltree's search is used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.support.worlds import TableWorld

Path = tuple[int, ...]


@dataclass
class BandresReference:
    world: TableWorld
    lives: Sequence[int]
    budget: int
    horizon: int
    rng: np.random.Generator
    cached_nodes: str = "tested-when-met"
    visits: str = "counted"
    repetitions: bool = True
    lost_nodes: str = "leave"
    subtables: bool = False
    risk_averse: str = "no"
    untried: str = "zero"
    tie_breaking: str = "random"
    state: dict[Path, int] = field(default_factory=lambda: {(): 0})
    cached: set[Path] = field(default_factory=set)
    lost: set[Path] = field(default_factory=set)
    novel: dict[Path, bool] = field(default_factory=dict)
    ended: set[Path] = field(default_factory=set)
    entered: list[tuple[frozenset[int], int, int]] = field(default_factory=list)
    met: set[Path] = field(default_factory=set)
    interactions: int = 0
    pruned: int = 0

    # What is known of a path

    def features(self, path: Path) -> frozenset[int]:
        return self.world.features[self.state[path]]

    def terminal(self, path: Path) -> bool:
        return self.state[path] in self.world.terminal

    def repeated(self, path: Path) -> int:
        """How many nodes in a row have the features of their parents; the root repeats nothing."""
        if not self.repetitions or not path or self.terminal(path):
            return 0
        same = self.features(path) == self.features(path[:-1])
        return 1 + self.repeated(path[:-1]) if same else 0

    def allowed(self, path: Path) -> list[int]:
        return [path[-1]] if self.repeated(path) else list(range(len(self.world.actions)))

    def reward(self, path: Path) -> float:
        before, after = self.state[path[:-1]], self.state[path]
        _, paid = self.world.table[before][path[-1]]
        fewer = {"no": before, "parent": before, "root": self.state[()]}[self.risk_averse]
        if self.risk_averse != "no" and self.lives[after] < self.lives[fewer]:
            return -500_000.0 + (paid if self.risk_averse == "root" else 0.0)
        return paid * 50_000 if self.risk_averse != "no" and paid < 0 else paid

    def table(self, path: Path) -> int:
        if not self.subtables:
            return 0
        ancestors = [path[: length + 1] for length in range(len(path))]
        collected = sum(-math.inf if each in self.lost else self.reward(each) for each in ancestors)
        return 0 if collected <= 0 else math.floor(math.log2(collected)) + (collected >= 1)

    def smallest(self, feature: int, table: int) -> float:
        depths = [depth for seen, depth, number in self.entered if number == table and feature in seen]
        return min(depths, default=math.inf)

    def children(self, path: Path) -> list[Path]:
        return [(*path, a) for a in range(len(self.world.actions)) if (*path, a) in self.state]

    def solved(self, path: Path) -> bool:
        children = [(*path, action) for action in self.allowed(path)]
        return path in self.ended or all(child in self.state and self.solved(child) for child in children)

    def height(self, path: Path) -> int:
        return max((1 + self.height(child) for child in self.children(path)), default=0)

    # The search

    def plan(self) -> None:
        self.novel, self.ended, self.entered, self.met = {}, set(), [], set()
        self.interactions = int(self.visits == "counted" and () in self.cached)
        self.pruned = 0
        if self.cached_nodes == "tested-when-met":
            self.ended = {path for path in self.state if self.terminal(path)}
        if () not in self.cached:
            self.entered.append((self.features(()), 0, 0))
        while not self.solved(()) and self.interactions < self.budget:
            self.rollout()

    def rollout(self) -> None:
        path: Path = ()
        while self.novel.get(path, True) and not self.terminal(path) and len(path) < self.horizon:
            unsolved = [
                a for a in self.allowed(path) if (*path, a) not in self.state or not self.solved((*path, a))
            ]
            child = (*path, unsolved[int(self.rng.random() * len(unsolved))])
            if child in self.state:
                self.meet(child)
            elif self.interactions >= self.budget:
                return
            else:
                self.generate(child)
            path = child
        self.ended.add(path)

    def generate(self, path: Path) -> None:
        self.interactions += 1
        self.state[path], _ = self.world.table[self.state[path[:-1]]][path[-1]]
        depth, table = len(path), self.table(path)
        if self.repeated(path):
            self.novel[path] = self.repeated(path) < 3
        else:
            self.novel[path] = any(self.smallest(f, table) > depth for f in self.features(path))
            self.entered.append((self.features(path), depth, table))
        self.pruned += not self.novel[path]

    def meet(self, path: Path) -> None:
        if self.visits == "counted" and path in self.cached and path not in self.met:
            self.met.add(path)
            self.interactions += 1
        if self.repeated(path):
            self.novel[path] = self.repeated(path) < 3
        elif path in self.cached and self.cached_nodes == "never-tested":
            return
        else:
            self.novel[path] = any(self.smallest(f, self.table(path)) >= len(path) for f in self.features(path))
            if not self.novel[path] and self.lost_nodes == "leave":
                self.lost.add(path)
        self.pruned += not self.novel[path]

    # The decision

    def action_values(self, path: Path) -> list[float | None]:
        values: list[float | None] = []
        for action in range(len(self.world.actions)):
            child = (*path, action)
            if child not in self.state:
                values.append(0.0 if self.untried == "zero" and not self.repeated(path) else None)
            elif child in self.lost or self.value(child) == -math.inf:
                values.append(None)
            else:
                values.append(self.reward(child) + self.value(child))
        return values

    def value(self, path: Path) -> float:
        if not self.children(path):
            return 0.0
        return max((value for value in self.action_values(path) if value is not None), default=-math.inf)

    def decide(self) -> int:
        self.plan()
        values = self.action_values(())
        tried = [value for value in values if value is not None]
        tied = [a for a, v in enumerate(values) if not tried or (v is not None and v >= max(tried) - 1e-7)]
        if len(tied) == 1:
            return tied[0]
        if self.tie_breaking == "longest-branch" and self.value(()) == 0:
            heights = {a: self.height((a,)) if (a,) in self.state else 0 for a in tied}
            tied = [a for a in tied if heights[a] == max(heights.values())]
        return tied[int(self.rng.random() * len(tied))]

    def advance(self, action: int) -> None:
        if (action,) not in self.state:
            self.state[action,], _ = self.world.table[self.state[()]][action]
        kept = {path[1:] for path in self.state if path[:1] == (action,)}
        self.state = {path: self.state[(action, *path)] for path in kept}
        self.lost = {path for path in kept if (action, *path) in self.lost}
        self.cached = set(kept)
