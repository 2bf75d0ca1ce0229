"""Results to analyse: what agents scored, by game and trial; from episodes, arrays, or a data frame."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noveltree.analysis.statistics import Sample
from noveltree.errors import InputError, NoveltreeError, RecordError, UnknownNameError
from noveltree.protocol import Protocol
from noveltree.simulators.games import canonical_game

#: What a table must have to be analysed; `noveltree benchmark collect` writes more.
NEEDED = ("agent", "game", "trial", "episode", "phase", "score")


@dataclass(frozen=True, slots=True)
class EpisodeScore:
    """An evaluation episode."""

    agent: str
    game: str
    trial: str
    score: float
    steps: int | None = None
    interactions: int | None = None
    seconds: float | None = None
    file: Path | None = None
    """Its record."""
    verified: bool = False
    """Whether the record is as it was when it was verified."""


@dataclass(frozen=True, slots=True)
class GameScores:
    """What an agent scored in a game."""

    sample: Sample
    """Of all episodes of all trials; of a published mean, what its interval tells."""
    trials: tuple[float, ...]
    """The mean of every trial. A mean that was published alone counts as a single trial."""
    episodes: tuple[EpisodeScore, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentScores:
    """What an agent scored."""

    name: str
    """Of its own among others."""
    games: Mapping[str, GameScores]
    title: str
    """As tables print it."""
    label: str = ""
    """What its suite calls it: the same under other conditions."""
    published: bool = False
    """Whether these are scores of a publication, not of records."""
    settings: str = ""
    """How it was played, in words."""
    differs: str = ""
    """In what that is not comparable with the others; empty if it is."""
    protocol: Protocol | None = None
    """Of one of its games, if there are records."""
    missing: Mapping[str, int] = field(default_factory=dict)
    """Trials that were planned but are not finished, by game."""

    @property
    def samples(self) -> Mapping[str, Sample]:
        return {game: scores.sample for game, scores in self.games.items()}


@dataclass(frozen=True, slots=True)
class Results:
    """What agents scored, and where that comes from."""

    source: str
    agents: tuple[AgentScores, ...]

    @property
    def games(self) -> list[str]:
        """All games of which an agent has scores, sorted."""
        return sorted({game for agent in self.agents for game in agent.games})

    def agent(self, name: str | None = None) -> AgentScores:
        """An agent by its name; the only one, if none is named."""
        known = {agent.name: agent for agent in self.agents}
        if name is None:
            if len(known) != 1:
                raise InputError(
                    f"{self.source} has several agents; name one of them, as {self.source}:AGENT: "
                    f"{', '.join(known)}."
                )
            (name,) = known
        if name not in known:
            raise UnknownNameError(f"agent in {self.source}", name, known)
        return known[name]

    def means(self, games: Sequence[str]) -> NDArray[np.float64]:
        """Mean scores, (agents, games); NaN where there is none."""
        return means_of(self.agents, games)


def means_of(agents: Sequence[AgentScores], games: Sequence[str]) -> NDArray[np.float64]:
    """Mean scores, (agents, games); NaN where there is none."""
    rows = [
        [agent.games[game].sample.mean if game in agent.games else math.nan for game in games] for agent in agents
    ]
    return np.array(rows, dtype=np.float64).reshape(len(agents), len(games))


def trials_of(agent: AgentScores, games: Sequence[str]) -> NDArray[np.float64]:
    """The means of an agent's trials, (trials, games); NaN where there is none."""
    columns = [agent.games[game].trials if game in agent.games else () for game in games]
    matrix = np.full((max([1, *map(len, columns)]), len(games)), math.nan)
    for number, column in enumerate(columns):
        matrix[: len(column), number] = column
    return matrix


def common_games(agents: Sequence[AgentScores]) -> list[str]:
    """The games of which all agents have scores, sorted."""
    return sorted(set.intersection(*(set(agent.games) for agent in agents))) if agents else []


def agents_of_episodes(episodes: Iterable[EpisodeScore]) -> tuple[AgentScores, ...]:
    """The agents of episodes, in the order in which they come."""
    grouped: dict[str, dict[str, list[EpisodeScore]]] = {}
    for episode in episodes:
        grouped.setdefault(episode.agent, {}).setdefault(episode.game, []).append(episode)
    return tuple(
        AgentScores(agent, {game: _game_scores(played) for game, played in games.items()}, agent, label=agent)
        for agent, games in grouped.items()
    )


def _game_scores(episodes: Sequence[EpisodeScore]) -> GameScores:
    trials: dict[str, list[float]] = {}
    for episode in episodes:
        trials.setdefault(episode.trial, []).append(episode.score)
    return GameScores(
        Sample.of([episode.score for episode in episodes]),
        tuple(math.fsum(scores) / len(scores) for scores in trials.values()),
        tuple(episodes),
    )


def results_of_arrays(
    scores: Mapping[str, ArrayLike], games: Sequence[str], *, source: str = "the arrays"
) -> Results:
    """Results of one score per trial and game: by agent an array (trials, games), NaN where a trial is missing."""
    if twice := [game for game in games if list(games).count(game) > 1]:
        raise InputError(f"The game {twice[0]} is there twice.")
    episodes = []
    for agent, given in scores.items():
        values = np.asarray(given, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != len(games):
            raise InputError(f"{agent}: scores have the shape (trials, {len(games)}), not {values.shape}.")
        if np.isinf(values).any():
            raise InputError(f"{agent}: a score is infinite.")
        episodes += [
            EpisodeScore(agent, game, str(trial), float(values[trial, column]))
            for column, game in enumerate(games)
            for trial in range(len(values))
            if not math.isnan(values[trial, column])
        ]
    return Results(source, agents_of_episodes(episodes))


def results_of_frame(frame: Any, *, source: str = "the table") -> Results:
    """Results of a tidy data frame of pandas or polars, with a row per episode."""
    columns = {str(name): frame[name].to_list() for name in frame.columns}
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
        if any(_is_missing(value) for value in place) or _is_missing(columns["score"][row]):
            raise RecordError(f"{where(row)}: a value is missing.")
        agent, game, trial, phase, _ = map(str, place)
        if game not in spelled:
            spelled[game] = _game(game, where(row))
        game = spelled[game]
        key = (agent, game, trial, phase, str(place[-1]))
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
                _number(columns["score"][row], "score", where(row)),
                steps=_count(columns, "steps", row, where),
                interactions=_count(columns, "interactions", row, where),
                seconds=_optional(columns, "seconds", row, where),
            )
        )
    if not episodes:
        raise RecordError(f"{source} has no evaluation episodes.")
    return episodes


def _short(place: str) -> str:
    """`table.csv, line 3` within a sentence about the same table."""
    return place.rpartition(", ")[2]


def _is_missing(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _text(columns: Mapping[str, Sequence[Any]], name: str, row: int) -> str:
    value = columns[name][row] if name in columns else None
    return "" if _is_missing(value) else str(value)


def _game(name: str, where: str) -> str:
    if "-v" in name or name == "corridor":  # of Gymnasium, or the toy
        return name
    try:
        return canonical_game(name)
    except NoveltreeError as error:
        raise RecordError(f"{where}: {error}") from error


def _number(value: Any, what: str, where: str) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise RecordError(f"{where}: the {what} {str(value)!r} is no number.")
    return number


def _optional(
    columns: Mapping[str, Sequence[Any]], name: str, row: int, where: Callable[[int], str]
) -> float | None:
    value = columns[name][row] if name in columns else None
    return None if _is_missing(value) else _number(value, name, where(row))


def _count(columns: Mapping[str, Sequence[Any]], name: str, row: int, where: Callable[[int], str]) -> int | None:
    value = _optional(columns, name, row, where)
    return None if value is None else int(value)
