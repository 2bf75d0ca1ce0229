"""RIW_D: the rollouts of Algorithm 1, pruned by depth novelty, as Bandres et al. (2018) defined RIW(1)."""

from __future__ import annotations

from noveltree.agents.agent import Agent
from noveltree.agents.settings import Settings
from noveltree.features import make_features
from noveltree.lookahead import Rollouts
from noveltree.novelty import DepthNovelty
from noveltree.simulators import State


def _assemble(start: State, settings: Settings) -> Rollouts:
    return Rollouts(
        novelty=DepthNovelty(make_features(settings.features, start)),
        horizon=settings.horizon,
        discount=settings.discount,
    )


RIW_D = Agent(
    name="riw-d",
    summary="Rollout IW(1) with depth novelty",
    novelty="depth",
    assemble=_assemble,
    uses=("features", "horizon", "discount", "cache", "tie_breaking"),
)
