"""The abstract states that an episode has met, by numbers, and how often a rollout went on from each of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from noveltree.errors import RecordError
from noveltree.features import Abstraction, FeatureSet, Indices
from noveltree.simulators import State
from noveltree.tree import Arrays, Lookahead, Node

#: Instead of an abstract state's number: none yet, or none at all because the node is terminal.
UNKNOWN = -1
#: The arrays as which abstract states are stored, with their kinds and dimensions.
STORED = {"abstract_states": ("u", 2), "visits": ("i", 1)}


class HierarchicalNode(Node):
    """A node that knows its abstract state. Its labels are those of a low-level tree and outlive the time step."""

    __slots__ = ("abstract",)

    def __init__(self, *path: Any) -> None:
        super().__init__(*path)
        #: The number of the abstract state.
        self.abstract = UNKNOWN

    def begin_time_step(self, *, cached: bool) -> None:
        self.cached = cached


def abstract_of(node: Node) -> int:
    """The number of a node's abstract state."""
    assert isinstance(node, HierarchicalNode)
    return node.abstract


class AbstractStates:
    """Numbers abstract states in the order in which they are met, and counts visits of each in this episode."""

    def __init__(self, abstraction: Abstraction) -> None:
        self._abstraction = abstraction
        self._numbers: dict[bytes, int] = {}
        #: By number: how many times a rollout of the high level came there.
        self.visits: list[int] = []

    def number(self, state: State) -> int:
        """The number of the abstract state of `state`, a new one if it was not met before."""
        number = self._numbers.setdefault(self._abstraction(state), len(self.visits))
        if number == len(self.visits):
            self.visits.append(0)
        return number

    def store(self) -> Arrays:
        """All of this as arrays: `abstract_states` (states, bytes) and `visits` (states,)."""
        count = len(self.visits)
        states = np.frombuffer(b"".join(self._numbers), dtype=np.uint8)
        return {
            "abstract_states": states.reshape(count, states.size // max(1, count)),
            "visits": np.array(self.visits, dtype=np.int64),
        }

    def restore(self, arrays: Arrays, lookahead: Lookahead) -> None:
        """Be as they were when they were stored beside a lookahead; complain if they cannot have been."""
        if {name: (array.dtype.kind, array.ndim) for name, array in arrays.items()} != STORED:
            raise RecordError("The abstract states of a hierarchical lookahead are missing or are something else.")
        visits = arrays["visits"].tolist()
        numbers = {row.tobytes(): number for number, row in enumerate(arrays["abstract_states"])}
        if (
            len(numbers) != len(arrays["abstract_states"])
            or len(numbers) != len(visits)
            or min(visits, default=0) < 0
            or not all(self._fits(node, numbers, lookahead.root) for node in lookahead.nodes())
        ):
            raise RecordError("The abstract states of a hierarchical lookahead are not those of its nodes.")
        self._numbers, self.visits = numbers, visits

    def _fits(self, node: Node, numbers: Mapping[bytes, int], root: Node) -> bool:
        if abstract_of(node) == UNKNOWN:
            return node.terminal or (node is root and node.is_leaf())
        return abstract_of(node) == numbers.get(self._abstraction(node.state))


class WholeStates(FeatureSet):
    """One feature for each abstract state, the node's own number: novelty of width n, over the whole tuple."""

    def __init__(self) -> None:
        self.size = 0

    def __call__(self, node: Node) -> Indices:
        abstract = abstract_of(node)
        self.size = max(self.size, abstract + 1)
        return np.array([abstract], dtype=np.int32)
