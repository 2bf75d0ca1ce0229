"""An independent reference of Algorithm 1 and Definitions 2, 4 and 5: slow, plain, recomputed from scratch.

Nodes are paths (tuples of actions below the root) in dictionaries; novelty scans a list of everything that was
entered; solved labels and values are recursive functions of the tree. Nothing of noveltree's search is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tests.support.worlds import TableWorld

Path = tuple[int, ...]


@dataclass
class Reference:
    world: TableWorld
    novelty: str
    budget: int
    horizon: int
    rng: np.random.Generator
    policy: dict[int, list[float]]
    costs: dict[int, float]
    cache: bool = True
    state: dict[Path, int] = field(default_factory=lambda: {(): 0})
    reward: dict[Path, float] = field(default_factory=lambda: {(): 0.0})
    cached: set[Path] = field(default_factory=set)
    novel: dict[Path, bool] = field(default_factory=dict)
    ended: set[Path] = field(default_factory=set)
    entered: list[tuple[frozenset[int], int]] = field(default_factory=list)
    interactions: int = 0
    pruned: int = 0

    def children(self, path: Path) -> list[Path | None]:
        return [
            (*path, action) if (*path, action) in self.state else None for action in range(len(self.world.actions))
        ]

    def solved(self, path: Path) -> bool:
        children = self.children(path)
        return path in self.ended or all(child is not None and self.solved(child) for child in children)

    def is_novel(self, features: frozenset[int], depth: int, *, again: bool) -> bool:
        if self.novelty == "none":
            return True
        if self.novelty == "classic":
            return again or any(all(f not in seen for seen, _ in self.entered) for f in features)

        def smallest(feature: int) -> float:
            return min((d for seen, d in self.entered if feature in seen), default=float("inf"))

        if again:
            return any(smallest(f) == depth for f in features)
        return any(smallest(f) > depth for f in features)

    def plan(self) -> None:
        self.novel, self.ended, self.entered = {}, set(), []
        self.interactions = self.pruned = 0
        if () not in self.cached:
            self.entered.append((self.world.features[self.state[()]], 0))
        while not self.solved(()) and self.interactions < self.budget:
            self.rollout()

    def rollout(self) -> None:
        path: Path = ()
        while (
            self.novel.get(path, True) and self.state[path] not in self.world.terminal and len(path) < self.horizon
        ):
            child = (*path, self.sample(path))
            features = self.world.features[self.world.table[self.state[path]][child[-1]][0]]
            if child not in self.state:
                if self.interactions == self.budget:
                    return
                self.interactions += 1
                self.state[child], self.reward[child] = self.world.table[self.state[path]][child[-1]]
                self.novel[child] = self.is_novel(features, len(child), again=False)
                self.entered.append((features, len(child)))
                self.pruned += not self.novel[child]
            elif child not in self.cached:
                self.novel[child] = self.is_novel(features, len(child), again=True)
                self.pruned += not self.novel[child]
            path = child
        self.ended.add(path)

    def sample(self, path: Path) -> int:
        """One random number, laid along the unsolved actions in proportion to their probabilities."""
        unsolved = [a for a, child in enumerate(self.children(path)) if child is None or not self.solved(child)]
        weights = [self.policy[self.state[path]][a] for a in unsolved]
        number = self.rng.random() * sum(weights)
        for action, weight in zip(unsolved, weights, strict=True):
            number -= weight
            if number < 0:
                return action
        raise AssertionError("rounding")

    def value(self, path: Path) -> float:
        children = [child for child in self.children(path) if child is not None]
        if children:
            return max(self.reward[child] + self.value(child) for child in children)
        return 0.0 if self.state[path] in self.world.terminal else self.costs[self.state[path]]

    def decide(self) -> int:
        self.plan()
        values = [None if child is None else self.reward[child] + self.value(child) for child in self.children(())]
        tried = [v for v in values if v is not None]
        tied = [a for a, v in enumerate(values) if v is not None and v >= max(tried) - 1e-7]
        return tied[0] if len(tied) == 1 else tied[int(self.rng.random() * len(tied))]

    def advance(self, action: int) -> None:
        kept = {path[1:] for path in self.state if path[:1] == (action,) and (self.cache or len(path) == 1)}
        self.state = {path: self.state[(action, *path)] for path in kept}
        self.reward = {path: self.reward[(action, *path)] for path in kept}
        self.cached = set(kept) if self.cache else set()
