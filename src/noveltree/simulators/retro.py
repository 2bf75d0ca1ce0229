"""Games of consoles (Genesis, NES, SNES, ...) as deterministic functions of a snapshot and an action."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from noveltree.errors import InputError, NotDeterministicError, RecordError
from noveltree.kernels import kernel
from noveltree.simulators.check import difference
from noveltree.simulators.console import Console, borrow_console, give_back
from noveltree.simulators.screen import SIDE, Bytes, ImageReducer
from noveltree.simulators.simulator import Frame, Size, State, Transition
from noveltree.simulators.snapshot_differences import SnapshotDifferences

FRAME_SKIP = 8
_PLAYED = 30
_DIGEST = 8  # bytes in front of a stored state that say which start its differences are to


class RetroState(State):
    """What differs between the emulator's snapshot and that of the start, and whether the game is over there.

    `observation` is the screen in gray, 84 x 84 unless the simulator was asked for another size.
    """

    __slots__ = ("packed", "terminal")

    def __init__(self, packed: bytes, observation: Bytes, terminal: bool) -> None:
        super().__init__(observation)
        self.packed = packed
        self.terminal = terminal


class RetroSimulator:
    """A game that was imported into stable-retro. An action holds buttons for `frame_skip` frames.

    Rewards are summed over them. What is rewarded, when the game is over and where it begins is in stable-retro's
    description of the game. Actions are the combinations of buttons that the description allows: with
    `action_set="minimal"` without those buttons that change nothing on the screen when held in random play, and
    with one of those that do the same. All simulators of a game in a process share one emulator, in one thread,
    and there can be no other game at the same time.
    """

    def __init__(
        self,
        game: str,
        *,
        action_set: Literal["minimal", "full"] = "minimal",
        frame_skip: int = FRAME_SKIP,
        screen: Size = (SIDE, SIDE),
    ) -> None:
        if frame_skip < 1:
            raise InputError(f"The frame skip must be at least 1, not {frame_skip}.")
        self._console: Console | None = None
        self._console = console = borrow_console(game)
        self.game = game
        self.frame_skip = frame_skip
        self.frame_rate = console.frame_rate
        self._buttons = console.useful if action_set == "minimal" else console.allowed
        self.actions: tuple[str, ...] = tuple(map(console.name, self._buttons))
        self._size = screen
        self._reducers: dict[tuple[int, ...], ImageReducer] = {}
        self._differences = SnapshotDifferences(console.start)
        # Of the screen: a snapshot holds addresses, which an emulator replaces by its own when it goes there.
        self._digest = hashlib.sha256(console.start_screen.tobytes()).digest()[:_DIGEST]
        packed = self._differences.pack(console.start)
        try:
            self._start = RetroState(packed, self._observe(console.start_screen), terminal=False)
            self._check_uninterrupted()
        except BaseException:
            self.close()
            raise

    def start(self) -> RetroState:
        return self._start

    def step(self, state: State, action: int) -> Transition:
        if not isinstance(state, RetroState):
            raise InputError(f"A console cannot step from a {type(state).__name__}.")
        if state.terminal:
            return Transition(state, 0.0, True)
        self._stand_at(state)
        reward, terminal = self._hold(action)
        console = self._borrowed()
        packed = self._differences.pack(console.snapshot())
        return Transition(RetroState(packed, self._observe(console.screen()), terminal), reward, terminal)

    def revisit(self, state: State) -> object:
        assert isinstance(state, RetroState)
        self._stand_at(state)
        return self._differences.pack(self._borrowed().snapshot())

    def film(self, state: State, action: int, dice: int = 0) -> Iterator[Frame]:
        """The frames (height, width, 3) that a player sees while `action` is held in `state`."""
        assert isinstance(state, RetroState)
        console, terminal = self._borrowed(), state.terminal
        for frame in range(self.frame_skip):
            if terminal:
                return
            if frame == 0:
                self._stand_at(state)
            _, terminal = console.frame(self._buttons[action])
            yield console.screen()

    def encode_state(self, state: State) -> bytes:
        if not isinstance(state, RetroState):
            raise InputError(f"A console cannot encode a {type(state).__name__}.")
        return b"".join((self._digest, bytes([state.terminal]), state.packed))

    def decode_state(self, data: bytes, observation: NDArray[Any]) -> RetroState:
        # A snapshot that is no snapshot can crash the emulator.
        expected = self._start.observation
        if data[:_DIGEST] != self._digest or data[_DIGEST : _DIGEST + 1] not in (b"\0", b"\1"):
            raise RecordError(f"A stored state is not one of {self.game} as it begins here.")
        if (observation.dtype, observation.shape) != (expected.dtype, expected.shape):
            raise RecordError(
                f"A stored screen has type {observation.dtype} and shape {observation.shape}, not "
                f"{expected.dtype} and {expected.shape}."
            )
        packed = data[_DIGEST + 1 :]
        self._differences.unpack(packed)
        return RetroState(packed, observation, bool(data[_DIGEST]))

    def close(self) -> None:
        if self._console is not None:
            give_back(self._console)
            self._console = None

    def _borrowed(self) -> Console:
        if self._console is None:
            raise InputError(f"The simulator of {self.game} is closed.")
        return self._console

    def _stand_at(self, state: RetroState) -> None:
        self._borrowed().stand_at(self._differences.unpack(state.packed))

    def _hold(self, action: int) -> tuple[float, bool]:
        console, buttons = self._borrowed(), self._buttons[action]
        total = 0.0
        for _ in range(self.frame_skip):
            reward, terminal = console.frame(buttons)
            total += reward
            if terminal:
                return total, True
        return total, False

    def _observe(self, screen: Bytes) -> Bytes:
        height, width, _ = screen.shape
        # Some games change the resolution as they go.
        reduce = self._reducers.get(screen.shape)
        if reduce is None:
            reduce = self._reducers[screen.shape] = ImageReducer(height, width, self._size)
        gray = np.empty((height, width), dtype=np.uint8)
        _grayscale(screen, gray)
        return reduce(gray)

    def _check_uninterrupted(self) -> None:
        """Compare with uninterrupted play: the description of a game may remember more than the emulator."""
        actions = np.random.default_rng(0).integers(len(self.actions), size=_PLAYED).tolist()
        self._stand_at(self._start)
        played = []
        for action in actions:
            reward, terminal = self._hold(action)
            state = RetroState(b"", self._observe(self._borrowed().screen()), terminal)
            played.append(Transition(state, reward, terminal))
            if terminal:
                break
        state = self._start
        for number, (action, expected) in enumerate(zip(actions, played, strict=False), start=1):
            found = self.step(state, action)
            if what := difference(expected, found):
                raise NotDeterministicError(
                    f"{self.game} is not a function of the emulator's snapshot: at step {number}, "
                    f"{self.actions[action]}, compared with uninterrupted play, {what}. Its description in "
                    "stable-retro (scenario.json, perhaps a script) remembers something else."
                )
            assert isinstance(found.state, RetroState)
            state = found.state


@kernel
def _grayscale(screen: Bytes, gray: Bytes) -> None:
    """The luma of colors: 0.299 R + 0.587 G + 0.114 B, in whole numbers."""
    for y in range(screen.shape[0]):
        for x in range(screen.shape[1]):
            red, green, blue = np.uint32(screen[y, x, 0]), np.uint32(screen[y, x, 1]), np.uint32(screen[y, x, 2])
            gray[y, x] = np.uint8((red * 299 + green * 587 + blue * 114 + 500) // 1000)
