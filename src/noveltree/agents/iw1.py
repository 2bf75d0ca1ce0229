"""IW(1): breadth-first search pruned by classic novelty (Lipovetzky et al., 2015)."""

from __future__ import annotations

from noveltree.agents.agent import Agent
from noveltree.agents.settings import Settings
from noveltree.features import make_features
from noveltree.lookahead import BreadthFirst
from noveltree.novelty import ClassicNovelty
from noveltree.simulators import State


def _assemble(start: State, settings: Settings) -> BreadthFirst:
    return BreadthFirst(
        novelty=ClassicNovelty(make_features(settings.features, start)),
        horizon=settings.horizon,
        discount=settings.discount,
    )


IW1 = Agent(
    name="iw1",
    summary="Breadth-first IW(1) with classic novelty",
    novelty="classic",
    assemble=_assemble,
    uses=("features", "horizon", "discount", "cache", "tie_breaking"),
)
