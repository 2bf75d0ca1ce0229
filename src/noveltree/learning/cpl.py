"""The learner of CPL and N-CPL: a policy network and a value network, each by itself."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from noveltree.learning.architecture import Architecture, Head, Weights
from noveltree.learning.experience import CriticalPath, Experience
from noveltree.learning.inputs import InputShape
from noveltree.learning.learner import Losses
from noveltree.learning.networks import Network
from noveltree.learning.policy import train_policy
from noveltree.learning.settings import LearningSettings
from noveltree.learning.snapshot import Snapshot
from noveltree.learning.value import ValueLearner
from noveltree.lookahead import POLICY, VALUE


class CplLearner:
    """The value network learns as transitions come in, the policy network at the end of an interval."""

    def __init__(self, snapshot: Snapshot, settings: LearningSettings, *, device: str = "cpu") -> None:
        self.settings = settings
        self._device = device
        self._networks = snapshot.networks
        self.experience = Experience(snapshot.networks[POLICY].input)
        self.restore(snapshot)

    def restore(self, snapshot: Snapshot) -> None:
        weights = snapshot.weights
        self.policy = Network(self._networks[POLICY], weights[POLICY], device=self._device)
        self.value = ValueLearner(
            self._networks[VALUE],
            weights[VALUE],
            self.settings.value,
            target=weights["target"],
            device=self._device,
        )
        counters = snapshot.counters
        self.value.time_steps, self.value.since_update = counters["time_steps"], counters["since_update"]
        for name, parameter in self.value.network.layers.named_parameters():
            self.value.optimiser.state[parameter] = {
                "step": torch.tensor(float(counters["optimiser_steps"])),
                "exp_avg": _like(parameter, weights["first_moment"][name]),
                "exp_avg_sq": _like(parameter, weights["second_moment"][name]),
            }

    def take_in(self, path: CriticalPath, *, rng: np.random.Generator) -> Losses:
        return {VALUE: self.value.take_in(path, self.experience, rng=rng)}

    def close_interval(self, *, rng: np.random.Generator) -> Losses:
        return {POLICY: train_policy(self.policy, self.experience, self.settings.policy, rng=rng)}

    def keep(self, count: int, *, drop_newest: int = 0) -> None:
        paths = self.experience.paths[: len(self.experience.paths) - drop_newest]
        self.experience.keep(paths[len(paths) - count :])
        self.value.forget_paths()

    def snapshot(self) -> Snapshot:
        moments: dict[str, Weights] = {"first_moment": {}, "second_moment": {}}
        steps = 0
        for name, parameter in self.value.network.layers.named_parameters():
            state = self.value.optimiser.state[parameter]
            steps = int(state["step"])
            moments["first_moment"][name] = state["exp_avg"].cpu().numpy().copy()
            moments["second_moment"][name] = state["exp_avg_sq"].cpu().numpy().copy()
        return Snapshot(
            networks=self._networks,
            deployed=True,
            weights={
                POLICY: self.policy.weights(),
                VALUE: self.value.network.weights(),
                "target": self.value.target,
                **moments,
            },
            counters={
                "optimiser_steps": steps,
                "time_steps": self.value.time_steps,
                "since_update": self.value.since_update,
            },
        )


def initial_snapshot(shape: InputShape, actions: int, *, rng: np.random.Generator) -> Snapshot:
    """Untrained networks, not deployed."""
    networks = {
        POLICY: Architecture.usual(shape, Head(POLICY, "softmax", actions)),
        VALUE: Architecture.usual(shape, Head(VALUE, "scalar")),
    }
    policy, value = (architecture.initial_weights(rng=rng) for architecture in networks.values())
    zeros = {name: np.zeros_like(array) for name, array in value.items()}
    weights = {POLICY: policy, VALUE: value, "target": value, "first_moment": zeros, "second_moment": zeros}
    return Snapshot(networks, False, weights, {"optimiser_steps": 0, "time_steps": 0, "since_update": 0})


def _like(parameter: torch.Tensor, array: NDArray[np.float32]) -> torch.Tensor:
    """The array as a tensor that lies in memory as the parameter does, which Adam relies on."""
    return torch.empty_like(parameter, requires_grad=False).copy_(torch.from_numpy(array))
