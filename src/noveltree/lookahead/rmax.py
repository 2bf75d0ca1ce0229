"""R-max (Brafman and Tennenholtz, 2002): a model of what actions lead to, and what is not known is the best.

Trials from the root do what would be best if every action that is not known yet led to the best that was ever
met. So they either collect much or learn something. The action that is executed is the best by what is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noveltree.errors import RecordError
from noveltree.lookahead.action_selection import TIE_TOLERANCE
from noveltree.lookahead.budget import Meter
from noveltree.lookahead.cells import Cells
from noveltree.lookahead.model import END, Model
from noveltree.lookahead.planner import ActionValues
from noveltree.lookahead.questions import Planning
from noveltree.simulators.simulator import State
from noveltree.tree import Arrays, Lookahead, Node


@dataclass(slots=True)
class RMax:
    """Trials that are optimistic about all that is not known, over the cells that states are in.

    An action is known in a cell after so many draws (`known_after`). As trials go on from states and not from
    cells, what an action leads to within a cell differs from draw to draw, as it does where there is chance:
    both are outcomes with counts. An action is repeated until a trial has left a cell. The model is kept for
    the whole episode.
    """

    horizon: int
    discount: float
    cells: int
    known_after: int
    node_type: type[Node] = Node
    _log: _Log = field(init=False)
    _world: _World | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._log = _Log()

    def plan(self, lookahead: Lookahead, meter: Meter, *, rng: np.random.Generator) -> Planning:
        yield from ()  # nothing is asked
        root = lookahead.root.state
        while not meter.exhausted(lookahead, besides=1):
            self._trial(lookahead, meter, self._known_world(root, len(lookahead.root.children)), rng)

    def action_values(self, lookahead: Lookahead) -> ActionValues:
        root, actions = lookahead.root, len(lookahead.root.children)
        world = self._known_world(root.state, actions)
        model, number = world.model, world.number(root.state)
        reach = model.reach(number)
        usual = np.full(len(model), self._log.mean_reward * self._weight())
        values = model.values(reach, usual, discount=self.discount, sweeps=self.horizon)
        root.value = float(values[number])
        return [
            model.action_value(number, action, values.tolist(), discount=self.discount) for action in range(actions)
        ]

    def memory(self) -> Arrays:
        return self._log.to_arrays()

    def remember(self, memory: Arrays, lookahead: Lookahead) -> None:
        self._log, self._world = _Log.from_arrays(memory, len(lookahead.root.children)), None

    def _trial(self, lookahead: Lookahead, meter: Meter, world: _World, rng: np.random.Generator) -> None:
        """Do what is best, if what is not known is, until the horizon or the end of the episode."""
        state, model, best = lookahead.root.state, world.model, self._best()
        cell = world.number(state)
        values = model.values(
            model.reach(cell),
            np.full(len(model), best),
            discount=self.discount,
            sweeps=self.horizon,
            enough=self.known_after,
            otherwise=best,
        ).tolist()
        left, action = self.horizon, self._action(world, cell, values, best, rng)
        while left and not meter.exhausted(lookahead, besides=1):
            left -= 1
            before, (state, reward, terminal) = state, lookahead.simulate(state, action)
            target = END if terminal else world.number(state)
            model.add(cell, action, target, reward)
            self._log.add(before, action, reward, terminal, state)
            if terminal:
                return
            if target != cell or np.array_equal(before.observation, state.observation):
                cell, action = target, self._action(world, target, values, best, rng)

    def _action(
        self, world: _World, cell: int, values: Sequence[float], best: float, rng: np.random.Generator
    ) -> int:
        """The best action of a cell, at random among equals; a cell that this trial has met is worth the best."""
        model = world.model
        found = [
            model.action_value(cell, action, values, discount=self.discount, newer=best)
            if model.is_known(cell, action, self.known_after)
            else best
            for action in range(model.actions)
        ]
        greatest = max(q for q in found if q is not None)
        tied = [a for a, q in enumerate(found) if q is not None and q >= greatest - TIE_TOLERANCE]
        return tied[int(rng.random() * len(tied))]

    def _known_world(self, root: State, actions: int) -> _World:
        """The model of all that was met, anew if cells are other ones by now."""
        cells = Cells(self.cells) if self._world is None else self._world.cells
        if cells.widen(self._log.observations(root)) or self._world is None:
            self._world = _World(cells, actions)
            self._log.tell(self._world)
        return self._world

    def _best(self) -> float:
        """What is worth the most: the greatest reward for ever, or anything new if no reward was ever met."""
        rewards = self._log.reward
        return max(0.0, *rewards) * self._weight() if any(rewards) else 1.0

    def _weight(self) -> float:
        """What a reward of 1 for every action up to the horizon is worth."""
        if self.discount == 1.0:
            return float(self.horizon)
        return (1.0 - self.discount**self.horizon) / (1.0 - self.discount)


class _World:
    """A model of cells."""

    def __init__(self, cells: Cells, actions: int) -> None:
        self.cells = cells
        self.model = Model(actions)

    def number(self, state: State) -> int:
        return self.model.number(self.cells(state.observation))


class _Log:
    """Every transition that was drawn in an episode, from which a model can be made with any cells."""

    def __init__(self) -> None:
        self._before: list[NDArray[Any]] = []
        self._after: list[NDArray[Any]] = []
        self._action: list[int] = []
        self._terminal: list[bool] = []
        self.reward: list[float] = []
        self._total = 0.0
        self._looked_at = 0

    def add(self, before: State, action: int, reward: float, terminal: bool, after: State) -> None:
        self._before.append(before.observation)
        self._action.append(action)
        self._terminal.append(terminal)
        self._after.append(after.observation)
        self.reward.append(reward)
        self._total += reward

    @property
    def mean_reward(self) -> float:
        return self._total / max(1, len(self.reward))

    def observations(self, root: State) -> NDArray[Any]:
        """Those that were not asked for before, and that of the root: one a row."""
        new, self._looked_at = self._after[self._looked_at :], len(self._after)
        return np.stack([root.observation, *new])

    def tell(self, world: _World) -> None:
        """Tell a model everything."""
        model, cells = world.model, world.cells
        log = zip(self._before, self._action, self.reward, self._terminal, self._after, strict=True)
        for before, action, reward, terminal, after in log:
            target = END if terminal else model.number(cells(after))
            model.add(model.number(cells(before)), action, target, reward)

    def to_arrays(self) -> Arrays:
        if not self.reward:
            return {}
        return {
            "before": np.stack(self._before),
            "action": np.array(self._action, dtype=np.int64),
            "reward": np.array(self.reward, dtype=np.float64),
            "terminal": np.array(self._terminal, dtype=np.bool_),
            "after": np.stack(self._after),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays, actions: int) -> _Log:
        """The log that was made to arrays; a RecordError says that it is none."""
        log = cls()
        if not arrays:
            return log
        names = ("before", "action", "reward", "terminal", "after")
        drawn = arrays["action"].size if "action" in arrays else -1
        if (
            {*arrays} != {*names}
            or any(len(arrays[name]) != drawn for name in names)
            or arrays["before"].shape != arrays["after"].shape
            or [arrays[name].dtype.kind for name in names[1:4]] != ["i", "f", "b"]
            or not np.all((arrays["action"] >= 0) & (arrays["action"] < actions))
        ):
            raise RecordError("What was remembered of the world is missing or is something else.")
        log._before, log._after = list(arrays["before"]), list(arrays["after"])
        log._action, log._terminal = arrays["action"].tolist(), arrays["terminal"].tolist()
        log.reward = arrays["reward"].tolist()
        log._total = float(sum(log.reward))
        return log
