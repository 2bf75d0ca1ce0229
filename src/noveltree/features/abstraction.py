"""Abstractions: what the high level of a hierarchical lookahead tells states apart by (Junyent et al., 2021).

An abstract state is a string of bytes; two states have the same one exactly if their strings are equal. Of a screen
it is the gray values of a few large tiles, each in one of a few levels; of a vector it is the vector itself.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noveltree.errors import InputError
from noveltree.features.atoms import AtomFeatures
from noveltree.features.feature_set import FeatureSet, Indices
from noveltree.simulators import AtariState, Size, State
from noveltree.simulators.screen import ImageReducer
from noveltree.tree import Node

_SIZE = re.compile(r"([1-9]\d{0,4})x([1-9]\d{0,4})")
#: What red, green and blue contribute to gray (ITU-R BT.601), in thousandths: whole numbers are exact everywhere.
_LUMINANCE = np.array([299, 587, 114])


class Abstraction(ABC):
    """From a state to its abstract state."""

    @abstractmethod
    def __call__(self, state: State) -> bytes:
        """The abstract state."""

    @abstractmethod
    def atoms(self) -> FeatureSet:
        """The atoms of abstract states: (place, value) for each place in the tuple."""


class WholeObservation(Abstraction):
    """All that is observed is the abstract state."""

    def __call__(self, state: State) -> bytes:
        return state.observation.tobytes()

    def atoms(self) -> FeatureSet:
        return AtomFeatures()


class ScreenTiles(Abstraction):
    """The levels of the tiles of a screen, row by row: level floor(v / 255 * (levels - 1)) of a gray value v."""

    def __init__(self, size: Size, levels: int) -> None:
        if not 2 <= levels <= 256:
            raise InputError(f"The gray values of tiles have 2 to 256 levels, not {levels}.")
        self.size = size
        self.levels = levels
        self._level_of_gray = bytes(gray * (levels - 1) // 255 for gray in range(256))

    def __call__(self, state: State) -> bytes:
        return self._gray(state).tobytes().translate(self._level_of_gray)

    def atoms(self) -> FeatureSet:
        return _TileAtoms(self)

    @abstractmethod
    def _gray(self, state: State) -> NDArray[np.uint8]:
        """The screen, reduced to a pixel for each tile: (height, width)."""


class AtariTiles(ScreenTiles):
    """Tiles of the Atari's whole screen, which the emulator is asked to observe."""

    def _gray(self, state: State) -> NDArray[np.uint8]:
        if not isinstance(state, AtariState):
            raise InputError(f"The tiles of an Atari screen cannot be those of a {type(state).__name__}.")
        width, height = self.size
        if state.small is None or state.small.shape != (height, width):
            raise InputError(
                f"{width} x {height} tiles of screens must be observed: use Atari(game, small=({width}, {height}))."
            )
        return state.small


class ImageTiles(ScreenTiles):
    """Tiles of an image that is the observation, gray or in color."""

    def __init__(self, size: Size, levels: int, shape: tuple[int, ...]) -> None:
        super().__init__(size, levels)
        if len(shape) not in (2, 3) or shape[2:] not in ((), (1,), (3,)):
            raise InputError(
                f"An image has one plane, or three for red, green and blue: its shape cannot be {shape}."
            )
        self._reduce = ImageReducer(shape[0], shape[1], size)

    def _gray(self, state: State) -> NDArray[np.uint8]:
        return self._reduce(_to_gray(state.observation))


class _TileAtoms(FeatureSet):
    """Feature i * levels + v is true if tile i has level v."""

    def __init__(self, tiles: ScreenTiles) -> None:
        self._tiles = tiles
        count = tiles.size[0] * tiles.size[1]
        self.size = count * tiles.levels
        self._first = np.arange(0, self.size, tiles.levels, dtype=np.int32)

    def __call__(self, node: Node) -> Indices:
        return self._first + np.frombuffer(self._tiles(node.state), dtype=np.uint8)


def make_abstraction(start: State, size: Size, levels: int) -> Abstraction:
    """The abstraction for the states of a simulator whose start state is `start`."""
    observation = start.observation
    abstraction: Abstraction
    if isinstance(start, AtariState):
        abstraction = AtariTiles(size, levels)
    elif observation.dtype == np.uint8 and observation.ndim >= 2:
        abstraction = ImageTiles(size, levels, observation.shape)
    else:
        abstraction = WholeObservation()
    abstraction(start)  # complains about tiles that are not observed
    return abstraction


def parse_size(text: str) -> Size:
    """A width and a height from a text like 8x11."""
    if (match := _SIZE.fullmatch(text)) is None:
        raise InputError(f"Tiles are given as their number across and down, such as 8x11, not as {text!r}.")
    return int(match[1]), int(match[2])


def _to_gray(image: NDArray[Any]) -> NDArray[np.uint8]:
    if image.ndim == 2:
        gray: NDArray[np.uint8] = image
    elif image.shape[2] == 1:
        gray = image[:, :, 0]
    else:
        gray = ((image @ _LUMINANCE + 500) // 1000).astype(np.uint8)
    return np.ascontiguousarray(gray)
