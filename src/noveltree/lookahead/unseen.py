"""Where nothing pays, ties go where something is that the critical path has not seen.

A lookahead that finds no reward ties all actions. Novelty tells what is worth looking at within one lookahead; here
it tells what is worth going to: values of pixels, or of variables, that no executed action has led to so far, or
that none has led to lately.
"""

from __future__ import annotations

from typing import Any

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
#: How many values the numbers of an observation have room for, together, if they have more than a byte each.
_ROOM = 2**23
_SEEN, _AGES = "seen", "seen.ages"


class UnseenIfIdle:
    """The best action, of tied ones that with the larger subtree, where one is worth more than nothing.

    Elsewhere the one of the tied actions below which most is unseen: a node d actions below the root counts as many
    values as it has that the critical path never had, times 0.95^d, and an action as much as the best node below it
    that is reached without losing a life and does not end the episode. If that is nothing, or the same, it walks
    on: nine times of ten it does what it did last, if that is among them, and otherwise any of them.

    What has not been seen for so many time steps is unseen again, if it is said for how many (`forgets_after`): in
    the end everything was seen once, and an agent that has long stayed in one place is to leave it.
    """

    def __init__(self, forgets_after: int | None = None) -> None:
        self._forgets_after = forgets_after
        self._seen: _Seen | None = None
        self._paid = best_action(larger_subtree)
        self._idle = best_action(self._most_unseen)

    def __call__(self, root: Node, values: ActionValues, rng: np.random.Generator) -> int:
        self._all_seen(root).add(root.state.observation, root.time)
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
        self._all_seen(lookahead.root).remember(memory, lookahead.root.time)

    def _most_unseen(self, root: Node, tied: list[int], rng: np.random.Generator) -> int:
        unseen = [self.unseen(root, action) for action in tied]
        tied = [action for action, most in zip(tied, unseen, strict=True) if most == max(unseen)]
        if root.action in tied and rng.random() < _WALKING_ON:
            return root.action
        return random_tie(root, tied, rng)

    def _all_seen(self, node: Node) -> _Seen:
        if self._seen is None:
            places = _Places(node.state.observation)
            self._seen = _Seen(places) if self._forgets_after is None else _SeenLately(places, self._forgets_after)
        return self._seen


class _Seen:
    """The values that each of some numbers has had."""

    def __init__(self, places: _Places) -> None:
        self._places = places
        self._had = np.zeros(places.shape, dtype=np.bool_)

    def add(self, observation: NDArray[np.generic], time: int) -> None:
        self._had[self._places.of(observation), np.arange(observation.size)] = True

    def count_new(self, observation: NDArray[np.generic]) -> int:
        return int(_count_new(self._places.of(observation), self._had))

    def memory(self) -> Arrays:
        return {_SEEN: np.packbits(self._had)}

    def remember(self, memory: Arrays, time: int) -> None:
        bits = memory.get(_SEEN)
        room = -(-self._had.size // 8)
        if bits is None or len(memory) > 1 or bits.dtype != np.uint8 or bits.shape != (room,):
            raise RecordError(_NO_MEMORY)
        self._had = np.unpackbits(bits, count=self._had.size).astype(np.bool_).reshape(self._had.shape)


class _SeenLately(_Seen):
    """The values that each of some numbers has had in the last so many time steps."""

    def __init__(self, places: _Places, steps: int) -> None:
        super().__init__(places)
        self._steps = steps
        #: After which time step a value was had last, counted from 1; 0 if it never was.
        self._last = np.zeros(places.shape, dtype=np.int32)
        self._now = 0

    def add(self, observation: NDArray[np.generic], time: int) -> None:
        self._last[self._places.of(observation), np.arange(observation.size)] = time + 1
        self._forget(time + 1)

    def memory(self) -> Arrays:
        """Which values were had lately, by their places in the table, and how many time steps ago."""
        seen = np.flatnonzero(self._had).astype(np.int32)
        return {_SEEN: seen, _AGES: self._now - self._last.ravel()[seen]}

    def remember(self, memory: Arrays, time: int) -> None:
        seen, ages = memory.get(_SEEN), memory.get(_AGES)
        if (
            seen is None
            or ages is None
            or len(memory) > 2
            or not seen.dtype == ages.dtype == np.int32
            or not seen.ndim == ages.ndim == 1
            or len(seen) != len(ages)
            or not np.all((seen >= 0) & (seen < self._last.size))
            or not np.all((ages >= 0) & (ages < min(self._steps, time)))
        ):
            raise RecordError(_NO_MEMORY)
        self._last[...] = 0
        self._last.ravel()[seen] = time - ages  # what was seen last is what the root's parent showed
        self._forget(time)

    def _forget(self, now: int) -> None:
        self._now = now
        np.greater(self._last, max(now - self._steps, 0), out=self._had)


_NO_MEMORY = "What the episode has seen is missing or is something else."


class _Places:
    """Where a table of values, one row for each, has those of some numbers.

    A number of one byte has 256 values. Values of others are sorted into places, whole numbers in turn and the rest
    by their bits. So two may be taken for one, the more rarely the fewer numbers there are, and memory is bounded.
    """

    def __init__(self, example: NDArray[np.generic]) -> None:
        self._size, self._bytes = example.size, example.itemsize == 1
        self._rows = 256 if self._bytes else min(max(_ROOM // max(example.size, 1), 256), 2**16)

    @property
    def shape(self) -> tuple[int, int]:
        """Values come first: screens are made of few of them, so that the table is read in long runs."""
        return self._rows, self._size

    def of(self, observation: NDArray[np.generic]) -> NDArray[np.unsignedinteger[Any]]:
        """The row of each number's value."""
        if observation.size != self._size or (observation.itemsize == 1) != self._bytes:
            raise SimulatorError(
                f"Observations of {self._size} {'bytes' if self._bytes else 'numbers'} are expected, as before, "
                f"not one of shape {observation.shape} and type {observation.dtype}."
            )
        numbers = np.ascontiguousarray(observation).ravel()
        if self._bytes:
            return numbers.view(np.uint8)
        whole = numbers.dtype.kind in "iu"
        keys = numbers.astype(np.int64) if whole else _mixed(numbers.astype(np.float64) + 0.0)
        return (keys % self._rows).astype(np.uint16)


def _mixed(numbers: NDArray[np.float64]) -> NDArray[np.uint64]:
    """The bits of numbers, every one spread over all of them: the finalizer of splitmix64 (Steele, Lea and Flood,
    2014). Numbers that are nearly the same differ in a few bits only, and zero has none whatever its sign.
    """
    keys = numbers.view(np.uint64)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = keys ^ (keys >> np.uint64(31))
    return mixed


@kernel
def _count_new(places: NDArray[np.unsignedinteger[Any]], had: NDArray[np.bool_]) -> int:
    new = 0
    for variable in range(places.shape[0]):
        new += not had[places[variable], variable]
    return new
