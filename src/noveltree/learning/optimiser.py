"""Optimisers, and what they remember, as arrays: training goes on from a snapshot as if it had never stopped."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from noveltree.kernels import kernel
from noveltree.learning.architecture import Weights


class RMSprop(torch.optim.RMSprop):
    """Torch's, with a gradient that counts the squares of all weights in and is clipped as a whole.

    On a processor it fetches weights and gradients from memory three times, where torch's steps do so seven times.
    """

    def descend(self, *, regularisation: float, norm: float) -> None:
        """One step down the gradient, shortened to `norm` if it is longer."""
        (group,) = self.param_groups
        parameters = group["params"]
        for parameter in parameters:  # the gradient of half the sum of squares is the parameters themselves
            parameter.grad.add_(parameter.detach(), alpha=regularisation)
        if any(parameter.device.type != "cpu" for parameter in parameters):
            nn.utils.clip_grad_norm_(parameters, norm)
            self.step()
            return
        length = float(nn.utils.get_total_norm([parameter.grad for parameter in parameters]))
        factor = np.float32(norm / max(norm, length))
        rate, decay, epsilon = (np.float32(group[name]) for name in ("lr", "alpha", "eps"))
        for parameter in parameters:
            state = self.state[parameter]
            state["step"] += 1
            weights, gradient, mean_square = (
                _flat(tensor, like=parameter)
                for tensor in (parameter.detach(), parameter.grad, state["square_avg"])
            )
            _descend(weights, gradient, mean_square, factor, rate, decay, epsilon)


def _flat(tensor: torch.Tensor, *, like: torch.Tensor) -> NDArray[np.float32]:
    """The numbers of a tensor in the order in which those of `like` lie in memory; no copy if that is its own."""
    if tensor.stride() != like.stride():
        tensor = _like(like, tensor)
    flat: NDArray[np.float32] = tensor.as_strided((tensor.numel(),), (1,)).numpy()
    return flat


@kernel
def _descend(
    weights: NDArray[np.float32],
    gradient: NDArray[np.float32],
    mean_square: NDArray[np.float32],
    factor: np.float32,
    rate: np.float32,
    decay: np.float32,
    epsilon: np.float32,
) -> None:
    news = np.float32(1.0) - decay
    for i in range(weights.size):
        slope = gradient[i] * factor
        mean_square[i] = mean_square[i] * decay + slope * slope * news
        weights[i] -= rate * slope / (np.sqrt(mean_square[i]) + epsilon)


#: For each kind of optimiser: under which names a snapshot has what it remembers, and what it calls that itself.
_MOMENTS: dict[type[torch.optim.Optimizer], dict[str, str]] = {
    torch.optim.Adam: {"first_moment": "exp_avg", "second_moment": "exp_avg_sq"},
    RMSprop: {"mean_square": "square_avg"},
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
    named = _MOMENTS[type(optimiser)]
    for key, parameter in network.named_parameters():
        moments = {theirs: _like(parameter, torch.from_numpy(weights[name][key])) for name, theirs in named.items()}
        optimiser.state[parameter] = {"step": torch.tensor(float(steps)), **moments}


def _like(parameter: torch.Tensor, tensor: torch.Tensor) -> torch.Tensor:
    """The same numbers in a tensor that lies in memory as the parameter does, which Adam relies on."""
    return torch.empty_like(parameter, requires_grad=False).copy_(tensor)
