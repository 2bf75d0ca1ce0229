"""What the policy network is trained towards: a distribution over actions for each state of a critical path."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from noveltree.learning.experience import CriticalPath


class ExecutedAction(BaseModel):
    """All on the action that was executed. The paper's."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    kind: Literal["paper"] = Field(default="paper", description="which part it is")

    def targets(self, path: CriticalPath, actions: int) -> NDArray[np.float32]:
        """(m, actions): a distribution for each of the path's transitions."""
        return np.eye(actions, dtype=np.float32)[path.actions]


PolicyTargets = ExecutedAction
