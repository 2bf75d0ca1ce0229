"""Scores in tables: files that `noveltree benchmark collect` writes, data frames, and arrays."""

from __future__ import annotations

import csv
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from noveltree.errors import InputError, NoveltreeError, RecordError
from noveltree.results.parquet import read_parquet
from noveltree.results.scores import Results, Score, agents_of
from noveltree.simulators.games import canonical_game
from noveltree.wording import printable

_canonical = functools.cache(canonical_game)
#: No game has larger scores: their squares and sums would overflow.
_LARGEST = 1e15
#: What a table must have to be analysed; `noveltree benchmark collect` writes more.
NEEDED = ("agent", "game", "trial", "episode", "phase", "score")


def read_tables(paths: Sequence[Path]) -> list[Score]:
    """The evaluation episodes of tidy tables, CSV or Parquet, without any twice; an error names the row."""
    known = _Known()
    return [score for path in paths for score in _read_table(path, known)]


def _read_table(path: Path, known: _Known) -> list[Score]:
    if path.suffix == ".parquet":
        return _parse(read_parquet(path), str(path), lambda row: f"{path}, row {row}", known)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            names = next(reader, [])
            numbered = [(reader.line_num, row) for row in reader if row]
    except OSError as error:
        raise RecordError(f"Cannot read {path}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise RecordError(f"{path} is not a table of episodes: it is not text.") from error
    except csv.Error as error:
        raise RecordError(f"{path} is not a table of episodes: {error}.") from error
    _check_names(names, str(path))
    for line, row in numbered:
        if len(row) != len(names):
            raise RecordError(f"{path}, line {line}: it has {len(row)} values, not {len(names)}.")
    columns = {name: [row[number] for _, row in numbered] for number, name in enumerate(names)}
    return _parse(columns, str(path), lambda row: f"{path}, line {numbered[row][0]}", known)


def results_of_frame(frame: Any, *, source: str = "the table") -> Results:
    """Results of a tidy data frame of pandas or polars, with a row per episode."""
    if hasattr(frame, "collect"):  # a lazy one of polars
        frame = frame.collect()
    names = [str(name) for name in frame.columns]
    _check_names(names, source)
    columns = {name: frame[name].to_list() for name in names}
    return Results(source, agents_of(_parse(columns, source, lambda row: f"{source}, row {row}", _Known())))


def results_of_arrays(
    scores: Mapping[str, ArrayLike], games: Sequence[str], *, source: str = "the arrays"
) -> Results:
    """Results of one score per trial and game: by agent an array (trials, games), NaN where a trial is missing.

    Atari games may be spelled in any way; those of other simulators have their own names.
    """
    games = [_spelled(game) for game in games]
    if twice := [game for game in games if list(games).count(game) > 1]:
        raise InputError(f"The game {twice[0]} is there twice.")
    episodes = []
    for agent, given in scores.items():
        values = np.asarray(given, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != len(games):
            raise InputError(f"{agent}: scores have the shape (trials, {len(games)}), not {values.shape}.")
        if np.isinf(values).any() or np.isnan(values).all():
            raise InputError(f"{agent}: scores are numbers, and there must be some.")
        episodes += [
            Score(agent=agent, game=game, trial=trial, episode=0, score=float(values[trial, column]))
            for column, game in enumerate(games)
            for trial in range(len(values))
            if not math.isnan(values[trial, column])
        ]
    return Results(source, agents_of(episodes))


def _check_names(names: Sequence[str], source: str) -> None:
    for name in names:
        if list(names).count(name) > 1:
            raise RecordError(f"{source} is not a table of episodes: it has two columns {name}.")


@dataclass(frozen=True, slots=True)
class _Known:
    """What was read before."""

    episodes: dict[object, str] = field(default_factory=dict)
    """Where each is."""
    protocols: dict[tuple[str, str], str] = field(default_factory=dict)
    """By agent and game."""


def _parse(
    columns: Mapping[str, Sequence[Any]], source: str, where: Callable[[int], str], known: _Known
) -> list[Score]:
    """The evaluation episodes of a tidy table; `where` names a row."""
    if missing := [name for name in NEEDED if name not in columns]:
        raise RecordError(f"{source} is not a table of episodes: it has no column {missing[0]}.")
    episodes = []
    for number in range(len(columns["agent"])):
        row = _Row(columns, number, where(number))
        for name in NEEDED:
            if not row.text(name):
                raise row.error(f"{name} is missing")
        agent, game, phase = row.text("agent"), row.game(), row.text("phase")
        trial, episode = (_number_or_name(row.text(name)) for name in ("trial", "episode"))
        place = (agent, game, trial, phase, episode)
        if place in known.episodes:
            raise row.error(f"the same episode as in {known.episodes[place].removeprefix(f'{source}, ')}")
        known.episodes[place] = row.where
        if phase not in ("training", "evaluation"):
            raise row.error(f"the phase is training or evaluation, not {phase!r}")
        if phase == "training":
            continue
        if what := row.text("differs"):
            raise row.error(f"not comparable with the others: {what}")
        protocol = row.text("protocol_hash")
        if known.protocols.setdefault((agent, game), protocol) != protocol:
            raise row.error(f"another protocol than before of {agent} in {game}")
        episodes.append(
            Score(
                agent=agent,
                game=game,
                trial=trial,
                episode=episode,
                score=row.number("score"),
                steps=row.count("steps"),
                interactions=row.count("interactions"),
                seconds=row.amount("seconds"),
                protocol_hash=protocol,
            )
        )
    if not episodes:
        raise RecordError(f"{source} has no evaluation episodes.")
    return episodes


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a table."""

    columns: Mapping[str, Sequence[Any]]
    place: int
    where: str

    def error(self, what: str) -> RecordError:
        return RecordError(f"{self.where}: {what}.")

    def text(self, name: str) -> str:
        """The cell in a column; empty if it is missing."""
        value = self.columns[name][self.place] if name in self.columns else None
        try:
            return "" if value is None or value != value else printable(str(value))  # NaN is not itself
        except TypeError:  # pandas' own: neither true nor false
            return ""

    def game(self) -> str:
        name = self.text("game")
        try:
            return _canonical(name)
        except NoveltreeError as error:
            if "-v" in name or name == "corridor":  # of Gymnasium, or the toy
                return name
            raise RecordError(f"{self.where}: {error}") from error

    def number(self, name: str) -> float:
        text = self.text(name)
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise self.error(f"the {name} {text!r} is not a number")
        if abs(number) > _LARGEST:
            raise self.error(f"the {name} {text!r} is beyond {_LARGEST:g}")
        return number

    def amount(self, name: str) -> float | None:
        """A number that is not negative; None if it is missing."""
        number = self.number(name) if self.text(name) else None
        if number is not None and number < 0:
            raise self.error(f"{name} {self.text(name)!r} cannot be negative")
        return number

    def count(self, name: str) -> int | None:
        amount = self.amount(name)
        if amount is not None and not amount.is_integer():
            raise self.error(f"{name} {self.text(name)!r} is not a whole number")
        return None if amount is None else int(amount)


def _number_or_name(text: str) -> int | str:
    """What a trial or an episode is called; 0 and 0.0 are the same."""
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else text


def _spelled(game: str) -> str:
    try:
        return canonical_game(game)
    except NoveltreeError:
        return game
