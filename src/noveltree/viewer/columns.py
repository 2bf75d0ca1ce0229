"""A lookahead as columns, an entry for each node, in the order of generation: what a page draws.

parent      int32       which entry is the parent's; -1 for the root
number      int32       how many nodes of the episode were generated before it
reward      float32     what the action that leads there paid
value       float32     V(n), as of the last backup
share       float32     how likely its parent's base policy is to lead there, or its share of the visits
visits      int32       simulations that went through it, where they are counted
action      uint16      the action that leads there
label       uint8       bits: novel, solved, cached, terminal
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noveltree.errors import InputError
from noveltree.heuristics import Heuristics
from noveltree.lookahead import UctNode
from noveltree.simulators import Draw, Simulator, State, Transition
from noveltree.tree import UNIFORM, Lookahead, Node

NOVEL, SOLVED, CACHED, TERMINAL = 1, 2, 4, 8
_TYPES: dict[str, Any] = {
    "parent": np.int32,
    "number": np.int32,
    "reward": np.float32,
    "value": np.float32,
    "share": np.float32,
    "visits": np.int32,
    "action": np.uint16,
    "label": np.uint8,
}


@dataclass(frozen=True, slots=True)
class Columns:
    """The nodes of a lookahead."""

    arrays: dict[str, NDArray[Any]]

    WIDTH: ClassVar[int] = sum(np.dtype(of_type).itemsize for of_type in _TYPES.values())
    """Bytes of a node."""

    def __len__(self) -> int:
        return len(self.arrays["parent"])

    def to_bytes(self) -> bytes:
        """One column after another, the widest first."""
        return b"".join(self.arrays[name].tobytes() for name in _TYPES)

    @classmethod
    def from_bytes(cls, nodes: int, data: bytes) -> Columns:
        """The columns of so many nodes."""
        arrays, start = {}, 0
        for name, of_type in _TYPES.items():
            arrays[name] = np.frombuffer(data, dtype=of_type, count=nodes, offset=start)
            start += arrays[name].nbytes
        return cls(arrays)


def columns_of(lookahead: Lookahead) -> Columns:
    """The columns of a lookahead as it is."""
    nodes = sorted(lookahead.nodes(), key=lambda node: node.number)
    place = {node: i for i, node in enumerate(nodes)}
    root = lookahead.root
    values: dict[str, list[Any]] = {
        "parent": [-1 if node is root else place[node.parent] for node in nodes],  # type: ignore[index]
        "number": [node.number for node in nodes],
        "reward": [node.reward for node in nodes],
        "value": [node.value for node in nodes],
        "share": _shares(nodes, root),
        "visits": [node.visits if isinstance(node, UctNode) else 0 for node in nodes],
        "action": [node.action or 0 for node in nodes],
        "label": [
            node.novel * NOVEL | node.solved * SOLVED | node.cached * CACHED | node.terminal * TERMINAL
            for node in nodes
        ],
    }
    return Columns({name: np.array(values[name], dtype=of_type) for name, of_type in _TYPES.items()})


def _shares(nodes: list[Node], root: Node) -> list[float]:
    """How likely each node's parent is to lead there."""
    shares = []
    uniform = 1.0 / len(root.children)
    for node in nodes:
        parent = node.parent
        if node is root or parent is None or node.action is None:
            shares.append(1.0)
        elif isinstance(node, UctNode) and isinstance(parent, UctNode):
            shares.append(node.visits / max(parent.visits, node.visits, 1))
        elif parent.base_policy is None or parent.base_policy is UNIFORM:
            shares.append(uniform)
        else:
            shares.append(parent.base_policy.probabilities(len(parent.children))[node.action])
    return shares


#: What was drawn when a node was added, by the node's number.
Drawn = dict[int, Draw]


def grow_again(
    columns: Columns, root: Node, simulator: Simulator, heuristics: Heuristics, drawn: Drawn | None = None
) -> Lookahead:
    """A lookahead with these nodes below the state of `root`: each simulated once more, or as it was `drawn`."""
    source = simulator if drawn is None else _Drawing(simulator, drawn)
    lookahead = Lookahead(
        source,
        root.state,
        base_policy=heuristics.initial_base_policy(),
        termination_cost=heuristics.initial_termination_cost(),
        node_type=type(root),
        rng=np.random.default_rng(0),  # which is not looked at: either nothing is drawn, or it was
    )
    lookahead.root.parent, lookahead.root.action = root.parent, root.action
    lookahead.root.time, lookahead.root.certain = root.time, root.certain
    rows = {name: array.tolist() for name, array in columns.arrays.items()}
    nodes: list[Node] = []
    for i, parent in enumerate(rows["parent"]):
        if parent >= i or rows["action"][i] >= len(simulator.actions):
            raise InputError("The nodes of a lookahead do not form a tree.")
        if isinstance(source, _Drawing):
            source.next = rows["number"][i]
        node = lookahead.root if i == 0 else lookahead.expand(nodes[parent], rows["action"][i])
        label = rows["label"][i]
        node.number, node.value = rows["number"][i], rows["value"][i]
        node.novel, node.solved, node.cached = bool(label & NOVEL), bool(label & SOLVED), bool(label & CACHED)
        if isinstance(node, UctNode):
            node.visits = rows["visits"][i]
        nodes.append(node)
    return lookahead


class _Drawing:
    """A simulator in which chance decides as it did: interactions lead to the nodes that they led to."""

    has_chance = True

    def __init__(self, simulator: Simulator, drawn: Drawn) -> None:
        self._simulator, self._drawn = simulator, drawn
        self.actions = simulator.actions
        #: The number of the node that the next interaction leads to.
        self.next = 0

    def start(self) -> State:
        return self._simulator.start()

    def step(self, state: State, action: int) -> Transition:
        return self.draw(state, action, 0).transition

    def draw(self, state: State, action: int, dice: int) -> Draw:
        return self._drawn[self.next]

    def key(self, state: State) -> bytes:
        """All nodes are told apart: those that were the same are one node."""
        return str(id(state)).encode()

    def close(self) -> None:
        """Whoever made the simulator closes it."""
