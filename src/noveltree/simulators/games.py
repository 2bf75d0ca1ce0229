"""The games that ale-py bundles, by any reasonable spelling, and the suites that papers use."""

from __future__ import annotations

import functools
import hashlib
import re
from pathlib import Path

import ale_py
from ale_py import roms

from noveltree.errors import SimulatorError, UnknownNameError

#: The 55 games of the paper's taxonomy. Its score tables leave out Riverraid, and its comparison with
#: pi-IW leaves out Freeway too.
PAPER_GAMES: tuple[str, ...] = (
    "alien",
    "amidar",
    "assault",
    "asterix",
    "asteroids",
    "atlantis",
    "bank_heist",
    "battle_zone",
    "beam_rider",
    "berzerk",
    "bowling",
    "boxing",
    "breakout",
    "centipede",
    "chopper_command",
    "crazy_climber",
    "demon_attack",
    "double_dunk",
    "enduro",
    "fishing_derby",
    "freeway",
    "frostbite",
    "gopher",
    "gravitar",
    "hero",
    "ice_hockey",
    "jamesbond",
    "kangaroo",
    "krull",
    "kung_fu_master",
    "montezuma_revenge",
    "ms_pacman",
    "name_this_game",
    "phoenix",
    "pitfall",
    "pong",
    "private_eye",
    "qbert",
    "riverraid",
    "road_runner",
    "robotank",
    "seaquest",
    "skiing",
    "solaris",
    "space_invaders",
    "star_gunner",
    "tennis",
    "time_pilot",
    "tutankham",
    "up_n_down",
    "venture",
    "video_pinball",
    "wizard_of_wor",
    "yars_revenge",
    "zaxxon",
)

SUITES: dict[str, tuple[str, ...]] = {"paper": PAPER_GAMES}

#: Games in which restoring a snapshot does not restore everything that the next transition depends on.
HIDDEN_STATE_GAMES: tuple[str, ...] = ("qbert", "yars_revenge")

#: Games in which the emulator's reset depends on what was played before it.
HISTORY_RESET_GAMES: tuple[str, ...] = ()


@functools.cache
def all_games() -> tuple[str, ...]:
    """Every game that ale-py bundles, by its canonical name, sorted."""
    return tuple(sorted(roms.get_all_rom_ids()))


def canonical_game(name: str) -> str:
    """The canonical name of a game: `ALE/MsPacman-v5`, `MsPacman` and `ms pacman` are all `ms_pacman`."""
    short = re.sub(r"^ale/", "", name.strip(), flags=re.IGNORECASE)
    short = re.sub(r"-v\d+$", "", short)
    short = re.sub(r"(-ram)?((No|no)Frameskip|Deterministic)?$", "", short)
    known = {_squash(game): game for game in all_games()}
    try:
        return known[_squash(short)]
    except KeyError:
        raise UnknownNameError("game", name, all_games(), hint="`noveltree games` lists them.") from None


def game_title(game: str) -> str:
    """The name that papers print: `ms_pacman` is `MsPacman`."""
    return "".join(part.capitalize() for part in game.split("_"))


@functools.cache
def action_count(game: str) -> int:
    """The size of a canonical game's minimal action set."""
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    emulator = ale_py.ALEInterface()
    emulator.loadROM(rom_path(game))
    return len(emulator.getMinimalActionSet())


def rom_path(game: str) -> Path:
    """Where the ROM of a canonical game is."""
    path = roms.get_rom_path(game)
    if path is None:
        raise SimulatorError(f"ale-py has no ROM of {game!r}; reinstall ale-py, whose wheels bundle the ROMs.")
    return Path(path)


def rom_md5(game: str) -> str:
    """The MD5 sum of a canonical game's ROM, by which ale-py identifies it."""
    return hashlib.md5(rom_path(game).read_bytes(), usedforsecurity=False).hexdigest()


def _squash(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
