"""Planning rewards: what a lookahead counts instead of the game's rewards, of which scores are made.

A risk-averse planner shuns lost lives and negative rewards: they weigh more than anything that can be gained.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from noveltree.simulators.simulator import State
from noveltree.tree import Node

#: The planning reward of a node, given the root that it is below.
PlanningReward = Callable[[Node, Node], float]
#: How many lives are left in a state.
Lives = Callable[[State], int]

#: What a negative reward is multiplied by, and what a lost life costs.
AVERSION = 50_000.0
LOST_LIFE = 10 * AVERSION


def true_reward(node: Node, root: Node) -> float:
    """The game's own."""
    return node.reward


@dataclass(frozen=True, slots=True)
class RiskAverse:
    """An action by which a life is lost pays the loss and nothing else (Bandres et al. 2018)."""

    lives: Lives

    def __call__(self, node: Node, root: Node) -> float:
        assert node.parent is not None
        if self.lives(node.state) < self.lives(node.parent.state):
            return -LOST_LIFE
        return _averse(node.reward)


@dataclass(frozen=True, slots=True)
class RiskAverseFromRoot:
    """Every action that leads to fewer lives than the root has pays the loss, too (VAE-IW, Dittadi et al. 2021)."""

    lives: Lives

    def __call__(self, node: Node, root: Node) -> float:
        if self.lives(node.state) < self.lives(root.state):
            return node.reward - LOST_LIFE
        return _averse(node.reward)


def _averse(reward: float) -> float:
    return AVERSION * reward if reward < 0 else reward
