"""A planner for one's own control loop: it is told where the world stands, and says what to do.

>>> from noveltree import Corridor, Planner
>>> planner = Planner(Corridor(), budget=50)
>>> while not planner.terminal:
...     transition = planner.advance(planner.act())
>>> transition.reward
1.0
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

import gymnasium
import numpy as np

from noveltree.agents import get_agent
from noveltree.episodes import EpisodeChance, Play
from noveltree.episodes.play import Choice
from noveltree.errors import InputError
from noveltree.heuristics import UNINFORMED, Heuristics
from noveltree.lookahead import Budget, Interactions
from noveltree.protocol import AUTO, choose_agent, settings_for
from noveltree.protocol.protocol import observed_by
from noveltree.simulators import (
    Chance,
    GymnasiumSimulator,
    Observed,
    Simulator,
    State,
    StorableStates,
    Transition,
    name_game,
)
from noveltree.simulators.generators import check_foresight
from noveltree.tree import Lookahead, Node, outcomes
from noveltree.trial.checkpoint_state import read_weights
from noveltree.trial.playing import run_to_play

_DEFAULT_AGENT = "riw-c"


class Planner:
    """Decides what to do, state by state, by looking ahead in a simulator.

    `simulator` is one of yours, an environment of Gymnasium, which is handed over, or the name of a game or
    environment. `agent` is riw-c unless it is named; `auto` is the one that suits the simulator. `budget` is a
    number of interactions per decision, or a budget such as `Seconds(0.1)`. `weights` is the directory of a run
    whose networks an agent that learns plays with, in the game that it has learnt. What chance will bring is
    foreseen with `chance="foreseen"` alone (docs/chance.md). What else is given are settings of the agent
    (docs/settings.md). Two planners with the same arguments that are told the same decide the same, unless by the
    clock.

    A planner, with its simulator and its networks, belongs to one thread: others make their own. Processes make
    theirs after they are started; a planner is never sent to another one.
    """

    def __init__(
        self,
        simulator: Simulator | gymnasium.Env[Any, Any] | str,
        agent: str | None = None,
        *,
        budget: int | Budget | None = None,
        weights: Path | str | None = None,
        seed: int = 0,
        chance: Chance | None = None,
        **settings: Any,
    ) -> None:
        if agent == AUTO and weights is not None:
            raise InputError("Weights are those of one agent: leave out auto.")
        run = None if agent == AUTO else run_to_play(None if weights is None else Path(weights), agent)
        if run is not None and settings:
            raise InputError(
                f"With weights an agent plans as it did when it learnt; {', '.join(settings)} cannot be chosen."
            )
        self._owned = isinstance(simulator, str)
        self._choice: Choice | None = None
        named = (agent or _DEFAULT_AGENT) if run is None else run.protocol.agent
        if isinstance(simulator, str):
            kind, name = name_game(simulator)
            if run is not None and name == run.protocol.game:
                self.simulator = run.protocol.make_simulator()
            else:
                made = kind.defaults if chance is None else kind.defaults.model_copy(update={"chance": chance})
                self.simulator = kind.make(name, made, _observed(named, settings))
        elif isinstance(simulator, gymnasium.Env):
            self.simulator = GymnasiumSimulator(simulator, chance=chance)
        else:
            self.simulator = simulator
            # An environment's own simulator is what it was made to be.
            if chance != "foreseen" and not isinstance(simulator, GymnasiumSimulator):
                check_foresight(simulator, "the simulator", "say chance='foreseen'")
        try:
            if named == AUTO:
                auto = choose_agent(self.simulator)
                named, settings = auto.agent, {**auto.settings, **settings}
                budget = auto.budget if budget is None else budget
            self._agent = get_agent(named)
            self._heuristics: Heuristics = UNINFORMED
            self._settings = settings_for(self._agent, self.simulator, settings)
            if run is not None:
                run.protocol.check_plannable()
                self._heuristics = read_weights(run, run.protocol, self.simulator).heuristics()
                self._settings = run.protocol.settings()
                budget = run.protocol.make_budget() if budget is None else budget
            actions = len(self.simulator.actions)
            usual = self._agent.default_budget(actions, self._settings)
            interactions = usual if budget is None else budget
            self._budget = Interactions(interactions) if isinstance(interactions, int) else interactions
            self._rng, self._seed, self._begun = np.random.default_rng(seed), seed, 0
            self._begin(self.simulator.start())
        except BaseException:
            self.close()
            raise

    @property
    def agent(self) -> str:
        """The name of the agent, which `auto` has chosen if that was asked for."""
        return self._agent.name

    @property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions; an action is an index into this tuple."""
        return self.simulator.actions

    @property
    def lookahead(self) -> Lookahead:
        """The lookahead: after `act` with all that was looked at, after `advance` with what is kept of it."""
        return self._play.lookahead

    @property
    def state(self) -> State:
        """The state at the root, from which `act` plans."""
        return self.lookahead.root.state

    @property
    def terminal(self) -> bool:
        """Whether there is nothing left to decide."""
        return self.lookahead.root.terminal

    @property
    def values(self) -> tuple[float | None, ...]:
        """What each action was worth in the last decision; None for those not tried, or not safe enough."""
        return () if self._choice is None else self._choice.values

    def act(self, state: State | None = None) -> int:
        """The action to execute in `state`, or where the planner stands.

        In the state to which `advance` led, the lookahead that is kept grows on; in another state a fresh one does.
        Asked again of the same state, it gives the same answer without planning anew.
        """
        if state is not None and not self._same(state, self.state):
            self._begin(state)
        if self.terminal:
            raise InputError("There is nothing to decide: the episode has ended in this state.")
        if self._choice is None:
            self._plan()
            self._choice = self._play.choose()
        return self._choice.action

    def advance(self, action: int, state: State | None = None) -> Transition:
        """Tell that an action was executed: what the simulator says it led to, with the lookahead below it kept.

        Where chance decides, dice of its own are thrown. If the world turned out otherwise, `state` is where it
        stands now: what was looked at below is kept if the lookahead has met it, and a fresh one begins
        otherwise, which remembers nothing of the episode, such as what it has seen.
        """
        if not 0 <= action < len(self.actions):
            raise InputError(f"There are the actions 0 to {len(self.actions) - 1}, not {action}.")
        if self.terminal:
            raise InputError("Nothing can be executed any more: the episode has ended in this state.")
        self._play.execute(Choice(action, self.values), to=self._outcome(action, state))
        self._choice = None
        root = self.lookahead.root
        if state is not None and not self._same(state, root.state):
            self._begin(state)
            self.lookahead.root.parent = root.parent  # networks see what was seen before
        return Transition(self.state, root.reward, self.terminal)

    def close(self) -> None:
        """Close the simulator, if it was made by name."""
        if self._owned:
            self.simulator.close()

    def __enter__(self) -> Planner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _begin(self, state: State) -> None:
        """Stand at a state with nothing looked at yet."""
        self._choice = None
        self._play = Play(
            self.simulator,
            self._agent,
            budget=self._budget,
            rng=self._rng,
            settings=self._settings,
            start=state,
            chance=EpisodeChance(self._seed, self._begun),
        )
        self._begun += 1
        self._play.use(self._heuristics)

    def _plan(self) -> None:
        planning = self._play.plan()
        try:
            question = next(planning)
            while True:
                question = planning.send(self._heuristics.answer([question])[0])
        except StopIteration:
            pass

    def _outcome(self, action: int, state: State | None) -> Node | None:
        """The outcome of an action that is known to be where the world stands, if the lookahead has it."""
        if state is None:
            return None
        for outcome in outcomes(self.lookahead.root.children[action]):
            if self._same(state, outcome.state):
                outcome.state = state  # which may differ in what cannot be told apart
                return outcome
        return None

    def _same(self, state: State, other: State) -> bool:
        """Whether states are the same: by what they are encoded as or, if they cannot be, by what is observed."""
        if state is other:
            return True
        seen = state.observation
        if seen.shape != other.observation.shape or seen.tobytes() != other.observation.tobytes():
            return False
        simulator = self.simulator
        return not isinstance(simulator, StorableStates) or (
            simulator.encode_state(state) == simulator.encode_state(other)
        )


def _observed(agent: str, settings: dict[str, Any]) -> Observed:
    """What has to be observed of screens for an agent."""
    return (
        Observed() if agent == AUTO else observed_by(get_agent(agent), get_agent(agent).settings(**settings), None)
    )
