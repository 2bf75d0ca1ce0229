"""Atari games in which chance has a say: sticky actions and random starts (Machado et al., 2018).

The emulator has sticky actions of its own, which draw from a generator that would have to be stored with every
snapshot. Here dice decide instead, by the same definition: in every frame, the action that was executed in the
frame before is executed once more with some probability, and otherwise the chosen one. Once the chosen action was
executed both are the same, so that all chance is in the number of frames that it takes until then.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import ale_py
import numpy as np
from numpy.typing import NDArray

from noveltree.errors import InputError
from noveltree.simulators.atari import NOOP, Atari, AtariState
from noveltree.simulators.simulator import Draw, State, Transition

#: Frames without an action, at most, by which starts differ (Mnih et al., 2015).
MOST_NO_OPS = 30


def frames_stuck(dice: int, probability: float, frames: int) -> int:
    """In how many of the frames the action before is executed, until the chosen one is."""
    rng = np.random.default_rng(dice)
    stuck = 0
    while stuck < frames and rng.random() < probability:
        stuck += 1
    return stuck


class StickyState(AtariState):
    """A state of the game, and the action of the emulator that was executed last."""

    __slots__ = ("last_action",)

    def __init__(self, state: AtariState, last_action: int) -> None:
        super().__init__(
            state.snapshot, state.observation, state.tiles, state.previous_tiles, state.lives, state.small
        )
        self.last_action = last_action


class StickyAtari(Atari):
    """One Atari game, frame by frame, whose actions stick with a probability; `no_ops`: and whose starts differ.

    `step` is what happens if the action does not stick.
    """

    def __init__(self, game: str, *, sticky_actions: float = 0.0, no_ops: bool = False, **settings: Any) -> None:
        if not 0 <= sticky_actions <= 1:
            raise InputError(f"Actions stick with a probability from 0 to 1, not {sticky_actions}.")
        self._probability = sticky_actions
        self._no_ops = no_ops
        super().__init__(game, **settings)

    @property
    def has_chance(self) -> bool:
        return self._probability > 0

    def start(self) -> StickyState:
        return StickyState(self._start, NOOP.value)

    def draw_start(self, dice: int) -> StickyState:
        """The start, and after it as many frames without an action as the dice say, if starts differ."""
        frames = int(np.random.default_rng(dice).integers(MOST_NO_OPS + 1)) if self._no_ops else 0
        if not frames:
            return self.start()
        emulator = self.emulator_at(self._start)
        for _ in range(frames):
            emulator.act(NOOP)
        return StickyState(self._observe(previous=None), NOOP.value)

    def step(self, state: State, action: int) -> Transition:
        return self._after(state, [self._legal[action]] * self.frame_skip)

    def draw(self, state: State, action: int, dice: int) -> Draw:
        """Certain if the action is the one that was executed last: it is executed in every frame."""
        certain = self.last_action(state) == self._legal[action].value
        return Draw(self._after(state, self._executed(state, action, dice)), certain)

    def identity(self, state: State) -> Hashable:
        return super().identity(state), self.last_action(state)

    def key(self, state: State) -> bytes:
        """The snapshot, and the action that may be repeated."""
        assert isinstance(state, StickyState)
        return state.snapshot + bytes([state.last_action])

    def encode_state(self, state: State) -> bytes:
        return super().encode_state(state) + bytes([self.last_action(state)])

    def decode_state(self, data: bytes, observation: NDArray[Any]) -> StickyState:
        return StickyState(super().decode_state(data[:-1], observation), data[-1])

    def last_action(self, state: State) -> int:
        if not isinstance(state, StickyState):
            raise InputError(f"An Atari simulator with sticky actions cannot step from a {type(state).__name__}.")
        return state.last_action

    def _at_once(self, frame_skip: int) -> int:
        return 1  # what is executed may change in every frame

    def _executed(self, state: State, action: int, dice: int) -> list[Any]:
        stuck = frames_stuck(dice, self._probability, self.frame_skip)
        last = ale_py.Action(self.last_action(state))
        return [last] * stuck + [self._legal[action]] * (self.frame_skip - stuck)

    def _after(self, state: State, executed: list[Any]) -> Transition:
        """The transition by what is executed in each frame."""
        self.last_action(state)  # complains about foreign states
        assert isinstance(state, StickyState)
        emulator = self.emulator_at(state)
        if emulator.game_over(False):
            return Transition(state, 0.0, True)
        reward = sum(map(emulator.act, executed))
        child = StickyState(self._observe(previous=state.tiles), executed[-1].value)
        return Transition(child, float(reward), emulator.game_over(False))
