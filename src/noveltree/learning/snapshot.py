"""Snapshots of a learner: what the schedule deploys and goes back to, and what a checkpoint holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noveltree.learning.architecture import Architecture
from noveltree.learning.deployment import Deployment, digest_of


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything in training at one instant, and whether it was deployed then.

    The first snapshot of a trial is not: agents play with a uniform policy and a termination cost of zero.
    """

    networks: dict[str, Architecture]
    """The networks that agents play with, by name."""
    deployed: bool
    weights: dict[str, dict[str, NDArray[Any]]]
    """By part: the weights of each network, and whatever else training goes on from, such as moments of Adam."""
    counters: dict[str, int]
    """How far training is in its routine."""

    @property
    def deployment(self) -> Deployment | None:
        """The networks to play with; None for a uniform policy and a termination cost of zero."""
        if not self.deployed:
            return None
        return Deployment(self.networks, {name: self.weights[name] for name in self.networks})

    @property
    def digest(self) -> str | None:
        """Identifies the networks that agents play with, bit for bit."""
        return digest_of(self.deployment)

    def fits(self, first: Snapshot, actions: int) -> bool:
        """Whether it may be of the trial with so many actions that began with another one."""
        weights = {name: self.weights.get(name, {}) for name in self.networks}
        return Deployment(self.networks, weights).fits(first.networks, actions)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """All weights under one name each: `policy.0.weight` and so on."""
        return {
            f"{part}.{name}": array for part, weights in self.weights.items() for name, array in weights.items()
        }

    def state(self) -> dict[str, Any]:
        """Everything but the weights, as JSON."""
        return {
            "networks": {name: architecture.to_json() for name, architecture in self.networks.items()},
            "deployed": self.deployed,
            "counters": self.counters,
        }


def read_snapshot(arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> Snapshot:
    """A snapshot from its arrays and its state."""
    weights: dict[str, dict[str, NDArray[Any]]] = {}
    for name, array in arrays.items():
        part, _, rest = name.partition(".")
        weights.setdefault(part, {})[rest] = array
    return Snapshot(
        networks={name: Architecture.from_json(data) for name, data in state["networks"].items()},
        deployed=state["deployed"],
        weights=weights,
        counters=dict(state["counters"]),
    )
