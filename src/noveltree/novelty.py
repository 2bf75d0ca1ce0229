"""Novelty tables: which features were seen in the lookahead of a time step, and how deep (Definitions 4 and 5).

A table is a function of features and of one measure of nodes: their depth, or what was collected on the way there.
`enter` is for a newly generated node: the feature that made it novel comes out of the same pass over its features
that enters them. `holds` and `holder` ask about a node that is met again, and change nothing. Every answer names a
feature, or none, so that a node can say what made it novel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noveltree.features.feature_set import Indices
from noveltree.kernels import kernel
from noveltree.tree import NO_FEATURE, Node


class NoveltyTable(ABC):
    """An entry for each feature, which starts blank in every time step."""

    def __init__(self, blank: np.generic) -> None:
        self._blank = blank
        self._entries: NDArray[Any] = np.full(0, blank)

    @property
    def size(self) -> int:
        """How many features there is room for."""
        return self._entries.size

    def of(self, node: Node, root: Node) -> NoveltyTable:
        """The table in which a node below a root is looked up: this one, whatever the node."""
        return self

    def clear(self) -> None:
        """Forget everything: a new time step begins."""
        self._entries.fill(self._blank)

    def make_room(self, size: int) -> None:
        """Make room for `size` features and more: feature sets may grow."""
        grown = np.full(max(size, 2 * self.size), self._blank)
        grown[: self.size] = self._entries
        self._entries = grown

    @abstractmethod
    def enter(self, features: Indices, measure: float) -> int:
        """Enter the features of a node of this measure; one that made it novel, or NO_FEATURE."""

    @abstractmethod
    def holds(self, feature: int, measure: float) -> bool:
        """Does a feature that made a node of this measure novel still do so?"""

    @abstractmethod
    def holder(self, features: Indices, measure: float) -> int:
        """One of the features of such a node that would make it novel, or NO_FEATURE; nothing is entered."""


class ClassicTable(NoveltyTable):
    """Definition 4: a node is novel if it is the first to make some feature true."""

    def __init__(self) -> None:
        super().__init__(np.False_)

    def enter(self, features: Indices, measure: float) -> int:
        return _see(self._entries, features)

    def holds(self, feature: int, measure: float) -> bool:
        return feature != NO_FEATURE  # decided once, when the node was entered

    def holder(self, features: Indices, measure: float) -> int:
        return _first_unseen(self._entries, features)


class DepthTable(NoveltyTable):
    """Definition 5: a node is novel if it makes some feature true at a smaller depth than any before it."""

    def __init__(self) -> None:
        super().__init__(np.int16(np.iinfo(np.int16).max))

    def enter(self, features: Indices, measure: float) -> int:
        return _lower(self._entries, features, measure)

    def holds(self, feature: int, measure: float) -> bool:
        """Is the feature true nowhere shallower?"""
        return feature != NO_FEATURE and bool(self._entries[feature] >= measure)

    def holder(self, features: Indices, measure: float) -> int:
        return _first_from(self._entries, features, measure)


class RewardTable(NoveltyTable):
    """Shleyfman et al. (2016): a node is novel if it makes some feature true with more reward than any before it.

    The measure is the reward that was collected. Entries are what is missing to it, so that smaller is better.
    """

    def __init__(self) -> None:
        super().__init__(np.float64(np.inf))

    def enter(self, features: Indices, measure: float) -> int:
        return _lower(self._entries, features, -measure)

    def holds(self, feature: int, measure: float) -> bool:
        """Is the feature true nowhere with more reward?"""
        return feature != NO_FEATURE and bool(self._entries[feature] >= -measure)

    def holder(self, features: Indices, measure: float) -> int:
        return _first_from(self._entries, features, -measure)


@kernel
def _see(seen: NDArray[np.bool_], features: Indices) -> int:
    """Enter the features; one of those that were unseen, or -1."""
    unseen = -1
    for i in range(features.shape[0]):
        if not seen[features[i]]:
            seen[features[i]] = True
            unseen = features[i]
    return unseen


@kernel
def _first_unseen(seen: NDArray[np.bool_], features: Indices) -> int:
    """The first of the features that was not seen, or -1."""
    for i in range(features.shape[0]):
        if not seen[features[i]]:
            return int(features[i])
    return -1


@kernel
def _lower(smallest: NDArray[Any], features: Indices, measure: float) -> int:
    """Enter the features; one of those whose smallest measure that lowered, or -1."""
    lowered = -1
    for i in range(features.shape[0]):
        if smallest[features[i]] > measure:
            smallest[features[i]] = measure
            lowered = features[i]
    return lowered


@kernel
def _first_from(smallest: NDArray[Any], features: Indices, measure: float) -> int:
    """The first of the features whose smallest measure is this one or a greater one, or -1."""
    for i in range(features.shape[0]):
        if smallest[features[i]] >= measure:
            return int(features[i])
    return -1
