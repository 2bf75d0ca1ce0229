"""Results to analyse: what agents scored, by game and trial."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noveltree.analysis.statistics import Sample
from noveltree.errors import InputError, NoveltreeError, UnknownNameError
from noveltree.protocol import Protocol
from noveltree.simulators.games import canonical_game


@dataclass(frozen=True, slots=True)
class EpisodeScore:
    """An evaluation episode."""

    agent: str
    game: str
    trial: str
    episode: str
    """Which of the trial's."""
    score: float
    steps: int | None = None
    interactions: int | None = None
    seconds: float | None = None
    protocol: str = ""
    """The hash of its protocol, if a table has it."""
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
    """In what that is not comparable with the others, in words; empty if it is."""
    differs_in: tuple[str, ...] = ()
    """The settings of its protocol that this is about."""
    protocol: Protocol | None = None
    """Of one of its games, if there are records."""
    missing: Mapping[str, int] = field(default_factory=dict)
    """Trials that were planned but are not finished, or that a table has of other games, by game."""

    @property
    def samples(self) -> Mapping[str, Sample]:
        return {game: scores.sample for game, scores in self.games.items()}

    @property
    def trial_samples(self) -> Mapping[str, Sample]:
        """Of the means of trials, which are independent where the episodes of one trial are not quite."""
        return {game: Sample.of(scores.trials) for game, scores in self.games.items()}


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
        """An agent by its name, or by its label if no other has it; the only one, if none is named."""
        known = {agent.name: agent for agent in self.agents}
        if name is None:
            if len(known) != 1:
                raise InputError(
                    f"{self.source} has several agents; name one of them, as {self.source}:AGENT: "
                    f"{', '.join(known)}."
                )
            (name,) = known
        if name in known:
            return known[name]
        if len(labelled := [agent for agent in self.agents if agent.label == name]) == 1:
            return labelled[0]
        raise UnknownNameError(f"agent in {self.source}", name, known)

    def rows(self) -> list[dict[str, Any]]:
        """A row per agent and game, as a data frame takes them: `pandas.DataFrame(results.rows())`."""
        return [
            {
                "agent": agent.name,
                "game": game,
                "published": agent.published,
                "mean": scores.sample.mean,
                "interval": scores.sample.interval,
                "episodes": scores.sample.count,
                "trials": len(scores.trials),
                "differs": agent.differs,
            }
            for agent in self.agents
            for game, scores in agent.games.items()
        ]

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
        _agent_scores(agent, {game: _game_scores(played) for game, played in games.items()})
        for agent, games in grouped.items()
    )


def _agent_scores(agent: str, games: Mapping[str, GameScores]) -> AgentScores:
    """As many trials as of one game there should be of all."""
    most = max(len(scores.trials) for scores in games.values())
    missing = {game: most - len(scores.trials) for game, scores in games.items() if len(scores.trials) < most}
    return AgentScores(agent, games, agent, label=agent, missing=missing)


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
            EpisodeScore(agent, game, str(trial), "0", float(values[trial, column]))
            for column, game in enumerate(games)
            for trial in range(len(values))
            if not math.isnan(values[trial, column])
        ]
    return Results(source, agents_of_episodes(episodes))


def _spelled(game: str) -> str:
    try:
        return canonical_game(game)
    except NoveltreeError:
        return game
