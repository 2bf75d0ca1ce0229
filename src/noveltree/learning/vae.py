"""The variational autoencoder of VAE-IW (Dittadi et al. 2021): what a screen shows, as Bernoulli variables.

    encoder    screen (1, 128, 128) -> logits (20, 15, 15): 4,500 latent variables
    decoder    a sample of the latents -> screen

Between them is a sample that a gradient can go through (binary concrete, Maddison et al. 2017). Agents play with
the encoder alone: its batch normalisation is then part of its other layers, and no channels are dropped.

Whatever is random comes from a generator that is passed in. Without one a network is used as it is deployed: with
the means and variances that batch normalisation has collected, and with all its channels.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from noveltree.learning.architecture import (
    ENCODED_SCREEN,
    Affine,
    Architecture,
    Convolution,
    Head,
    Layer,
    Weights,
)
from noveltree.learning.inputs import InputShape
from noveltree.lookahead import UNITS

#: Planes of latent variables, each of 15 x 15.
LATENT_PLANES = 20
SLOPE = 0.01
DROPOUT = 0.2
#: What batch normalisation adds to variances.
_EPSILON = 1e-5
#: Uniform numbers keep so far away from 0 and from 1, whose logits are infinite.
_SMALLEST = 1e-7


def encoder_architecture(planes: tuple[int, int]) -> Architecture:
    """The encoder as agents play with it; `planes` of the layers before and behind the second convolution."""
    first, second = planes
    trunk: tuple[Layer, ...] = (
        *(Convolution(first, 4, 2), *_block(first)),
        *(Convolution(second, 4, 2), *_block(second)),
    )
    shape = InputShape(ENCODED_SCREEN, image=True, stack=1)
    return Architecture(shape, (Head(UNITS, "latents", LATENT_PLANES),), trunk, slope=SLOPE)


def _block(planes: int) -> tuple[Layer, ...]:
    # Its second batch normalisation follows a convolution, of which it becomes a part.
    return Affine(), Convolution(planes, 3, 1, padding=1), Convolution(planes, 3, 1, padding=1)


class _Block(nn.Module):
    """Twice: batch normalisation, a leaky ReLU, and a convolution whose channels are dropped at random.

    It has no skip connection, though it is called residual where it comes from.
    """

    def __init__(self, planes: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.BatchNorm2d(planes, _EPSILON) for _ in range(2)])
        self.convolutions = nn.ModuleList([nn.Conv2d(planes, planes, 3, padding=1) for _ in range(2)])

    def forward(self, x: torch.Tensor, rng: np.random.Generator | None) -> torch.Tensor:
        for norm, convolution in zip(self.norms, self.convolutions, strict=True):
            x = convolution(_leaky(norm(x)))
            if rng is not None:
                x = x * _kept_channels(x, rng)
        return _leaky(x)


class Vae(nn.Module):
    """Encoder and decoder in training."""

    def __init__(self, planes: tuple[int, int], weights: Weights, *, device: str = "cpu") -> None:
        super().__init__()
        first, second = planes
        encoder = [
            *(nn.Conv2d(1, first, 4, 2), _Block(first)),
            *(nn.Conv2d(first, second, 4, 2), _Block(second)),
            nn.Conv2d(second, LATENT_PLANES, 3, 2, padding=1),
        ]
        decoder = [
            *(nn.ConvTranspose2d(LATENT_PLANES, second, 3, 2), _Block(second)),
            *(nn.ConvTranspose2d(second, first, 4, 2), _Block(first)),
            nn.ConvTranspose2d(first, 1, 4, 2),
        ]
        self.layers = nn.ModuleDict({"encoder": nn.ModuleList(encoder), "decoder": nn.ModuleList(decoder)})
        given = {name: torch.from_numpy(array) for name, array in weights.items()}
        self.layers.load_state_dict({**self.layers.state_dict(), **given})
        self.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._device = device

    def encode(self, screens: NDArray[np.uint8], rng: np.random.Generator | None) -> torch.Tensor:
        """The logits (batch, 20, 15, 15) of screens (batch, 128, 128)."""
        return self._through("encoder", self.pixels(screens), rng)

    def decode(self, latents: torch.Tensor, rng: np.random.Generator | None) -> torch.Tensor:
        """The logits (batch, 1, 128, 128) of the pixels' brightness."""
        return self._through("decoder", latents, rng)[:, :, 1:-1, 1:-1]

    def pixels(self, screens: NDArray[np.uint8]) -> torch.Tensor:
        """The brightness of all pixels in [0, 1], (batch, 1, 128, 128)."""
        return torch.from_numpy(screens[:, None]).to(self._device, torch.float32) / 255.0

    def weights(self) -> Weights:
        """A copy of the weights, and of the means and variances that batch normalisation has collected."""
        return {
            name: tensor.cpu().numpy().copy()
            for name, tensor in self.layers.state_dict().items()
            if tensor.is_floating_point()  # it also counts batches, which nothing depends on
        }

    def _through(self, part: str, x: torch.Tensor, rng: np.random.Generator | None) -> torch.Tensor:
        self.train(rng is not None)
        *hidden, last = self.layers[part].children()
        x = x.contiguous(memory_format=torch.channels_last)
        for layer in hidden:
            x = layer(x, rng) if isinstance(layer, _Block) else _leaky(layer(x))
        out: torch.Tensor = last(x)
        return out


def initial_weights(planes: tuple[int, int], *, rng: np.random.Generator) -> Weights:
    """Weights and biases uniform in +-1 / sqrt(inputs of a unit); batch normalisation changes nothing."""
    weights = Vae(planes, {}).weights()
    bound = 1.0
    for name, array in weights.items():
        if ".norms." in name:
            array[...] = 1.0 if name.endswith(("weight", "running_var")) else 0.0
            continue
        if name.endswith("weight"):
            bound = 1.0 / math.sqrt(math.prod(array.shape[1:]))
        array[...] = rng.uniform(-bound, bound, size=array.shape)
    return weights


def encoder_weights(weights: Weights) -> Weights:
    """Those of the encoder as agents play with it, given those of the autoencoder in training."""
    parts = [
        *(_layer(weights, "0"), *_folded_block(weights, "1")),
        *(_layer(weights, "2"), *_folded_block(weights, "3")),
        _layer(weights, "4"),
    ]
    return {
        f"{number}.{name}": array.astype(np.float32)
        for number, part in enumerate(parts)
        for name, array in zip(("weight", "bias"), part, strict=True)
    }


#: The weights and the biases of a layer, in double precision.
_Pair = tuple[NDArray[np.float64], NDArray[np.float64]]


def _layer(weights: Weights, name: str) -> _Pair:
    return tuple(weights[f"encoder.{name}.{which}"].astype(np.float64) for which in ("weight", "bias"))  # type: ignore[return-value]


def _folded_block(weights: Weights, name: str) -> tuple[_Pair, _Pair, _Pair]:
    """The first batch normalisation, the first convolution with the second one, and the second convolution."""
    scale, shift = _normalisation(weights, f"{name}.norms.0")
    kernel, bias = _layer(weights, f"{name}.convolutions.0")
    second_scale, second_shift = _normalisation(weights, f"{name}.norms.1")
    return (
        (scale[:, None, None], shift[:, None, None]),
        (kernel * second_scale[:, None, None, None], bias * second_scale + second_shift),
        _layer(weights, f"{name}.convolutions.1"),
    )


def _normalisation(weights: Weights, name: str) -> _Pair:
    """What a trained batch normalisation multiplies every plane by, and what it adds."""
    weight, bias = _layer(weights, name)
    mean, variance = (weights[f"encoder.{name}.running_{which}"].astype(np.float64) for which in ("mean", "var"))
    scale = weight / np.sqrt(variance + _EPSILON)
    return scale, bias - mean * scale


def _leaky(x: torch.Tensor) -> torch.Tensor:
    return functional.leaky_relu(x, SLOPE)


def _kept_channels(x: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
    """What channels are multiplied by: zero if they are dropped, a little more than one otherwise."""
    kept = rng.random(tuple(x.shape[:2]), dtype=np.float32) >= DROPOUT
    return torch.from_numpy(kept / np.float32(1.0 - DROPOUT)).to(x.device)[:, :, None, None]


def concrete(logits: torch.Tensor, temperature: float, *, rng: np.random.Generator) -> torch.Tensor:
    """A sample of Bernoulli variables that lies between 0 and 1, the closer to them the lower the temperature.

    It is above 1/2 with the probability that the variable is true.
    """
    uniform = np.clip(rng.random(tuple(logits.shape), dtype=np.float32), _SMALLEST, 1.0 - _SMALLEST)
    noise = torch.from_numpy(np.log(uniform) - np.log1p(-uniform)).to(logits.device)
    return torch.sigmoid((logits + noise) / temperature)


def reconstruction_loss(logits: torch.Tensor, pixels: torch.Tensor) -> torch.Tensor:
    """Binary cross-entropy, the sum over a screen's pixels, (batch,)."""
    return functional.binary_cross_entropy_with_logits(logits, pixels, reduction="none").sum(dim=(1, 2, 3))


def divergence(logits: torch.Tensor) -> torch.Tensor:
    """KL(Bernoulli(q) || Bernoulli(1/2)), the sum over a screen's latents, (batch,)."""
    q = torch.sigmoid(logits)
    of_each = q * functional.logsigmoid(logits) + (1.0 - q) * functional.logsigmoid(-logits) + math.log(2.0)
    return of_each.sum(dim=(1, 2, 3))
