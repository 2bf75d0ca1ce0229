"""A conformance test for simulators: run it on yours before you trust a lookahead over it.

Random walks are played from the start, then replayed twice: straight, and with other branches simulated in
between, from the state at hand and from states met before. All three must agree bit for bit, and no state may
change once it exists. Where chance decides, the same dice must bring the same, and others too where the outcome is
said to be certain. What random walks never reach is not tested.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np

from noveltree.errors import InputError, NotDeterministicError, SimulatorError
from noveltree.simulators.findings import Findings, look_at
from noveltree.simulators.simulator import Draw, KnowsTwins, Simulator, State, Transition, chance_of
from noveltree.wording import counted

_BRANCH_LENGTH = 3
#: About how often every action of a walk is simulated in the end.
_TIMES = 8


@dataclass(frozen=True, slots=True)
class SimulatorCheck:
    """What a passed check covered and found; printed, it is a report in words."""

    walks: int  # random walks played, each three times
    transitions: int  # transitions of these walks, each compared three times
    ended: int  # walks that met a terminal state
    found: Findings = field(compare=False)
    cut_short: bool = False  # the time was up before walks were as many and as long as was asked for

    def __str__(self) -> str:
        return "\n".join([self._covered(), *self.found.sentences()])

    def _covered(self) -> str:
        if not self.transitions:
            return (
                "Not known to be a function of state and action: the time was up before a single step could be "
                "repeated. Give it more (--seconds)."
            )
        ended = "none of which ended" if not self.ended else f"{self.ended} of which ended"
        covered = (
            f"A function of state and action: {counted(self.transitions, 'transition')} of "
            f"{counted(self.walks, 'random walk')}, {ended}, came out the same each time."
        )
        return f"{covered} The time was up before more could be tried (--seconds)." if self.cut_short else covered


@dataclass(frozen=True, slots=True)
class _Walk:
    """A walk as it was first played: transition t is that of states[t] by actions[t]."""

    states: list[State]
    seen: list[bytes]  # the observation of each of `states`, when it was first met
    actions: list[int]
    transitions: list[Transition]


@dataclass(slots=True)
class Walked:
    """Random walks that were played and compared."""

    walks: int = 0
    transitions: list[Transition] = field(default_factory=list)
    compared: int = 0
    """How many of the transitions were compared: the first ones."""
    cut_short: bool = False


def check_simulator(
    simulator: Simulator, *, walks: int = 20, length: int = 50, seed: int = 0, seconds: float = math.inf
) -> SimulatorCheck:
    """Raise a `SimulatorError` that says where `simulator` breaks the contract; return what was covered and found.

    `walks` random walks of at most `length` actions are tried; `seed` chooses them. If that would take more than
    about so many `seconds`, they are fewer or shorter, which the result says. Printed, it says in words what the
    simulator costs, shows and pays, and what follows for the choice of an agent.
    """
    walked = check_transitions(simulator, walks=walks, length=length, seed=seed, seconds=seconds)
    found = look_at(simulator, walked.transitions, rng=np.random.default_rng(seed), seconds=seconds)
    ended = sum(each.terminal for each in walked.transitions[: walked.compared])
    return SimulatorCheck(walked.walks, walked.compared, ended, found, walked.cut_short)


def check_transitions(
    simulator: Simulator, *, walks: int, length: int, seed: int = 0, seconds: float = math.inf
) -> Walked:
    """The same, without looking at anything else: the walks."""
    if walks < 1 or length < 1:
        raise InputError(f"At least 1 walk of at least 1 action is needed, not {walks} of {length}.")
    rng = np.random.default_rng(seed)
    _check_actions(simulator)
    _check_start(simulator)

    walked, until = Walked(), time.perf_counter() + seconds
    for number in range(1, walks + 1):
        began = time.perf_counter()
        walk = _play(simulator, number, length, seconds=seconds / walks / _TIMES, rng=rng)
        walked.transitions += walk.transitions
        now = time.perf_counter()
        if now + (_TIMES - 1) * (now - began) > until:
            walked.cut_short = True
            break
        _check_unchanged(number, walk)
        _replay(simulator, number, walk)
        _replay_among_branches(simulator, number, walk, rng=rng)
        _check_draws(simulator, number, walk, rng=rng)
        _check_twins(simulator, number, walk, rng=rng)
        _check_unchanged(number, walk)
        walked.walks, walked.compared = number, len(walked.transitions)
        walked.cut_short |= len(walk.actions) < length and not walk.transitions[-1].terminal
    return walked


def compared(walked: Walked) -> str:
    """How much was compared, where there was no time for all."""
    if not walked.compared:
        return "whether it is a function of state and action was not tried (noveltree check does)"
    return f"whether it is a function of state and action was tried on {counted(walked.compared, 'step')}"


def difference(expected: Transition, found: Transition) -> str | None:
    """What differs between two transitions that should be equal bit for bit, or None."""
    if expected.reward != found.reward:
        return f"the reward is {found.reward!r} instead of {expected.reward!r}"
    if expected.terminal != found.terminal:
        return f"terminal is {found.terminal} instead of {expected.terminal}"
    before, now = expected.state.observation, found.state.observation
    if before.shape != now.shape or before.dtype != now.dtype:
        return f"the observation is {now.dtype} {now.shape} instead of {before.dtype} {before.shape}"
    if before.tobytes() != now.tobytes():
        return f"the observation differs in {np.count_nonzero(before != now)} of {before.size} numbers"
    return None


def _check_actions(simulator: Simulator) -> None:
    actions = simulator.actions
    if not isinstance(actions, tuple) or not actions or not all(isinstance(name, str) for name in actions):
        raise SimulatorError(f"The actions must be a non-empty tuple of names (str), not {actions!r}.")
    if len(set(actions)) < len(actions):
        raise SimulatorError(f"The names of the actions must be distinct: {', '.join(actions)}.")


def _check_start(simulator: Simulator) -> None:
    first, second = simulator.start(), simulator.start()
    for state in (first, second):
        _check_state(state, "start()")
    if what := difference(Transition(first, 0.0, False), Transition(second, 0.0, False)):
        raise NotDeterministicError(
            f"start() gave two different states: called again, {what}; every episode must begin in one state."
        )


def _check_state(state: State, where: str) -> None:
    if not isinstance(state, State):
        raise SimulatorError(f"{where}: the state must be a State, not a {type(state).__name__}.")
    observation = state.observation
    if not isinstance(observation, np.ndarray) or observation.dtype.kind not in "biuf":
        raise SimulatorError(
            f"{where}: the observation must be a numpy array of numbers, not a {type(observation).__name__}"
            + (f" of {observation.dtype}." if isinstance(observation, np.ndarray) else ".")
        )


def _check_transition(transition: Transition, start: State, where: str) -> None:
    if not isinstance(transition, Transition):
        raise SimulatorError(f"{where}: step must return a Transition, not a {type(transition).__name__}.")
    state, reward, terminal = transition
    _check_state(state, where)
    expected, found = start.observation, state.observation
    if found.shape != expected.shape or found.dtype != expected.dtype:
        raise SimulatorError(
            f"{where}: the observation is {found.dtype} {found.shape}, but that of the start is "
            f"{expected.dtype} {expected.shape}; all states must be observed alike."
        )
    if not isinstance(reward, float) or not math.isfinite(reward):
        raise SimulatorError(f"{where}: the reward must be a finite float, not {reward!r}.")
    if not isinstance(terminal, bool):
        raise SimulatorError(f"{where}: terminal must be True or False, not {terminal!r}.")


def _where(simulator: Simulator, number: int, step: int, action: int) -> str:
    return f"Walk {number}, step {step + 1}, action {action} ({simulator.actions[action]})"


def _step(simulator: Simulator, state: State, action: int, where: str) -> Transition:
    try:
        return simulator.step(state, action)
    except SimulatorError:
        raise  # a simulator's own sentence is clearer than ours
    except Exception as error:
        raise SimulatorError(f"{where}: step raised {type(error).__name__}: {error}") from error


def _play(simulator: Simulator, number: int, length: int, *, seconds: float, rng: np.random.Generator) -> _Walk:
    """A random walk from the start, until its end, for `length` actions, or until the time is up."""
    until = time.perf_counter() + seconds
    start = state = simulator.start()
    walk = _Walk([], [], [], [])
    for step in range(length):
        action = int(rng.integers(len(simulator.actions)))
        where = _where(simulator, number, step, action)
        seen = state.observation.tobytes()
        transition = _step(simulator, state, action, where)
        _check_transition(transition, start, where)
        if state.observation.tobytes() != seen:
            raise SimulatorError(
                f"{where}: step changed the observation of the state it was given; make a new array instead."
            )
        walk.states.append(state)
        walk.seen.append(seen)
        walk.actions.append(action)
        walk.transitions.append(transition)
        if transition.terminal or time.perf_counter() > until:
            break
        state = transition.state
    return walk


def _replay(simulator: Simulator, number: int, walk: _Walk) -> None:
    state = simulator.start()
    for step, (action, expected) in enumerate(zip(walk.actions, walk.transitions, strict=True)):
        where = _where(simulator, number, step, action)
        found = _step(simulator, state, action, where)
        if what := difference(expected, found):
            raise NotDeterministicError(
                f"{where}: replayed, {what}; the transition must depend on the state and the action alone."
            )
        state = found.state


def _replay_among_branches(simulator: Simulator, number: int, walk: _Walk, *, rng: np.random.Generator) -> None:
    state = simulator.start()
    for step, (action, expected) in enumerate(zip(walk.actions, walk.transitions, strict=True)):
        where = _where(simulator, number, step, action)
        # A changed argument shows when this state was stepped from before, hidden state when another one was
        # stepped from last.
        _step(simulator, state, int(rng.integers(len(simulator.actions))), f"Before {where}, in a branch")
        _wander(simulator, walk.states[rng.integers(len(walk.states))], where, rng=rng)
        found = _step(simulator, state, action, where)
        if what := difference(expected, found):
            raise NotDeterministicError(
                f"{where}: replayed with other branches simulated in between, {what}; a state must hold "
                "everything that its transitions depend on, and step must not change it."
            )
        state = found.state


def _check_draws(simulator: Simulator, number: int, walk: _Walk, *, rng: np.random.Generator) -> None:
    chance = chance_of(simulator)
    for step, (state, action) in enumerate(zip(walk.states, walk.actions, strict=True)) if chance else ():
        assert chance is not None
        where = _where(simulator, number, step, action)
        dice, others = rng.integers(2**63, size=2).tolist()
        first, elsewhere, again = (chance.draw(state, action, thrown) for thrown in (dice, others, dice))
        if not isinstance(first, Draw):
            raise SimulatorError(f"{where}: draw must return a Draw, not a {type(first).__name__}.")
        _check_transition(first.transition, simulator.start(), where)
        if what := difference(first.transition, again.transition):
            raise NotDeterministicError(
                f"{where}: drawn again with the same dice, {what}; the transition must depend on the state, the "
                "action and the dice alone."
            )
        if first.certain and (what := difference(first.transition, elsewhere.transition)):
            raise SimulatorError(f"{where}: the outcome is said to be certain, but with other dice {what}.")


def _check_twins(simulator: Simulator, number: int, walk: _Walk, *, rng: np.random.Generator) -> None:
    """Where another action leads to the same state, by its identity, one action must do the same in both."""
    if not isinstance(simulator, KnowsTwins):
        return
    for step, (state, action, taken) in enumerate(zip(walk.states, walk.actions, walk.transitions, strict=True)):
        other, then = rng.integers(len(simulator.actions), size=2).tolist()
        where = _where(simulator, number, step, action)
        elsewhere = _step(simulator, state, other, where)
        if taken.terminal or elsewhere.terminal:
            continue
        if simulator.identity(taken.state) != simulator.identity(elsewhere.state):
            continue
        twins = (_step(simulator, twin.state, then, where) for twin in (taken, elsewhere))
        if what := difference(*twins):
            raise SimulatorError(
                f"{where}: action {other} leads to a state of the same identity, but after action {then} {what}; "
                "identity must tell all states apart in which actions do not do the same."
            )


def _wander(simulator: Simulator, state: State, where: str, *, rng: np.random.Generator) -> None:
    for _ in range(int(rng.integers(1, _BRANCH_LENGTH + 1))):
        action = int(rng.integers(len(simulator.actions)))
        state, _, terminal = _step(simulator, state, action, f"Before {where}, in a branch")
        if terminal:
            return


def _check_unchanged(number: int, walk: _Walk) -> None:
    for step, (state, seen) in enumerate(zip(walk.states, walk.seen, strict=True)):
        if state.observation.tobytes() != seen:
            raise SimulatorError(
                f"Walk {number}: the observation of the state before step {step + 1} changed while other "
                "states were stepped from; give every state an array of its own."
            )
