"""How well a policy foresees what lookaheads choose: it shows what is learnt long before an episode has ended.

What decisions pay depends on the place that an episode has come to, and a planner pays as much there that learns
nothing. Foresight is measured on decisions that the policy was not trained on yet, and grows only by learning.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

#: The name of the loss: the cross-entropy of a policy with its targets, per unit of their weight.
FORESIGHT = "foresight"
#: What metrics call it.
FORESIGHT_LOSSES = f"{FORESIGHT}_losses"


def foreseen(losses: Sequence[float]) -> float:
    """The probability that a policy with these losses gives to what is chosen, in the geometric mean."""
    return math.exp(-fmean(losses))
