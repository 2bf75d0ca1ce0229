"""A model of the world as far as an episode has met it: states by keys, and counted outcomes of their actions.

Unlike a tree, a model has each state once, however many paths lead there, and it is not forgotten when the root
moves on. Pairs of a state and an action are numbered `state * actions + action`; the outcomes of a pair are a
linked list.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noveltree.errors import RecordError
from noveltree.kernels import kernel
from noveltree.tree import Arrays

#: Instead of a state: the episode has ended. Instead of an outcome: there are no more.
END = -1

_TYPES = {"first": "i", "certain": "b", "target": "i", "reward": "d", "count": "i", "next": "i"}


class Outcome(NamedTuple):
    """What a state and an action led to, and how often."""

    state: int
    """The number of the state, or END."""
    reward: float
    draws: int


@dataclass(frozen=True, slots=True)
class Reach:
    """What can be reached from a state by transitions of a model."""

    order: NDArray[np.int32]
    """The states, those first that the fewest actions lead to."""
    depth: NDArray[np.int32]
    """For every state of the model, how many actions lead there at least; -1 if none do."""
    collected: NDArray[np.float64]
    """The rewards on the way there."""
    by: NDArray[np.int32]
    """The first action of that way."""


class Model:
    """Which states were met, and what their actions led to."""

    def __init__(self, actions: int) -> None:
        self.actions = actions
        self.keys: dict[bytes, int] = {}
        self._first = array("i")  # of each pair: its latest outcome
        self._certain = array("b")  # of each pair: whether it has no other
        self._target, self._reward = array("i"), array("d")  # of each outcome
        self._count, self._next = array("i"), array("i")

    def __len__(self) -> int:
        return len(self.keys)

    def number(self, key: bytes) -> int:
        """The number of a state, a new one if it was not met before."""
        number = self.keys.setdefault(key, len(self.keys))
        if (number + 1) * self.actions > len(self._first):
            self._first.extend([END] * self.actions)
            self._certain.extend([0] * self.actions)
        return number

    def add(self, state: int, action: int, target: int, reward: float, *, certain: bool = False) -> None:
        """Count an outcome of an action; a certain one is the only one."""
        pair = state * self.actions + action
        self._certain[pair] = certain
        outcome = self._first[pair]
        while outcome != END:
            if self._target[outcome] == target and self._reward[outcome] == reward:
                self._count[outcome] += 1
                return
            outcome = self._next[outcome]
        self._target.append(target)
        self._reward.append(reward)
        self._count.append(1)
        self._next.append(self._first[pair])
        self._first[pair] = len(self._target) - 1

    def outcomes(self, state: int, action: int) -> Iterator[Outcome]:
        """What an action has led to, the newest kind of outcome first."""
        outcome = self._first[state * self.actions + action]
        while outcome != END:
            yield Outcome(self._target[outcome], self._reward[outcome], self._count[outcome])
            outcome = self._next[outcome]

    def is_known(self, state: int, action: int, draws: int) -> bool:
        """Whether all is known of an action: its one outcome if that is certain, or that of so many draws."""
        pair = state * self.actions + action
        if self._certain[pair]:
            return True
        return sum(outcome.draws for outcome in self.outcomes(state, action)) >= draws

    def is_certain(self, state: int, action: int) -> bool:
        """Whether an action was tried and has one outcome only."""
        return bool(self._certain[state * self.actions + action])

    def is_expanded(self, state: int, draws: int) -> bool:
        """Whether all actions of a state are known."""
        return all(self.is_known(state, action, draws) for action in range(self.actions))

    def is_certain_within(self, reach: Reach) -> bool:
        """Whether all that was tried in these states has one outcome only."""
        first, _, _, _, certain, _ = self._kernel_arrays()
        return not np.any((first[reach.order] != END) & (certain[reach.order] == 0))

    def reach(self, root: int) -> Reach:
        """What can be reached from a state."""
        first, target, reward, following, _, _ = self._kernel_arrays()
        return Reach(*_reach(first, target, reward, following, root))

    def values(
        self,
        reach: Reach,
        worth: NDArray[np.float64],
        *,
        discount: float,
        sweeps: int,
        enough: int = 1,
        otherwise: float = -np.inf,
    ) -> NDArray[np.float64]:
        """V of all states that are reached, by value iteration until values settle or for so many sweeps.

        V(s) is the maximum over its actions of the mean of reward + discount * V(s'); an end is worth 0. An action
        with less than `enough` draws counts `otherwise`, unless its outcome is certain. A state of which no action
        counts is worth what `worth` has for it.
        """
        first, target, reward, following, certain, count = self._kernel_arrays()
        settled: NDArray[np.float64] = _iterate(
            *(first, target, reward, following, certain, count),
            *(reach.order, worth, discount, sweeps, enough, otherwise),
        )
        return settled

    def action_value(
        self, state: int, action: int, values: Sequence[float], *, discount: float, newer: float = 0.0
    ) -> float | None:
        """Q of an action, given V, and what states are worth that are newer than V; None if it was not tried."""
        total, draws = 0.0, 0
        for target, reward, count in self.outcomes(state, action):
            draws += count
            value = 0.0 if target == END else values[target] if target < len(values) else newer
            total += count * (reward + discount * value)
        return total / draws if draws else None

    def to_arrays(self) -> Arrays:
        """All but the keys, from which `restore` goes on."""
        return {name: np.array(getattr(self, f"_{name}"), dtype=kind) for name, kind in _TYPES.items()}

    def restore(self, keys: list[bytes], arrays: Arrays) -> None:
        """Be the model that was made to arrays, of states with these keys; a RecordError says that it is none."""
        pairs, outcomes = len(keys) * self.actions, arrays["target"].size
        links = np.concatenate((arrays["first"], arrays["next"]))
        if not (
            len(set(keys)) == len(keys)
            and all(arrays[name].dtype == np.dtype(kind) for name, kind in _TYPES.items())
            and all(arrays[name].shape == (pairs,) for name in ("first", "certain"))
            and all(arrays[name].shape == (outcomes,) for name in ("reward", "count", "next"))
            and np.all((links >= END) & (links < outcomes))
            and np.all(arrays["next"] < np.arange(outcomes))  # an outcome follows a newer one
            and np.all((arrays["target"] >= END) & (arrays["target"] < len(keys)))
            and np.all(arrays["count"] > 0)
        ):
            raise RecordError("What was remembered of the world is missing or is something else.")
        self.keys = {key: number for number, key in enumerate(keys)}
        for name, kind in _TYPES.items():
            setattr(self, f"_{name}", array(kind, arrays[name].tolist()))

    def _kernel_arrays(self) -> tuple[NDArray[Any], ...]:
        first, certain, target, reward, count, following = self.to_arrays().values()
        shape = (-1, self.actions)
        return first.reshape(shape), target, reward, following, certain.reshape(shape), count


@kernel
def _reach(
    first: NDArray[np.int32],
    target: NDArray[np.int32],
    reward: NDArray[np.float64],
    following: NDArray[np.int32],
    root: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]:
    """Breadth-first over the outcomes of all actions."""
    states, actions = first.shape
    order = np.empty(states, np.int32)
    depth = np.full(states, -1, np.int32)
    by = np.full(states, -1, np.int32)
    collected = np.zeros(states)
    order[0], depth[root] = root, 0
    met, done = 1, 0
    while done < met:
        state = order[done]
        done += 1
        for action in range(actions):
            outcome = first[state, action]
            while outcome >= 0:
                successor = target[outcome]
                if successor >= 0 and depth[successor] < 0:
                    depth[successor] = depth[state] + 1
                    collected[successor] = collected[state] + reward[outcome]
                    by[successor] = action if state == root else by[state]
                    order[met] = successor
                    met += 1
                outcome = following[outcome]
    return order[:met], depth, collected, by


@kernel
def _iterate(
    first: NDArray[np.int32],
    target: NDArray[np.int32],
    reward: NDArray[np.float64],
    following: NDArray[np.int32],
    certain: NDArray[np.int8],
    count: NDArray[np.int32],
    order: NDArray[np.int32],
    worth: NDArray[np.float64],
    discount: float,
    sweeps: int,
    enough: int,
    otherwise: float,
) -> NDArray[np.float64]:
    """Gauss-Seidel, the farthest states first: a tree is done after one sweep."""
    actions = first.shape[1]
    values = worth.copy()
    for _ in range(sweeps):
        change = 0.0
        for i in range(order.shape[0] - 1, -1, -1):
            state = order[i]
            best = -np.inf
            for action in range(actions):
                outcome = first[state, action]
                total, draws = 0.0, 0
                while outcome >= 0:
                    value = reward[outcome]
                    if target[outcome] >= 0:
                        value += discount * values[target[outcome]]
                    total += count[outcome] * value
                    draws += count[outcome]
                    outcome = following[outcome]
                known = draws >= enough or certain[state, action]
                best = max(best, total / draws if known else otherwise)
            if best > -np.inf:
                change = max(change, abs(best - values[state]))
                values[state] = best
        if change < 1e-9:
            break
    return values
