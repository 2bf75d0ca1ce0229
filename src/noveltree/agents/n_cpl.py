"""N-CPL: RIW_C guided by a learnt base policy and closed by a learnt termination cost."""

from __future__ import annotations

import dataclasses

from noveltree.agents.riw_c import RIW_C

N_CPL = dataclasses.replace(
    RIW_C,
    name="n-cpl",
    summary="RIW_C with a base policy and a termination cost learnt from the critical path",
    learns=True,
)
