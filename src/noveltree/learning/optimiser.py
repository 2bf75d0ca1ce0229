"""What an optimiser remembers, as arrays: so that training goes on from a snapshot as if it had never stopped."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from noveltree.learning.architecture import Weights

#: For each kind of optimiser: under which names a snapshot has what it remembers, and what it calls that itself.
_MOMENTS: dict[type[torch.optim.Optimizer], dict[str, str]] = {
    torch.optim.Adam: {"first_moment": "exp_avg", "second_moment": "exp_avg_sq"},
    torch.optim.RMSprop: {"mean_square": "square_avg"},
}


def zero_moments(weights: Weights, kind: type[torch.optim.Optimizer] = torch.optim.Adam) -> dict[str, Weights]:
    """The moments before the first step."""
    return {name: {key: np.zeros_like(array) for key, array in weights.items()} for name in _MOMENTS[kind]}


def read_moments(network: nn.Module, optimiser: torch.optim.Optimizer) -> tuple[dict[str, Weights], int]:
    """The moments of an optimiser, by the names of the network's parameters, and how many steps it has made."""
    named = _MOMENTS[type(optimiser)]
    moments: dict[str, Weights] = {name: {} for name in named}
    for key, parameter in network.named_parameters():
        state = optimiser.state[parameter]
        for name, theirs in named.items():
            moments[name][key] = state[theirs].cpu().numpy().copy()
    return moments, steps_of(optimiser)


def steps_of(optimiser: torch.optim.Optimizer) -> int:
    """How many steps an optimiser has made."""
    return int(next(iter(optimiser.state.values()))["step"])


def write_moments(
    network: nn.Module, optimiser: torch.optim.Optimizer, weights: Mapping[str, Weights], steps: int
) -> None:
    """Let an optimiser go on from these moments, as it was after `steps` steps."""
    for key, parameter in network.named_parameters():
        optimiser.state[parameter] = {
            "step": torch.tensor(float(steps)),
            **{theirs: _like(parameter, weights[name][key]) for name, theirs in _MOMENTS[type(optimiser)].items()},
        }


def _like(parameter: torch.Tensor, array: NDArray[np.float32]) -> torch.Tensor:
    """The array as a tensor that lies in memory as the parameter does, which Adam relies on."""
    return torch.empty_like(parameter, requires_grad=False).copy_(torch.from_numpy(array))
