"""Breadth-first search without pruning."""

from __future__ import annotations

from noveltree.agents.agent import Agent
from noveltree.agents.settings import Settings
from noveltree.lookahead import BreadthFirst
from noveltree.novelty import NoPruning
from noveltree.simulators import State


def _assemble(start: State, settings: Settings) -> BreadthFirst:
    return BreadthFirst(novelty=NoPruning(), horizon=settings.horizon, discount=settings.discount)


BFS = Agent(
    name="bfs",
    summary="Breadth-first search without pruning",
    novelty="none",
    assemble=_assemble,
    uses=("horizon", "discount", "cache", "tie_breaking"),
)
