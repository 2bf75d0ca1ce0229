"""What networks see of a node: its observation and those of its three ancestors, or a vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noveltree.tree import Node

#: Screens in a stack: the node's own and those of its three ancestors, oldest first.
STACK = 4
#: Images smaller than this on a side have nothing left after the convolutions; they are taken as vectors.
SMALLEST_IMAGE = 36


@dataclass(frozen=True, slots=True)
class InputShape:
    """How observations become the input of a network.

    An image (height, width) becomes a stack (4, height, width) of bytes; colour channels become planes of the
    stack. Everything else becomes a vector of single-precision numbers.
    """

    observation: tuple[int, ...]
    image: bool
    stack: int = STACK
    """Observations that a network sees at once, if they are images."""

    @classmethod
    def of(cls, observation: NDArray[np.generic]) -> InputShape:
        """The input for observations like this one."""
        image = (
            observation.dtype == np.uint8
            and observation.ndim in (2, 3)
            and min(observation.shape[:2]) >= SMALLEST_IMAGE
        )
        return cls(tuple(observation.shape), image)

    @property
    def planes(self) -> int:
        """Planes of one observation."""
        return self.observation[2] if len(self.observation) == 3 else 1

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        if self.image:
            return (self.stack * self.planes, *self.observation[:2])
        return (int(np.prod(self.observation)),)

    def empty(self, count: int) -> NDArray[np.generic]:
        """Room for a batch of inputs."""
        return np.empty((count, *self.shape), dtype=np.uint8 if self.image else np.float32)

    def write(self, observations: Sequence[NDArray[np.generic]], into: NDArray[np.generic]) -> None:
        """Assemble one input from observations, oldest first: `stack` of them for images, the last for vectors."""
        if not self.image:
            into[...] = observations[-1].ravel()
            return
        planes = self.planes
        for place, observation in enumerate(observations):
            part = into[place * planes : (place + 1) * planes]
            part[...] = observation if planes == 1 else np.moveaxis(observation, 2, 0)


def batch_of_nodes(nodes: Sequence[Node], shape: InputShape) -> NDArray[np.generic]:
    """The inputs of nodes; at the start of an episode the first screen is repeated."""
    batch = shape.empty(len(nodes))
    for place, node in enumerate(nodes):
        path = [node.state.observation]
        ancestor = node
        for _ in range(shape.stack - 1):
            ancestor = ancestor.parent or ancestor
            path.append(ancestor.state.observation)
        shape.write(path[::-1], batch[place])
    return batch
