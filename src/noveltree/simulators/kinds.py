"""The kinds of simulators that come with noveltree."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import re
from collections.abc import Callable
from functools import partial

import ale_py

from noveltree.errors import InputError, UnknownNameError
from noveltree.simulators.action_counts import ACTION_COUNTS, FULL_ACTION_SET
from noveltree.simulators.atari import Atari
from noveltree.simulators.corridor import Corridor
from noveltree.simulators.games import all_games, canonical_game, game_title, rom_md5
from noveltree.simulators.gymnasium import (
    GymnasiumSimulator,
    fitting_environment,
    is_environment_id,
    is_environment_of_gymnasium,
    provider_of,
)
from noveltree.simulators.kind import SIMULATOR_KINDS as SIMULATOR_KINDS
from noveltree.simulators.kind import SimulatorKind as SimulatorKind
from noveltree.simulators.kind import all_names as all_names
from noveltree.simulators.kind import check_import as check_import
from noveltree.simulators.kind import find_game as find_game
from noveltree.simulators.kind import get_kind as get_kind
from noveltree.simulators.kind import name_game as name_game
from noveltree.simulators.kind import register_simulator as register_simulator
from noveltree.simulators.own import OwnKind
from noveltree.simulators.screen import SIDE
from noveltree.simulators.settings import Chance, Observed, SimulatorSettings
from noveltree.simulators.simulator import Simulator
from noveltree.simulators.sticky_atari import StickyAtari

_LIKE_ENVIRONMENT_ID = re.compile(r"(?!ale/).+-v\d+", flags=re.IGNORECASE)
#: What ids of Atari games look like in Gymnasium.
_LIKE_ATARI_ID = re.compile(r"ale/.+|.+-v\d+", flags=re.IGNORECASE)
#: Features that every Atari game has.
_ATARI_FEATURES = (None, "pixels", "ram", "bprost", "bprost-background")


class AtariKind(SimulatorKind):
    """The Atari 2600."""

    name = "atari"
    title = "Atari"
    takes = ("action_set", "frame_skip", "mode", "difficulty", "start", "sticky_actions")
    defaults = SimulatorSettings(action_set="minimal", frame_skip=15)
    alike = True

    def make(self, game: str, settings: SimulatorSettings, observed: Observed) -> Simulator:
        no_ops = settings.start == "no-ops"
        make: Callable[..., Atari] = Atari
        if settings.sticky_actions or no_ops:
            make = partial(StickyAtari, sticky_actions=settings.sticky_actions, no_ops=no_ops)
        return make(
            game,
            action_set=settings.action_set or "minimal",
            frame_skip=settings.frame_skip,
            mode=settings.mode,
            difficulty=settings.difficulty,
            tiles=observed.tiles,
            screen=observed.screen or (SIDE, SIDE),
            small=observed.small,
        )

    def find(self, game: str) -> str | None:
        if ":" in game or is_environment_of_gymnasium(game):
            return None
        try:
            found = canonical_game(game)
        except UnknownNameError:
            return None
        if _LIKE_ATARI_ID.fullmatch(game.strip()):
            raise InputError(
                f"{game} may be two things: say {found} for the Atari game, whose frame skip, actions and start "
                f"are settings of the protocol, or gym:{game} for the environment of that id."
            )
        return found

    def games(self) -> tuple[str, ...]:
        return all_games()

    def title_of(self, game: str) -> str:
        return game_title(game)

    def version(self, game: str) -> str:
        return f"ale-py {ale_py.__version__}"

    def rom_md5(self, game: str) -> str | None:
        return rom_md5(canonical_game(game))

    def known_actions(self, game: str, settings: SimulatorSettings, features: str | None) -> int | None:
        # Loading a game takes most of a second, which planning a suite can do without.
        if settings.mode is not None or settings.difficulty is not None or features not in _ATARI_FEATURES:
            return None
        if settings.sticky_actions:  # which not every agent can plan with
            return None
        if settings.sticky_actions:  # not every agent can plan with them, and making one shows that
            return None
        return FULL_ACTION_SET if settings.action_set == "full" else ACTION_COUNTS[game]


class GymnasiumKind(SimulatorKind):
    """Environments of Gymnasium, by their ids."""

    name = "gymnasium"
    title = "Gymnasium"
    takes = ("options", "game_levels", "evaluation_levels", "chance")
    foresaw = True

    def make(self, game: str, settings: SimulatorSettings, observed: Observed) -> Simulator:
        given = settings.options.to_dict()
        if "seed" in given:
            raise InputError(f"The seed of {game} is its level: choose the levels 0-99, for instance.")
        if "chance" in given:
            raise InputError(f"What is known of the chance of {game} is a setting of the protocol, and no option.")
        options = fitting_environment(game, settings.options)
        return GymnasiumSimulator(game, chance=settings.chance, **options)  # type: ignore[arg-type]

    def chance(self, simulator: Simulator) -> Chance | None:
        assert isinstance(simulator, GymnasiumSimulator)
        return "sampled" if simulator.chance_is_found else "none"

    def find(self, game: str) -> str | None:
        prefix, _, rest = game.partition(":")
        if prefix.lower() in ("gym", "gymnasium") and rest:
            return rest
        return game if is_environment_id(game) or _LIKE_ENVIRONMENT_ID.fullmatch(game) else None

    def games(self) -> tuple[str, ...]:
        return ()

    def version(self, game: str) -> str:
        return ", ".join(f"{package} {_installed(package)}" for package in ("gymnasium", *provider_of(game)))

    def full_name(self, simulator: Simulator) -> str | None:
        # An id without a version stands for the newest.
        return simulator.environment if isinstance(simulator, GymnasiumSimulator) else None

    def max_episode_steps(self, simulator: Simulator) -> int | None:
        return simulator.max_episode_steps if isinstance(simulator, GymnasiumSimulator) else None


class RetroKind(SimulatorKind):
    """Games of consoles, by the names that stable-retro gives them: `retro:Airstriker-Genesis-v0`."""

    name = "retro"
    title = "stable-retro"
    takes = ("action_set", "frame_skip")
    defaults = SimulatorSettings(action_set="minimal", frame_skip=8)
    # The package is imported when a game is asked for, which takes a while.

    def make(self, game: str, settings: SimulatorSettings, observed: Observed) -> Simulator:
        from noveltree.simulators.retro import RetroSimulator

        return RetroSimulator(
            game,
            action_set=settings.action_set or "minimal",
            frame_skip=settings.frame_skip,
            screen=observed.screen or (SIDE, SIDE),
        )

    def find(self, game: str) -> str | None:
        prefix, _, rest = game.partition(":")
        if prefix.lower() != self.name or not rest:
            return None
        from noveltree.simulators.console import find_retro_game

        return find_retro_game(rest)

    def games(self) -> tuple[str, ...]:
        return ("retro:Airstriker-Genesis-v0",) if importlib.util.find_spec("stable_retro") else ()

    def version(self, game: str) -> str:
        return f"stable-retro {_installed('stable-retro')}"

    def rom_md5(self, game: str) -> str | None:
        from noveltree.simulators.console import rom_of

        return hashlib.md5(rom_of(game).read_bytes()).hexdigest()


class CorridorKind(SimulatorKind):
    """The toy world."""

    name = "corridor"
    title = "corridor"

    def make(self, game: str, settings: SimulatorSettings, observed: Observed) -> Simulator:
        return Corridor()


def _installed(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"  # making the simulator says what to do


# In this order: the id of a Gymnasium environment may be a spelling of an Atari game. What is neither, and has a
# colon, is code of your own.
for _kind in (OwnKind(), GymnasiumKind(), AtariKind(), CorridorKind(), RetroKind()):
    register_simulator(_kind)
