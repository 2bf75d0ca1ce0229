"""Simulators of your own, by reference: code that makes a `Simulator`, or a Gymnasium environment."""

from __future__ import annotations

import gymnasium

from noveltree.errors import InputError, NotDeterministicError, SimulatorError
from noveltree.simulators.check import check_transitions, compared
from noveltree.simulators.generators import check_foresight
from noveltree.simulators.gymnasium import GymnasiumSimulator
from noveltree.simulators.kind import SimulatorKind
from noveltree.simulators.options import fitting
from noveltree.simulators.patience import SECONDS, warn_of_slowness
from noveltree.simulators.permission import folder_of, may_import
from noveltree.simulators.references import Reference, running_foreign_code
from noveltree.simulators.settings import Chance, Observed, SimulatorSettings
from noveltree.simulators.simulator import Simulator, chance_of

_CHECKED_WALKS = 2
_CHECKED_LENGTH = 15
_PARTS = ("actions", "start", "step", "close")


class OwnKind(SimulatorKind):
    """Simulators of your own. A game is a reference to the code that makes it."""

    name = "own"
    title = "your own"
    takes = ("options", "game_levels", "evaluation_levels", "chance")

    def __init__(self) -> None:
        #: What was tried already: a simulator is made again for every worker, trial and verification.
        self._checked: set[tuple[str, str | None, object]] = set()

    def find(self, game: str) -> str | None:
        reference = Reference.parse(game, folder_of(game))
        return None if reference is None else str(reference)

    def games(self) -> tuple[str, ...]:
        return ()

    def version(self, game: str) -> str:
        return _reference(game).version()

    def source(self, game: str) -> str | None:
        return _reference(game).digest(folder_of(game))

    def check_import(self, game: str, recorded: str | None = None) -> None:
        reference, folder = _reference(game), folder_of(game)
        path, found = reference.source(folder), reference.digest(folder)
        changed = ""
        if recorded is not None and found is not None and found != recorded:
            changed = f"its SHA-256 digest is {found[:12]}, not {recorded[:12]}"
        if not may_import(game):
            where = f"There is no {reference.place} here" if path is None else f"It would import {path}"
            since = f", which has changed since it was recorded: {changed}" if changed else ""
            raise InputError(f"{_refusal(game)} {where}{since}.")
        if changed:
            raise InputError(
                f"The source of {game} has changed since it was recorded: {changed}. What was played with the one "
                f"says nothing of the other: bring back {path} as it was."
            )

    def make(self, game: str, settings: SimulatorSettings, observed: Observed) -> Simulator:
        if not may_import(game):
            raise InputError(_refusal(game))
        reference, folder = _reference(game), folder_of(game)
        factory = reference.load(folder)
        options = fitting(factory, settings.options, whose=game)
        source = reference.source(folder) or folder
        with running_foreign_code(f"{game} cannot be made", folder, source.parent):
            made = factory(**options)
            if isinstance(made, gymnasium.Env):
                return GymnasiumSimulator(made, chance=settings.chance)
            if not isinstance(made, Simulator):
                raise InputError(
                    f"{game} made something of type {type(made).__name__}{_lacking(made)}, but a simulator with "
                    "actions, start, step and close is expected, or an environment of Gymnasium."
                )
            if isinstance(made, GymnasiumSimulator):
                if settings.chance not in (None, made.chance):
                    raise InputError(f"The chance of {game} is made to be {made.chance}, not {settings.chance}.")
                return made
            if settings.chance == "sampled" and chance_of(made) is None:
                raise InputError(f"There is nothing to sample: {game} has no draw(state, action, dice).")
            if settings.chance != "foreseen":
                check_foresight(made, game, "ask for the chance 'foreseen' (--chance foreseen)")
            if settings.chance == "foreseen" and chance_of(made) is not None:
                raise InputError(
                    f"The chance of {game} cannot be foreseen: only snapshots of Gymnasium's environments hold the "
                    "generators that decide what it will bring."
                )
            key = game, reference.digest(folder), settings.options
            if key not in self._checked:
                _check(made, game)
                self._checked.add(key)
            return made

    def chance(self, simulator: Simulator) -> Chance | None:
        if not isinstance(simulator, GymnasiumSimulator):
            return super().chance(simulator)
        if simulator.chance == "foreseen":
            return "foreseen"
        return "sampled" if simulator.chance_is_found else "none"

    def max_episode_steps(self, simulator: Simulator) -> int | None:
        return simulator.max_episode_steps if isinstance(simulator, GymnasiumSimulator) else None


def _reference(game: str) -> Reference:
    reference = Reference.parse(game, folder_of(game))
    if reference is None:
        raise InputError(f"{game!r} names no code: expected package.module:Factory or path/to/file.py:Factory.")
    return reference


def _refusal(game: str) -> str:
    return f"The simulator {game} is code that is not noveltree's: say --import to import it."


def _lacking(made: object) -> str:
    lacking = [name for name in _PARTS if getattr(made, name, None) is None]
    return f" without {', '.join(lacking)}" if len(lacking) < len(_PARTS) else ""


def _check(simulator: Simulator, game: str) -> None:
    """Try on short random walks that it is a function, as far as there is time."""
    try:
        walked = check_transitions(simulator, walks=_CHECKED_WALKS, length=_CHECKED_LENGTH, seconds=SECONDS)
    except NotDeterministicError as error:
        raise NotDeterministicError(f"{game} is not deterministic. {error}") from error
    except SimulatorError as error:
        raise SimulatorError(f"{game} is no simulator yet. {error}") from error
    if walked.cut_short:
        warn_of_slowness(game, compared(walked))
