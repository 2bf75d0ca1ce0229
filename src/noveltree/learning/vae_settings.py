"""Everything that can be chosen about how VAE-IW learns. The defaults are the paper's, but for the encoder."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from noveltree.declarations import SettingsModel, setting
from noveltree.errors import InputError
from noveltree.learning.architecture import ENCODED_SCREEN
from noveltree.learning.inputs import InputShape
from noveltree.learning.settings import LearnerSettings
from noveltree.simulators import Size

if TYPE_CHECKING:
    from noveltree.learning.snapshot import Snapshot
    from noveltree.learning.vae_learner import VaeLearner


class PretrainingSettings(SettingsModel):
    """Screens are collected first; then networks are trained on them, with which the agent plays from then on."""

    kind: Literal["pretraining"] = Field(default="pretraining", description="which loop it is")
    screens: int = setting("screens that are collected before training", option="screens", default=15_000, ge=2)
    nodes: int = Field(
        default=4, ge=0, description="nodes of a decision's lookahead whose screens are collected, besides its root"
    )
    lanes: int = setting("episodes that are played at the same time", option="lanes", default=1, ge=1)
    decisions: int = Field(default=20, ge=1, description="decisions that each lane makes between two checkpoints")


class PaperEncoder(SettingsModel):
    """The encoder of Dittadi et al. (2021), with 64 planes in all hidden layers."""

    kind: Literal["paper"] = Field(default="paper", description="which encoder it is")
    epochs: int = Field(default=100, ge=1, description="passes over the screens")

    @property
    def planes(self) -> tuple[int, int]:
        """Of the layers before its second convolution, and of those behind."""
        return 64, 64

    @property
    def seconds_per_screen(self) -> float:
        """Of training on one core, about."""
        return 0.115

    @property
    def bytes_per_screen(self) -> int:
        """Of memory for the screens of one batch, about."""
        return 30 * 10**6


class SmallEncoder(SettingsModel):
    """The same layers with 16 and 32 planes: an eighth of the time for a screen, a fourteenth for training."""

    kind: Literal["small"] = Field(default="small", description="which encoder it is")
    epochs: int = Field(default=10, ge=1, description="passes over the screens")

    @property
    def planes(self) -> tuple[int, int]:
        """Of the layers before its second convolution, and of those behind."""
        return 16, 32

    @property
    def seconds_per_screen(self) -> float:
        """Of training on one core, about."""
        return 0.009

    @property
    def bytes_per_screen(self) -> int:
        """Of memory for the screens of one batch, about."""
        return 13 * 10**6


Encoder = Annotated[PaperEncoder | SmallEncoder, Field(discriminator="kind")]


class VaeSettings(LearnerSettings):
    """How VAE-IW learns: an autoencoder of screens, whose encoder says what is seen on them."""

    kind: Literal["vae"] = Field(default="vae", description="which learner it is")
    loop: PretrainingSettings = setting(  # type: ignore[assignment]  # the only loop in which it can be trained
        "how episodes and learning take turns", option="loop", default=PretrainingSettings()
    )
    encoder: Encoder = setting("the encoder", option="encoder", default=SmallEncoder())
    held_out: float = Field(default=0.05, gt=0, lt=1, description="share of the screens that are not trained on")
    learning_rate: float = Field(default=1e-4, gt=0, description="of Adam")
    batch: int = Field(default=64, ge=1, description="screens in a batch")
    gradient_norm: float = Field(default=1.0, gt=0, description="longer gradients are shortened to this")
    beta: float = Field(
        default=1e-4, ge=0, description="weight of the latent variables' divergence from fair coins"
    )
    temperature: float = Field(default=0.5, gt=0, description="of the samples of latent variables in training")
    largest_logit: float = Field(
        default=8.0, gt=0, description="what the logits of latent variables are cut to in training"
    )

    @property
    def needs_tiles(self) -> bool:
        return True

    @property
    def screen(self) -> Size:
        return ENCODED_SCREEN

    def training_interactions(self, per_decision: int) -> int:
        decisions = math.ceil(self.loop.screens / (1 + self.loop.nodes))
        return min(decisions * per_decision, self.schedule.interactions)

    def training_seconds(self) -> float:
        return self.loop.screens * self.encoder.epochs * self.encoder.seconds_per_screen

    def training_memory(self) -> int:
        return super().training_memory() + self.batch * self.encoder.bytes_per_screen

    def held_observations(self, per_decision: int) -> int:
        return self.loop.screens

    def initial_snapshot(self, shape: InputShape, actions: int, *, rng: np.random.Generator) -> Snapshot:
        from noveltree.learning.vae_learner import initial_snapshot

        return initial_snapshot(shape, self, rng=rng)

    def make_learner(self, snapshot: Snapshot, *, device: str = "cpu") -> VaeLearner:
        from noveltree.learning.vae_learner import VaeLearner

        return VaeLearner(snapshot, self, device=device)

    def check(self) -> None:
        if self.evaluation == "continuing":
            raise InputError("The encoder does not change once it is trained: its evaluation is 'frozen'.")
