"""What the value network is trained towards: V(s) of whoever plays the critical path.

Each is a part behind one interface: given a path and the target network's values of its states, one target for
each transition.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from noveltree.learning.experience import CriticalPath

_PART = ConfigDict(frozen=True, extra="forbid", strict=True)
_Fraction = Annotated[float, Field(ge=0.0, le=1.0)]


class OneStep(BaseModel):
    """TD(0): r + discount * V(s'), and r alone where s' is terminal. The paper's."""

    model_config = _PART
    kind: Literal["paper"] = Field(default="paper", description="which part it is")
    discount: _Fraction = Field(default=0.99, description="weight of what is one time step later")

    def targets(
        self, path: CriticalPath, values: NDArray[np.float32], *, after: float | None = None
    ) -> NDArray[np.float32]:
        """(m,) targets, given the (m + 1,) values of the path's states, and `after`, the return from the last of
        them on, if it is known.
        """
        return _lambda_returns(path, values, self.discount, 0.0, after)


class LambdaReturns(BaseModel):
    """TD(lambda), forward view: a mixture of all n-step returns of the path.

    G_t = r_t + discount * ((1 - lambda) V(s_{t+1}) + lambda G_{t+1}), closed by V at a truncation and by
    zero at the end.
    """

    model_config = _PART
    kind: Literal["lambda-returns"] = Field(default="lambda-returns", description="which part it is")
    discount: _Fraction = Field(default=0.99, description="weight of what is one time step later")
    lambda_: _Fraction = Field(default=0.9, description="weight of returns against values")

    def targets(
        self, path: CriticalPath, values: NDArray[np.float32], *, after: float | None = None
    ) -> NDArray[np.float32]:
        """(m,) targets, given the (m + 1,) values of the path's states, and `after`, the return from the last of
        them on, if it is known.
        """
        return _lambda_returns(path, values, self.discount, self.lambda_, after)


class MonteCarlo(BaseModel):
    """The discounted sum of all rewards that follow; a truncated path is closed by V."""

    model_config = _PART
    kind: Literal["monte-carlo"] = Field(default="monte-carlo", description="which part it is")
    discount: _Fraction = Field(default=0.99, description="weight of what is one time step later")

    def targets(
        self, path: CriticalPath, values: NDArray[np.float32], *, after: float | None = None
    ) -> NDArray[np.float32]:
        """(m,) targets, given the (m + 1,) values of the path's states, and `after`, the return from the last of
        them on, if it is known.
        """
        return _lambda_returns(path, values, self.discount, 1.0, after)


ValueTargets = Annotated[OneStep | LambdaReturns | MonteCarlo, Field(discriminator="kind")]


def _lambda_returns(
    path: CriticalPath, values: NDArray[np.float32], discount: float, lambda_: float, after: float | None
) -> NDArray[np.float32]:
    following = values[1:].astype(np.float64)
    if path.terminal and len(path):
        following[-1] = 0.0
    if lambda_ == 0.0:
        return (path.rewards + discount * following).astype(np.float32)
    targets = np.empty(len(path), dtype=np.float32)
    if after is None or path.terminal:
        after = float(following[-1]) if len(path) else 0.0
    for time in range(len(path) - 1, -1, -1):
        after = float(path.rewards[time]) + discount * ((1.0 - lambda_) * following[time] + lambda_ * after)
        targets[time] = after
    return targets
