"""Rollouts without pruning: the search of CPL before it has learnt anything."""

from __future__ import annotations

from noveltree.agents.agent import Agent
from noveltree.agents.settings import Settings
from noveltree.lookahead import Rollouts
from noveltree.novelty import NoPruning
from noveltree.simulators import State


def _assemble(start: State, settings: Settings) -> Rollouts:
    return Rollouts(novelty=NoPruning(), horizon=settings.horizon, discount=settings.discount)


UNPRUNED = Agent(
    name="unpruned",
    summary="Rollouts to the horizon without pruning (CPL without networks)",
    novelty="none",
    assemble=_assemble,
    uses=("horizon", "discount", "cache", "tie_breaking"),
)
