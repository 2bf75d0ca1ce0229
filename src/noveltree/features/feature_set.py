"""What a feature set is: a function from a state to the indices of its true features."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from noveltree.simulators.simulator import State

Indices = NDArray[np.int32]


class FeatureSet(Protocol):
    """The features f_0, ..., f_{size-1} of a state, each true or false."""

    @property
    def size(self) -> int:
        """How many features there are; a set that grows as values are met answers with what it has now."""
        ...

    def __call__(self, state: State) -> Indices:
        """The indices of the features that are true in `state`, without repetition, in any order."""
        ...
