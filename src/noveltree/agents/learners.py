"""The learners: planners whose base policy and termination cost are learnt from the critical path."""

from __future__ import annotations

import dataclasses

from noveltree.agents.planners import RIW_C, RIW_D, RIW_PLUS, UNPRUNED
from noveltree.lookahead import POLICY, VALUE

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
