"""Where nothing pays, ties go where something is that the critical path has never seen.

A lookahead that finds no reward ties all actions. Novelty tells what is worth looking at within one lookahead; here
it tells what is worth going to: values of pixels, or of variables, that no executed action has led to so far.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noveltree.errors import RecordError, SimulatorError
from noveltree.kernels import kernel
from noveltree.lookahead.action_selection import best_action, larger_subtree, random_tie, something_pays
from noveltree.lookahead.planner import ActionValues
from noveltree.simulators.simulator import lives_of
from noveltree.tree import Arrays, Lookahead, Node, outcomes

#: What is one action farther away counts so much as much.
_NEARNESS = 0.95
#: How likely the last action is repeated where nothing is to be gained and nothing to be seen.
_WALKING_ON = 0.9
_SEEN, _VARIABLES, _VALUES = "seen", "seen.variables", "seen.values"


class UnseenIfIdle:
    """The best action, of tied ones that with the larger subtree, where one is worth more than nothing.

    Elsewhere the one of the tied actions below which most is unseen: a node d actions below the root counts as many
    values as it has that the critical path never had, times 0.95^d, and an action as much as the best node below it
    that is reached without losing a life and does not end the episode. If that is nothing, or the same, it walks
    on: nine times of ten it does what it did last, if that is among them, and otherwise any of them.
    """

    def __init__(self) -> None:
        self._seen: _SeenBytes | _SeenNumbers | None = None
        self._paid = best_action(larger_subtree)
        self._idle = best_action(self._most_unseen)

    def __call__(self, root: Node, values: ActionValues, rng: np.random.Generator) -> int:
        self._all_seen(root).add(root.state.observation)
        return (self._paid if something_pays(values) else self._idle)(root, values, rng)

    def unseen(self, root: Node, action: int) -> float:
        """How much is unseen below an action of the root."""
        seen, lives, most = self._all_seen(root), lives_of(root.state), 0.0
        stack = list(outcomes(root.children[action]))
        while stack:
            node = stack.pop()
            if node.terminal or lives_of(node.state) < lives:
                continue
            most = max(most, _NEARNESS ** (node.time - root.time) * seen.count_new(node.state.observation))
            stack.extend(node.offspring())
        return most

    def memory(self) -> Arrays:
        return {} if self._seen is None else self._seen.memory()

    def remember(self, memory: Arrays, lookahead: Lookahead) -> None:
        if not memory and not lookahead.root.time:
            return
        self._all_seen(lookahead.root).remember(memory)

    def _most_unseen(self, root: Node, tied: list[int], rng: np.random.Generator) -> int:
        unseen = [self.unseen(root, action) for action in tied]
        tied = [action for action, most in zip(tied, unseen, strict=True) if most == max(unseen)]
        if root.action in tied and rng.random() < _WALKING_ON:
            return root.action
        return random_tie(root, tied, rng)

    def _all_seen(self, node: Node) -> _SeenBytes | _SeenNumbers:
        if self._seen is None:
            observation = node.state.observation
            self._seen = _SeenBytes(observation.size) if observation.dtype == np.uint8 else _SeenNumbers()
        return self._seen


class _SeenBytes:
    """The values that each of some bytes has had."""

    def __init__(self, variables: int) -> None:
        # Values come first: screens are made of few of them, so that the table is read in long runs.
        self._had = np.zeros((256, variables), dtype=np.bool_)

    def add(self, observation: NDArray[np.uint8]) -> None:
        self._had[self._bytes(observation), np.arange(observation.size)] = True

    def count_new(self, observation: NDArray[np.uint8]) -> int:
        return int(_count_new(self._bytes(observation), self._had))

    def memory(self) -> Arrays:
        return {_SEEN: np.packbits(self._had)}

    def remember(self, memory: Arrays) -> None:
        bits = memory.get(_SEEN)
        if bits is None or len(memory) > 1 or bits.dtype != np.uint8 or bits.shape != (self._had.size // 8,):
            raise RecordError("What the episode has seen is missing or is something else.")
        self._had = np.unpackbits(bits).astype(np.bool_).reshape(self._had.shape)

    def _bytes(self, observation: NDArray[np.uint8]) -> NDArray[np.uint8]:
        if observation.dtype != np.uint8 or observation.size != self._had.shape[1]:
            raise SimulatorError(
                f"Observations of {self._had.shape[1]} bytes are expected, as before, not one of shape "
                f"{observation.shape} and type {observation.dtype}."
            )
        return observation.ravel()


class _SeenNumbers:
    """The values that each of some numbers of any kind has had, told apart by their bytes."""

    def __init__(self) -> None:
        self._had: set[tuple[int, bytes]] = set()

    def add(self, observation: NDArray[np.generic]) -> None:
        self._had.update(_numbers(observation))

    def count_new(self, observation: NDArray[np.generic]) -> int:
        return sum(number not in self._had for number in _numbers(observation))

    def memory(self) -> Arrays:
        had = sorted(self._had)
        values = np.frombuffer(b"".join(value for _, value in had), dtype=np.uint8)
        return {
            _VARIABLES: np.array([variable for variable, _ in had], dtype=np.int64),
            _VALUES: values.reshape(len(had), -1) if had else np.empty((0, 0), dtype=np.uint8),
        }

    def remember(self, memory: Arrays) -> None:
        variables, values = memory.get(_VARIABLES), memory.get(_VALUES)
        if (
            variables is None
            or values is None
            or len(memory) > 2
            or variables.dtype != np.int64
            or values.dtype != np.uint8
            or (variables.ndim, values.ndim) != (1, 2)
            or len(variables) != len(values)
        ):
            raise RecordError("What the episode has seen is missing or is something else.")
        self._had = {(v, value.tobytes()) for v, value in zip(variables.tolist(), values, strict=True)}


def _numbers(observation: NDArray[np.generic]) -> list[tuple[int, bytes]]:
    return [(variable, number.tobytes()) for variable, number in enumerate(observation.ravel())]


@kernel
def _count_new(values: NDArray[np.uint8], had: NDArray[np.bool_]) -> int:
    new = 0
    for variable in range(values.shape[0]):
        new += not had[values[variable], variable]
    return new
