"""Uniformly random actions."""

from __future__ import annotations

from noveltree.agents.agent import Agent
from noveltree.agents.settings import Settings
from noveltree.lookahead import NoLookahead
from noveltree.simulators import State


def _assemble(start: State, settings: Settings) -> NoLookahead:
    return NoLookahead()


RANDOM = Agent(
    name="random",
    summary="Uniformly random actions, no lookahead",
    novelty="none",
    assemble=_assemble,
    uses=(),
    sets_budget=True,
    default_budget=lambda actions, settings: 1,  # the action itself
)
