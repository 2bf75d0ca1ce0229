"""The Atari 2600 as a deterministic function of a snapshot and an action."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, Literal

import ale_py
import numpy as np
from numpy.typing import NDArray

from noveltree.errors import InputError, RecordError
from noveltree.simulators.emulator import find_background, load_game
from noveltree.simulators.games import canonical_game
from noveltree.simulators.screen import SIDE, ScreenReducer
from noveltree.simulators.settings import TilesOf
from noveltree.simulators.simulator import Frame, Size, State, Transition
from noveltree.simulators.snapshots import SnapshotPacker, flush, quiet, ram_of
from noveltree.simulators.tiles import COLORS, TILE_ROWS, TileObserver

ActionSet = Literal["minimal", "full"]
NOOP = ale_py.Action.NOOP
_TILES = COLORS * TILE_ROWS
#: How tiles are stored: bits of a column each, whatever the machine's byte order.
_STORED_TILES = np.dtype("<u2")


class AtariState(State):
    """A snapshot of the emulator and what is observed of it.

    `observation` is the grayscale image of the screen, 84 x 84 unless the simulator was asked for another size,
    `ram` the 128 bytes of memory. If the simulator was asked to observe them, `tiles` and `previous_tiles` are the
    colors of the 16 x 14 tiles of this screen and of the one a time step before, and `small` is the whole screen in
    gray, reduced to another size. `lives` are those that the player has left, 0 in games without.
    """

    __slots__ = ("lives", "previous_tiles", "small", "snapshot", "tiles")

    def __init__(
        self,
        snapshot: bytes,
        observation: NDArray[np.uint8],
        tiles: NDArray[np.uint16] | None,
        previous_tiles: NDArray[np.uint16] | None,
        lives: int = 0,
        small: NDArray[np.uint8] | None = None,
    ) -> None:
        super().__init__(observation)
        self.snapshot = snapshot
        self.tiles = tiles
        self.previous_tiles = previous_tiles
        self.lives = lives
        self.small = small

    @property
    def ram(self) -> NDArray[np.uint8]:
        """The 128 bytes of memory, which the snapshot contains."""
        return ram_of(self.snapshot)


class Atari:
    """One Atari game. An interaction holds an action for `frame_skip` frames and returns the sum of rewards.

    There is no loss-of-life signal; rewards are never clipped. Every episode begins at one start snapshot, taken
    after the first reset of the freshly loaded ROM. Sticky actions and no-op starts are of `StickyAtari`. With
    `tiles="foreground"` the background is subtracted from screens before their tiles are observed.
    """

    #: The console shows sixty frames a second.
    frame_rate = 60.0

    def __init__(
        self,
        game: str,
        *,
        action_set: ActionSet = "minimal",
        frame_skip: int = 15,
        mode: int | None = None,
        difficulty: int | None = None,
        tiles: TilesOf = False,
        screen: Size = (SIDE, SIDE),
        small: Size | None = None,
    ) -> None:
        """What is observed: whether tiles, the size that screens are reduced to, and one to which they are besides.

        Sizes are a width and a height.
        """
        if frame_skip < 1:
            raise InputError(f"The frame skip must be at least 1, not {frame_skip}.")
        if action_set not in ("minimal", "full"):
            raise InputError(f"The action set is 'minimal' or 'full', not {action_set!r}.")
        self.game = canonical_game(game)
        self.frame_skip = frame_skip
        self._mode, self._difficulty = mode, difficulty
        self._emulator = load_game(self.game, self._at_once(frame_skip), mode, difficulty)
        self._camera: Any = None
        legal = (
            self._emulator.getMinimalActionSet() if action_set == "minimal" else self._emulator.getLegalActionSet()
        )
        self._legal = tuple(legal)
        self.actions: tuple[str, ...] = tuple(action.name for action in legal)

        height, width = self._emulator.getScreenDims()
        self._raw = np.zeros((height, width), dtype=np.uint8)
        self._reduce = ScreenReducer(height, width, self._emulator.getScreenGrayscale, screen)
        background = find_background(self.game, frame_skip, mode, difficulty) if tiles == "foreground" else None
        self._observe_tiles = TileObserver(height, width, background) if tiles else None
        self._shrink = (
            None if small is None else ScreenReducer(height, width, self._emulator.getScreenGrayscale, small)
        )

        quiet_start = quiet(self._emulator.cloneState())
        self._emulator.restoreState(quiet_start)
        self._packer = SnapshotPacker(quiet_start)
        self._flush = flush(quiet_start)
        self._start = self._observe(previous=None)

    def start(self) -> AtariState:
        return self._start

    def step(self, state: State, action: int) -> Transition:
        if not isinstance(state, AtariState):
            raise InputError(f"An Atari simulator cannot step from a {type(state).__name__}.")
        emulator = self._emulator
        _stand_at(emulator, self._flush, self._packer.unpack(state.snapshot))
        if emulator.game_over(False):
            return Transition(state, 0.0, True)
        reward = emulator.act(self._legal[action])
        child = self._observe(previous=state.tiles)
        return Transition(child, float(reward), emulator.game_over(False))

    def identity(self, state: State) -> Hashable:
        """The snapshot, and the tiles of its screen, which its successors remember."""
        assert isinstance(state, AtariState)
        return state.snapshot if state.tiles is None else (state.snapshot, state.tiles.tobytes())

    def revisit(self, state: State) -> object:
        assert isinstance(state, AtariState)
        _stand_at(self._emulator, self._flush, self._packer.unpack(state.snapshot))
        return self._packer.pack(self._emulator.cloneState())

    def film(self, state: State, action: int, dice: int = 0) -> Iterator[Frame]:
        """The frames (height, width, 3) that a player sees while `action` is held in `state`, in color.

        An emulator shows the last frame of an interaction only; another one, which skips none, films it. The dice
        are those that were thrown, if chance has a say in what is executed.
        """
        assert isinstance(state, AtariState)
        if self._camera is None:
            self._camera = load_game(self.game, 1, self._mode, self._difficulty)
        _stand_at(self._camera, self._flush, self._packer.unpack(state.snapshot))
        for executed in self._executed(state, action, dice):
            self._camera.act(executed)
            yield self._camera.getScreenRGB()

    def emulator_at(self, state: AtariState) -> Any:
        """The emulator itself in a state, until the next call of anything else here: to measure what it costs."""
        _stand_at(self._emulator, self._flush, self._packer.unpack(state.snapshot))
        return self._emulator

    def encode_state(self, state: State) -> bytes:
        """The snapshot, and if observed the tiles of this screen and of the one before, and the small screen."""
        if not isinstance(state, AtariState):
            raise InputError(f"An Atari simulator cannot encode a {type(state).__name__}.")
        observed = [masks for masks in (state.tiles, state.previous_tiles) if masks is not None]
        small = b"" if state.small is None else state.small.tobytes()
        return state.snapshot + b"".join(masks.astype(_STORED_TILES).tobytes() for masks in observed) + small

    def decode_state(self, data: bytes, observation: NDArray[Any]) -> AtariState:
        # Snapshots of one game have one length. The emulator is not asked whether it likes them: it may crash.
        start = self._start
        length = len(start.snapshot)
        behind_tiles = length if start.tiles is None else length + 2 * _TILES * _STORED_TILES.itemsize
        expected = behind_tiles if start.small is None else behind_tiles + start.small.size
        if len(data) != expected:
            raise RecordError(
                f"A stored state has {len(data):,} bytes, but one of {self.game} "
                f"{'without' if start.tiles is None else 'with'} tiles"
                f"{'' if start.small is None else ' and with small screens'} has {expected:,}."
            )
        if (observation.dtype, observation.shape) != (start.observation.dtype, start.observation.shape):
            raise RecordError(
                f"A stored screen has type {observation.dtype} and shape {observation.shape}, not "
                f"{start.observation.dtype} and {start.observation.shape}."
            )
        tiles: NDArray[np.uint16] | None = None
        previous: NDArray[np.uint16] | None = None
        if start.tiles is not None:
            stored = np.frombuffer(data[length:behind_tiles], dtype=_STORED_TILES).reshape(2, *start.tiles.shape)
            tiles, previous = (masks.astype(np.uint16) for masks in stored)
        small: NDArray[np.uint8] | None = None
        if start.small is not None:
            small = np.frombuffer(data[behind_tiles:], dtype=np.uint8).reshape(start.small.shape).copy()
        snapshot = data[:length]
        self._emulator.restoreState(self._packer.unpack(snapshot))  # which knows the lives
        return AtariState(snapshot, observation, tiles, previous, self._emulator.lives(), small)

    def close(self) -> None:
        self._emulator = self._camera = None

    def _at_once(self, frame_skip: int) -> int:
        """How many frames the emulator emulates at once."""
        return frame_skip

    def _executed(self, state: State, action: int, dice: int) -> list[Any]:
        """What is executed in each frame of an interaction."""
        return [self._legal[action]] * self.frame_skip

    def _observe(self, *, previous: NDArray[np.uint16] | None) -> AtariState:
        emulator = self._emulator
        emulator.getScreen(self._raw)
        tiles = None
        if self._observe_tiles is not None:
            tiles = self._observe_tiles(self._raw)
            previous = tiles if previous is None else previous
        snapshot = self._packer.pack(emulator.cloneState())
        small = None if self._shrink is None else self._shrink(self._raw)
        return AtariState(snapshot, self._reduce(self._raw), tiles, previous, emulator.lives(), small)


def _stand_at(emulator: Any, flush_state: Any, state: Any) -> None:
    """Put the emulator into a state, with what it hides from snapshots in one known position."""
    emulator.restoreState(flush_state)
    emulator.act(NOOP)
    emulator.restoreState(state)
