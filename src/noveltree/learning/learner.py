"""The learner: both networks in training, and the snapshots that the schedule deploys and goes back to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from noveltree.learning.architecture import Architecture, Weights
from noveltree.learning.experience import CriticalPath, Experience
from noveltree.learning.inference import Deployment
from noveltree.learning.inputs import InputShape
from noveltree.learning.networks import Network
from noveltree.learning.policy import train_policy
from noveltree.learning.settings import LearningSettings
from noveltree.learning.value import ValueLearner

#: Weights of the learner's parts, and the moments of the value network's optimiser.
_PARTS = ("policy", "value", "target", "first_moment", "second_moment")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything in training at the instant of an update, and whether it was deployed.

    The first snapshot of a trial is not: agents play with a uniform policy and a termination cost of zero.
    """

    input: InputShape
    deployed: bool
    weights: dict[str, Weights]
    """By part: the policy, the value network, the target network, and the two moments of Adam."""
    optimiser_steps: int
    time_steps: int
    since_update: int

    @property
    def deployment(self) -> Deployment | None:
        """The networks to play with; None for a uniform policy and a termination cost of zero."""
        if not self.deployed:
            return None
        return Deployment(self.input, self.weights["policy"], self.weights["value"])


class Learner:
    """A policy and a value network that learn from critical paths."""

    def __init__(self, snapshot: Snapshot, settings: LearningSettings) -> None:
        self.settings = settings
        self.experience = Experience(snapshot.input)
        self.restore(snapshot)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot. The experience stays as it is."""
        weights = snapshot.weights
        actions = len(list(weights["policy"].values())[-1])
        self.input = snapshot.input
        self.policy = Network(Architecture(snapshot.input, actions), weights["policy"])
        self.value = ValueLearner(Architecture(snapshot.input, 1), weights["value"], self.settings.value)
        self.value.refresh(weights["target"])
        self.value.time_steps, self.value.since_update = snapshot.time_steps, snapshot.since_update
        for name, parameter in self.value.network.layers.named_parameters():
            self.value.optimiser.state[parameter] = {
                "step": torch.tensor(float(snapshot.optimiser_steps)),
                "exp_avg": torch.from_numpy(weights["first_moment"][name].copy()),
                "exp_avg_sq": torch.from_numpy(weights["second_moment"][name].copy()),
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
            moments["first_moment"][name] = state["exp_avg"].numpy().copy()
            moments["second_moment"][name] = state["exp_avg_sq"].numpy().copy()
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


def initial_snapshot(shape: InputShape, actions: int, *, rng: np.random.Generator) -> Snapshot:
    """Untrained networks, not deployed."""
    policy = Architecture(shape, actions).initial_weights(rng=rng)
    value = Architecture(shape, 1).initial_weights(rng=rng)
    zeros = {name: np.zeros_like(array) for name, array in value.items()}
    weights = {"policy": policy, "value": value, "target": value, "first_moment": zeros, "second_moment": zeros}
    return Snapshot(shape, False, weights, optimiser_steps=0, time_steps=0, since_update=0)
