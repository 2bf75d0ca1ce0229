"""Tidy tables with a row per episode: files that `noveltree benchmark collect` writes, and data frames."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from noveltree.analysis.results import EpisodeScore, Results, agents_of_episodes
from noveltree.errors import InputError, NoveltreeError, RecordError
from noveltree.simulators.games import canonical_game

#: Scores beyond it are no game's: their squares and sums would be no numbers.
_LARGEST = 1e15
#: What a table must have to be analysed; `noveltree benchmark collect` writes more.
NEEDED = ("agent", "game", "trial", "episode", "phase", "score")


def read_table(path: Path) -> list[EpisodeScore]:
    """The evaluation episodes of a tidy table, CSV or Parquet; what is wrong with it names the row."""
    if path.suffix == ".parquet":
        return parse_episodes(_read_parquet(path), str(path), where=lambda row: f"{path}, row {row}")
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            names = next(reader, [])
            numbered = [(reader.line_num, row) for row in reader if row]
    except OSError as error:
        raise RecordError(f"Cannot read {path}: {error.strerror or error}.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise RecordError(f"{path} is no table of episodes: {error}.") from error
    _check_names(names, str(path))
    numbers, rows = [number for number, _ in numbered], [row for _, row in numbered]
    for number, row in numbered:
        if len(row) != len(names):
            raise RecordError(f"{path}, line {number}: it has {len(row)} values, not {len(names)}.")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(names, ())
    return parse_episodes(columns, str(path), where=lambda row: f"{path}, line {numbers[row]}")


def _check_names(names: Sequence[str], source: str) -> None:
    for name in names:
        if list(names).count(name) > 1:
            raise RecordError(f"{source} is no table of episodes: it has two columns {name}.")


def _read_parquet(path: Path) -> Mapping[str, Sequence[object]]:
    try:
        import pyarrow.parquet
    except ImportError:
        raise InputError("A Parquet table needs pyarrow; give the CSV table beside it.") from None
    try:
        return dict(pyarrow.parquet.read_table(path).to_pydict())
    except (OSError, ValueError) as error:  # pyarrow's own are among the latter
        raise RecordError(f"{path} is no table of episodes: {error}.") from error


def results_of_frame(frame: Any, *, source: str = "the table") -> Results:
    """Results of a tidy data frame of pandas or polars, with a row per episode."""
    if hasattr(frame, "collect"):  # a lazy one of polars
        frame = frame.collect()
    names = [str(name) for name in frame.columns]
    _check_names(names, source)
    columns = {name: frame[name].to_list() for name in names}
    return Results(
        source, agents_of_episodes(parse_episodes(columns, source, where=lambda row: f"{source}, row {row}"))
    )


def parse_episodes(
    columns: Mapping[str, Sequence[Any]], source: str, *, where: Callable[[int], str]
) -> list[EpisodeScore]:
    """The evaluation episodes of a tidy table; what is wrong with it names the row."""
    if missing := [name for name in NEEDED if name not in columns]:
        raise RecordError(f"{source} is no table of episodes: it has no column {missing[0]}.")
    seen: dict[tuple[Any, ...], int] = {}
    hashes: dict[tuple[str, str], Any] = {}
    spelled: dict[str, str] = {}
    episodes = []
    places = zip(*(columns[name] for name in ("agent", "game", "trial", "phase", "episode")), strict=True)
    for row, place in enumerate(places):
        for name in NEEDED:
            if _is_missing(columns[name][row]):
                raise RecordError(f"{where(row)}: {name} is missing.")
        agent, game, trial, phase, episode = map(str, place)
        trial, episode = _number_or_name(trial), _number_or_name(episode)
        if game not in spelled:
            spelled[game] = _game(game, where(row))
        game = spelled[game]
        key = (agent, game, trial, phase, episode)
        if key in seen:
            raise RecordError(f"{where(row)}: the same episode as in {_short(where(seen[key]))}.")
        seen[key] = row
        if phase not in ("training", "evaluation"):
            raise RecordError(f"{where(row)}: the phase is training or evaluation, not {phase!r}.")
        if phase == "training":
            continue
        if what := _text(columns, "differs", row):
            raise RecordError(f"{where(row)}: not comparable with the others: {what}.")
        protocol = _text(columns, "protocol_hash", row)
        if hashes.setdefault((agent, game), protocol) != protocol:
            raise RecordError(f"{where(row)}: another protocol than before of {agent} in {game}.")
        episodes.append(
            EpisodeScore(
                agent,
                game,
                trial,
                episode,
                _number(columns["score"][row], "score", where(row)),
                steps=_count(columns, "steps", row, where),
                interactions=_count(columns, "interactions", row, where),
                seconds=_optional(columns, "seconds", row, where),
                protocol=protocol,
            )
        )
    if not episodes:
        raise RecordError(f"{source} has no evaluation episodes.")
    return episodes


def _number_or_name(text: str) -> str:
    """What a trial or an episode is called; 0 and 0.0 are the same."""
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else text


def _short(place: str) -> str:
    """`table.csv, line 3` within a sentence about the same table."""
    return place.rpartition(", ")[2]


def _is_missing(value: Any) -> bool:
    try:
        return bool(value is None or value == "" or value != value)  # NaN is not itself
    except TypeError:  # pandas' own: neither true nor false
        return True


def _text(columns: Mapping[str, Sequence[Any]], name: str, row: int) -> str:
    value = columns[name][row] if name in columns else None
    return "" if _is_missing(value) else str(value)


def _game(name: str, where: str) -> str:
    try:
        return canonical_game(name)
    except NoveltreeError as error:
        if "-v" in name or name == "corridor":  # of Gymnasium, or the toy
            return name
        raise RecordError(f"{where}: {error}") from error


def _number(value: Any, what: str, where: str) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise RecordError(f"{where}: the {what} {str(value)!r} is no number.")
    if abs(number) > _LARGEST:
        raise RecordError(f"{where}: the {what} {str(value)!r} is beyond {_LARGEST:g}.")
    return number


def _optional(
    columns: Mapping[str, Sequence[Any]], name: str, row: int, where: Callable[[int], str]
) -> float | None:
    value = columns[name][row] if name in columns else None
    if _is_missing(value):
        return None
    number = _number(value, name, where(row))
    if number < 0:
        raise RecordError(f"{where(row)}: {name} {str(value)!r} cannot be negative.")
    return number


def _count(columns: Mapping[str, Sequence[Any]], name: str, row: int, where: Callable[[int], str]) -> int | None:
    value = _optional(columns, name, row, where)
    if value is not None and not value.is_integer():
        raise RecordError(f"{where(row)}: {name} {str(columns[name][row])!r} is no whole number.")
    return None if value is None else int(value)
