"""Everything that can be chosen about how pi-IW and its family learn. The defaults are those of 2021."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from noveltree.declarations import SettingsModel, setting
from noveltree.errors import InputError
from noveltree.learning.architecture import Start
from noveltree.learning.inputs import InputShape
from noveltree.learning.policy_targets import PolicyTargets, SoftmaxOfValues
from noveltree.learning.retention import Replay
from noveltree.learning.settings import LearnerSettings

if TYPE_CHECKING:
    from noveltree.learning.learner import Learner
    from noveltree.learning.snapshot import Snapshot


class ReturnSettings(SettingsModel):
    """A value head that learns the discounted returns of whole episodes, as a distribution over supports."""

    discount: float = Field(default=0.99, ge=0, le=1, description="weight of what is one time step later")
    supports: int = Field(default=301, ge=2, description="numbers that the distribution is over")
    largest: float = Field(
        default=300.0, gt=0, le=1e12, description="the largest of them; the smallest is its negative"
    )
    weight: float = Field(default=1.0, gt=0, description="of the value's loss beside the policy's")


class PiSettings(LearnerSettings):
    """How pi-IW and its family learn: a batch from the replay for every decision, by one network."""

    kind: Literal["pi"] = Field(default="pi", description="which learner it is")
    retention: Replay = setting("the replay: whole episodes, once they are over", default=Replay())
    learning_rate: float = Field(default=7e-4, gt=0, description="of RMSprop")
    decay: float = Field(default=0.99, ge=0, lt=1, description="of RMSprop: weight of the past in mean squares")
    epsilon: float = Field(default=0.1, gt=0, description="of RMSprop: added to the root of mean squares")
    batch: int = Field(default=32, ge=1, description="transitions in a batch, none of them twice")
    gradient_norm: float = Field(default=50.0, gt=0, description="longer gradients are shortened to this")
    regularisation: float = Field(
        default=1e-3, ge=0, description="weight of half the sum of the squares of all parameters in the loss"
    )
    warm_up: int = Field(
        default=32,
        ge=1,
        description="transitions before anything is learnt; until then only hidden units are asked",
    )
    normalisation: Literal["renormalised", "none"] = Field(
        default="renormalised", description="batch renormalisation before every ReLU, or none"
    )
    start: Start = Field(
        default="glorot",
        description="where weights begin: glorot, with biases at zero, or fan-in, with biases as the weights",
    )
    policy_targets: PolicyTargets = Field(
        default=SoftmaxOfValues(), description="what the policy head is trained towards"
    )
    returns: ReturnSettings | None = Field(default=None, description="how the value head learns, if there is one")

    whole_episodes: ClassVar[bool] = True

    @property
    def needs_action_values(self) -> bool:
        return self.policy_targets.needs_action_values

    def initial_snapshot(self, shape: InputShape, actions: int, *, rng: np.random.Generator) -> Snapshot:
        from noveltree.learning.pi import initial_snapshot

        return initial_snapshot(shape, actions, self, rng=rng)

    def make_learner(self, snapshot: Snapshot, *, device: str = "cpu") -> Learner:
        from noveltree.learning.pi import PiLearner

        return PiLearner(snapshot, self, device=device)

    def check(self) -> None:
        super().check()
        if self.batch < 2 and self.normalisation == "renormalised":
            raise InputError(
                "Batch renormalisation takes the mean of a batch, so that a batch has at least 2 transitions; "
                "choose a larger learning.batch, or learning.normalisation=none."
            )
        if self.loop.kind != "lockstep":
            raise InputError("This agent learns from every decision, so it is trained in the loop 'lockstep' only.")
        if max(self.batch, self.warm_up) > self.retention.transitions:
            raise InputError(
                f"A replay of {self.retention.transitions:,} transitions is smaller than a batch of {self.batch:,} "
                f"or a warm-up of {self.warm_up:,}; choose a larger learning.retention.transitions."
            )
