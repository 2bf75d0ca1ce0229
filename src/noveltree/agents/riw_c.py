"""RIW_C: the rollouts of Algorithm 1, pruned by classic novelty."""

from __future__ import annotations

from noveltree.agents.agent import Agent
from noveltree.agents.settings import Settings
from noveltree.features import make_features
from noveltree.lookahead import Rollouts
from noveltree.novelty import ClassicNovelty
from noveltree.simulators import State


def _assemble(start: State, settings: Settings) -> Rollouts:
    return Rollouts(
        novelty=ClassicNovelty(make_features(settings.features, start)),
        horizon=settings.horizon,
        discount=settings.discount,
    )


RIW_C = Agent(
    name="riw-c",
    summary="Rollout IW(1) with classic novelty",
    novelty="classic",
    assemble=_assemble,
    uses=("features", "horizon", "discount", "cache", "tie_breaking"),
)
