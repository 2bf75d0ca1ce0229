"""CPL: rollouts without pruning, guided by a learnt base policy and closed by a learnt termination cost."""

from __future__ import annotations

import dataclasses

from noveltree.agents.unpruned import UNPRUNED

CPL = dataclasses.replace(
    UNPRUNED,
    name="cpl",
    summary="Unpruned rollouts with a base policy and a termination cost learnt from the critical path",
    learns=True,
)
