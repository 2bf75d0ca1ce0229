"""N-CPL_D: RIW_D guided by a learnt base policy and closed by a learnt termination cost."""

from __future__ import annotations

import dataclasses

from noveltree.agents.riw_d import RIW_D

N_CPL_D = dataclasses.replace(
    RIW_D,
    name="n-cpl-d",
    summary="RIW_D with a base policy and a termination cost learnt from the critical path",
    learns=True,
)
