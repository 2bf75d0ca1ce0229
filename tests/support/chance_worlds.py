"""Small worlds in which chance decides, given as tables, for hand-computed and for random lookaheads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from noveltree.lookahead import Interactions
from noveltree.simulators import Draw, State, Transition
from noveltree.tree import UNIFORM, Lookahead
from tests.support.worlds import TableState

#: How often it happens, the next state, and what is paid.
Outcome = tuple[int, int, float]


@dataclass(frozen=True)
class ChanceWorld:
    """`table[state][action]` are outcomes: the dice modulo the sum of how often they happen choose one."""

    table: Sequence[Sequence[Sequence[Outcome]]]
    terminal: frozenset[int] = frozenset()
    has_chance: bool = True

    @property
    def actions(self) -> tuple[str, ...]:
        return tuple(f"a{i}" for i in range(len(self.table[0])))

    def start(self) -> TableState:
        return TableState(0)

    def step(self, state: State, action: int) -> Transition:
        return self.draw(state, action, 0).transition

    def draw(self, state: State, action: int, dice: int) -> Draw:
        assert isinstance(state, TableState)
        assert state.name not in self.terminal, "a planner must not step from a terminal state"
        outcomes = self.table[state.name][action]
        left = dice % sum(often for often, _, _ in outcomes)
        for often, following, reward in outcomes:
            left -= often
            if left < 0:
                transition = Transition(TableState(following), reward, following in self.terminal)
                return Draw(transition, certain=len(outcomes) == 1)
        raise AssertionError

    def close(self) -> None:
        pass

    def encode_state(self, state: State) -> bytes:
        assert isinstance(state, TableState)
        return bytes([state.name])

    def decode_state(self, data: bytes, observation: NDArray[Any]) -> TableState:
        return TableState(data[0])


class ScriptedDice:
    """Hands out the dice it was given, and says so if there are no more."""

    def __init__(self, *dice: int) -> None:
        self._dice = list(dice)

    def integers(self, most: int) -> int:
        return self._dice.pop(0)

    @property
    def left(self) -> int:
        return len(self._dice)


class CountingDice:
    """Hands out 0, 1, 2, ...: as many throws in a row as an action has outcomes show each of them once."""

    def __init__(self) -> None:
        self._next = -1

    def integers(self, most: int) -> int:
        self._next += 1
        return self._next


def grow_with_dice(
    world: Any, planner: Any, budget: int, rng: Any, dice: Any, *, samples: int = 1, at: Lookahead | None = None
) -> Lookahead:
    """The lookahead of one time step from the start of `world`, or of the next one of a lookahead."""
    lookahead = at or Lookahead(
        world,
        world.start(),
        base_policy=UNIFORM,
        termination_cost=0.0,
        node_type=planner.node_type,
        rng=dice,
        samples=samples,
    )
    lookahead.begin_time_step()
    for _ in planner.plan(lookahead, Interactions(budget).start(), rng=rng):
        raise AssertionError("nothing is to be asked")
    return lookahead


def coin(right: float = 1.0) -> ChanceWorld:
    """Guess a coin for ever: a0 guesses that it falls to state 1, a1 to state 2, and a2 lets it be."""
    guesses = [[(1, 1, right), (1, 2, 0.0)], [(1, 1, 0.0), (1, 2, right)], [(1, 0, 0.0)]]
    return ChanceWorld([guesses, guesses, guesses])


@st.composite
def chance_worlds(draw: st.DrawFn) -> ChanceWorld:
    """Random worlds of a few states; whatever happens, it happens so many times of six."""
    states = draw(st.integers(2, 5))
    actions = draw(st.integers(1, 2))
    shares = st.sampled_from([(6,), (3, 3), (1, 5), (1, 2, 3), (2, 2, 2)])
    table = [
        [
            [
                (often, draw(st.integers(0, states - 1)), float(draw(st.sampled_from([0, 0, 1, 2, -3]))))
                for often in draw(shares)
            ]
            for _ in range(actions)
        ]
        for _ in range(states)
    ]
    return ChanceWorld(table, draw(st.frozensets(st.integers(1, states - 1), max_size=2)))


def expectimax(world: ChanceWorld, state: int, horizon: int) -> list[float]:
    """Q(state, a) of all actions with `horizon` actions to go, by definition."""

    def value(following: int) -> float:
        ends = following in world.terminal or horizon == 1
        return 0.0 if ends else max(expectimax(world, following, horizon - 1))

    return [
        float(np.sum([often * (reward + value(following)) for often, following, reward in outcomes]))
        / sum(often for often, _, _ in outcomes)
        for outcomes in world.table[state]
    ]
