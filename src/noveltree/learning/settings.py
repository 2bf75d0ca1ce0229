"""Everything that can be chosen about learning.

Defaults are what the first records were played with; how each agent learns unless it is chosen is in
`protocol/learners.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from noveltree.declarations import SettingsModel, kind_of, parts_of, setting
from noveltree.errors import InputError, UnknownNameError
from noveltree.learning.architecture import Start
from noveltree.learning.inputs import InputShape
from noveltree.learning.policy_targets import ExecutedAction, PolicyTargets, SoftActions
from noveltree.learning.retention import DropAll, KeepLatest, Retention
from noveltree.learning.value_targets import LambdaReturns, OneStep, ValueTargets
from noveltree.simulators import Size

if TYPE_CHECKING:
    from noveltree.learning.learner import Learner
    from noveltree.learning.snapshot import Snapshot

Sides = Literal["two-sided", "one-sided"]
#: Each lane holds a lookahead of its own: more are a slip, and would fill the memory without a word.
MOST_LANES = 1_024


class ValueSettings(SettingsModel):
    """How the value network learns."""

    learning_rate: float = Field(default=2.5e-4, gt=0, description="of Adam")
    batch: int = Field(default=128, ge=1, description="transitions in a batch, drawn with replacement")
    every: int = Field(default=32, ge=1, description="new transitions between two updates")
    batches: int = Field(default=2, ge=1, description="batches per update; so, 8 samples per transition")
    at_least: int = Field(default=256, ge=0, description="no update before more transitions than this are held")
    gradient_norm: float = Field(default=1.0, gt=0, description="longer gradients are shortened to this")
    clipping: Literal["together", "each"] = Field(
        default="together",
        description="whether the gradient is shortened as a whole, or that of each array by itself",
    )
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
    wave: int | None = Field(
        default=8,
        ge=1,
        description="episodes that an interval begins with; null: as many as fill it if they are as long as can be",
    )
    window: int | None = Field(
        default=None,
        ge=1,
        description="interactions whose episodes are compared with those before; null: those of an interval",
    )
    window_episodes: int = Field(
        default=0, ge=0, description="episodes that have ended in a window at least, or else it is longer"
    )
    p_value: float = setting(
        "below it Welch's test rejects an update; 0: there is no test", option="p-value", default=0.1, ge=0, le=1
    )
    sides: Sides = setting("of Welch's test: two-sided or one-sided", option="sides", default="two-sided")


class IntervalsSettings(SettingsModel):
    """Algorithm 2: whole episodes with fixed networks, which change between intervals."""

    kind: Literal["intervals"] = Field(default="intervals", description="which loop it is")


class LockstepSettings(SettingsModel):
    """Lanes that play at the same time, in rounds; networks change between rounds, in mid-episode."""

    kind: Literal["lockstep"] = Field(default="lockstep", description="which loop it is")
    lanes: int = setting(
        "episodes that are played at the same time", option="lanes", default=8, ge=1, le=MOST_LANES
    )
    decisions: int = Field(default=10, ge=1, description="decisions that each lane makes in a round")
    refresh: Literal["interval", "round"] = Field(
        default="interval", description="whether lanes get what was trained after an interval, or after every round"
    )
    milestones: str = setting(
        "interactions of training after which the agent is evaluated on the way, with commas between them, in the "
        "first interval that reaches them",
        option="milestones",
        default="",
    )

    @field_validator("milestones")
    @classmethod
    def _check_milestones(cls, milestones: str) -> str:
        parse_milestones(milestones)
        return milestones

    def passes_milestone(self, before: int, after: int) -> bool:
        """Whether training comes to a milestone with these interactions, of which there were fewer before."""
        return any(before < milestone <= after for milestone in parse_milestones(self.milestones))


def parse_milestones(text: str) -> tuple[int, ...]:
    """Milestones from how they are written: `200000,1000000`."""
    parts = [part.strip().replace("_", "") for part in text.split(",")] if text else []
    if not all(part.isdecimal() and int(part) for part in parts):
        raise InputError(
            f"Milestones are whole numbers of interactions with commas between them, such as 200000,1000000, not "
            f"{text!r}."
        )
    return tuple(map(int, parts))


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

    whole_episodes: ClassVar[bool] = False
    """Whether it takes in episodes when they are over, even if they are played in pieces."""

    @property
    def needs_action_values(self) -> bool:
        """Whether it learns from what actions were worth, so that episodes are recorded with it."""
        return False

    @property
    def needs_tiles(self) -> bool:
        """Whether it learns from episodes for which the tiles of screens have to be observed."""
        return False

    @property
    def screen(self) -> Size | None:
        """The size of the screens that its networks see, if it is not the usual one."""
        return None

    def training_interactions(self, per_decision: int) -> int:
        """Interactions that training takes, at most, if a decision takes so many."""
        return self.schedule.interactions

    def training_seconds(self) -> float:
        """Seconds on one core that training takes, about, besides those that go with its interactions."""
        return 0.0

    def training_memory(self) -> int:
        """Bytes that training takes, about, besides the observations that are learnt from; rounded up."""
        return 400 * 10**6

    def held_observations(self, per_decision: int) -> int:
        """Observations that are held to be learnt from, about, if a decision takes so many interactions."""
        held = self.schedule.interval // per_decision
        return held + self.retention.transitions if isinstance(self.retention, KeepLatest) else held

    @property
    def _milestones(self) -> tuple[int, ...]:
        return parse_milestones(self.loop.milestones) if isinstance(self.loop, LockstepSettings) else ()

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
        if schedule.window is not None and self.loop.kind == "intervals":
            raise InputError(
                "Windows of the test are for loops in which an interval is shorter than an episode; with the loop "
                "'intervals' choose learning.schedule.window=null, too."
            )
        if self.loop.kind != "intervals" and self.evaluation == "continuing":
            raise InputError("Learning goes on while the agent is evaluated in the loop 'intervals' only.")
        late = [each for each in self._milestones if each >= schedule.interactions]
        if late:
            raise InputError(
                f"A milestone of {late[0]:,} interactions is not on the way: the agent is evaluated after its "
                f"training budget of {schedule.interactions:,} in any case."
            )


class LearningSettings(LearnerSettings):
    """How CPL and N-CPL learn: a value network on the way, a policy network at the end of an interval."""

    kind: Literal["cpl"] = Field(default="cpl", description="which learner it is")
    start: Start = Field(
        default="fan-in",
        description="where weights begin: fan-in, or glorot, where the target network has weights of its own",
    )
    value: ValueSettings = setting("how the value network learns", default=ValueSettings())
    policy: PolicySettings = setting("how the policy network learns", default=PolicySettings())

    @property
    def needs_action_values(self) -> bool:
        return self.policy.targets.needs_action_values

    def initial_snapshot(self, shape: InputShape, actions: int, *, rng: np.random.Generator) -> Snapshot:
        from noveltree.learning.cpl import initial_snapshot

        return initial_snapshot(shape, actions, rng=rng, start=self.start)

    def make_learner(self, snapshot: Snapshot, *, device: str = "cpu") -> Learner:
        from noveltree.learning.cpl import CplLearner

        return CplLearner(snapshot, self, device=device)


class JointSettings(LearnerSettings):
    """How N-CPL+ learns: one trunk with two heads, from all that is kept, whenever an interval is closed."""

    kind: Literal["joint"] = Field(default="joint", description="which learner it is")
    heads: Literal["policy+value", "policy", "value"] = Field(
        default="policy+value", description="what is learnt; what is not is uniform, or zero"
    )
    trunk: Literal["mnih-2013", "mnih-2015"] = Field(
        default="mnih-2013", description="the layers below the heads, for images"
    )
    learning_rate: float = Field(default=5e-4, gt=0, description="of Adam")
    batch: int = Field(default=128, ge=1, description="transitions in a batch")
    samples: int = Field(default=32, ge=1, description="how many samples are drawn for each new transition")
    gradient_norm: float = Field(default=1.0, gt=0, description="longer gradients are shortened to this")
    half_life: float = Field(
        default=5_000.0, gt=0, description="a transition that is so many older is drawn half as often"
    )
    shift: int = Field(default=4, ge=0, description="pixels by which screens are moved at random")
    average: float = Field(
        default=0.99, ge=0, lt=1, description="weight of the past in the average of the weights that is deployed"
    )
    policy_targets: PolicyTargets = Field(
        default=SoftActions(), description="what the policy head is trained towards"
    )
    value_targets: ValueTargets = Field(
        default=LambdaReturns(), description="what the value head is trained towards"
    )
    refresh: float = Field(
        default=0.02,
        ge=0,
        description="share of new transitions among all with which value targets are computed anew",
    )
    hold_out: int = Field(
        default=8, ge=2, description="every so many episodes one is not trained on: by it values are shrunk"
    )
    smallest_scale: float = Field(default=1e-3, gt=0, description="least unit of the value head")

    @property
    def needs_action_values(self) -> bool:
        return self.policy_targets.needs_action_values

    def initial_snapshot(self, shape: InputShape, actions: int, *, rng: np.random.Generator) -> Snapshot:
        from noveltree.learning.joint import initial_snapshot

        return initial_snapshot(shape, actions, self, rng=rng)

    def make_learner(self, snapshot: Snapshot, *, device: str = "cpu") -> Learner:
        from noveltree.learning.joint import JointLearner

        return JointLearner(snapshot, self, device=device)


def parse_learning(data: Any) -> Any:
    """The settings of a learner from their JSON object, by its `kind`; records without one are of CPL's family."""
    if not isinstance(data, Mapping):
        return data
    learners = {kind_of(learner): learner for learner in parts_of(LearnerSettings)}
    kind = data.get("kind", "cpl")
    if not isinstance(kind, str) or kind not in learners:
        raise UnknownNameError("kind of learner", str(kind), map(str, learners))
    return learners[kind].model_validate(data)
