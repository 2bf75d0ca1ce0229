"""Kinds of simulators, by the names that stand in protocols: the shipped ones, and those that you register."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib.metadata import EntryPoint
from typing import ClassVar

from noveltree.errors import UnknownNameError
from noveltree.simulators.entry_points import entry_points, load, refusal
from noveltree.simulators.permission import allow_import, may_import
from noveltree.simulators.settings import Chance, Observed, SimulatorSettings
from noveltree.simulators.simulator import Simulator, chance_of
from noveltree.version import __version__


class SimulatorKind(ABC):
    """How the games of one kind are found, made and recorded. What most kinds have in common is the default."""

    name: ClassVar[str]
    """What protocols call it."""
    title: ClassVar[str]
    """What people call it."""
    takes: ClassVar[tuple[str, ...]] = ()
    """The settings that can be chosen."""
    defaults: ClassVar[SimulatorSettings] = SimulatorSettings()
    """The settings unless they are chosen."""
    foresaw: ClassVar[bool] = False
    """Whether records that do not say what chance was to planners may be those of clairvoyants."""
    alike: ClassVar[bool] = False
    """Whether scores in all its games are obtained under the same conditions."""

    @abstractmethod
    def make(self, game: str, settings: SimulatorSettings, observed: Observed) -> Simulator:
        """The simulator of a game; what is to be `observed` of screens is for those that have them."""

    def find(self, game: str) -> str | None:
        """The canonical name of a game in any spelling; None if it is not of this kind."""
        return self.name if game.strip().lower() == self.name else None

    def games(self) -> tuple[str, ...]:
        """The games that are worth suggesting."""
        return (self.name,)

    def title_of(self, game: str) -> str:
        """What people call the game."""
        return game

    def version(self, game: str) -> str:
        """The packages behind the simulator and their installed versions."""
        return f"noveltree {__version__}"

    def rom_md5(self, game: str) -> str | None:
        """The MD5 sum of the game's ROM, if it has one."""
        return None

    def source(self, game: str) -> str | None:
        """The SHA-256 digest of the source, if it is not that of a package behind the simulator."""
        return None

    def check_import(self, game: str, recorded: str | None = None) -> None:
        """Raise InputError if a file names this game, but its code may not be imported, or is not as `recorded`."""
        return

    def known_actions(self, game: str, settings: SimulatorSettings, features: str | None) -> int | None:
        """The number of actions, if it is known without making the simulator that these settings make sense."""
        return None

    def full_name(self, simulator: Simulator) -> str | None:
        """The game's name, if only the simulator knows all of it."""
        return None

    def chance(self, simulator: Simulator) -> Chance | None:
        """What planners know of chance unless it is chosen; None if there is none and nobody would ask."""
        return None if chance_of(simulator) is None else "sampled"

    def max_episode_steps(self, simulator: Simulator) -> int | None:
        """Time steps after which an episode is truncated, if that is part of the game."""
        return None


#: By name. Those that were registered last are asked first whether a game is theirs.
SIMULATOR_KINDS: dict[str, SimulatorKind] = {}


def register_simulator(kind: SimulatorKind) -> None:
    """Let protocols have simulators of this kind, in this process."""
    SIMULATOR_KINDS[kind.name] = kind


def get_kind(name: str) -> SimulatorKind:
    """The kind called `name`. One that a package ships is imported only if that is allowed."""
    if name not in SIMULATOR_KINDS and may_import(name) and (point := entry_points().get(name)):
        _load(point)
    try:
        return SIMULATOR_KINDS[name]
    except KeyError:
        if point := entry_points().get(name):
            raise refusal(point) from None
        hint = "One of your own must be registered first: noveltree.simulators.register_simulator."
        raise UnknownNameError("kind of simulator", name, SIMULATOR_KINDS, hint=hint) from None


def find_game(game: str) -> tuple[SimulatorKind, str]:
    """The kind of a game in any spelling, and its canonical name."""
    for kind in reversed(SIMULATOR_KINDS.values()):
        if (name := kind.find(game)) is not None:
            return kind, name
    if point := entry_points().get(game.strip()):
        return _find_shipped(point)
    hint = "`noveltree games` lists them."
    if game.strip().endswith(".py"):
        hint = f"Name what makes a simulator in that file, too: {game.strip()}:Factory."
    raise UnknownNameError("game", game, [*all_names(), *entry_points()], hint=hint)


def name_game(game: str) -> tuple[SimulatorKind, str]:
    """As `find_game`, of a game that somebody has named to this process: if it is code, that may be imported."""
    allow_import(game.strip())
    kind, name = find_game(game)
    allow_import(name)
    return kind, name


def check_import(game: str) -> None:
    """Raise InputError if a file names this game, but its code may not be imported."""
    kind, name = find_game(game)
    kind.check_import(name)


def all_names() -> list[str]:
    """The games of all kinds that are worth suggesting."""
    return [game for kind in SIMULATOR_KINDS.values() for game in kind.games()]


def _find_shipped(point: EntryPoint) -> tuple[SimulatorKind, str]:
    """The kind and the game of an entry point."""
    if not may_import(point.name):
        raise refusal(point)
    kind = _load(point)
    if kind is None:
        return SIMULATOR_KINDS["own"], point.value
    return kind, kind.find(point.name) or point.name


def _load(point: EntryPoint) -> SimulatorKind | None:
    """Import what an entry point names; if it is a kind of simulators, register it."""
    shipped = load(point)
    if isinstance(shipped, type) and issubclass(shipped, SimulatorKind):
        shipped = shipped()
    if not isinstance(shipped, SimulatorKind):
        return None
    register_simulator(shipped)
    return shipped
