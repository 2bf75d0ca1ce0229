"""The learners: planners whose base policy and termination cost are learnt from the critical path."""

from __future__ import annotations

import dataclasses

from noveltree.agents.agent import Agent
from noveltree.agents.planners import RIW_C, RIW_D, RIW_PLUS, UNPRUNED
from noveltree.agents.settings import Settings
from noveltree.lookahead import (
    POLICY,
    SCALES,
    TIE_BREAKINGS,
    VALUE,
    ActionSelection,
    Planner,
    Puct,
    best_action,
    drawn_first,
)
from noveltree.simulators import State

N_CPL = dataclasses.replace(
    RIW_C,
    name="n-cpl",
    summary="RIW_C with a base policy and a termination cost learnt from the critical path",
    heads=(POLICY, VALUE),
)

N_CPL_D = dataclasses.replace(
    RIW_D,
    name="n-cpl-d",
    summary="RIW_D with a base policy and a termination cost learnt from the critical path",
    heads=(POLICY, VALUE),
)

CPL = dataclasses.replace(
    UNPRUNED,
    name="cpl",
    summary="Unpruned rollouts with a base policy and a termination cost learnt from the critical path",
    heads=(POLICY, VALUE),
)

N_CPL_PLUS = dataclasses.replace(
    RIW_PLUS,
    name="n-cpl-plus",
    summary="RIW+ with a base policy and a termination cost that one network learns while it plays",
    defaults={**RIW_PLUS.defaults, "tie_breaking": "policy"},
    heads=(POLICY, VALUE),
)


def _puct(start: State, settings: Settings) -> Planner:
    return Puct(
        exploration=settings.exploration,
        discount=settings.discount,
        noise_share=settings.noise_share,
        noise_alpha=settings.noise_alpha,
        scale=SCALES[settings.value_scale],
    )


def _by_visits(settings: Settings) -> ActionSelection:
    return drawn_first(settings.drawn_steps, best_action(TIE_BREAKINGS[settings.tie_breaking]))


# As Junyent et al. (2019) had it beside pi-IW(1).
ALPHAZERO = Agent(
    name="alphazero",
    summary="PUCT with a learnt policy and value; the policy learns from how often actions were visited",
    novelty="none",
    assemble=_puct,
    select=_by_visits,
    uses=(
        *("exploration", "discount", "cache", "tie_breaking"),
        *("noise_share", "noise_alpha", "drawn_steps", "value_scale"),
    ),
    defaults={"exploration": 1.0, "discount": 0.99},
    heads=(POLICY, VALUE),
    keeps_answers=True,
)
