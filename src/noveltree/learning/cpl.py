"""The learner of CPL and N-CPL: a policy network and a value network, each by itself."""

from __future__ import annotations

import numpy as np

from noveltree.learning.architecture import Architecture, Head, Start
from noveltree.learning.experience import CriticalPath
from noveltree.learning.inputs import InputShape
from noveltree.learning.learner import Learner, Losses
from noveltree.learning.networks import Network
from noveltree.learning.optimiser import read_moments, write_moments, zero_moments
from noveltree.learning.policy import train_policy
from noveltree.learning.settings import LearningSettings
from noveltree.learning.snapshot import Snapshot
from noveltree.learning.value import ValueLearner
from noveltree.lookahead import POLICY, VALUE


class CplLearner(Learner):
    """The value network learns as transitions come in, the policy network at the end of an interval."""

    def __init__(self, snapshot: Snapshot, settings: LearningSettings, *, device: str = "cpu") -> None:
        super().__init__(snapshot.networks[POLICY].input)
        self.settings = settings
        self._device = device
        self._networks = snapshot.networks
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
        write_moments(self.value.network.layers, self.value.optimiser, weights, counters["optimiser_steps"])

    def take_in(self, path: CriticalPath, *, rng: np.random.Generator) -> Losses:
        return {VALUE: self.value.take_in(path, self.experience, rng=rng)}

    def close_interval(self, *, rng: np.random.Generator) -> Losses:
        return {POLICY: train_policy(self.policy, self.experience, self.settings.policy, rng=rng)}

    def keep(self, count: int, *, drop_newest: int = 0) -> None:
        super().keep(count, drop_newest=drop_newest)
        self.value.forget_paths()

    def snapshot(self) -> Snapshot:
        moments, steps = read_moments(self.value.network.layers, self.value.optimiser)
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


def initial_snapshot(
    shape: InputShape, actions: int, *, rng: np.random.Generator, start: Start = "fan-in"
) -> Snapshot:
    """Untrained networks, not deployed.

    From the start of Glorot the target network has weights of its own until it is refreshed, as in the authors'
    experiments; from the other it is a copy of the value network.
    """
    networks = {
        POLICY: Architecture.usual(shape, Head(POLICY, "softmax", actions)),
        VALUE: Architecture.usual(shape, Head(VALUE, "scalar")),
    }
    policy, value = (architecture.initial_weights(rng=rng, start=start) for architecture in networks.values())
    target = networks[VALUE].initial_weights(rng=rng, start=start) if start == "glorot" else value
    weights = {POLICY: policy, VALUE: value, "target": target, **zero_moments(value)}
    return Snapshot(networks, False, weights, {"optimiser_steps": 0, "time_steps": 0, "since_update": 0})
