"""The games that ale-py bundles, by any reasonable spelling, and the suites that papers use."""

from __future__ import annotations

import functools
import hashlib
import re
from pathlib import Path

from noveltree.errors import InputError, SimulatorError, UnknownNameError
from noveltree.simulators.action_counts import ACTION_COUNTS

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

#: The games in which the paper finds sparse meaningful reward feedback (SMRF).
SMRF_GAMES: tuple[str, ...] = (
    "bowling",
    "enduro",
    "freeway",
    "gopher",
    "jamesbond",
    "montezuma_revenge",
    "pitfall",
    "private_eye",
    "road_runner",
    "skiing",
    "solaris",
    "venture",
    "zaxxon",
)

SUITES: dict[str, tuple[str, ...]] = {
    "paper": PAPER_GAMES,
    "paper-scores": tuple(game for game in PAPER_GAMES if game != "riverraid"),
    "smrf": SMRF_GAMES,
}

#: Bundled games for two players or more, of which ale-py has no single-player mode: it ends the process on them.
MULTIPLAYER_GAMES: tuple[str, ...] = ("combat", "joust", "maze_craze", "warlords")

#: Games in which restoring a snapshot does not restore everything that the next transition depends on: what
#: follows differs, now and then, from uninterrupted play (in Othello the screen alone).
HIDDEN_STATE_GAMES: tuple[str, ...] = ("othello", "qbert", "tetris", "video_chess", "yars_revenge")

#: Games of the paper in which the emulator's reset depends on what was played, or how often it was reset, before.
HISTORY_RESET_GAMES: tuple[str, ...] = (
    "assault",
    "beam_rider",
    "boxing",
    "chopper_command",
    "demon_attack",
    "fishing_derby",
    "freeway",
    "frostbite",
    "hero",
    "ice_hockey",
    "krull",
    "kung_fu_master",
    "private_eye",
    "seaquest",
    "solaris",
    "tennis",
    "time_pilot",
    "yars_revenge",
)

#: Spellings that are not those of the ROMs.
_ALIASES = {"montezumasrevenge": "montezuma_revenge", "jamesbond007": "jamesbond", "spacewar": "space_war"}


@functools.cache
def all_games() -> tuple[str, ...]:
    """Every game for one player that ale-py bundles, by its canonical name, sorted."""
    return tuple(sorted(ACTION_COUNTS))


def bundled_games() -> tuple[str, ...]:
    """Every game whose ROM is installed."""
    from ale_py import roms  # with all of ale-py, which lists of names do not need

    return tuple(roms.get_all_rom_ids())


def canonical_game(name: str) -> str:
    """The canonical name of a game: `ALE/MsPacman-v5`, `MsPacman` and `ms pacman` are all `ms_pacman`."""
    short = re.sub(r"^ale/", "", name.strip(), flags=re.IGNORECASE)
    short = re.sub(r"-v\d+$", "", short)
    short = re.sub(r"(-ram)?((No|no)Frameskip|Deterministic)?$", "", short)
    known = _spellings()
    if _squash(short) in {_squash(game) for game in MULTIPLAYER_GAMES}:
        raise InputError(f"{name} is a game for several players, which ale-py cannot play with one.")
    try:
        return known[_squash(short)]
    except KeyError:
        raise UnknownNameError("game", name, all_games(), hint="`noveltree games` lists them.") from None


@functools.cache
def _spellings() -> dict[str, str]:
    return _ALIASES | {_squash(game): game for game in all_games()}


def game_title(game: str) -> str:
    """The name that papers print: `ms_pacman` is `MsPacman`."""
    return "".join(part.capitalize() for part in game.split("_"))


def rom_path(game: str) -> Path:
    """Where the ROM of a canonical game is."""
    from ale_py import roms

    path = roms.get_rom_path(game) if game in bundled_games() else None
    if path is None:
        raise SimulatorError(f"ale-py has no ROM of {game!r}; reinstall ale-py, whose wheels bundle the ROMs.")
    return Path(path)


@functools.cache
def rom_md5(game: str) -> str:
    """The MD5 sum of a canonical game's ROM, by which ale-py identifies it."""
    return hashlib.md5(rom_path(game).read_bytes(), usedforsecurity=False).hexdigest()


def _squash(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
