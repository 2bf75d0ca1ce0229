"""Pixels: f_{i,j,c} is true if pixel (i, j) of the observed image has the gray value c."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noveltree.features.feature_set import FeatureSet, Indices
from noveltree.kernels import kernel
from noveltree.tree import Node

VALUES = 256


class PixelFeatures(FeatureSet):
    """All pixels of an image of bytes: 84 x 84 x 256 = 1,806,336 features on Atari, 7,056 of them true."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._pixels = int(np.prod(shape))
        self.size = self._pixels * VALUES

    def __call__(self, node: Node) -> Indices:
        indices = np.empty(self._pixels, dtype=np.int32)
        _pixel_indices(node.state.observation.ravel(), indices)
        return indices


@kernel
def _pixel_indices(pixels: NDArray[np.uint8], indices: Indices) -> None:
    # All pixels of one value are neighbours: screens are made of few colors, so that a novelty table is
    # read and written in long runs instead of one entry per cache line.
    count = pixels.shape[0]
    for pixel in range(count):
        indices[pixel] = np.int32(pixels[pixel]) * np.int32(count) + np.int32(pixel)
