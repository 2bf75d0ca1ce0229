"""Everything that can be chosen about learning. The defaults are the paper's."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from noveltree.errors import InputError
from noveltree.learning.policy_targets import ExecutedAction, PolicyTargets
from noveltree.learning.retention import DropAll, Retention
from noveltree.learning.value_targets import OneStep, ValueTargets

Sides = Literal["two-sided", "one-sided"]


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class ValueSettings(_Settings):
    """How the value network learns."""

    learning_rate: float = Field(default=2.5e-4, gt=0, description="of Adam")
    batch: int = Field(default=128, ge=1, description="transitions in a batch, drawn with replacement")
    every: int = Field(default=32, ge=1, description="new transitions between two updates")
    batches: int = Field(default=2, ge=1, description="batches per update; so, 8 samples per transition")
    at_least: int = Field(default=256, ge=0, description="no update before more transitions than this are held")
    gradient_norm: float = Field(default=1.0, gt=0, description="longer gradients are shortened to this")
    refresh: int = Field(default=10_000, ge=1, description="time steps between updates of the target network")
    targets: ValueTargets = Field(default=OneStep(), description="what the network is trained towards")


class PolicySettings(_Settings):
    """How the policy network learns at the end of an interval."""

    learning_rate: float = Field(default=2.5e-4, gt=0, description="of Adam, which starts anew every time")
    batch: int = Field(default=128, ge=1, description="transitions in a batch")
    epochs: int = Field(default=8, ge=1, description="passes over all transitions")
    targets: PolicyTargets = Field(default=ExecutedAction(), description="what the network is trained towards")


class ScheduleSettings(_Settings):
    """When parameters change, and when a change is taken back."""

    interactions: int = Field(default=20_000_000, ge=1, description="training budget")
    interval: int = Field(default=1_000_000, ge=1, description="interactions between two updates, about")
    wave: int = Field(default=8, ge=1, description="episodes that an interval begins with")
    p_value: float = Field(default=0.1, ge=0, le=1, description="below it Welch's test rejects an update")
    sides: Sides = Field(default="two-sided", description="of Welch's test")


class LearningSettings(_Settings):
    """How an agent learns, and how it is evaluated when it has."""

    value: ValueSettings = ValueSettings()
    policy: PolicySettings = PolicySettings()
    schedule: ScheduleSettings = ScheduleSettings()
    retention: Retention = Field(default=DropAll(), description="which transitions outlive an interval")
    evaluation: Literal["frozen", "continuing"] = Field(
        default="frozen", description="whether learning goes on while the agent is evaluated"
    )
    evaluation_episodes: int = Field(default=10, ge=1, description="episodes of the evaluation")

    def check(self) -> None:
        """Complain about settings that do not fit together."""
        schedule = self.schedule
        if schedule.interval > schedule.interactions:
            raise InputError(
                f"An interval of {schedule.interval:,} interactions is larger than the training budget of "
                f"{schedule.interactions:,}; choose a smaller interval."
            )
