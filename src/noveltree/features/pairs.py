"""Pairs: f_{i,j} is true if features i and j of another set are; over them IW(1) is IW(2).

A feature is paired with itself too, so that what is novel by one feature is novel by pairs.
"""

from __future__ import annotations

import numpy as np

from noveltree.errors import InputError
from noveltree.features.feature_set import FeatureSet, Indices
from noveltree.kernels import kernel
from noveltree.tree import Node

#: The most features that are paired: a table has an entry for each of their 100 million pairs.
MOST_FEATURES = 14_142
#: The most features of one node: half a million pairs are entered for it.
MOST_TRUE = 1_000


class PairFeatures(FeatureSet):
    """Pairs of the features of a set. Pair (i, j), i <= j, is number j (j + 1) / 2 + i, however the set grows."""

    def __init__(self, features: FeatureSet) -> None:
        self.features = features
        self.heads = features.heads
        self._check(features.size, 0)

    @property
    def size(self) -> int:  # type: ignore[override]
        features = self.features.size
        return features * (features + 1) // 2

    def __call__(self, node: Node) -> Indices:
        features = self.features(node)
        self._check(self.features.size, features.size)
        return _pairs(np.sort(features))

    def _check(self, size: int, true: int) -> None:
        if size > MOST_FEATURES or true > MOST_TRUE:
            what = f"{size:,} features" if size > MOST_FEATURES else f"{true:,} true features in one state"
            raise InputError(
                f"Novelty of width 2 is for {MOST_FEATURES:,} features at most, of which {MOST_TRUE:,} are true in "
                f"one state, and here are {what}: choose another feature set, or the width 1."
            )


@kernel
def _pairs(features: Indices) -> Indices:
    """The numbers of all pairs of features, which are in ascending order."""
    count = features.shape[0]
    pairs = np.empty(count * (count + 1) // 2, np.int32)
    k = 0
    for j in range(count):
        for i in range(j + 1):
            pairs[k] = features[j] * (features[j] + 1) // 2 + features[i]
            k += 1
    return pairs
