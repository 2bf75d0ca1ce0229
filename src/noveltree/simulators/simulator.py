"""The MDP as planners see it: one function of a state and an action, and of dice if there is chance.

A simulator is anything with `actions`, `start`, `step` and `close`. Planners never clone or restore: a
`State` carries whatever its simulator needs to continue from it, and what is observed of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

#: The size of an image: its width and its height.
Size = tuple[int, int]
#: A picture in color, (height, width, 3).
Frame = NDArray[np.uint8]


class State:
    """A state of the MDP. Simulators derive from it and add what they need to continue from there.

    `observation` is what is observed of the state: an image (height, width) or (height, width, channels)
    of bytes, or a vector of numbers. It is never changed once the state exists.
    """

    __slots__ = ("observation",)

    def __init__(self, observation: NDArray[Any]) -> None:
        self.observation = observation


class Transition(NamedTuple):
    """What one interaction with a simulator returns."""

    state: State
    reward: float
    terminal: bool


class Draw(NamedTuple):
    """A transition that dice decided, or could have."""

    transition: Transition
    certain: bool
    """Whether no dice were consulted, so that the transition is the same for all of them."""


@runtime_checkable
class Simulator(Protocol):
    """A deterministic black box: the same state and action give the same transition, always."""

    @property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions; an action is an index into this tuple."""
        ...

    def start(self) -> State:
        """The state in which every episode begins, s_0."""
        ...

    def step(self, state: State, action: int) -> Transition:
        """One interaction: the transition from `state` by `action`, whatever was simulated before."""
        ...

    def close(self) -> None:
        """Release what the simulator holds."""
        ...


@runtime_checkable
class HasLevels(Protocol):
    """What a simulator may add if there is more than one state in which episodes can begin."""

    def start_at(self, level: int) -> State:
        """The state in which every episode of a level begins."""
        ...


@runtime_checkable
class StorableStates(Protocol):
    """What a simulator may add so that its states can be written to disk. Observations are stored apart."""

    def encode_state(self, state: State) -> bytes:
        """All of a state but its observation."""
        ...

    def decode_state(self, data: bytes, observation: NDArray[Any]) -> State:
        """The state that was encoded as `data`, in this simulator or in another one of the same game.

        A RecordError says that no state of this simulator is encoded like this.
        """
        ...


@runtime_checkable
class Chancy(Protocol):
    """What a simulator adds whose transitions depend on chance. Its `step` is one of what may happen."""

    @property
    def has_chance(self) -> bool:
        """Whether there is any: if not, nobody asks for more than `step`."""
        ...

    def draw(self, state: State, action: int, dice: int) -> Draw:
        """One interaction: s' ~ T(state, action, .), a function of the state, the action and the dice.

        Dice are any number from 0 to 2^63 - 1. Different dice give independent outcomes.
        """
        ...


@runtime_checkable
class RandomStarts(Protocol):
    """What a simulator adds if chance decides where episodes begin."""

    def draw_start(self, dice: int) -> State:
        """The start for these dice."""
        ...


@runtime_checkable
class TellsApart(Protocol):
    """What a simulator may add if states can differ that are observed alike."""

    def key(self, state: State) -> bytes:
        """The same for two outcomes of an action exactly if they are the same state."""
        ...


@runtime_checkable
class KnowsTwins(Protocol):
    """What a simulator may add that can tell when two states are one, so that no transition is simulated twice."""

    def identity(self, state: State) -> Hashable:
        """Equal for two states only if every action does the same in both: pays, ends and is observed alike."""
        ...


def lives_of(state: State) -> int:
    """The lives that are left in a state, which it may have as `lives`; 0 if it does not say."""
    lives: int = getattr(state, "lives", 0)
    return lives


@runtime_checkable
class Revisits(Protocol):
    """What a simulator may add so that the cost of snapshots can be told from that of the world."""

    def revisit(self, state: State) -> object:
        """Stand at a state and take its snapshot again: all of an interaction but what happens in it."""
        ...


@runtime_checkable
class DeclaresBounds(Protocol):
    """What a simulator may add that knows between which values its variables are."""

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the greatest value of each number of an observation; infinite where there is none."""
        ...


@runtime_checkable
class Pictured(Protocol):
    """What a simulator may add so that videos can be made of its episodes: a picture of a state."""

    @property
    def frame_rate(self) -> float:
        """How many pictures a second are shown."""
        ...

    def picture(self, state: State) -> Frame:
        """A state as people see it; always of the same size."""
        ...


@runtime_checkable
class Filmed(Protocol):
    """The same for simulators that show more than one picture per interaction."""

    @property
    def frame_rate(self) -> float:
        """How many frames a second are shown."""
        ...

    def film(self, state: State, action: int, dice: int = 0) -> Iterator[Frame]:
        """What people see while an action is executed in a state; dice are what is thrown if there is chance."""
        ...


def chance_of(simulator: Simulator) -> Chancy | None:
    """The simulator, if chance decides about its transitions."""
    return simulator if isinstance(simulator, Chancy) and simulator.has_chance else None
