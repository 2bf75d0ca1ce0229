"""The console behind the games of stable-retro: one emulator per process, shared by all who play its game."""

from __future__ import annotations

import hashlib
import importlib
import itertools
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noveltree.errors import InputError, SimulatorError, UnknownNameError
from noveltree.simulators.screen import Bytes

PACKAGE = "stable-retro"
_PROBES, _STEPS_BETWEEN, _FRAMES_HELD, _LOOKED_AT = 12, 12, 20, 5


def import_retro() -> ModuleType:
    """The package `stable_retro`, which the extra `retro` installs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module("stable_retro")
        except ImportError as error:
            raise SimulatorError(
                f'Games of consoles need the package {PACKAGE}: pip install "noveltree[retro]".'
            ) from error


def known_games() -> tuple[str, ...]:
    """The games that stable-retro knows, whether their ROMs were imported or not."""
    data = import_retro().data
    return tuple(data.list_games(data.Integrations.DEFAULT))


def find_retro_game(name: str) -> str:
    """The name that stable-retro gives a game, in any case, with or without its version."""
    games = known_games()
    folded = {game.lower(): game for game in games}
    for spelling in (name.lower(), f"{name.lower()}-v0"):
        if spelling in folded:
            return folded[spelling]
    raise UnknownNameError("game of stable-retro", name, games)


def rom_of(game: str) -> Path:
    """The file of a game's ROM."""
    retro = import_retro()
    find_retro_game(game)  # names come from records, and must not lead elsewhere
    try:
        return Path(retro.data.get_romfile_path(game, retro.data.Integrations.DEFAULT))
    except FileNotFoundError as error:
        raise SimulatorError(
            f"stable-retro has no ROM of {game}: import yours with `python -m stable_retro.import DIRECTORY`."
        ) from error


class Console:
    """A game that is loaded, at its start.

    It has a screen, buttons, of which an action is a set of bits, and snapshots. Rewards and the end of the game
    are functions of the memory before and after a frame; `stand_at` prepares it.
    """

    def __init__(self, game: str) -> None:
        retro = import_retro()
        try:
            self._env: Any = retro.make(
                game, use_restricted_actions=retro.Actions.DISCRETE, render_mode="rgb_array"
            )
        except Exception as error:
            raise SimulatorError(f"stable-retro cannot load {game}: {type(error).__name__}: {error}") from error
        self.game = game
        self.users = 0
        self._buttons: list[str | None] = self._env.buttons
        self._env.reset()
        self._written = self._find_written()
        self._env.reset()
        self.start: bytes = self.snapshot()
        self.start_screen = self.screen()
        self.frame_rate = float(self._env.em.get_screen_rate())
        # Over all of the groups, one choice of each: what the game's description allows.
        groups = self._env.button_combos
        self.allowed = tuple(dict.fromkeys(_together(bits) for bits in itertools.product(*groups[::-1])))
        self._useful: tuple[int, ...] | None = None

    @property
    def useful(self) -> tuple[int, ...]:
        """The allowed combinations without buttons that change nothing, or nothing else than one before them."""
        if self._useful is None:
            useful = self._useful_buttons()
            self._useful = tuple(dict.fromkeys(bits for bits in self.allowed if not bits & ~useful))
        return self._useful

    def name(self, bits: int) -> str:
        """The names of buttons, as in LEFT+B."""
        pressed = [name for place, name in enumerate(self._buttons) if bits >> place & 1]
        directions = [name for name in _DIRECTIONS if name in pressed]
        others = [str(name) for name in pressed if name not in _DIRECTIONS]
        return "+".join((*directions, *others)) or "NONE"

    def snapshot(self) -> bytes:
        """All that the emulator needs to go on from here."""
        data = self._env.em.get_state()
        return (np.frombuffer(data, dtype=np.uint8, count=self._written.size) & self._written).tobytes()

    def screen(self) -> Bytes:
        """What is seen (height, width, 3); after `stand_at` only once a frame has passed."""
        image: NDArray[Any] = self._env.get_screen(apply_rotation=True)
        return np.ascontiguousarray(image)

    def stand_at(self, snapshot: bytes) -> None:
        """Go to a snapshot, with the memory of its frame as that before the next one."""
        if not self._env.em.set_state(snapshot.ljust(self.size, b"\0")):
            raise SimulatorError(f"The emulator of {self.game} refuses a snapshot of {len(snapshot):,} bytes.")
        self._env.data.reset()
        self._env.data.update_ram()

    def frame(self, bits: int) -> tuple[float, bool]:
        """Hold buttons for one frame: the reward, and whether the game is over."""
        self._press(bits)
        env = self._env
        env.em.step()
        env.data.update_ram()
        return float(env.data.current_reward()), bool(env.data.is_done())

    def close(self) -> None:
        self._env.close()
        self._env = None

    def _press(self, bits: int) -> None:
        pressed = [bits >> place & 1 for place in range(len(self._buttons))]
        self._env.em.set_button_mask(np.array(pressed, dtype=np.uint8), 0)

    def _find_written(self) -> Bytes:
        """Which bytes of a snapshot the emulator writes (255), and which not (0), as far as the last that it does.

        A snapshot is handed out in as many bytes as there may ever be. Those that are not written are what was
        there in memory before: they show if that is filled with two patterns, one after the other.
        """
        emulator = self._env.em
        size = self.size = len(emulator.get_state())
        written = np.zeros(size, dtype=np.bool_)
        for _ in range(_PROBES):
            for _ in range(_LOOKED_AT):
                emulator.step()
            untouched = np.ones(size, dtype=np.bool_)
            for pattern in (0xAA, 0x55):
                filled = bytes([pattern]) * size
                del filled  # the next allocation of this size is made there
                untouched &= np.frombuffer(emulator.get_state(), dtype=np.uint8) == pattern
            written |= ~untouched
        return np.where(written[: np.flatnonzero(written)[-1] + 1], 255, 0).astype(np.uint8)

    def _useful_buttons(self) -> int:
        """The buttons that change what is seen in random play; of those that do the same, one."""
        rng = np.random.default_rng(0)
        buttons = [1 << place for place in range(len(self._buttons)) if any(b >> place & 1 for b in self.allowed)]
        seen: dict[int, list[bytes]] = {bits: [] for bits in (0, *buttons)}
        snapshot = self.start
        for _ in range(_PROBES):
            for bits, digests in seen.items():
                digests.append(self._film_digest(snapshot, bits))
            self.stand_at(snapshot)
            for _ in range(_STEPS_BETWEEN):
                bits = self.allowed[int(rng.integers(len(self.allowed)))]
                if any(self.frame(bits)[1] for _ in range(_LOOKED_AT)):
                    self.stand_at(self.start)
            snapshot = self.snapshot()
        different = {tuple(digests): bits for bits, digests in reversed(seen.items())}
        return sum(different.values())

    def _film_digest(self, snapshot: bytes, bits: int) -> bytes:
        self.stand_at(snapshot)
        digest = hashlib.blake2b(digest_size=16)
        for frame in range(1, _FRAMES_HELD + 1):
            self.frame(bits)
            if frame % _LOOKED_AT == 0:
                digest.update(self.screen().tobytes())
        return digest.digest()


_DIRECTIONS = ("UP", "DOWN", "LEFT", "RIGHT")
_loaded: Console | None = None


def _together(choices: tuple[int, ...]) -> int:
    bits = 0
    for choice in choices:
        bits |= choice
    return bits


def borrow_console(game: str) -> Console:
    """The console with `game`, for one user more; libretro's emulators are one to a process."""
    global _loaded
    rom_of(game)
    if _loaded is not None and _loaded.game != game:
        if _loaded.users:
            raise InputError(
                f"A process can have one game of stable-retro at a time, and {_loaded.game} is being played: close "
                f"its simulator first, or play {game} in another process."
            )
        _loaded.close()
        _loaded = None
    if _loaded is None:
        _loaded = Console(game)
    _loaded.users += 1
    return _loaded


def give_back(console: Console) -> None:
    """Have one user less. The game stays loaded until another one is asked for."""
    console.users -= 1
