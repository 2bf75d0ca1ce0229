"""RTDP with one step of lookahead and a random rollout per action, as in the paper's test for SMRF."""

from __future__ import annotations

from noveltree.agents.agent import Agent
from noveltree.agents.settings import Settings
from noveltree.lookahead import OneStepRollouts
from noveltree.simulators import State


def _assemble(start: State, settings: Settings) -> OneStepRollouts:
    return OneStepRollouts(rollout_depth=settings.rollout_depth, discount=settings.discount)


RTDP = Agent(
    name="rtdp",
    summary="One step ahead, closed by a random rollout per action",
    novelty="none",
    assemble=_assemble,
    uses=("rollout_depth", "discount", "tie_breaking"),
    defaults={"rollout_depth": 10},
    sets_budget=True,
    # One pass over the actions, each with its rollout.
    default_budget=lambda actions, settings: actions * (1 + settings.rollout_depth),
)
