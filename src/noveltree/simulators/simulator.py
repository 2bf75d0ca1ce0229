"""The MDP as planners see it: one deterministic function of a state and an action.

A simulator is anything with `actions`, `start`, `step` and `close`. Planners never clone or restore: a
`State` carries whatever its simulator needs to continue from it, and what is observed of it.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

from numpy.typing import NDArray

#: The size of an image: its width and its height.
Size = tuple[int, int]


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
