"""Small worlds: all states within reach, each of them once, and value iteration over them.

A tree meets a state again on every path that leads there. Where states come back, as they do on a grid, a few
hundred interactions are enough to know the world, and what is known of it is not forgotten when the root moves
on.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

from noveltree.errors import RecordError
from noveltree.lookahead.budget import Meter
from noveltree.lookahead.cells import Cells
from noveltree.lookahead.model import END, Model, Reach
from noveltree.lookahead.planner import ActionValues
from noveltree.lookahead.questions import Planning
from noveltree.lookahead.state_keys import StateKey, StateKeys, observed_keys
from noveltree.simulators.simulator import State
from noveltree.tree import Arrays, Lookahead, Node, decode_states, encode_states

#: By how much the depth of what was looked at tells actions apart that are worth the same.
_DEEPER = 1e-6
#: A state enters the frontier in a cell that no state was in before, or after all of these.
_NEW, _OLD = 0, 1


@dataclass(slots=True)
class Graph:
    """Expands the states within reach, those first that are in a new cell, and of these the nearest.

    States are told apart by `keys`. The model is kept for the whole episode; if an executed action leads elsewhere
    than it says, then keys do not tell all states apart, and everything is forgotten. Where chance decides, an
    action is drawn `samples` times, and if there is time for more, twice as often, and so on. One interaction is
    left for the action to execute, for the tree has no more than the root.

    A state that was not expanded is worth what it takes to go on to the horizon at the rate of the way there, the
    rewards collected by the actions that it took. Equal values are told apart by how deep the model is below them.
    """

    horizon: int
    discount: float
    cells: int
    samples: int
    keys: StateKeys = observed_keys
    node_type: type[Node] = Node
    _model: Model | None = field(default=None, init=False)
    _states: list[State] = field(default_factory=list, init=False)
    _root: int = field(default=0, init=False)
    _lookahead: Lookahead | None = field(default=None, init=False)
    _key: StateKey | None = field(default=None, init=False)

    def plan(self, lookahead: Lookahead, meter: Meter, *, rng: np.random.Generator) -> Planning:
        yield from ()  # nothing is asked
        self._lookahead = lookahead
        if self._model is None or not self._foreseen(lookahead):
            self._forget(lookahead)
        self._root = self._number(lookahead.root.state)
        self._states[self._root] = lookahead.root.state  # not one that looks the same
        wanted = self.samples
        while self._expand_all(lookahead, meter, wanted):
            if self.model.is_certain_within(self.model.reach(self._root)):
                lookahead.root.solved = True
                return
            wanted *= 2

    def action_values(self, lookahead: Lookahead) -> ActionValues:
        model = self.model
        reach = model.reach(self._root)
        values = model.values(reach, self._worth(reach), discount=self.discount, sweeps=self.horizon)
        known = values.tolist()
        found = [model.action_value(self._root, a, known, discount=self.discount) for a in range(model.actions)]
        lookahead.root.value = float(values[self._root])
        deepest = [int(reach.depth[reach.by == a].max(initial=0)) for a in range(model.actions)]
        bonus = _DEEPER * max(1.0, abs(lookahead.root.value)) / max(1, *deepest)
        return [None if q is None else q + bonus * depth for q, depth in zip(found, deepest, strict=True)]

    def memory(self) -> Arrays:
        if self._model is None:
            return {}
        assert self._lookahead is not None
        return {**self._model.to_arrays(), **encode_states(self._states, self._lookahead.simulator)}

    def remember(self, memory: Arrays, lookahead: Lookahead) -> None:
        self._model, self._states, self._lookahead = None, [], lookahead
        if not memory:
            return
        self._forget(lookahead)
        try:
            self._states = list(decode_states(memory, lookahead.simulator))
            self.model.restore([self._key_of(lookahead, state) for state in self._states], memory)
        except (KeyError, ValueError) as error:
            raise RecordError("What was remembered of the world is missing or is something else.") from error

    @property
    def model(self) -> Model:
        """What is known of the world."""
        assert self._model is not None
        return self._model

    def _forget(self, lookahead: Lookahead) -> None:
        self._model, self._states = Model(len(lookahead.simulator.actions)), []

    def _foreseen(self, lookahead: Lookahead) -> bool:
        """Whether the model knows of what the last action led to."""
        root = lookahead.root
        if root.parent is None or root.action is None:
            return True
        before = self.model.keys.get(self._key_of(lookahead, root.parent.state), END)
        now = self.model.keys.get(self._key_of(lookahead, root.state), END)
        if before == END or not self.model.is_certain(before, root.action):
            return True
        (known,) = self.model.outcomes(before, root.action)
        return known.state == now

    def _key_of(self, lookahead: Lookahead, state: State) -> bytes:
        if self._key is None:
            self._key = self.keys(lookahead)
        return self._key(state)

    def _number(self, state: State) -> int:
        assert self._lookahead is not None
        number = self.model.number(self._key_of(self._lookahead, state))
        if number == len(self._states):
            self._states.append(state)
        return number

    def _expand_all(self, lookahead: Lookahead, meter: Meter, wanted: int) -> bool:
        """Expand all states within reach, with so many draws of what is not certain; False if there was no time."""
        frontier = _Frontier(self, self.model.reach(self._root), wanted)
        return all(
            self._expand(lookahead, meter, frontier, state, action, wanted)
            for state in frontier
            for action in range(self.model.actions)
        )

    def _expand(
        self, lookahead: Lookahead, meter: Meter, frontier: _Frontier, state: int, action: int, wanted: int
    ) -> bool:
        """Try an action, again and again while it does not lead out of the cell; False if the budget is exhausted.

        Steps may be so small that nothing new is met within one.
        """
        cell = frontier.cell(state)
        while not self.model.is_known(state, action, wanted):
            if meter.exhausted(lookahead, besides=1):
                return False
            (following, reward, terminal), certain = lookahead.draw(self._states[state], action)
            target = END if terminal else self._number(following)
            self.model.add(state, action, target, reward, certain=certain)
            if not terminal and frontier.enter(target, state) and certain and frontier.cell(target) == cell:
                state = target
        return True

    def _worth(self, reach: Reach) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """What states are worth that were not expanded."""
        depth = np.maximum(reach.depth, 1)
        left = np.maximum(self.horizon - reach.depth, 0)
        weights = left if self.discount == 1.0 else (1.0 - self.discount**left) / (1.0 - self.discount)
        return np.asarray(reach.collected / depth * weights)


class _Frontier:
    """The states within reach that were not expanded; iterating takes them in their order."""

    def __init__(self, graph: Graph, reach: Reach, wanted: int) -> None:
        self._graph, self._wanted = graph, wanted
        self._cells = Cells(graph.cells)
        states = [graph._states[state] for state in reach.order.tolist()]
        self._cells.widen(np.stack([state.observation for state in states]))
        self._depth: dict[int, int] = {}
        self._taken: set[bytes] = set()
        self._queue: list[tuple[int, int, int, int]] = []
        for state in reach.order.tolist():
            self._enter(state, int(reach.depth[state]))

    def cell(self, state: int) -> bytes:
        return self._cells(self._graph._states[state].observation)

    def enter(self, state: int, before: int) -> bool:
        """Let a state enter that was reached from another one; False if it was within reach already."""
        if state in self._depth:
            return False
        self._enter(state, self._depth[before] + 1)
        return True

    def _enter(self, state: int, depth: int) -> None:
        self._depth[state] = depth
        cell = self.cell(state)
        rank = _OLD if cell in self._taken else _NEW
        self._taken.add(cell)
        model = self._graph.model
        if depth < self._graph.horizon and not model.is_expanded(state, self._wanted):
            heapq.heappush(self._queue, (rank, depth, len(self._depth), state))

    def __iter__(self) -> _Frontier:
        return self

    def __next__(self) -> int:
        if not self._queue:
            raise StopIteration
        return heapq.heappop(self._queue)[-1]
