"""Novelty: which states are worth looking at (Definitions 4 and 5).

A novelty measure remembers, within one time step, which features were seen in the lookahead. `enter` is for a newly
generated state: whether it is novel comes out of the same pass over its features that enters them. `holds` asks
about a state that a later rollout meets again, and changes nothing that anybody could ask for. Cached nodes never
get here: they count as novel and their features are not entered.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from noveltree.features.feature_set import FeatureSet, Indices
from noveltree.kernels import kernel
from noveltree.simulators.simulator import State

T = TypeVar("T", bound=np.generic)


class Novelty(Protocol):
    """A test of novelty over the states of one time step's lookahead."""

    def clear(self) -> None:
        """Forget everything: a new time step begins."""
        ...

    def enter(self, state: State, depth: int) -> bool:
        """Enter the features of a newly generated state at `depth` actions below the root; was it novel?"""
        ...

    def holds(self, state: State, depth: int) -> bool:
        """Does a state that was entered as novel at `depth`, and is met again, stay novel?"""
        ...


class ClassicNovelty:
    """Definition 4: a state is novel if it is the first to make some feature true."""

    def __init__(self, features: FeatureSet) -> None:
        self._features = features
        self._seen: NDArray[np.bool_] = np.zeros(features.size, dtype=np.bool_)

    def clear(self) -> None:
        self._seen.fill(False)

    def enter(self, state: State, depth: int) -> bool:
        true_features = self._features(state)
        if self._features.size > self._seen.size:
            self._seen = _grown(self._seen, self._features.size, fill=0)
        return _see(self._seen, true_features)

    def holds(self, state: State, depth: int) -> bool:
        return True  # decided once, when the state was generated


class DepthNovelty:
    """Definition 5: a state is novel if it makes some feature true at a smaller depth than any before it."""

    _NEVER = np.iinfo(np.int16).max

    def __init__(self, features: FeatureSet) -> None:
        self._features = features
        self._smallest_depth: NDArray[np.int16] = np.full(features.size, self._NEVER, dtype=np.int16)
        # A feature for each state (by identity) of which it was last the shallowest holder. While it still is,
        # the state's features need not be computed again.
        self._witness: dict[int, int] = {}

    def clear(self) -> None:
        self._smallest_depth.fill(self._NEVER)
        self._witness.clear()

    def enter(self, state: State, depth: int) -> bool:
        true_features = self._features(state)
        if self._features.size > self._smallest_depth.size:
            self._smallest_depth = _grown(self._smallest_depth, self._features.size, fill=self._NEVER)
        lowered = _lower(self._smallest_depth, true_features, depth)
        if lowered >= 0:
            self._witness[id(state)] = lowered
        return lowered >= 0

    def holds(self, state: State, depth: int) -> bool:
        """Is the state still the shallowest holder of some feature?"""
        witness = self._witness.get(id(state), -1)
        if witness < 0 or self._smallest_depth[witness] != depth:
            witness = _first_at(self._smallest_depth, self._features(state), depth)
            self._witness[id(state)] = witness
        return witness >= 0


class NoPruning:
    """Every state is novel: the search of CPL."""

    def clear(self) -> None:
        pass

    def enter(self, state: State, depth: int) -> bool:
        return True

    def holds(self, state: State, depth: int) -> bool:
        return True


def _grown(table: NDArray[T], size: int, *, fill: int) -> NDArray[T]:
    """A copy of `table` with room for `size` features and more, for feature sets that grow."""
    grown = np.full(max(size, 2 * table.size), fill, dtype=table.dtype)
    grown[: table.size] = table
    return grown


@kernel
def _see(seen: NDArray[np.bool_], features: Indices) -> bool:
    """Enter the features; was one of them unseen?"""
    unseen = False
    for i in range(features.shape[0]):
        if not seen[features[i]]:
            seen[features[i]] = True
            unseen = True
    return unseen


@kernel
def _lower(smallest_depth: NDArray[np.int16], features: Indices, depth: int) -> int:
    """Enter the features; one of those whose smallest depth that lowered, or -1."""
    lowered = -1
    for i in range(features.shape[0]):
        if smallest_depth[features[i]] > depth:
            smallest_depth[features[i]] = depth
            lowered = features[i]
    return lowered


@kernel
def _first_at(smallest_depth: NDArray[np.int16], features: Indices, depth: int) -> int:
    """The first of the features whose smallest depth is `depth`, or -1."""
    for i in range(features.shape[0]):
        if smallest_depth[features[i]] == depth:
            return int(features[i])
    return -1
