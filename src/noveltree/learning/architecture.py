"""Networks as data: a trunk of layers, and heads on top of it. One pass through the trunk serves all heads.

The trunk is that of Mnih et al. (2015) for images, a small one for vectors. Weights are plain named arrays: they
can be initialised, stored and answered with by whichever runtime is at hand.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from noveltree.learning.inputs import STACK, InputShape

#: The arrays of one network by name: `0.weight`, `0.bias`, `1.weight`, ...
Weights = dict[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Convolution:
    """`planes` square filters of `size`, moved by `stride`, over an input with `padding` zeros around it."""

    planes: int
    size: int
    stride: int
    padding: int = 0

    def output(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of what comes out, given that of what goes in."""
        return (self.planes, *((side + 2 * self.padding - self.size) // self.stride + 1 for side in shape[1:]))


@dataclass(frozen=True, slots=True)
class Dense:
    """Every unit sees everything."""

    units: int


@dataclass(frozen=True, slots=True)
class Affine:
    """Every plane times a number of its own, plus another: what a trained batch normalisation does."""


Layer = Convolution | Dense | Affine

#: Where weights begin. `fan-in`: weights and biases uniform in +-1 / sqrt(inputs of a unit). `glorot` (Glorot and
#: Bengio 2010): weights uniform in +-sqrt(6 / (inputs + outputs)), a convolution counting its window; zero biases.
Start = Literal["fan-in", "glorot"]

#: Behind every layer of a trunk there is a ReLU, or a leaky one.
MNIH_2013: tuple[Layer, ...] = (Convolution(16, 8, 4), Convolution(32, 4, 2), Dense(256))
MNIH_2015: tuple[Layer, ...] = (Convolution(32, 8, 4), Convolution(64, 4, 2), Convolution(64, 3, 1), Dense(512))
SMALL: tuple[Layer, ...] = (Dense(64), Dense(64))

#: The size of the screens that encoders see.
ENCODED_SCREEN = (128, 128)
#: The layer of a head of latents, but for its planes.
_LATENTS = Convolution(0, size=3, stride=2, padding=1)


@dataclass(frozen=True, slots=True)
class Head:
    """An output of a network, by the name under which planners ask for it.

    `softmax`: a dense layer whose outputs become probabilities. `scalar`: a dense layer with one output.
    `expected`: a softmax over supports, numbers evenly spaced from -largest to largest; their mean comes out.
    `hidden`: the last layer of the trunk itself, which needs no weights. `latents`: a convolution with `units`
    planes, whose outputs are the logits of an encoder's latent variables.
    """

    name: str
    kind: Literal["softmax", "scalar", "expected", "hidden", "latents"]
    units: int = 1
    largest: float = 0.0

    @property
    def supports(self) -> NDArray[np.float32]:
        """(units,): the numbers of which an `expected` head gives the mean."""
        return np.linspace(-self.largest, self.largest, self.units, dtype=np.float32)

    def to_json(self) -> list[str | int | float]:
        """The head as JSON."""
        return [self.name, self.kind, self.units, *([self.largest] if self.kind == "expected" else [])]

    @property
    def layer(self) -> Convolution | Dense:
        """The layer that it is, if it has weights."""
        return replace(_LATENTS, planes=self.units) if self.kind == "latents" else Dense(self.units)


@dataclass(frozen=True, slots=True)
class Architecture:
    """A network: what goes in, the trunk, and what comes out."""

    input: InputShape
    heads: tuple[Head, ...]
    trunk: tuple[Layer, ...]
    bytes_as_they_are: bool = False
    """Whether bytes go in as numbers from 0 to 255, instead of from 0 to 1."""
    slope: float = 0.0
    """What negative numbers are multiplied by behind every layer of the trunk; more than 0 is a leaky ReLU."""

    @classmethod
    def usual(cls, shape: InputShape, *heads: Head) -> Architecture:
        """The trunk that suits the input, with these heads."""
        return cls(shape, heads, MNIH_2015 if shape.image else SMALL)

    @property
    def scale(self) -> float:
        """What inputs are multiplied by."""
        return 1.0 / 255.0 if self.input.image and not self.bytes_as_they_are else 1.0

    @property
    def head_layers(self) -> dict[str, int]:
        """The number of the layer of each head that has weights."""
        return {head.name: number for number, head in enumerate(self.trained_heads, start=len(self.trunk))}

    @property
    def trained_heads(self) -> tuple[Head, ...]:
        """The heads that have weights. They are numbered as layers behind those of the trunk."""
        return tuple(head for head in self.heads if head.kind != "hidden")

    def weight_shapes(self) -> dict[str, tuple[int, ...]]:
        """The name and the shape of every array of the weights."""
        shapes: dict[str, tuple[int, ...]] = {}
        shape = self.input.shape
        for number, layer in enumerate(self.trunk):
            shapes |= _weight_shapes(number, layer, shape)
            shape = _output(layer, shape)
        for number, head in enumerate(self.trained_heads, start=len(self.trunk)):
            shapes |= _weight_shapes(number, head.layer, shape)
        return shapes

    def head_shape(self, name: str) -> tuple[int, ...]:
        """The shape of what a head with weights says of one input, before it is made flat."""
        shape = self.input.shape
        for layer in self.trunk:
            shape = _output(layer, shape)
        return _output(next(head.layer for head in self.trained_heads if head.name == name), shape)

    def initial_weights(self, *, rng: np.random.Generator, start: Start = "fan-in") -> Weights:
        """Weights to begin with: see `Start`."""
        weights: Weights = {}
        bound = 1.0
        for name, shape in self.weight_shapes().items():
            if name.endswith(".weight"):
                inputs, outputs = math.prod(shape[1:]), shape[0] * math.prod(shape[2:])
                bound = 1.0 / math.sqrt(inputs) if start == "fan-in" else math.sqrt(6.0 / (inputs + outputs))
            elif start == "glorot":
                bound = 0.0
            weights[name] = rng.uniform(-bound, bound, size=shape).astype(np.float32)
        return weights

    def fits(self, weights: Mapping[str, NDArray[np.generic]]) -> bool:
        """Whether these are weights of such a network."""
        shapes = self.weight_shapes()
        return weights.keys() == shapes.keys() and all(
            weights[name].shape == shape and weights[name].dtype == np.float32 for name, shape in shapes.items()
        )

    def to_json(self) -> dict[str, Any]:
        """The architecture as JSON."""
        return {
            "observation": list(self.input.observation),
            "image": self.input.image,
            "stack": self.input.stack,
            "trunk": [list(astuple(layer)) for layer in self.trunk],
            "slope": self.slope,
            "heads": [head.to_json() for head in self.heads],
            **({"bytes_as_they_are": True} if self.bytes_as_they_are else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Architecture:
        """The architecture that `to_json` wrote."""
        return cls(
            # What the first checkpoints do not say was like this.
            input=InputShape(tuple(data["observation"]), data["image"], data.get("stack", STACK)),
            heads=tuple(Head(*head) for head in data["heads"]),
            trunk=tuple(_layer(layer) for layer in data["trunk"]),
            bytes_as_they_are=data.get("bytes_as_they_are", False),
            slope=data.get("slope", 0.0),
        )


def _layer(numbers: Sequence[int]) -> Layer:
    """The layer that `to_json` wrote."""
    match len(numbers):
        case 0:
            return Affine()
        case 1:
            return Dense(*numbers)
    return Convolution(*numbers)


def _output(layer: Layer, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of what comes out of a layer, given that of what goes in."""
    match layer:
        case Convolution():
            return layer.output(shape)
        case Dense(units):
            return (units,)
    return shape


def _weight_shapes(number: int, layer: Layer, shape: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    """The shapes of a layer's weights and biases, given that of what goes in."""
    weight: tuple[int, ...]
    bias: tuple[int, ...]
    match layer:
        case Convolution(planes, size):
            weight, bias = (planes, shape[0], size, size), (planes,)
        case Dense(units):
            weight, bias = (units, math.prod(shape)), (units,)
        case Affine():
            weight = bias = (shape[0], 1, 1)
    return {f"{number}.weight": weight, f"{number}.bias": bias}


def digest_of_weights(*networks: Weights) -> str:
    """Sixteen hexadecimal digits that identify the weights of networks, bit for bit."""
    total = hashlib.sha256()
    for weights in networks:
        for name in sorted(weights):
            total.update(name.encode())
            total.update(np.ascontiguousarray(weights[name]).tobytes())
    return total.hexdigest()[:16]
