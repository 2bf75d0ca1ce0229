"""Networks as data: a trunk of layers, and heads on top of it. One pass through the trunk serves all heads.

The trunk is that of Mnih et al. (2015) for images, a small one for vectors. Weights are plain named arrays: they
can be initialised, stored and answered with by whichever runtime is at hand.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

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

#: Where weights begin. `fan-in`: weights and biases uniform in +-1 / sqrt(inputs of a unit). `glorot` (Glorot and
#: Bengio 2010): weights uniform in +-sqrt(6 / (inputs + outputs)), a convolution counting its window; zero biases.
Start = Literal["fan-in", "glorot"]

#: Behind every layer of a trunk there is a ReLU.
MNIH_2013: tuple[Layer, ...] = (Convolution(16, 8, 4), Convolution(32, 4, 2), Dense(256))
MNIH_2015: tuple[Layer, ...] = (Convolution(32, 8, 4), Convolution(64, 4, 2), Convolution(64, 3, 1), Dense(512))
SMALL: tuple[Layer, ...] = (Dense(64), Dense(64))


@dataclass(frozen=True, slots=True)
class Head:
    """An output of a network, by the name under which planners ask for it.

    `softmax`: a dense layer whose outputs become probabilities. `scalar`: a dense layer with one output.
    `expected`: a softmax over supports, numbers evenly spaced from -largest to largest; their mean comes out.
    `hidden`: the last layer of the trunk itself, which needs no weights.
    """

    name: str
    kind: Literal["softmax", "scalar", "expected", "hidden"]
    units: int = 1
    largest: float = 0.0

    @property
    def supports(self) -> NDArray[np.float32]:
        """(units,): the numbers of which an `expected` head gives the mean."""
        return np.linspace(-self.largest, self.largest, self.units, dtype=np.float32)

    def to_json(self) -> list[str | int | float]:
        """The head as JSON."""
        return [self.name, self.kind, self.units, *([self.largest] if self.kind == "expected" else [])]


@dataclass(frozen=True, slots=True)
class Architecture:
    """A network: what goes in, the trunk, and what comes out."""

    input: InputShape
    heads: tuple[Head, ...]
    trunk: tuple[Layer, ...]
    bytes_as_they_are: bool = False
    """Whether bytes go in as numbers from 0 to 255, instead of from 0 to 1."""

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
            match layer:
                case Convolution(planes, size, stride):
                    shapes[f"{number}.weight"] = (planes, shape[0], size, size)
                    shape = (planes, *((side - size) // stride + 1 for side in shape[1:]))
                case Dense(units):
                    shapes[f"{number}.weight"] = (units, math.prod(shape))
                    shape = (units,)
            shapes[f"{number}.bias"] = (shape[0],)
        for number, head in enumerate(self.trained_heads, start=len(self.trunk)):
            shapes[f"{number}.weight"] = (head.units, math.prod(shape))
            shapes[f"{number}.bias"] = (head.units,)
        return shapes

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
            "trunk": [
                [layer.planes, layer.size, layer.stride] if isinstance(layer, Convolution) else [layer.units]
                for layer in self.trunk
            ],
            "heads": [head.to_json() for head in self.heads],
            **({"bytes_as_they_are": True} if self.bytes_as_they_are else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Architecture:
        """The architecture that `to_json` wrote."""
        return cls(
            input=InputShape(tuple(data["observation"]), data["image"]),
            heads=tuple(Head(*head) for head in data["heads"]),
            trunk=tuple(Convolution(*layer) if len(layer) == 3 else Dense(*layer) for layer in data["trunk"]),
            bytes_as_they_are=data.get("bytes_as_they_are", False),
        )


def digest_of_weights(*networks: Weights) -> str:
    """Sixteen hexadecimal digits that identify the weights of networks, bit for bit."""
    total = hashlib.sha256()
    for weights in networks:
        for name in sorted(weights):
            total.update(name.encode())
            total.update(np.ascontiguousarray(weights[name]).tobytes())
    return total.hexdigest()[:16]
