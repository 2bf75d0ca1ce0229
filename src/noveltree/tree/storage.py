"""A lookahead as arrays, and back: exactly, whatever its nodes hold.

Nodes are numbered from the oldest kept ancestor of the root on, then in the order of `Lookahead.nodes`, so that
parents come before their children. There is an array for each slot of the nodes, with one entry or row per node:

    parent, action                  -1 stands for None
    reward, value, time, number, terminal, cached, novel, witness, solved, and what a kind of node adds
    unsolved                        (nodes, actions): whether an action is in the node's list
    termination_cost, termination_cost.known
    base_policy                     0 if it is None, 1 if uniform, 2 if it is the next row of ...
    base_policy.probabilities       (nodes with probabilities, actions)
    units, units.known              (nodes with units, units), and which nodes these are
    state.observation               (nodes, ...)
    state.bytes, state.end          the encoded states one after another, and where each of them ends
    draws, certain                  where chance decides; outcomes of an action follow each other backwards
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noveltree.errors import InputError, RecordError
from noveltree.simulators.simulator import Simulator, State, StorableStates, chance_of
from noveltree.tree.base_policy import UNIFORM, BasePolicy, Probabilities
from noveltree.tree.lookahead import Lookahead
from noveltree.tree.node import HISTORY, Node

Arrays = dict[str, NDArray[Any]]

_NONE = -1
_UNKNOWN, _UNIFORM, _PROBABILITIES = range(3)
#: The slots of every node that hold a number or a label.
_NUMBERS = ("reward", "value", "time", "number", "terminal", "cached", "novel", "witness", "solved")
#: Those of them that tell something where chance decides.
_DRAWN = ("draws", "certain")
#: What the other arrays hold, as kinds of numpy's types.
_KINDS = {
    "parent": "i",
    "action": "i",
    "unsolved": "b",
    "termination_cost": "bif",
    "termination_cost.known": "b",
    "base_policy": "u",
    "base_policy.probabilities": "f",
    "units": "biuf",
    "units.known": "b",
    "state.observation": "biuf",
    "state.bytes": "u",
    "state.end": "i",
}
#: Which numbers are stored as what: the first that fits all of a slot. Numbers of numpy other than doubles are
#: none of these: in the arithmetic that follows, their precision would be another one after reading.
_NUMBER_TYPES: tuple[tuple[Any, type[np.generic]], ...] = (
    (bool | np.bool_, np.bool_),
    (int, np.int64),
    (int | float, np.float64),
)


@dataclass(frozen=True, slots=True)
class Counts:
    """What a lookahead holds besides its nodes."""

    ancestors: int
    """Nodes above the root that are kept."""
    kept: bool
    interactions: int
    cached: int
    pruned: int
    deepest: int
    generated: int
    uniform: bool
    """Whether the base policy of new nodes is uniform; otherwise it has to be asked for."""
    termination_cost: float | None
    """That of new nodes; None if it has to be asked for."""


@dataclass(frozen=True, slots=True)
class StoredLookahead:
    """A lookahead without its simulator."""

    arrays: Arrays
    counts: Counts


def store_lookahead(lookahead: Lookahead) -> StoredLookahead:
    """All nodes of a lookahead and the kept ancestors of its root, as arrays."""
    _storage_of(lookahead.simulator)  # complains about states that cannot be stored before anything else does
    if _kind(lookahead.base_policy) == _PROBABILITIES:
        raise InputError("A lookahead whose new nodes are born with probabilities cannot be stored.")
    ancestors = list(_ancestors(lookahead.root))[::-1]
    nodes = [*ancestors, *lookahead.nodes()]
    number = {node: i for i, node in enumerate(nodes)}
    actions = len(lookahead.root.children)
    costs = [node.termination_cost for node in nodes]
    probabilities = [node.base_policy.values for node in nodes if isinstance(node.base_policy, Probabilities)]
    units = [node.units for node in nodes if node.units is not None]
    arrays: Arrays = {
        "parent": np.array([_NONE if n.parent is None else number[n.parent] for n in nodes], dtype=np.int64),
        "action": np.array([_NONE if n.action is None else n.action for n in nodes], dtype=np.int64),
        "unsolved": np.array([[a in n.unsolved for a in range(actions)] for n in nodes], dtype=np.bool_),
        "termination_cost": _numbers("termination_cost", [0.0 if cost is None else cost for cost in costs]),
        "termination_cost.known": np.array([cost is not None for cost in costs], dtype=np.bool_),
        "base_policy": np.array([_kind(node.base_policy) for node in nodes], dtype=np.uint8),
        "base_policy.probabilities": np.array(probabilities, dtype=np.float64).reshape(-1, actions),
        "units": _stack(units) if units else np.empty((0, 0), dtype=np.bool_),
        "units.known": np.array([node.units is not None for node in nodes], dtype=np.bool_),
        **encode_states([node.state for node in nodes], lookahead.simulator),
    }
    for name in _number_slots(lookahead.simulator, lookahead.node_type):
        arrays[name] = _numbers(name, [getattr(node, name) for node in nodes])
    counts = Counts(
        ancestors=len(ancestors),
        kept=lookahead.kept,
        interactions=lookahead.interactions,
        cached=lookahead.cached,
        pruned=lookahead.pruned,
        deepest=lookahead.deepest,
        generated=lookahead.generated,
        uniform=lookahead.base_policy is not None,
        termination_cost=lookahead.termination_cost,
    )
    return StoredLookahead(arrays, counts)


def restore_lookahead(
    stored: StoredLookahead,
    simulator: Simulator,
    *,
    node_type: type[Node] = Node,
    rng: np.random.Generator | None = None,
    samples: int = 1,
    free: bool = False,
) -> Lookahead:
    """The lookahead that was stored, over a simulator of the same game; complain if it cannot be one."""
    storage = _storage_of(simulator)
    arrays, counts, actions = stored.arrays, stored.counts, len(simulator.actions)
    numbers = _number_slots(simulator, node_type)
    _check_sizes(arrays, actions, numbers)
    _check_tree(arrays, counts, actions)
    parents, costs, known = (arrays[n].tolist() for n in ("parent", "termination_cost", "termination_cost.known"))
    nodes: list[Node] = []
    for i, (state, policy) in enumerate(zip(_states(arrays, storage), _policies(arrays), strict=True)):
        parent = nodes[parents[i]] if i else None
        action = int(arrays["action"][i])
        cost = costs[i] if known[i] else None
        # Reward, terminal, time and number are set below, with all other numbers.
        node = node_type(
            state, parent, None if action == _NONE else action, 0.0, False, 0, 0, actions, policy, cost
        )
        node.unsolved = np.flatnonzero(arrays["unsolved"][i]).tolist()
        if i > counts.ancestors:  # ancestors of the root have no children any more
            assert parent is not None
            node.next_outcome, parent.children[action] = parent.children[action], node
        nodes.append(node)
    known_units = [node for node, known in zip(nodes, arrays["units.known"].tolist(), strict=True) if known]
    for node, row in zip(known_units, arrays["units"], strict=True):
        node.units = row.copy()
    for name in numbers:
        for node, value in zip(nodes, arrays[name].tolist(), strict=True):
            setattr(node, name, value)
    root = nodes[counts.ancestors]
    lookahead = Lookahead(
        simulator,
        root.state,
        base_policy=UNIFORM if counts.uniform else None,
        termination_cost=counts.termination_cost,
        node_type=node_type,
        rng=rng,
        samples=samples,
        free=free,
    )
    lookahead.root = root
    lookahead.kept = counts.kept
    lookahead.interactions = counts.interactions
    lookahead.cached = counts.cached
    lookahead.pruned = counts.pruned
    lookahead.deepest = counts.deepest
    lookahead.generated = counts.generated
    return lookahead


def encode_states(states: Sequence[State], simulator: Simulator) -> Arrays:
    """States as arrays: their observations, their bytes one after another, and where each of them ends."""
    storage = _storage_of(simulator)
    encoded = [storage.encode_state(state) for state in states]
    return {
        "state.observation": _stack([state.observation for state in states]),
        "state.bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8),
        "state.end": np.cumsum([len(state) for state in encoded], dtype=np.int64),
    }


def decode_states(arrays: Arrays, simulator: Simulator) -> Iterator[State]:
    """The states that were encoded."""
    return _states(arrays, _storage_of(simulator))


def _storage_of(simulator: Simulator) -> StorableStates:
    if not isinstance(simulator, StorableStates):
        raise InputError(
            f"The states of a {type(simulator).__name__} cannot be stored: derive a class from it that has the "
            "methods encode_state(state) -> bytes and decode_state(data, observation) -> State."
        )
    return simulator


def _ancestors(node: Node) -> Iterator[Node]:
    while node.parent is not None:
        node = node.parent
        yield node


def _number_slots(simulator: Simulator, node_type: type[Node]) -> tuple[str, ...]:
    """The slots that hold a number or a label, and tell something."""
    drawn = () if chance_of(simulator) is None else _DRAWN
    return (*_NUMBERS, *drawn, *_added_slots(node_type))


def _added_slots(node_type: type[Node]) -> list[str]:
    """The slots that a kind of node has and `Node` has not."""
    if node_type.__dictoffset__:
        raise InputError(f"Nodes of type {node_type.__name__} cannot be stored: give all their classes __slots__.")
    added = [kind for kind in node_type.__mro__ if not issubclass(Node, kind)]
    return sorted(
        name for kind in added for name, slot in vars(kind).items() if isinstance(slot, types.MemberDescriptorType)
    )


def _numbers(name: str, values: Sequence[Any]) -> NDArray[Any]:
    for fitting, stored_as in _NUMBER_TYPES:
        if all(isinstance(value, fitting) for value in values):
            return np.array(values, dtype=stored_as)
    kinds = ", ".join(sorted({type(value).__name__ for value in values}))
    raise InputError(f"The slot {name!r} of nodes cannot be stored: it holds {kinds}, not an int or a float.")


def _stack(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    if len({(array.dtype, array.shape) for array in arrays}) > 1:
        raise InputError("Observations, or hidden units, that differ in shape or type cannot be stored.")
    return np.stack(arrays)


def _kind(policy: BasePolicy | None) -> int:
    if policy is None:
        return _UNKNOWN
    if policy is UNIFORM:
        return _UNIFORM
    if isinstance(policy, Probabilities):
        return _PROBABILITIES
    raise InputError(f"A base policy of type {type(policy).__name__} cannot be stored: use Probabilities.")


def _policies(arrays: Arrays) -> Iterator[BasePolicy | None]:
    rows = iter(arrays["base_policy.probabilities"].tolist())
    for kind in arrays["base_policy"].tolist():
        yield Probabilities(next(rows)) if kind == _PROBABILITIES else UNIFORM if kind == _UNIFORM else None


def _states(arrays: Arrays, storage: StorableStates) -> Iterator[State]:
    data = arrays["state.bytes"].tobytes()
    bounds = pairwise([0, *arrays["state.end"].tolist()])
    for (start, end), observation in zip(bounds, arrays["state.observation"], strict=True):
        # A copy, so that a node does not keep the observations of all others in memory.
        yield storage.decode_state(data[start:end], observation.copy())


def _check_sizes(arrays: Arrays, actions: int, numbers: Sequence[str]) -> None:
    """Raise RecordError if arrays are missing, hold something else, or have the wrong shape."""
    kinds = {**_KINDS, **dict.fromkeys(numbers, "bif")}
    misfits = {name for name, array in arrays.items() if array.dtype.kind not in kinds.get(name, "")}
    if misfits := misfits | (kinds.keys() - arrays.keys()):
        raise RecordError(f"A stored lookahead does not fit its agent: {', '.join(sorted(misfits))}.")
    nodes = arrays["parent"].size
    shapes: dict[str, tuple[int, ...]] = {
        "unsolved": (nodes, actions),
        "base_policy.probabilities": (int(np.sum(arrays["base_policy"] == _PROBABILITIES)), actions),
        "units": (int(np.sum(arrays["units.known"])), *arrays["units"].shape[1:]),
        "state.observation": (nodes, *arrays["state.observation"].shape[1:]),
        "state.bytes": (int(arrays["state.end"].max(initial=0)),),
    }
    for name, array in arrays.items():
        if array.shape != (shape := shapes.get(name, (nodes,))):
            raise RecordError(f"The array {name!r} of a stored lookahead has shape {array.shape}, not {shape}.")


def _check_tree(arrays: Arrays, counts: Counts, actions: int) -> None:
    """Raise RecordError if the nodes do not form a tree with a path of ancestors above it."""
    parent, action, time, root = arrays["parent"], arrays["action"], arrays["time"], counts.ancestors
    below = slice(root + 1, None)
    if not (
        0 <= root <= min(HISTORY, parent.size - 1)
        and np.array_equal(parent[: root + 1], np.arange(_NONE, root))
        and np.all(parent[below] >= root)
        and np.all(parent < np.arange(parent.size))
        and np.all(action >= np.where(parent == _NONE, _NONE, 0))
        and np.all(action < actions)
        and _have_outcomes(arrays, parent[below] * actions + action[below], below)
        and np.array_equal(time[1:], time[parent[1:]] + 1)
        and np.all(arrays["base_policy"] <= _PROBABILITIES)
        and np.all(np.diff(arrays["state.end"], prepend=0) >= 0)
    ):
        raise RecordError("The nodes of a stored lookahead do not form a tree.")


def _have_outcomes(arrays: Arrays, places: NDArray[Any], below: slice) -> bool:
    """Whether every action has one outcome, or where chance decides at least one draw for each."""
    if "draws" not in arrays:
        return np.unique(places).size == places.size
    counts = np.unique(places, return_counts=True)[1]
    unsure = np.count_nonzero(~arrays["certain"][below])
    return bool(np.all(arrays["draws"] >= 1) and counts[counts > 1].sum() <= unsure)
