"""Playing episodes, one or many at once: the critical path (Definition 3) and what each decision cost.

`Play` is one episode in progress. Its `decide` is a generator that yields the questions of its planner; `drive`
runs the generators of many plays, collects what all of them ask, has one batch evaluated and sends the answers
back. A play can be left after any decision and driven on later.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noveltree.agents import Agent, Settings
from noveltree.errors import InputError, SimulatorError
from noveltree.evaluation import UNINFORMED, Evaluation
from noveltree.lookahead import (
    TIE_BREAKINGS,
    ActionValues,
    Answer,
    Budget,
    Lookahead,
    Node,
    Question,
    select_action,
)
from noveltree.simulators import Simulator


@dataclass(frozen=True, slots=True)
class Decision:
    """One time step: the action that was executed, its reward, and the account of how it was found."""

    action: int
    reward: float
    interactions: int
    """Calls of the simulator."""
    cached: int
    """Nodes that were kept from the time step before."""
    pruned: int
    """Nodes that were found not to be novel."""
    solved: bool
    """Whether the root was solved, so that planning ended before its budget."""
    depth: int
    """Depth of the deepest node that was generated."""
    seconds: float
    """Wall-clock time."""


class End(StrEnum):
    """Why an episode has no more decisions."""

    TERMINAL = "terminal"
    """The game is over."""
    TRUNCATED = "truncated"
    """The time limit of the protocol was reached; the game was not over."""
    STOPPED = "stopped"
    """Whoever played it wanted no more decisions."""
    INTERRUPTED = "interrupted"
    """Playing was cut off: by the user, or because the simulator failed."""


@dataclass(frozen=True, slots=True)
class Episode:
    """An episode as it was played."""

    decisions: tuple[Decision, ...]
    end: End
    final_observation: str
    """Digest of what was observed at the end: a replay must end there too."""

    @property
    def score(self) -> float:
        """The sum of rewards."""
        return float(sum(decision.reward for decision in self.decisions))

    @property
    def steps(self) -> int:
        return len(self.decisions)

    @property
    def interactions(self) -> int:
        return sum(decision.interactions for decision in self.decisions)

    @property
    def seconds(self) -> float:
        return sum(decision.seconds for decision in self.decisions)

    @property
    def actions(self) -> list[int]:
        return [decision.action for decision in self.decisions]

    @property
    def rewards(self) -> list[float]:
        return [decision.reward for decision in self.decisions]

    def column(self, name: str) -> list[float]:
        """One field of all decisions."""
        if name not in {field.name for field in fields(Decision)}:
            raise InputError(f"A decision has no field {name!r}.")
        return [getattr(decision, name) for decision in self.decisions]


def digest(observation: NDArray[Any]) -> str:
    """The SHA-256 digest of an observation."""
    return hashlib.sha256(np.ascontiguousarray(observation).tobytes()).hexdigest()


def episode_rng(seed: int, index: int, *, interval: int = 0) -> np.random.Generator:
    """The generator of an episode, which depends on nothing but the trial's seed and the episode's place in it."""
    if min(seed, index, interval) < 0:
        raise InputError(f"Seeds, indices and intervals are not negative: {seed}, {index}, {interval}.")
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(interval, index)))


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
    ) -> None:
        """`max_steps` is the time limit of the protocol: reaching it is a truncation."""
        if not simulator.actions:
            raise SimulatorError("The simulator has no actions, so there is nothing to decide.")
        if max_steps is not None and max_steps < 1:
            raise InputError(f"An episode must have at least 1 step, not {max_steps}.")
        self._settings = agent.settings() if settings is None else settings
        start = simulator.start()
        self._planner = agent.assemble(start, self._settings)
        self._budget = budget
        self.rng = rng
        self._max_steps = max_steps
        self._break_ties = TIE_BREAKINGS[self._settings.tie_breaking]
        self._evaluation = UNINFORMED
        self.lookahead = Lookahead(
            simulator,
            start,
            base_policy=UNINFORMED.initial_base_policy(),
            termination_cost=UNINFORMED.initial_termination_cost(),
            node_type=self._planner.node_type,
        )
        self.decisions: list[Decision] = []
        #: Q(root, a) of the last decision, by which its action was chosen.
        self.action_values: ActionValues = []
        #: Whether a decision was begun and is not made yet: it waits for answers, or was cut off.
        self.deciding = False

    @property
    def finished(self) -> bool:
        """Whether the game is over or the time limit reached."""
        return self.lookahead.root.terminal or len(self.decisions) == self._max_steps

    def decide(self) -> Generator[Question, Answer, Decision]:
        """One time step: grow the lookahead, select an action, execute it."""
        started = time.perf_counter()
        self.deciding = True
        meter = self._budget.start()
        lookahead = self.lookahead
        lookahead.begin_time_step()
        yield from self._planner.plan(lookahead, meter, rng=self.rng)
        root = lookahead.root
        self.action_values = self._planner.action_values(lookahead)
        action = select_action(root, self.action_values, self._break_ties, rng=self.rng)
        child = root.children[action] or lookahead.expand(root, action)
        decision = Decision(
            action=action,
            reward=child.reward,
            interactions=lookahead.interactions,
            cached=lookahead.cached,
            pruned=lookahead.pruned,
            solved=root.solved,
            depth=lookahead.deepest,
            seconds=time.perf_counter() - started,
        )
        # An interrupt may come at any instant; in this order `_last_node` always fits the decisions.
        self.decisions.append(decision)
        lookahead.advance(action, keep=self._settings.cache)
        # Freeing what is not kept takes its time too.
        self.decisions[-1] = replace(decision, seconds=time.perf_counter() - started)
        self.deciding = False
        return self.decisions[-1]

    def use(self, evaluation: Evaluation) -> None:
        """Continue with another evaluation, such as networks with new parameters, if it is another one."""
        if evaluation != self._evaluation:
            self._evaluation = evaluation
            self.lookahead.forget_evaluations(
                base_policy=evaluation.initial_base_policy(),
                termination_cost=evaluation.initial_termination_cost(),
            )

    def restore(
        self,
        lookahead: Lookahead,
        decisions: Sequence[Decision],
        action_values: ActionValues,
        *,
        evaluation: Evaluation,
    ) -> None:
        """Go on where another play was left that was driven with `evaluation`: what it answered is kept.

        The generator of random numbers is not part of this; it has a state of its own.
        """
        self.lookahead = lookahead
        self.decisions = list(decisions)
        self.action_values = action_values
        self._evaluation = evaluation

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
        if root.time == len(self.decisions):
            return root
        child = root.children[self.decisions[-1].action]
        assert child is not None
        return child


#: Told of every decision as it is made. The root is then the state it led to, and the root's parent the one it was
#: made in.
OnDecision = Callable[[Play, Decision], None]


def drive(
    plays: Sequence[Play],
    evaluation: Evaluation = UNINFORMED,
    *,
    decisions: int | None = None,
    on_decision: OnDecision | None = None,
) -> None:
    """Play on, all at once, until all are finished or have made `decisions` more decisions each.

    A play whose decision is made begins its next one at once, so that batches stay full until plays finish. Plays
    that were driven with another evaluation before go on with this one.
    """
    for _ in drive_stream(
        plays, evaluation, at_once=max(1, len(plays)), decisions=decisions, on_decision=on_decision
    ):
        pass


def drive_stream(
    plays: Iterable[Play],
    evaluation: Evaluation = UNINFORMED,
    *,
    at_once: int,
    decisions: int | None = None,
    on_decision: OnDecision | None = None,
) -> Iterator[Play]:
    """Drive plays as they are handed out, `at_once` of them at a time, and return each as soon as it is done.

    A play is taken from `plays` only when there is room for it, so that there are never more than `at_once`.
    """
    if at_once < 1:
        raise InputError(f"At least 1 episode must be played at once, not {at_once}.")
    waiting = iter(plays)
    asking: list[_Lane] = []
    while True:
        while len(asking) < at_once and (play := next(waiting, None)) is not None:
            play.use(evaluation)
            lane = _Lane(play, decisions, on_decision)
            if lane.go_on(None):
                asking.append(lane)
            else:
                yield play
        if not asking:
            return
        answers = evaluation.answer([lane.question for lane in asking])
        still_asking = []
        for lane, answer in zip(asking, answers, strict=True):
            if lane.go_on(answer):
                still_asking.append(lane)
            else:
                yield lane.play
        asking = still_asking


class _Lane:
    """One play under a driver: the generator of its current decision and the question it waits for."""

    __slots__ = ("_deciding", "_left", "_on_decision", "play", "question")

    def __init__(self, play: Play, decisions: int | None, on_decision: OnDecision | None) -> None:
        self.play = play
        self._left = decisions
        self._on_decision = on_decision
        self._deciding: Generator[Question, Answer, Decision] | None = None
        self.question: Question

    def go_on(self, answer: Answer | None) -> bool:
        """Run until the next question, which is then in `question`; False if there is nothing left to decide."""
        while self._deciding is not None or not (self.play.finished or self._left == 0):
            try:
                if self._deciding is None:
                    self._deciding = self.play.decide()
                    self.question = next(self._deciding)
                else:
                    assert answer is not None
                    self.question = self._deciding.send(answer)
                return True
            except StopIteration as stop:
                self._deciding = None
                answer = None
                if self._left is not None:
                    self._left -= 1
                if self._on_decision is not None:
                    self._on_decision(self.play, stop.value)
        return False
