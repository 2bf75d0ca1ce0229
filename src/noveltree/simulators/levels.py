"""Levels: the several starts that a simulator may have, by number, such as `0-99` or `0,3,7-9`."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from noveltree.errors import InputError, NoveltreeError, SimulatorError
from noveltree.simulators.simulator import HasLevels, Simulator, State

#: Levels are seeds in Gymnasium, where many environments take no more than 32 bits.
HIGHEST_LEVEL = 2**32 - 1
#: Multiples of the golden ratio are spread evenly.
_STRIDE = 0.618034
_RANGE = re.compile(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?")


def parse_levels(text: str) -> tuple[range, ...]:
    """The levels that a text names, in its order; raises ValueError with a sentence if it names none."""
    made = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise ValueError(f"levels are whole numbers and ranges of them, such as 0-99 or 0,3,7-9, not {text!r}")
        first = int(match[1])
        last = first if match[2] is None else int(match[2])
        if last < first:
            raise ValueError(f"the range {part.strip()} is empty: it ends before it begins")
        if last > HIGHEST_LEVEL:
            raise ValueError(f"{last} is too large for a level, which is a number from 0 to {HIGHEST_LEVEL}")
        made.append(range(first, last + 1))
    for number, each in enumerate(made):
        for other in made[:number]:
            if (twice := max(each.start, other.start)) < min(each.stop, other.stop):
                raise ValueError(f"the level {twice} is there twice")
    return tuple(made)


def level_at(text: str, index: int, *, interval: int = 0) -> int:
    """The level of an episode: one after the other, and from the first again.

    In every interval of training, whose episodes are counted from 0 again, it begins elsewhere: otherwise many
    levels would never be met.
    """
    ranges = parse_levels(text)
    count = sum(map(len, ranges))
    index = (index + max(0, interval - 1) * round(count * _STRIDE)) % count
    for each in ranges:
        if index < len(each):
            return each[index]
        index -= len(each)
    raise AssertionError("the index is less than the number of levels")


def outermost(text: str) -> list[int]:
    """The first and the last level of every range: if these are there, those between them probably are."""
    return list(dict.fromkeys(level for each in parse_levels(text) for level in (each[0], each[-1])))


def start_at(simulator: Simulator, level: int, *, game: str = "This game") -> State:
    """The state in which episodes of a level begin."""
    if not isinstance(simulator, HasLevels):
        raise InputError(f"{game} has no levels to choose: its simulator has no method start_at(level).")
    try:
        state = simulator.start_at(level)
    except NoveltreeError:
        raise
    except Exception as error:
        raise InputError(f"{game} cannot begin in level {level}: {type(error).__name__}: {error}") from error
    if not isinstance(state, State):
        raise SimulatorError(f"start_at({level}) of {game} gave a {type(state).__name__}, not a State.")
    return state


def _canonical(given: object) -> object:
    """The usual spelling of levels."""
    if given is None:
        return None
    if isinstance(given, int) and not isinstance(given, bool):
        given = str(given)  # a single level in a suite
    if not isinstance(given, str):
        return given
    try:
        ranges = parse_levels(given)
    except ValueError as error:
        raise PydanticCustomError("levels", "{sentence}", {"sentence": str(error)}) from error
    return ",".join(str(each[0]) if len(each) == 1 else f"{each[0]}-{each[-1]}" for each in ranges)


#: A text that names levels.
Levels = Annotated[str, BeforeValidator(_canonical)]
