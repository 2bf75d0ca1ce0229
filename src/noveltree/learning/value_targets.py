"""What the value network is trained towards: V(s) of whoever plays the critical path.

Each is a part behind one interface: given a path and the target network's values of its states, one target for
each transition.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from noveltree.learning.experience import CriticalPath

_PART = ConfigDict(frozen=True, extra="forbid", strict=True)
_Fraction = Annotated[float, Field(ge=0.0, le=1.0)]


class _Targets(BaseModel):
    model_config = _PART
    discount: _Fraction = Field(default=0.99, description="weight of what is one time step later")
    lives: Literal["all", "one"] = Field(
        default="all", description="whether something follows the loss of a life: all; or one, where nothing does"
    )

    def targets(
        self, path: CriticalPath, values: NDArray[np.float32], *, after: float | None = None
    ) -> NDArray[np.float32]:
        """(m,) targets, given the (m + 1,) values of the path's states, and `after`, the return from the last of
        them on, if it is known.
        """
        weight = self._returns_weight()
        ends = path.ends | path.losses if self.lives == "one" else path.ends
        following = np.where(ends, 0.0, values[1:].astype(np.float64))
        if weight == 0.0:
            return (path.rewards + self.discount * following).astype(np.float32)
        targets = np.empty(len(path), dtype=np.float32)
        if after is None:
            after = float(following[-1]) if len(path) else 0.0
        for time in range(len(path) - 1, -1, -1):
            after = 0.0 if ends[time] else (1.0 - weight) * following[time] + weight * after
            targets[time] = after = float(path.rewards[time]) + self.discount * after
        return targets

    @abstractmethod
    def _returns_weight(self) -> float:
        """The weight of returns against values: lambda."""


class OneStep(_Targets):
    """TD(0): r + discount * V(s'), and r alone where s' is terminal. The paper's."""

    kind: Literal["paper"] = Field(default="paper", description="which part it is")

    def _returns_weight(self) -> float:
        return 0.0


class LambdaReturns(_Targets):
    """TD(lambda), forward view: a mixture of all n-step returns of the path.

    G_t = r_t + discount * ((1 - lambda) V(s_{t+1}) + lambda G_{t+1}), closed by V at a truncation and by
    zero at the end.
    """

    kind: Literal["lambda-returns"] = Field(default="lambda-returns", description="which part it is")
    lambda_: _Fraction = Field(default=0.9, description="weight of returns against values")

    def _returns_weight(self) -> float:
        return self.lambda_


class MonteCarlo(_Targets):
    """The discounted sum of all rewards that follow; a truncated path is closed by V."""

    kind: Literal["monte-carlo"] = Field(default="monte-carlo", description="which part it is")

    def _returns_weight(self) -> float:
        return 1.0


ValueTargets = Annotated[OneStep | LambdaReturns | MonteCarlo, Field(discriminator="kind")]
