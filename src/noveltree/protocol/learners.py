"""How each agent learns unless it is chosen: side by side, so that they can be compared.

Defaults of the settings themselves are what the first records were played with.
"""

from __future__ import annotations

from noveltree.agents import Agent
from noveltree.learning import LearningSettings, PiSettings, VaeSettings
from noveltree.learning.pi_settings import ReturnSettings
from noveltree.learning.policy_targets import VisitShares
from noveltree.learning.retention import KeepLatest
from noveltree.learning.settings import (
    JointSettings,
    LearnerSettings,
    LockstepSettings,
    ScheduleSettings,
    ValueSettings,
)
from noveltree.learning.value_targets import LambdaReturns

#: The paper's settings, as its authors' experiments had them.
_CPL = LearningSettings(start="glorot", value=ValueSettings(clipping="each"), schedule=ScheduleSettings(wave=None))

#: Ours. A value did not earn its place so far (docs/faster-learning.md); one that is chosen ends with a life.
_N_CPL_PLUS = JointSettings(
    heads="policy",
    schedule=ScheduleSettings(interactions=200_000, interval=5_000, window=200_000, window_episodes=8),
    loop=LockstepSettings(),
    retention=KeepLatest(),
    value_targets=LambdaReturns(discount=0.97, lives="one"),
)

#: Junyent et al. (2021): a batch for every decision, no test.
_PI_IW = PiSettings(
    schedule=ScheduleSettings(interval=100_000, p_value=0.0), loop=LockstepSettings(decisions=1, refresh="round")
)
_PI_IW_PLUS = _PI_IW.model_copy(update={"returns": ReturnSettings()})

#: Junyent et al. (2019) beside pi-IW, with the value head of pi-IW(1)+, since scores have any scale.
_ALPHAZERO = _PI_IW_PLUS.model_copy(update={"policy_targets": VisitShares()})

DEFAULT_LEARNING: dict[str, LearnerSettings] = {
    "n-cpl": _CPL,
    "n-cpl-d": _CPL,
    "cpl": _CPL,
    "n-cpl-plus": _N_CPL_PLUS,
    "pi-iw": _PI_IW,
    "pi-iw-plus": _PI_IW_PLUS,
    "pi-hiw": _PI_IW_PLUS,
    "alphazero": _ALPHAZERO,
    # With the small encoder on every machine, so that no protocol depends on one; the paper's takes two days.
    "vae-iw": VaeSettings(),
}


def default_learning(agent: Agent) -> LearnerSettings | None:
    """How an agent learns unless it is chosen; None if it does not."""
    return DEFAULT_LEARNING.get(agent.name, _CPL) if agent.heads else None
