"""Snapshots of a learner: what the schedule deploys and goes back to, and what a checkpoint holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noveltree.learning.architecture import Architecture, Weights
from noveltree.learning.deployment import Deployment
from noveltree.learning.inputs import InputShape

#: Weights of the learner's networks, and the moments of the value network's optimiser.
PARTS = ("policy", "value", "target", "first_moment", "second_moment")


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

    @property
    def digest(self) -> str | None:
        """Identifies the networks that agents play with, bit for bit."""
        return None if (deployment := self.deployment) is None else deployment.digest

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """All weights under one name each: `policy.0.weight` and so on."""
        return {f"{part}.{name}": array for part in PARTS for name, array in self.weights[part].items()}

    def state(self) -> dict[str, Any]:
        """Everything but the weights, as JSON."""
        return {
            "observation": list(self.input.observation),
            "image": self.input.image,
            "deployed": self.deployed,
            "optimiser_steps": self.optimiser_steps,
            "time_steps": self.time_steps,
            "since_update": self.since_update,
        }


def read_snapshot(arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> Snapshot:
    """A snapshot from its arrays and its state."""
    weights: dict[str, Weights] = {part: {} for part in PARTS}
    for name, array in arrays.items():
        part, _, rest = name.partition(".")
        weights[part][rest] = array
    return Snapshot(
        input=InputShape(tuple(state["observation"]), state["image"]),
        deployed=state["deployed"],
        weights=weights,
        optimiser_steps=state["optimiser_steps"],
        time_steps=state["time_steps"],
        since_update=state["since_update"],
    )


def initial_snapshot(shape: InputShape, actions: int, *, rng: np.random.Generator) -> Snapshot:
    """Untrained networks, not deployed."""
    policy = Architecture(shape, actions).initial_weights(rng=rng)
    value = Architecture(shape, 1).initial_weights(rng=rng)
    zeros = {name: np.zeros_like(array) for name, array in value.items()}
    weights = {"policy": policy, "value": value, "target": value, "first_moment": zeros, "second_moment": zeros}
    return Snapshot(shape, False, weights, optimiser_steps=0, time_steps=0, since_update=0)
