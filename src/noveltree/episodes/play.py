"""One episode in progress. A decision is plan, choose, execute; the whole lookahead stands until it is executed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from noveltree.agents import Agent, Settings
from noveltree.episodes.chance import EpisodeChance
from noveltree.episodes.episode import Decision, End, Episode, digest
from noveltree.errors import InputError, RecordError, SimulatorError
from noveltree.heuristics import UNINFORMED, Heuristics
from noveltree.lookahead import Bounded, Budget, Interactions, Planning, RemembersEpisode, Seconds, check_chance
from noveltree.simulators import Simulator, State, chance_of
from noveltree.tree import Arrays, Lookahead, Node

#: What the names of a selection's memory begin with, among those of the planner's.
_SELECTION = "selection."
#: Interactions per decision of a rehearsal: enough to meet whatever a planner does.
_REHEARSED = 50


def episode_rng(seed: int, index: int, *, interval: int = 0) -> np.random.Generator:
    """The generator of an episode, which depends on nothing but the trial's seed and the episode's place in it."""
    if min(seed, index, interval) < 0:
        raise InputError(f"Seeds, indices and intervals are not negative: {seed}, {index}, {interval}.")
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(interval, index)))


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen at the end of planning, and by which values."""

    action: int
    values: tuple[float | None, ...]
    """Q(root, a); None for actions that were not tried, or that were not safe enough to be chosen."""


class Play:
    """One episode in progress."""

    def __init__(
        self,
        simulator: Simulator,
        agent: Agent,
        *,
        budget: Budget,
        rng: np.random.Generator,
        settings: Settings | None = None,
        max_steps: int | None = None,
        start: State | None = None,
        chance: EpisodeChance | None = None,
    ) -> None:
        """`max_steps` is the time limit of the protocol: reaching it is a truncation.

        The episode begins in `start`, if that is not the simulator's own. Where there is chance, `chance` decides
        what executed actions lead to; planning draws from `rng` and knows nothing of it.
        """
        if not simulator.actions:
            raise SimulatorError("The simulator has no actions, so there is nothing to decide.")
        if max_steps is not None and max_steps < 1:
            raise InputError(f"An episode must have at least 1 step, not {max_steps}.")
        self._agent = agent
        self._settings = agent.settings() if settings is None else settings
        if chance_of(simulator) is not None and chance is None:
            raise InputError("A simulator with chance is played with chance=EpisodeChance(seed, index).")
        #: What is thrown when an action is executed; None if there is no chance.
        self.chance = chance if chance_of(simulator) is not None else None
        start = self._start = simulator.start() if start is None else start
        self._planner = agent.planner(start, self._settings, UNINFORMED)
        most = self._settings.most_nodes
        #: What may be spent on the next decision; whoever watches puts a budget of their own around it.
        self.budget: Budget = budget if most is None else Bounded(budget, most)
        self.rng = rng
        self._max_steps = max_steps
        self._select = agent.select(self._settings)
        self._heuristics = UNINFORMED
        self.lookahead = Lookahead(
            simulator,
            start,
            base_policy=UNINFORMED.initial_base_policy(),
            termination_cost=UNINFORMED.initial_termination_cost(),
            node_type=self._planner.node_type,
            rng=rng,
            samples=self._settings.samples,
            free=self._settings.known_transitions == "free",
        )
        if self.chance is not None:
            check_chance(self._planner, agent.name)
        #: Where the last decision led, until that is the root.
        self._executed = self.lookahead.root
        self.decisions: list[Decision] = []
        #: The time step at which whoever drives the play pauses it; None: it is not paused.
        self.pause_at: int | None = None
        #: Whether a decision was begun and is not made yet: it waits for answers, or was cut off.
        self.deciding = False
        self._seconds = 0.0
        self._rehearse = isinstance(budget, Seconds)

    @property
    def finished(self) -> bool:
        """Whether the game is over or the time limit reached."""
        return self.lookahead.root.terminal or len(self.decisions) == self._max_steps

    @property
    def paused(self) -> bool:
        """Whether the time step is reached at which it is to be paused."""
        return len(self.decisions) == self.pause_at

    def rehearsal(self) -> Play | None:
        """A play to be driven for some decisions and forgotten, before a clock counts; None if that is not needed.

        Kernels are compiled and networks loaded when they are first used: the first decision would be late.
        """
        if not self._rehearse or self.finished:
            return None
        self._rehearse = False
        return Play(
            self.lookahead.simulator,
            self._agent,
            budget=Interactions(_REHEARSED),
            rng=np.random.default_rng(0),
            settings=self._settings,
            start=self.lookahead.root.state,
            chance=self.chance,
        )

    def plan(self) -> Planning:
        """Grow the lookahead: the first part of a decision."""
        started = time.perf_counter()
        self.deciding = True
        meter = self.budget.start()
        self.lookahead.begin_time_step()
        yield from self._planner.plan(self.lookahead, meter, rng=self.rng)
        self._seconds = time.perf_counter() - started

    def choose(self) -> Choice:
        """Back values up and select an action; the whole lookahead is still there."""
        started = time.perf_counter()
        root, values = self.lookahead.root, self._planner.action_values(self.lookahead)
        values = self._agent.considered(root, values, self._settings)
        action = self._select(root, values, self.rng)
        self._seconds += time.perf_counter() - started
        return Choice(action, tuple(values))

    def execute(self, choice: Choice, *, to: Node | None = None) -> Decision:
        """Make the chosen child the root. Its subtree is kept, or dropped; its siblings are freed.

        `to` is the outcome to which the action led, if that is known.
        """
        started = time.perf_counter()
        lookahead = self.lookahead
        root, action = lookahead.root, choice.action
        child = to or lookahead.executed(action, None if self.chance is None else self.chance.dice(root.time))
        decision = Decision(
            action=action,
            reward=child.reward,
            interactions=lookahead.interactions,
            cached=lookahead.cached,
            pruned=lookahead.pruned,
            solved=root.solved,
            depth=lookahead.deepest,
            seconds=self._seconds,
            action_values=choice.values,
            root_value=None if self._heuristics.initial_termination_cost() is not None else root.termination_cost,
        )
        # An interrupt may come at any instant; in this order `_last_node` always fits the decisions.
        self._executed = child
        self.decisions.append(decision)
        lookahead.advance(action, keep=self._settings.cache, to=child)
        # Freeing what is not kept takes its time too.
        self.decisions[-1] = replace(decision, seconds=self._seconds + time.perf_counter() - started)
        self.deciding = False
        return self.decisions[-1]

    def use(self, heuristics: Heuristics) -> None:
        """Go on with other heuristics, such as networks with new parameters, if they are others.

        What the old ones said of nodes is forgotten, unless the agent keeps it.
        """
        if heuristics == self._heuristics:
            return
        self._play_with(heuristics)
        base_policy, termination_cost = heuristics.initial_base_policy(), heuristics.initial_termination_cost()
        asked = self.lookahead.generated > 1  # a root that nothing was planned from has no answers yet
        if self._agent.keeps_answers and asked:
            self.lookahead.base_policy = base_policy
            self.lookahead.termination_cost = termination_cost
        else:
            self.lookahead.forget_answers(base_policy=base_policy, termination_cost=termination_cost)

    def memory(self) -> Arrays:
        """What planner and selection remember of the episode besides the lookahead; most remember nothing."""
        planner = self._planner.memory() if isinstance(self._planner, RemembersEpisode) else {}
        selection: Arrays = self._select.memory() if isinstance(self._select, RemembersEpisode) else {}
        return {**planner, **{f"{_SELECTION}{name}": array for name, array in selection.items()}}

    def restore(
        self,
        lookahead: Lookahead,
        decisions: Sequence[Decision],
        *,
        heuristics: Heuristics,
        memory: Arrays | None = None,
    ) -> None:
        """Go on where another play was left that was driven with `heuristics`: what they answered is kept.

        The generator of random numbers is not part of this; it has a state of its own.
        """
        self.lookahead = lookahead
        self.decisions = list(decisions)
        self._play_with(heuristics)  # whose planner remembers
        memory = memory or {}
        of_planner = {name: array for name, array in memory.items() if not name.startswith(_SELECTION)}
        of_selection = {
            name.removeprefix(_SELECTION): array for name, array in memory.items() if name not in of_planner
        }
        for part, remembered in ((self._planner, of_planner), (self._select, of_selection)):
            if isinstance(part, RemembersEpisode):
                part.remember(remembered, lookahead)
            elif remembered:
                raise RecordError(
                    f"{self._agent.name} remembers nothing of an episode, but there is something to remember."
                )

    def _play_with(self, heuristics: Heuristics) -> None:
        self._heuristics = heuristics
        self.lookahead.of_observations = heuristics.of_observations
        if self._agent.untrained is not None:  # otherwise the planner is the same, and stays as it is
            self._planner = self._agent.planner(self._start, self._settings, heuristics)

    def episode(self, *, interrupted: bool = False) -> Episode:
        """The episode as far as it was played."""
        last = self._last_node()
        if last.terminal:
            end = End.TERMINAL
        elif len(self.decisions) == self._max_steps:
            end = End.TRUNCATED
        else:
            end = End.INTERRUPTED if interrupted else End.STOPPED
        return Episode(tuple(self.decisions), end, digest(last.state.observation))

    def _last_node(self) -> Node:
        """The node to which the last decision led."""
        root = self.lookahead.root
        return root if root.time == len(self.decisions) else self._executed
