"""What the policy network is trained towards: for each state of critical paths a distribution over actions.

A row that sums to less than 1 counts less.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from noveltree.errors import InputError
from noveltree.learning.experience import CriticalPath

_PART = ConfigDict(frozen=True, extra="forbid", strict=True)


class ExecutedAction(BaseModel):
    """All on the action that was executed. The paper's."""

    model_config = _PART
    needs_action_values: ClassVar[bool] = False
    kind: Literal["paper"] = Field(default="paper", description="which part it is")

    def targets(self, paths: Sequence[CriticalPath], actions: int) -> NDArray[np.float32]:
        """(m, actions): a row for each of the paths' transitions."""
        rows: NDArray[np.float32] = np.eye(actions, dtype=np.float32)[
            np.concatenate([path.actions for path in paths])
        ]
        return rows


class SoftActions(BaseModel):
    """By what the actions were worth: softmax(Q / (temperature * spread)), mixed with the uniform policy.

    The spread is the mean difference between the best and the worst action, where there is one. A row counts
    1 - H / ln k, where H is the entropy of the softmax over k actions: nothing where all actions are tied.
    """

    model_config = _PART
    needs_action_values: ClassVar[bool] = True
    kind: Literal["soft"] = Field(default="soft", description="which part it is")
    temperature: float = Field(default=0.1, gt=0, description="in units of the typical spread of action values")
    uniform: float = Field(default=0.1, ge=0, lt=1, description="share of the uniform policy")

    def targets(self, paths: Sequence[CriticalPath], actions: int) -> NDArray[np.float32]:
        """(m, actions): a row for each of the paths' transitions."""
        values = np.concatenate([_action_values(path) for path in paths if len(path)])
        best = np.nanmax(values, axis=1, keepdims=True)
        spreads = best[:, 0] - np.nanmin(values, axis=1)
        typical = spreads[spreads > 0.0].mean() if spreads.any() else 1.0
        likely = np.nan_to_num(np.exp((values - best) / (self.temperature * typical)), nan=0.0)
        policies = likely / likely.sum(axis=1, keepdims=True)
        entropy = -np.sum(policies * np.log(np.maximum(policies, 1e-12)), axis=1)
        certainty = np.maximum(1.0 - entropy / math.log(max(2, actions)), 0.0)
        mixed = (1.0 - self.uniform) * policies + self.uniform / actions
        rows: NDArray[np.float32] = (certainty[:, None] * mixed).astype(np.float32)
        return rows


class SoftmaxOfValues(BaseModel):
    """softmax(Q / temperature) over the actions that were tried (pi-IW); at a temperature of 0 all on the best."""

    model_config = _PART
    needs_action_values: ClassVar[bool] = True
    kind: Literal["softmax"] = Field(default="softmax", description="which part it is")
    temperature: float = Field(default=0.01, ge=0, description="in the units of rewards")
    untried: Literal["never", "root-value"] = Field(
        default="never",
        description="what an action that was not tried is worth: nothing, or what the network says of the root",
    )

    def targets(self, paths: Sequence[CriticalPath], actions: int) -> NDArray[np.float32]:
        """(m, actions): a row for each of the paths' transitions."""
        rows = [self._rows(path) for path in paths if len(path)]
        return np.concatenate(rows) if rows else np.empty((0, actions), dtype=np.float32)

    def _rows(self, path: CriticalPath) -> NDArray[np.float32]:
        values = _action_values(path)
        if self.untried == "root-value" and path.root_values is not None:
            values = np.where(np.isnan(values), path.root_values[:, None], values)
        values = np.where(np.isnan(values).all(axis=1, keepdims=True), 0.0, values)  # nothing was tried: all alike
        behind = values - np.nanmax(values, axis=1, keepdims=True)
        if self.temperature:
            likely = np.nan_to_num(np.exp(behind / self.temperature), nan=0.0)
        else:
            likely = np.nan_to_num(behind, nan=-np.inf) == 0.0
        rows: NDArray[np.float32] = (likely / likely.sum(axis=1, keepdims=True)).astype(np.float32)
        return rows


class VisitShares(BaseModel):
    """By how often actions were visited: N_a / sum_b N_b, where the values of actions are visits (PUCT)."""

    model_config = _PART
    needs_action_values: ClassVar[bool] = True
    kind: Literal["visits"] = Field(default="visits", description="which part it is")

    def targets(self, paths: Sequence[CriticalPath], actions: int) -> NDArray[np.float32]:
        """(m, actions): a row for each of the paths' transitions."""
        rows = [_action_values(path) for path in paths if len(path)]
        if not rows:
            return np.empty((0, actions), dtype=np.float32)
        visits = np.nan_to_num(np.concatenate(rows), nan=0.0)
        if (visits < 0.0).any() or not visits.any(axis=1).all():
            raise InputError(
                "The policy targets 'visits' are for agents whose action values are visits: alphazero."
            )
        shares: NDArray[np.float32] = (visits / visits.sum(axis=1, keepdims=True)).astype(np.float32)
        return shares


PolicyTargets = Annotated[ExecutedAction | SoftActions | SoftmaxOfValues | VisitShares, Field(discriminator="kind")]


def _action_values(path: CriticalPath) -> NDArray[np.float64]:
    """What the actions were worth, NaN where one was not tried, or may not be chosen."""
    assert path.action_values is not None, "episodes are recorded with the values of actions"
    return path.action_values
