"""The base policy of a node, pi_b(. | s): what a rollout samples its actions from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np


class BasePolicy(Protocol):
    """A distribution over actions that can be restricted to some of them."""

    def sample(self, actions: Sequence[int], *, rng: np.random.Generator) -> int:
        """One of `actions`, drawn from the policy restricted to them and renormalised."""
        ...

    def probabilities(self, actions: int) -> Sequence[float]:
        """The probability of each of all `actions` actions."""
        ...


class UniformPolicy:
    """All actions are equally likely: the base policy of RIW(1), and of every agent that has learnt nothing."""

    def sample(self, actions: Sequence[int], *, rng: np.random.Generator) -> int:
        return actions[int(rng.random() * len(actions))]

    def probabilities(self, actions: int) -> Sequence[float]:
        return [1.0 / actions] * actions


class Probabilities:
    """Probabilities that were evaluated, one for each action."""

    __slots__ = ("values",)

    def __init__(self, values: Sequence[float]) -> None:
        self.values = values

    def sample(self, actions: Sequence[int], *, rng: np.random.Generator) -> int:
        values = self.values
        total = 0.0
        for action in actions:
            total += values[action]
        if not total > 0.0:  # the policy rules out all that is left: look at it all the same
            return UNIFORM.sample(actions, rng=rng)
        remainder = rng.random() * total
        for action in actions:
            remainder -= values[action]
            if remainder < 0.0:
                return action
        return max(actions, key=values.__getitem__)  # rounding left a remainder

    def probabilities(self, actions: int) -> Sequence[float]:
        return self.values


UNIFORM = UniformPolicy()
