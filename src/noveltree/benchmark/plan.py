"""The plan of a benchmark: every trial of a suite, with the protocol it is played under."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from noveltree.agents import get_agent
from noveltree.benchmark.suite import Suite, SuiteAgent
from noveltree.errors import InputError, NoveltreeError, UnknownNameError
from noveltree.protocol import Protocol, default_learning, make_protocol, training_by
from noveltree.reading import with_choices
from noveltree.simulators import check_import


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    """One trial: an agent in a game with a seed."""

    label: str
    """What the suite calls the agent."""
    protocol: Protocol
    trial: int
    seed: int
    episodes: int

    @property
    def game(self) -> str:
        return self.protocol.game

    @property
    def name(self) -> str:
        """Where its run directory is, below the benchmark's."""
        return f"trials/{self.protocol.stem}/{self.label}/trial-{self.trial}"


def plan_suite(suite: Suite) -> list[PlannedTrial]:
    """All trials of a suite: the first one of every game and agent, then the second ones, and so on."""
    protocols: list[tuple[SuiteAgent, list[Protocol]]] = []
    try:
        for game in suite.game_names:
            check_import(game)
    except InputError as error:
        raise InputError(f"The suite {suite.name}: {error}") from error
    for agent in suite.agents:
        try:
            learning, planning = _training(suite, agent)
            choices = {**dict(suite.conditions), **planning, **agent.settings(), "learning": learning}
            made = [
                make_protocol(game, preset=suite.preset, agent=agent.agent, **choices) for game in suite.game_names
            ]
        except NoveltreeError as error:
            of_game = isinstance(error, UnknownNameError) and error.kind == "game"
            who = "" if of_game else f"{agent.name}: "
            raise InputError(f"The suite {suite.name}: {who}{error}") from error
        # So that benchmarks that were run can be checked: nobody can plan with it.
        protocols.append((agent, [protocol.model_copy(update=agent.retired) for protocol in made]))
    games = [protocol.game for protocol in protocols[0][1]]
    if twice := [game for game in games if games.count(game) > 1]:
        raise InputError(f"The suite {suite.name}: the game {twice[0]} is there twice.")
    return [
        PlannedTrial(agent.name, made[game], trial, seed, suite.evaluation_episodes)
        for trial, seed in enumerate(suite.trial_seeds)
        for game in range(len(games))
        for agent, made in protocols
    ]


def _training(suite: Suite, agent: SuiteAgent) -> tuple[Any, Mapping[str, Any]]:
    """The settings of learning, with the suite's training budget and evaluation; and those of planning with it."""
    known = get_agent(agent.agent)
    if agent.training is None and default_learning(known) is None:
        return agent.learning, {}  # refused if there are any
    usual, planning = training_by(agent.training or "paper", known)
    chosen = dict(agent.learning or {})
    if "evaluation_episodes" in chosen:
        raise InputError("learning.evaluation_episodes: this is the suite's, not an agent's.")
    chosen["evaluation_episodes"] = suite.evaluation_episodes
    schedule = chosen.get("schedule", {})
    if suite.training_interactions is not None and isinstance(schedule, dict):
        schedule = {"interactions": suite.training_interactions, **schedule}
        if "interval" not in schedule and isinstance(schedule["interactions"], int):
            schedule["interval"] = min(usual.schedule.interval, schedule["interactions"])
        chosen["schedule"] = schedule
    settings = with_choices(usual, chosen, called=lambda name: f"learning.{name}")
    settings.check()
    return settings, planning


def protocols_of(trials: Sequence[PlannedTrial]) -> dict[int, Protocol]:
    """The protocols of trials by their identity: those of one agent in one game share the object."""
    return {id(trial.protocol): trial.protocol for trial in trials}
