"""Hidden units of a network: whether each is active, and whether it is not (Junyent et al., 2019)."""

from __future__ import annotations

import numpy as np

from noveltree.errors import InputError
from noveltree.features.feature_set import FeatureSet, Indices
from noveltree.tree import Node


class UnitFeatures(FeatureSet):
    """Two features a unit, of which exactly one is true: 2i if unit i is zero, 2i + 1 if it is above zero.

    The units have to be asked for; `heads` may name what is to be asked in the same pass through the network. How
    many there are is known when the first node has been asked.
    """

    def __init__(self, *, heads: tuple[str, ...] = ("units",)) -> None:
        if "units" not in heads:
            raise InputError(f"Features of hidden units must ask for 'units', not for {heads}.")
        self.size = 0
        self.heads = heads
        self._inactive = np.empty(0, dtype=np.int32)

    def __call__(self, node: Node) -> Indices:
        if node.units is None:
            raise InputError("The features are hidden units of a network, and no network was asked for them.")
        if not self.size:
            self.size = 2 * node.units.size
            self._inactive = np.arange(0, self.size, 2, dtype=np.int32)
        return self._inactive + (node.units > 0)
