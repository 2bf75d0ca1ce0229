"""Playing episodes one by one, each with a record, with the networks of a run or without any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noveltree.agents import get_agent
from noveltree.episodes import Decision, Play, drive
from noveltree.errors import InputError
from noveltree.heuristics import UNINFORMED, Heuristics
from noveltree.protocol import Protocol, make_protocol
from noveltree.records import EpisodeRecord, keep_episode
from noveltree.records.run_directory import RunDirectory
from noveltree.signals import held_back
from noveltree.simulators import Simulator, SimulatorSettings, name_game
from noveltree.trial.checkpoint_state import read_weights


@dataclass(frozen=True, slots=True)
class Played:
    """A recorded episode."""

    record: EpisodeRecord
    file: Path
    interrupted: bool
    """Whether it, or the writing of its record, was interrupted."""
    repeated: bool
    """Whether the same episode was recorded before, so that nothing had to be written."""


class Player:
    """Plays the episodes of a seed and records them in a directory."""

    def __init__(
        self,
        protocol: Protocol,
        simulator: Simulator,
        directory: Path,
        *,
        seed: int,
        run: RunDirectory | None = None,
        action_values: bool = False,
    ) -> None:
        """`action_values`: whether records have the values by which actions were chosen."""
        self._protocol, self._simulator, self._directory, self._seed = protocol, simulator, directory, seed
        self._action_values = action_values
        self._heuristics: Heuristics = UNINFORMED
        self._weights: str | None = None
        if run is not None:
            deployment = read_weights(run, protocol, simulator)
            self._heuristics, self._weights = deployment.heuristics(), deployment.digest

    def play(
        self,
        index: int,
        *,
        max_steps: int,
        on_decision: Callable[[Play, Decision], None],
        on_failure: Callable[[Path], None],
    ) -> Played:
        """Play an episode and write its record, also if it is interrupted or fails.

        `on_failure` is told where the record of an episode is that failed.
        """
        play = self._protocol.make_play(self._simulator, seed=self._seed, index=index, evaluation=True)
        interrupted = False
        try:
            drive([play], self._heuristics, decisions=max_steps, on_decision=on_decision)
        except KeyboardInterrupt:
            interrupted = True
        except Exception:
            if play.decisions:
                on_failure(self._write(play, index, interrupted=True).file)
            raise
        return self._write(play, index, interrupted=interrupted)

    def _write(self, play: Play, index: int, *, interrupted: bool) -> Played:
        try:
            with held_back():
                episode = play.episode(interrupted=interrupted)
                level = self._protocol.level_of(index, evaluation=True)
                record = EpisodeRecord(
                    episode, self._protocol, self._seed, index, weights=self._weights, level=level
                )
                file, repeated = keep_episode(self._directory, record, action_values=self._action_values)
        except KeyboardInterrupt:  # which came while it was written
            interrupted = True
        return Played(record, file, interrupted, repeated)


def run_to_play(weights: Path | None, agent: str | None) -> RunDirectory | None:
    """The run in `weights`, with whose networks an agent is to play; None if it plays without."""
    if weights is None:
        if agent is not None and get_agent(agent).heads:
            raise InputError(
                f"{agent} plays with networks that it has learnt: train it with `noveltree train`, and give "
                "the run's directory with --weights."
            )
        return None
    run = RunDirectory.open(weights)
    if agent is not None and get_agent(agent).name != run.protocol.agent:
        raise InputError(f"The weights in {weights} are of another agent: {run.protocol.agent}, not {agent}.")
    return run


def choices_of_run(run: RunDirectory, game: str, choices: dict[str, Any]) -> dict[str, Any]:
    """What is chosen for a protocol and, where nothing is, the settings under which a run was trained."""
    trained = run.protocol
    if name_game(game)[1] != trained.game and make_protocol(game).game != trained.game:
        raise InputError(f"The weights in {run.path} are of another game: {trained.game}, not {game}.")
    if choices["budget"] is None:
        choices = {**choices, "budget": trained.budget, "budget_unit": trained.budget_unit}
    fixed = {*SimulatorSettings.model_fields} - {*trained.simulator_kind.takes}
    trained.check_plannable()
    settings = get_agent(trained.agent).used(trained.settings())
    own = {
        name: settings.get(name, getattr(trained, name))
        for name, value in choices.items()
        if value is None and name not in fixed
    }
    return {**choices, **own, "learning": trained.learning}
