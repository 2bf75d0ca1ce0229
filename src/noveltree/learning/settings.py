"""Everything that can be chosen about learning. The defaults are the paper's."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from noveltree.declarations import SettingsModel, setting
from noveltree.errors import InputError
from noveltree.learning.policy_targets import ExecutedAction, PolicyTargets
from noveltree.learning.retention import DropAll, Retention
from noveltree.learning.value_targets import OneStep, ValueTargets

Sides = Literal["two-sided", "one-sided"]


class ValueSettings(SettingsModel):
    """How the value network learns."""

    learning_rate: float = Field(default=2.5e-4, gt=0, description="of Adam")
    batch: int = Field(default=128, ge=1, description="transitions in a batch, drawn with replacement")
    every: int = Field(default=32, ge=1, description="new transitions between two updates")
    batches: int = Field(default=2, ge=1, description="batches per update; so, 8 samples per transition")
    at_least: int = Field(default=256, ge=0, description="no update before more transitions than this are held")
    gradient_norm: float = Field(default=1.0, gt=0, description="longer gradients are shortened to this")
    refresh: int = Field(default=10_000, ge=1, description="time steps between updates of the target network")
    targets: ValueTargets = setting(
        "what the value network is trained towards", option="value-targets", default=OneStep()
    )


class PolicySettings(SettingsModel):
    """How the policy network learns at the end of an interval."""

    learning_rate: float = Field(default=2.5e-4, gt=0, description="of Adam, which starts anew every time")
    batch: int = Field(default=128, ge=1, description="transitions in a batch")
    epochs: int = Field(default=8, ge=1, description="passes over all transitions")
    targets: PolicyTargets = Field(default=ExecutedAction(), description="what the network is trained towards")


class ScheduleSettings(SettingsModel):
    """When parameters change, and when a change is taken back."""

    interactions: int = setting(
        "training budget", role="conditions", option="interactions", default=20_000_000, ge=1
    )
    interval: int = setting("interactions between two updates, about", option="interval", default=1_000_000, ge=1)
    wave: int = Field(default=8, ge=1, description="episodes that an interval begins with")
    p_value: float = setting("below it Welch's test rejects an update", option="p-value", default=0.1, ge=0, le=1)
    sides: Sides = setting("of Welch's test: two-sided or one-sided", option="sides", default="two-sided")


class LearningSettings(SettingsModel):
    """How an agent learns, and how it is evaluated when it has."""

    value: ValueSettings = setting("how the value network learns", default=ValueSettings())
    policy: PolicySettings = setting("how the policy network learns", default=PolicySettings())
    schedule: ScheduleSettings = setting("when parameters change", default=ScheduleSettings())
    retention: Retention = setting("which transitions outlive an interval", option="retention", default=DropAll())
    evaluation: Literal["frozen", "continuing"] = setting(
        "whether learning goes on while the agent is evaluated: frozen or continuing",
        option="evaluation",
        default="frozen",
    )
    evaluation_episodes: int = setting("episodes of the evaluation", option="evaluation-episodes", default=10, ge=1)

    def check(self) -> None:
        """Complain about settings that do not fit together."""
        schedule = self.schedule
        if schedule.interval > schedule.interactions:
            raise InputError(
                f"An interval of {schedule.interval:,} interactions is larger than the training budget of "
                f"{schedule.interactions:,}; choose a smaller interval."
            )
