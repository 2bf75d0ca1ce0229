"""The layers of the networks as data: those of Mnih et al. (2015) for images, small ones for vectors.

The policy and the value network are separate and differ in their outputs only: one per action, or one. Weights are
plain named arrays: they can be initialised, stored and answered with by whichever runtime is at hand.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noveltree.learning.inputs import InputShape

#: The arrays of one network by name: `0.weight`, `0.bias`, `1.weight`, ...
Weights = dict[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Convolution:
    """`planes` square filters of `size`, moved by `stride`."""

    planes: int
    size: int
    stride: int


@dataclass(frozen=True, slots=True)
class Dense:
    """Every unit sees everything."""

    units: int


Layer = Convolution | Dense

#: Between any two layers there is a ReLU.
MNIH_2015: tuple[Layer, ...] = (Convolution(32, 8, 4), Convolution(64, 4, 2), Convolution(64, 3, 1), Dense(512))
SMALL: tuple[Layer, ...] = (Dense(64), Dense(64))


@dataclass(frozen=True, slots=True)
class Architecture:
    """A network: what goes in, how many numbers come out."""

    input: InputShape
    outputs: int

    @property
    def scale(self) -> float:
        """What inputs are multiplied by: bytes become numbers in [0, 1]."""
        return 1.0 / 255.0 if self.input.image else 1.0

    @property
    def layers(self) -> tuple[Layer, ...]:
        return (*(MNIH_2015 if self.input.image else SMALL), Dense(self.outputs))

    def weight_shapes(self) -> dict[str, tuple[int, ...]]:
        """The name and the shape of every array of the weights."""
        shapes: dict[str, tuple[int, ...]] = {}
        shape = self.input.shape
        for number, layer in enumerate(self.layers):
            match layer:
                case Convolution(planes, size, stride):
                    shapes[f"{number}.weight"] = (planes, shape[0], size, size)
                    shape = (planes, *((side - size) // stride + 1 for side in shape[1:]))
                case Dense(units):
                    shapes[f"{number}.weight"] = (units, math.prod(shape))
                    shape = (units,)
            shapes[f"{number}.bias"] = (shape[0],)
        return shapes

    def initial_weights(self, *, rng: np.random.Generator) -> Weights:
        """Weights and biases uniform in +-1 / sqrt(inputs of a unit)."""
        weights: Weights = {}
        bound = 1.0
        for name, shape in self.weight_shapes().items():
            if name.endswith(".weight"):
                bound = 1.0 / math.sqrt(math.prod(shape[1:]))
            weights[name] = rng.uniform(-bound, bound, size=shape).astype(np.float32)
        return weights

    def fits(self, weights: Mapping[str, NDArray[np.generic]]) -> bool:
        """Whether these are weights of such a network."""
        shapes = self.weight_shapes()
        return weights.keys() == shapes.keys() and all(
            weights[name].shape == shape and weights[name].dtype == np.float32 for name, shape in shapes.items()
        )


def outputs_of(weights: Weights) -> int:
    """How many outputs the network with these weights has."""
    last = max(weights, key=lambda name: int(name.partition(".")[0]))
    return len(weights[last])


def digest_of_weights(*networks: Weights) -> str:
    """Sixteen hexadecimal digits that identify the weights of networks, bit for bit."""
    total = hashlib.sha256()
    for weights in networks:
        for name in sorted(weights):
            total.update(name.encode())
            total.update(np.ascontiguousarray(weights[name]).tobytes())
    return total.hexdigest()[:16]
