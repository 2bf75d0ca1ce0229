"""The learner: both networks in training."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from noveltree.learning.architecture import Architecture, Weights, outputs_of
from noveltree.learning.experience import CriticalPath, Experience
from noveltree.learning.networks import Network
from noveltree.learning.policy import train_policy
from noveltree.learning.settings import LearningSettings
from noveltree.learning.snapshot import Snapshot
from noveltree.learning.value import ValueLearner


class Learner:
    """A policy and a value network that learn from critical paths."""

    def __init__(self, snapshot: Snapshot, settings: LearningSettings, *, device: str = "cpu") -> None:
        torch.set_num_threads(1)  # with more, sums are added up in another order
        self.settings = settings
        self._device = device
        self.experience = Experience(snapshot.input)
        self.restore(snapshot)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot. The experience stays as it is."""
        weights = snapshot.weights
        self.input = snapshot.input
        self.policy = Network(
            Architecture(snapshot.input, outputs_of(weights["policy"])), weights["policy"], device=self._device
        )
        self.value = ValueLearner(
            Architecture(snapshot.input, 1),
            weights["value"],
            self.settings.value,
            target=weights["target"],
            device=self._device,
        )
        self.value.time_steps, self.value.since_update = snapshot.time_steps, snapshot.since_update
        for name, parameter in self.value.network.layers.named_parameters():
            self.value.optimiser.state[parameter] = {
                "step": torch.tensor(float(snapshot.optimiser_steps)),
                "exp_avg": _like(parameter, weights["first_moment"][name]),
                "exp_avg_sq": _like(parameter, weights["second_moment"][name]),
            }

    def take_in(self, path: CriticalPath, *, rng: np.random.Generator) -> list[float]:
        """Learn from a path: its transitions are added, and the value network is trained on the way."""
        return self.value.take_in(path, self.experience, rng=rng)

    def train_policy(self, *, rng: np.random.Generator) -> list[float]:
        """Train the policy network on everything held."""
        return train_policy(self.policy, self.experience, self.settings.policy, rng=rng)

    def keep(self, count: int, *, drop_newest: int = 0) -> None:
        """Hold the newest `count` paths only, not counting the `drop_newest` newest, which go too."""
        paths = self.experience.paths[: len(self.experience.paths) - drop_newest]
        self.experience.keep(paths[len(paths) - count :])
        self.value.forget_paths()

    def snapshot(self) -> Snapshot:
        """Everything in training as it is now, to be deployed."""
        moments: dict[str, Weights] = {"first_moment": {}, "second_moment": {}}
        steps = 0
        for name, parameter in self.value.network.layers.named_parameters():
            state = self.value.optimiser.state[parameter]
            steps = int(state["step"])
            moments["first_moment"][name] = state["exp_avg"].cpu().numpy().copy()
            moments["second_moment"][name] = state["exp_avg_sq"].cpu().numpy().copy()
        return Snapshot(
            input=self.input,
            deployed=True,
            weights={
                "policy": self.policy.weights(),
                "value": self.value.network.weights(),
                "target": self.value.target,
                **moments,
            },
            optimiser_steps=steps,
            time_steps=self.value.time_steps,
            since_update=self.value.since_update,
        )


def _like(parameter: torch.Tensor, array: NDArray[np.float32]) -> torch.Tensor:
    """The array as a tensor that lies in memory as the parameter does, which Adam relies on."""
    return torch.empty_like(parameter, requires_grad=False).copy_(torch.from_numpy(array))
