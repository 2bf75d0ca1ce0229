"""Everything that can be chosen about learning. The defaults are the paper's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from noveltree.errors import InputError, UnknownNameError
from noveltree.learning.inputs import InputShape
from noveltree.learning.policy_targets import ExecutedAction, PolicyTargets
from noveltree.learning.retention import DropAll, Retention
from noveltree.learning.value_targets import OneStep, ValueTargets

if TYPE_CHECKING:
    from noveltree.learning.learner import Learner
    from noveltree.learning.snapshot import Snapshot

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


class IntervalsSettings(_Settings):
    """Algorithm 2: whole episodes with fixed networks, which change between intervals."""

    kind: Literal["intervals"] = Field(default="intervals", description="which loop it is")


class LockstepSettings(_Settings):
    """Lanes that play at the same time, in rounds; networks change between rounds, in mid-episode."""

    kind: Literal["lockstep"] = Field(default="lockstep", description="which loop it is")
    lanes: int = Field(default=8, ge=1, description="episodes that are played at the same time")
    decisions: int = Field(default=10, ge=1, description="decisions that each lane makes in a round")


LoopSettings = Annotated[IntervalsSettings | LockstepSettings, Field(discriminator="kind")]


class LearnerSettings(_Settings, ABC):
    """What every learner has: a schedule, a loop in which it is trained, and an evaluation when it is.

    A learner is added by deriving from this class, with a `kind` of its own.
    """

    kinds: ClassVar[dict[str, type[LearnerSettings]]] = {}

    kind: str = Field(description="which learner it is")
    schedule: ScheduleSettings = ScheduleSettings()
    loop: LoopSettings = Field(default=IntervalsSettings(), description="how episodes and learning take turns")
    retention: Retention = Field(default=DropAll(), description="which transitions outlive an interval")
    evaluation: Literal["frozen", "continuing"] = Field(
        default="frozen", description="whether learning goes on while the agent is evaluated"
    )
    evaluation_episodes: int = Field(default=10, ge=1, description="episodes of the evaluation")

    @classmethod
    def __pydantic_init_subclass__(cls, **arguments: Any) -> None:
        LearnerSettings.kinds[cls.model_fields["kind"].default] = cls

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
    value: ValueSettings = ValueSettings()
    policy: PolicySettings = PolicySettings()

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
    kind = data.get("kind", "cpl")
    if kind not in LearnerSettings.kinds:
        raise UnknownNameError("kind of learner", str(kind), LearnerSettings.kinds)
    return LearnerSettings.kinds[kind].model_validate(data)
