"""What is observed of a Gymnasium environment: an image of bytes, or one vector of numbers."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from noveltree.errors import InputError, SimulatorError

#: The types of which images are.
_IMAGES = (np.uint8, np.bool_)


class _Part(NamedTuple):
    """A part of an observation: the keys that lead to it and how many numbers it has, 0 if it has none."""

    path: tuple[Hashable, ...]
    size: int
    whole: bool  # whole numbers only
    image: tuple[int, ...] | None = None  # its shape, if it is one
    low: Any = -math.inf
    high: Any = math.inf


#: Pixels on each side from which on an image among other things is a picture of the whole.
_PICTURE = 32


class EnvironmentObserver:
    """Turns observations of `space` into arrays that nobody else holds.

    Images, boxes of bytes with two or three dimensions, stay as they are, and so do planes of booleans, as bytes 0
    and 1. All other spaces are flattened: box, discrete and binary spaces one after another, those of a dict in
    the order of its sorted keys, into a vector of int64 if all of them have whole numbers and of float64
    otherwise. Other spaces, texts for example, are left out. So is everything beside a picture, an image of at
    least 32 x 32 pixels, that is the only one in a dict.
    """

    def __init__(self, space: spaces.Space[Any]) -> None:
        parts = tuple(_parts(space, ()))
        pictures = [part for part in parts if part.image and min(part.image[:2]) >= _PICTURE]
        observed = pictures if len(pictures) == 1 else [part for part in parts if part.size]
        self.left_out: tuple[str, ...] = tuple(_name(part.path) for part in parts if part not in observed)
        self._parts = tuple(observed)
        if not self._parts:
            raise InputError(f"Nothing can be observed as numbers in the observation space {space}.")
        self._image = observed[0].image if pictures == observed or isinstance(space, spaces.Box) else None
        self._size = sum(part.size for part in self._parts)
        self._dtype = np.int64 if all(part.whole for part in self._parts) else np.float64

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the greatest value of each number; infinite where there is none."""
        ends = [(part.low, part.high) for part in self._parts]
        sizes = [part.size for part in self._parts]
        low, high = (
            np.concatenate([np.broadcast_to(np.ravel(end), size) for end, size in zip(side, sizes, strict=True)])
            for side in zip(*ends, strict=True)
        )
        return low.astype(np.float64), high.astype(np.float64)

    def __call__(self, observation: Any) -> NDArray[Any]:
        if self._image is not None:
            try:
                image = np.array(_at(observation, self._parts[0].path))
            except (LookupError, TypeError) as error:
                raise _mismatch(f"{type(observation).__name__} ({error})", f"an image {self._image}") from error
            if image.shape != self._image or image.dtype not in _IMAGES:
                raise _mismatch(f"{image.dtype} {image.shape}", f"uint8 {self._image}")
            return image.astype(np.uint8, copy=False)
        try:
            arrays = [np.asarray(_at(observation, part.path)).ravel() for part in self._parts]
            vector: NDArray[Any] = np.concatenate(arrays, dtype=self._dtype)
        except (LookupError, TypeError, ValueError) as error:
            raise _mismatch(f"{type(observation).__name__} ({error})", f"{self._size} numbers") from error
        if vector.size != self._size:
            raise _mismatch(f"{vector.size} numbers", str(self._size))
        return vector


def _parts(space: spaces.Space[Any], path: tuple[Hashable, ...]) -> Iterator[_Part]:
    match space:
        case spaces.Dict():
            for key in sorted(space.spaces, key=str):
                yield from _parts(space.spaces[key], (*path, key))
        case spaces.Tuple():
            for position, part in enumerate(space.spaces):
                yield from _parts(part, (*path, position))
        case spaces.Discrete():
            yield _Part(path, 1, whole=True)
        case spaces.Box() | spaces.MultiDiscrete() | spaces.MultiBinary():
            whole = space.dtype is not None and space.dtype.kind in "biu"
            image = isinstance(space, spaces.Box) and space.dtype in _IMAGES and len(space.shape) in (2, 3)
            bounds = (space.low, space.high) if isinstance(space, spaces.Box) else (-math.inf, math.inf)
            yield _Part(path, math.prod(space.shape), whole, space.shape if image else None, *bounds)
        case _:
            yield _Part(path, 0, whole=True)


def _at(observation: Any, path: tuple[Hashable, ...]) -> Any:
    for key in path:
        observation = observation[key]
    return observation


def _name(path: tuple[Hashable, ...]) -> str:
    return "/".join(map(str, path)) or "observation"


def _mismatch(found: str, expected: str) -> SimulatorError:
    return SimulatorError(
        f"The environment returned an observation that is not of its observation space: {found} instead of "
        f"{expected}; fix the environment or its observation_space."
    )
