"""The emulator of an Atari game: loading it, and finding out what stands still in it."""

from __future__ import annotations

import functools
from typing import Any

import ale_py
import numpy as np
from numpy.typing import NDArray

from noveltree.errors import InputError, SimulatorError
from noveltree.simulators.games import rom_path
from noveltree.simulators.snapshots import LAST_FRAME

#: Random actions after which the screen is looked at, and frames for which it is (Bandres et al. 2018).
_ACTIONS_BEFORE = 100
_BACKGROUND_FRAMES = 100


def load_game(game: str, frame_skip: int, mode: int | None, difficulty: int | None) -> Any:
    """An emulator with `game` loaded and reset once."""
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    emulator = ale_py.ALEInterface()
    emulator.setInt("frame_skip", frame_skip)
    emulator.setFloat("repeat_action_probability", 0.0)
    emulator.setInt("random_seed", 0)
    emulator.setInt("max_num_frames_per_episode", LAST_FRAME)
    try:
        emulator.loadROM(rom_path(game))
    except RuntimeError as error:
        raise SimulatorError(f"ale-py cannot load {game!r}: {error}.") from error
    for kind, value, available, choose in (
        ("mode", mode, emulator.getAvailableModes, emulator.setMode),
        ("difficulty", difficulty, emulator.getAvailableDifficulties, emulator.setDifficulty),
    ):
        if value is not None:
            if value not in (known := list(available())):
                raise InputError(f"{game} has no {kind} {value}; it has {', '.join(map(str, known))}.")
            choose(value)
    emulator.reset_game()
    return emulator


@functools.cache
def find_background(game: str, frame_skip: int, mode: int | None, difficulty: int | None) -> NDArray[np.uint8]:
    """The palette indices (height, width) of pixels that stand still in random play; 0, black, elsewhere.

    After 100 random actions the screens of 100 frames are compared, one per action. An emulator of its own plays,
    with random numbers of its own, so that a game has one background.
    """
    emulator = load_game(game, frame_skip, mode, difficulty)
    actions = emulator.getMinimalActionSet()
    rng = np.random.default_rng(0)

    def act() -> None:
        emulator.act(actions[int(rng.random() * len(actions))])

    def play_on() -> None:
        for _ in range(_ACTIONS_BEFORE):
            act()

    play_on()
    first = emulator.getScreen()
    still = np.ones(first.shape, dtype=np.bool_)
    for _ in range(frame_skip, _BACKGROUND_FRAMES, frame_skip):
        act()
        if emulator.game_over(False):
            emulator.reset_game()
            play_on()
        still &= emulator.getScreen() == first
    return np.where(still, first, 0).astype(np.uint8)
