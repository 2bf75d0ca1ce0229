"""An agent at an episode: its simulator, its networks, and its play, at any state of the episode."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from noveltree.agents import get_agent
from noveltree.episodes import Choice
from noveltree.errors import InputError
from noveltree.heuristics import UNINFORMED, Heuristics
from noveltree.lookahead import Interactions
from noveltree.protocol import Protocol, make_protocol
from noveltree.records.run_directory import RunDirectory
from noveltree.simulators import SimulatorSettings
from noveltree.trial.checkpoint_state import read_weights
from noveltree.viewer.watched_budget import Watch, Watched


class Seat:
    """Where an agent sits and plays. Whoever watches is told while it plans."""

    def __init__(
        self,
        protocol: Protocol,
        watch: Watch,
        *,
        seed: int,
        index: int = 0,
        interval: int = 0,
        evaluation: bool = True,
        run: Path | None = None,
    ) -> None:
        self.protocol = protocol
        self.simulator = protocol.make_simulator()
        self.play = protocol.make_play(
            self.simulator, seed=seed, index=index, interval=interval, evaluation=evaluation
        )
        self.heuristics: Heuristics = UNINFORMED
        #: Identifies the networks, if there are any.
        self.weights: str | None = None
        if run is not None and get_agent(protocol.agent).heads:
            deployment = read_weights(RunDirectory.open(run), protocol, self.simulator)
            self.heuristics, self.weights = deployment.heuristics(), deployment.digest
        elif get_agent(protocol.agent).needs_networks:
            raise InputError(f"{protocol.agent} cannot play without networks: give a run with --weights.")
        self.play.use(self.heuristics)
        self.budget = Watched(self.play.budget, watch)
        self.play.budget = self.budget
        start = self.play.lookahead.root.state
        self.planner = get_agent(protocol.agent).planner(start, protocol.settings(), self.heuristics)

    def spend(self, interactions: int) -> None:
        """Have a budget of so many interactions from now on."""
        self.budget.change(Interactions(interactions))

    def plan(self) -> Choice:
        """Grow the lookahead of the current state, and choose."""
        planning = self.play.plan()
        try:
            question = next(planning)
            while True:
                question = planning.send(self.heuristics.answer([question])[0])
        except StopIteration:
            return self.play.choose()

    def dice(self, t: int) -> int:
        """What is thrown when an action is executed at a time step."""
        return 0 if self.play.chance is None else self.play.chance.dice(t)

    def follow(self, actions: Iterable[int]) -> None:
        """Execute actions without planning."""
        for action in actions:
            self.play.lookahead.begin_time_step()
            self.play.execute(Choice(action, ()))

    def close(self) -> None:
        self.simulator.close()


def with_agent(protocol: Protocol, agent: str, *, run: Path | None = None) -> Protocol:
    """The protocol of another agent in the same game, under the same conditions."""
    if run is not None and (trained := RunDirectory.open(run).protocol).agent == agent:
        return trained
    takes = protocol.simulator_kind.takes
    choices: dict[str, Any] = {
        name: getattr(protocol, name) for name in SimulatorSettings.model_fields if name in takes
    }
    if not get_agent(agent).sets_budget:
        choices |= {"budget": protocol.budget, "budget_unit": protocol.budget_unit}
    return make_protocol(protocol.game, agent=agent, max_frames=protocol.max_frames, **choices)
