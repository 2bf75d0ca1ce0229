"""UCT (Kocsis and Szepesvari, 2006) with random rollouts."""

from __future__ import annotations

from noveltree.agents.agent import Agent
from noveltree.agents.settings import Settings
from noveltree.lookahead import Uct
from noveltree.simulators import State


def _assemble(start: State, settings: Settings) -> Uct:
    return Uct(rollout_depth=settings.rollout_depth, exploration=settings.exploration, discount=settings.discount)


UCT = Agent(
    name="uct",
    summary="Upper confidence bounds and random rollouts",
    novelty="none",
    assemble=_assemble,
    uses=("rollout_depth", "exploration", "discount", "cache", "tie_breaking"),
    defaults={"rollout_depth": 20},
)
