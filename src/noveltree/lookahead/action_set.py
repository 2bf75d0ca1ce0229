"""Which actions rollouts prefer, besides what the base policy says: those that were seldom duplicates so far."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from noveltree.errors import RecordError
from noveltree.lookahead.duplicates import alike
from noveltree.tree import Arrays, Lookahead, Node, Probabilities

_MEMORY = "actions.novel"


class ActionSet(Protocol):
    """Draws the actions of rollouts, and may learn from one time step to the next which are worth drawing."""

    def begin(self, lookahead: Lookahead) -> None:
        """Start a time step."""
        ...

    def sample(self, node: Node, root: Node, *, rng: np.random.Generator) -> int:
        """One of the actions of a node below `root` whose child is not solved."""
        ...

    def learn(self, lookahead: Lookahead) -> None:
        """Learn from the lookahead of a time step, when planning is over."""
        ...

    def memory(self) -> Arrays:
        """What was learnt, as arrays by name."""
        ...

    def remember(self, memory: Arrays, lookahead: Lookahead) -> None:
        """Go on from what was learnt; a RecordError says that it cannot have been with this lookahead."""
        ...


class LearntActions:
    """Below the root, actions that were often duplicates are drawn less often (DASA of Jinnai and Fukunaga, 2017).

    A node is a duplicate if it is like a sibling by an earlier action, in the simulator's order. Each action has an
    estimate p of how often it leads to none, 1 at first. After each search it becomes (0.95 p + f) / 1.95, where f
    is that share among the action's nodes in the lookahead that have earlier siblings; without such nodes it stays.
    The action's probability in the base policy is multiplied by 0.1 + 0.9 sigma(5 (p - 0.5)), from 0.17 to 0.93.
    """

    def __init__(self) -> None:
        #: p of every action; empty before the first time step.
        self.novel: list[float] = []
        self._weights: list[float] = []

    def begin(self, lookahead: Lookahead) -> None:
        self.novel = self.novel or [1.0] * len(lookahead.root.children)
        self._weights = [0.1 + 0.9 / (1.0 + math.exp(-5.0 * (p - 0.5))) for p in self.novel]

    def sample(self, node: Node, root: Node, *, rng: np.random.Generator) -> int:
        assert node.base_policy is not None
        if node is root:
            return node.base_policy.sample(node.unsolved, rng=rng)
        prior = node.base_policy.probabilities(len(self._weights))
        weighted = Probabilities([p * weight for p, weight in zip(prior, self._weights, strict=True)])
        return weighted.sample(node.unsolved, rng=rng)

    def learn(self, lookahead: Lookahead) -> None:
        judged = [0] * len(self.novel)
        novel = [0] * len(self.novel)
        for node in lookahead.nodes():
            earlier: list[Node] = []
            for action, child in enumerate(node.children):
                if child is not None and child.certain:
                    if earlier:
                        judged[action] += 1
                        novel[action] += not any(alike(child, sibling) for sibling in earlier)
                    earlier.append(child)
        for action, count in enumerate(judged):
            if count:
                self.novel[action] = (0.95 * self.novel[action] + novel[action] / count) / 1.95

    def memory(self) -> Arrays:
        return {_MEMORY: np.array(self.novel, dtype=np.float64)}

    def remember(self, memory: Arrays, lookahead: Lookahead) -> None:
        root = lookahead.root
        novel = memory.get(_MEMORY)
        actions = len(root.children) if root.time else 0
        if (
            novel is None
            or len(memory) > 1
            or novel.dtype != np.float64
            or novel.shape != (actions,)
            or not np.all((novel >= 0.0) & (novel <= 1.0))
        ):
            raise RecordError("What was learnt of the actions is missing or is something else.")
        self.novel = novel.tolist()
