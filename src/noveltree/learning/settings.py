"""Everything that can be chosen about learning. The defaults are the paper's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from noveltree.declarations import SettingsModel, kind_of, parts_of, setting
from noveltree.errors import InputError, UnknownNameError
from noveltree.learning.inputs import InputShape
from noveltree.learning.policy_targets import ExecutedAction, PolicyTargets
from noveltree.learning.retention import DropAll, Retention
from noveltree.learning.value_targets import OneStep, ValueTargets

if TYPE_CHECKING:
    from noveltree.learning.learner import Learner
    from noveltree.learning.snapshot import Snapshot

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


class IntervalsSettings(SettingsModel):
    """Algorithm 2: whole episodes with fixed networks, which change between intervals."""

    kind: Literal["intervals"] = Field(default="intervals", description="which loop it is")


class LockstepSettings(SettingsModel):
    """Lanes that play at the same time, in rounds; networks change between rounds, in mid-episode."""

    kind: Literal["lockstep"] = Field(default="lockstep", description="which loop it is")
    lanes: int = setting("episodes that are played at the same time", option="lanes", default=8, ge=1)
    decisions: int = Field(default=10, ge=1, description="decisions that each lane makes in a round")


LoopSettings = Annotated[IntervalsSettings | LockstepSettings, Field(discriminator="kind")]


class LearnerSettings(SettingsModel, ABC):
    """What every learner has: a schedule, a loop in which it is trained, and an evaluation when it is.

    A learner is added by deriving from this class, with a `kind` of its own.
    """

    kind: str = Field(description="which learner it is")
    schedule: ScheduleSettings = setting("when parameters change", default=ScheduleSettings())
    loop: LoopSettings = setting("how episodes and learning take turns", option="loop", default=IntervalsSettings())
    retention: Retention = setting("which transitions outlive an interval", option="retention", default=DropAll())
    evaluation: Literal["frozen", "continuing"] = setting(
        "whether learning goes on while the agent is evaluated: frozen or continuing",
        option="evaluation",
        default="frozen",
    )
    evaluation_episodes: int = setting("episodes of the evaluation", option="evaluation-episodes", default=10, ge=1)

    @abstractmethod
    def initial_snapshot(self, shape: InputShape, actions: int, *, rng: np.random.Generator) -> Snapshot:
        """Untrained networks, not deployed."""

    @abstractmethod
    def make_learner(self, snapshot: Snapshot, *, device: str = "cpu") -> Learner:
        """The learner, as it was at a snapshot."""

    def check(self) -> None:
        """Raise InputError if the settings do not fit together."""
        schedule = self.schedule
        if schedule.interval > schedule.interactions:
            raise InputError(
                f"An interval of {schedule.interval:,} interactions is larger than the training budget of "
                f"{schedule.interactions:,}; choose a smaller interval."
            )
        if self.loop.kind != "intervals" and self.evaluation == "continuing":
            raise InputError("Learning goes on while the agent is evaluated in the loop 'intervals' only.")


class LearningSettings(LearnerSettings):
    """How CPL and N-CPL learn: a value network on the way, a policy network at the end of an interval."""

    kind: Literal["cpl"] = Field(default="cpl", description="which learner it is")
    value: ValueSettings = setting("how the value network learns", default=ValueSettings())
    policy: PolicySettings = setting("how the policy network learns", default=PolicySettings())

    def initial_snapshot(self, shape: InputShape, actions: int, *, rng: np.random.Generator) -> Snapshot:
        from noveltree.learning.cpl import initial_snapshot

        return initial_snapshot(shape, actions, rng=rng)

    def make_learner(self, snapshot: Snapshot, *, device: str = "cpu") -> Learner:
        from noveltree.learning.cpl import CplLearner

        return CplLearner(snapshot, self, device=device)


def parse_learning(data: Any) -> Any:
    """The settings of a learner from their JSON object, by its `kind`; records without one are of CPL's family."""
    if not isinstance(data, Mapping):
        return data
    learners = {kind_of(learner): learner for learner in parts_of(LearnerSettings)}
    kind = data.get("kind", "cpl")
    if kind not in learners:
        raise UnknownNameError("kind of learner", str(kind), map(str, learners))
    return learners[kind].model_validate(data)
