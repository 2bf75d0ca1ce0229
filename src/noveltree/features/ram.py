"""RAM: one feature for each of the 256 values of each of the 128 bytes of the Atari's memory."""

from __future__ import annotations

import numpy as np

from noveltree.errors import InputError
from noveltree.features.feature_set import FeatureSet, Indices
from noveltree.simulators.atari import AtariState
from noveltree.tree import Node

BYTES = 128
VALUES = 256


class RamFeatures(FeatureSet):
    """The byte values of memory: 128 x 256 = 32,768 features, 128 of them true."""

    size = BYTES * VALUES

    def __init__(self) -> None:
        self._offsets = (np.arange(BYTES) * VALUES).astype(np.int32)

    def __call__(self, node: Node) -> Indices:
        state = node.state
        if not isinstance(state, AtariState):
            raise InputError(f"RAM features are those of Atari states, not of a {type(state).__name__}.")
        return self._offsets + state.ram
