"""Atoms: f_{i,v} is true if variable i of an observed vector has the value v, for every v that was met."""

from __future__ import annotations

import numpy as np

from noveltree.errors import InputError
from noveltree.features.bins import Bins
from noveltree.features.feature_set import FeatureSet, Indices
from noveltree.tree import Node

Value = int | float | None  # None stands for NaN, which does not equal itself


class AtomFeatures(FeatureSet):
    """One feature for each value met of each variable; exactly one per variable is true.

    Features are numbered as they are met, so that `size` grows. Which states are novel does not depend on the
    numbering. Floating-point variables have one value per number met, or, with `bins`, per bin; without them a
    continuous variable is novel at nearly every step.
    """

    def __init__(self, bins: Bins | None = None) -> None:
        self.size = 0
        self._bins = bins
        self._index_of: list[dict[Value, int]] = []  # per variable: the feature of each value met

    def __call__(self, node: Node) -> Indices:
        vector = node.state.observation.ravel()
        if vector.size != len(self._index_of):
            self._begin(vector.size)
        if self._bins is not None:
            vector = self._bins(vector)
        values = vector.tolist()
        indices = [index_of.get(value, -1) for index_of, value in zip(self._index_of, values, strict=True)]
        if -1 in indices:
            indices = [self._index(variable, value) for variable, value in enumerate(values)]
        return np.array(indices, dtype=np.int32)

    def _begin(self, variables: int) -> None:
        if self._index_of:
            raise InputError(
                f"Atoms of vectors of {len(self._index_of)} numbers cannot be taken of one of {variables}: "
                "use one feature set per simulator."
            )
        self._index_of = [{} for _ in range(variables)]

    def _index(self, variable: int, value: int | float) -> int:
        """The feature of a value, a new one if the value was not met before."""
        key = value if value == value else None
        index = self._index_of[variable].setdefault(key, self.size)
        if index == self.size:
            self.size += 1
        return index
