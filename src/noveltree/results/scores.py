"""Scores, wherever they come from: one row per episode, and what agents scored by game and trial."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from noveltree.errors import InputError, UnknownNameError
from noveltree.protocol import Protocol
from noveltree.results.sample import Sample

Phase = Literal["training", "evaluation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What an episode scored. All but the last two are columns of the tidy table, in this order."""

    agent: str
    """What its suite calls it."""
    game: str
    trial: int | str
    """Its number or name; of a run that is part of no benchmark, its seed."""
    seed: int | None = None
    phase: Phase = "evaluation"
    interval: int = 0
    """0 before anything is learnt."""
    episode: int | str
    """Which of the trial's in its phase."""
    score: float
    steps: int | None = None
    interactions: int | None = None
    seconds: float | None = None
    protocol_hash: str = ""
    differs: str = ""
    """Why the score is not comparable with the others; empty if it is."""
    file: Path | None = None
    """Its record."""
    manifest: str = ""
    """The name of the manifest that has the record as it is; empty if there is none."""


@dataclass(frozen=True, slots=True)
class GameScores:
    """What an agent scored in a game."""

    sample: Sample
    """Of all episodes of all trials; of a published mean, what follows from its interval."""
    trials: tuple[float, ...]
    """The mean of every trial. A mean that was published alone counts as a single trial."""
    episodes: tuple[Score, ...] = ()

    @classmethod
    def of(cls, episodes: Sequence[Score]) -> GameScores:
        trials: dict[object, list[float]] = {}
        for each in episodes:
            trials.setdefault((each.trial, each.seed, each.protocol_hash), []).append(each.score)
        return cls(
            Sample.of([each.score for each in episodes]),
            tuple(math.fsum(scores) / len(scores) for scores in trials.values()),
            tuple(episodes),
        )


@dataclass(frozen=True, slots=True)
class AgentScores:
    """What an agent scored."""

    name: str
    """Unique among the agents that are compared."""
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
    protocols: Mapping[str, Protocol] = field(default_factory=dict)
    """By game, if there are records."""
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


def agents_of(scores: Iterable[Score]) -> tuple[AgentScores, ...]:
    """The agents of evaluation episodes, in the order in which they come.

    An agent should have as many trials of every game as of the game with the most: the others are missing.
    """
    grouped: dict[str, dict[str, list[Score]]] = {}
    for score in scores:
        grouped.setdefault(score.agent, {}).setdefault(score.game, []).append(score)
    agents = []
    for agent, episodes in grouped.items():
        games = {game: GameScores.of(played) for game, played in episodes.items()}
        most = max(len(game.trials) for game in games.values())
        missing = {name: most - len(game.trials) for name, game in games.items() if len(game.trials) < most}
        agents.append(AgentScores(agent, games, agent, label=agent, missing=missing))
    return tuple(agents)
