"""What a feature set is: a function from a node to the indices of its true features."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from noveltree.tree import Node

Indices = NDArray[np.int32]


class FeatureSet(ABC):
    """The features f_0, ..., f_{size-1} of a node, each true or false."""

    #: How many features there are; a set that grows as values are met says what it has now.
    size: int
    #: What has to be asked of networks, by the names of their heads, before the features of a node are known.
    heads: tuple[str, ...] = ()

    @abstractmethod
    def __call__(self, node: Node) -> Indices:
        """The indices of the features that are true in `node`, without repetition, in any order."""
