"""Batch renormalisation (Ioffe 2017): units are normalised by their batch, and then moved to where averages over
many batches would have put them, so that training and playing see the same network.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn

from noveltree.learning.architecture import Weights

_EPSILON = 1e-3
#: Weight of a batch in the averages.
_NEWS = 0.01


class Renormalisation(nn.Module):
    """Normalises what comes out of a layer, for each of its planes or units."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(units))
        self.shift = nn.Parameter(torch.zeros(units))
        self.mean: torch.Tensor
        self.deviation: torch.Tensor
        self.register_buffer("mean", torch.zeros(units))
        self.register_buffer("deviation", torch.ones(units))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, units, ...) -> the same shape; the averages take the batch in.

        Moved to where averages put it, a normalised unit is stretch * normal + move, with scale and shift on top:
        that is batch normalisation with another scale and another shift, which has a kernel of its own.
        """
        with torch.no_grad():  # the correction is held constant for the gradient
            _, mean, inverse = torch.native_batch_norm(x, None, None, None, None, True, 0.0, _EPSILON)
            deviation = inverse.reciprocal()
            stretch = deviation / self.deviation
            move = (mean - self.mean) / self.deviation
            self.mean.lerp_(mean, _NEWS)
            self.deviation.lerp_(deviation, _NEWS)
        scale, shift = stretch * self.scale, move * self.scale + self.shift
        return nn.functional.batch_norm(x, None, None, scale, shift, training=True, eps=_EPSILON)


def folded(weights: Weights, norms: Iterable[nn.Module]) -> Weights:
    """The weights of a network without norms that does what one with these norms does when it plays."""
    folded = dict(weights)
    for number, norm in enumerate(norms):
        state = {name: tensor.cpu().numpy() for name, tensor in norm.state_dict().items()}
        factor = state["scale"] / state["deviation"]
        weight = weights[f"{number}.weight"]
        folded[f"{number}.weight"] = weight * factor.reshape(-1, *[1] * (weight.ndim - 1))
        folded[f"{number}.bias"] = (weights[f"{number}.bias"] - state["mean"]) * factor + state["shift"]
    return folded
