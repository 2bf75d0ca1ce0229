"""Novelty tables: which features were seen in the lookahead of a time step, and how deep (Definitions 4 and 5).

A table is a function of features and depths alone. `enter` is for a newly generated node: the feature that made it
novel comes out of the same pass over its features that enters them. `holds` and `holder` ask about a node that is
met again, and change nothing. Every answer names a feature, or none, so that a node can say what made it novel.
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
    def enter(self, features: Indices, depth: int) -> int:
        """Enter the features of a node `depth` actions below the root; one that made it novel, or NO_FEATURE."""

    @abstractmethod
    def holds(self, feature: int, depth: int) -> bool:
        """Does a feature that made a node at `depth` novel still do so?"""

    @abstractmethod
    def holder(self, features: Indices, depth: int) -> int:
        """One of the features of a node at `depth` that would make it novel, or NO_FEATURE; nothing is entered."""


class ClassicTable(NoveltyTable):
    """Definition 4: a node is novel if it is the first to make some feature true."""

    def __init__(self) -> None:
        super().__init__(np.False_)

    def enter(self, features: Indices, depth: int) -> int:
        return _see(self._entries, features)

    def holds(self, feature: int, depth: int) -> bool:
        return feature != NO_FEATURE  # decided once, when the node was entered

    def holder(self, features: Indices, depth: int) -> int:
        return _first_unseen(self._entries, features)


class DepthTable(NoveltyTable):
    """Definition 5: a node is novel if it makes some feature true at a smaller depth than any before it."""

    def __init__(self) -> None:
        super().__init__(np.int16(np.iinfo(np.int16).max))

    def enter(self, features: Indices, depth: int) -> int:
        return _lower(self._entries, features, depth)

    def holds(self, feature: int, depth: int) -> bool:
        """Is the feature true nowhere shallower?"""
        return feature != NO_FEATURE and bool(self._entries[feature] >= depth)

    def holder(self, features: Indices, depth: int) -> int:
        return _first_from(self._entries, features, depth)


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
def _lower(smallest: NDArray[np.int16], features: Indices, depth: int) -> int:
    """Enter the features; one of those whose smallest depth that lowered, or -1."""
    lowered = -1
    for i in range(features.shape[0]):
        if smallest[features[i]] > depth:
            smallest[features[i]] = depth
            lowered = features[i]
    return lowered


@kernel
def _first_from(smallest: NDArray[np.int16], features: Indices, depth: int) -> int:
    """The first of the features whose smallest depth is `depth` or more, or -1."""
    for i in range(features.shape[0]):
        if smallest[features[i]] >= depth:
            return int(features[i])
    return -1
