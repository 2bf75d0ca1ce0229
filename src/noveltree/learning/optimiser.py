"""What an optimiser remembers, as arrays: so that training goes on from a snapshot as if it had never stopped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from noveltree.learning.architecture import Weights

#: Under which names a snapshot has the moments of Adam, and what Adam calls them.
_MOMENTS = {"first_moment": "exp_avg", "second_moment": "exp_avg_sq"}


class Layered(Protocol):
    """A network whose parameters are those of its layers."""

    @property
    def layers(self) -> nn.Module: ...


def zero_moments(weights: Weights) -> dict[str, Weights]:
    """The moments before the first step."""
    return {name: {key: np.zeros_like(array) for key, array in weights.items()} for name in _MOMENTS}


def read_moments(network: Layered, optimiser: torch.optim.Adam) -> tuple[dict[str, Weights], int]:
    """The moments of Adam, and how many steps it has made."""
    moments: dict[str, Weights] = {name: {} for name in _MOMENTS}
    steps = 0
    for key, parameter in network.layers.named_parameters():
        state = optimiser.state[parameter]
        steps = int(state["step"])
        for name, theirs in _MOMENTS.items():
            moments[name][key] = state[theirs].cpu().numpy().copy()
    return moments, steps


def write_moments(
    network: Layered, optimiser: torch.optim.Adam, weights: Mapping[str, Weights], steps: int
) -> None:
    """Let Adam go on from these moments, as it was after `steps` steps."""
    for key, parameter in network.layers.named_parameters():
        optimiser.state[parameter] = {
            "step": torch.tensor(float(steps)),
            **{theirs: _like(parameter, weights[name][key]) for name, theirs in _MOMENTS.items()},
        }


def _like(parameter: torch.Tensor, array: NDArray[np.float32]) -> torch.Tensor:
    """The array as a tensor that lies in memory as the parameter does, which Adam relies on."""
    return torch.empty_like(parameter, requires_grad=False).copy_(torch.from_numpy(array))
