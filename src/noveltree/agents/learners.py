"""The learners: planners whose base policy and termination cost are learnt from the critical path."""

from __future__ import annotations

import dataclasses

from noveltree.agents.agent import Agent
from noveltree.agents.planners import RIW_C, RIW_D, RIW_PLUS, UNPRUNED
from noveltree.agents.settings import Settings
from noveltree.features import UnitFeatures, make_abstraction
from noveltree.lookahead import (
    POLICY,
    UNITS,
    VALUE,
    AbstractStates,
    GreatestValues,
    Hierarchical,
    LowLevelSearch,
    Planner,
    WholeStates,
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


def _pi_hiw(start: State, settings: Settings) -> Planner:
    abstraction = make_abstraction(start, settings.tile_size, settings.levels)
    return Hierarchical(
        LowLevelSearch(UnitFeatures(), AbstractStates(abstraction)),
        WholeStates() if settings.abstract_width == "n" else abstraction.atoms(),
        GreatestValues(settings.discount),
    )


# Junyent et al. (2021).
PI_HIW = Agent(
    name="pi-hiw",
    summary="pi-HIW(n, 1): a high level over tiles of the screen above rollouts over the units of a network",
    novelty="depth",
    assemble=_pi_hiw,
    uses=("tiles", "levels", "abstract_width", "discount", "cache", "tie_breaking"),
    defaults={"discount": 0.99, "tie_breaking": "larger-subtree"},
    heads=(POLICY, UNITS, VALUE),
    keeps_answers=True,
)
