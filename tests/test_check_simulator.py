"""The conformance test accepts every simulator we ship and says what is wrong with broken ones."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest

from noveltree.errors import InputError, NotDeterministicError, SimulatorError
from noveltree.simulators.atari import Atari
from noveltree.simulators.check import check_simulator
from noveltree.simulators.corridor import Corridor, CorridorState
from noveltree.simulators.gymnasium import GymnasiumSimulator
from noveltree.simulators.simulator import Draw, State, Transition
from tests.support.command_line import Cli


def test_the_corridor_passes_and_the_report_says_what_was_covered() -> None:
    covered = check_simulator(Corridor(1000), walks=4, length=10)
    assert (covered.walks, covered.transitions, covered.ended) == (4, 40, 0)


def test_walks_end_with_the_episode() -> None:
    report = check_simulator(Corridor(2), walks=5, length=100)
    assert report.ended == 5
    assert report.transitions < 500


def test_an_atari_game_passes() -> None:
    simulator = Atari("breakout")
    assert check_simulator(simulator, walks=2, length=10).transitions == 20
    simulator.close()


@pytest.mark.parametrize(("walks", "length"), [(0, 1), (1, 0)])
def test_a_check_of_nothing_is_refused(walks: int, length: int) -> None:
    with pytest.raises(InputError, match="At least 1 walk"):
        check_simulator(Corridor(), walks=walks, length=length)


@pytest.mark.parametrize("actions", [(), ["LEFT", "RIGHT"], (0, 1), ("LEFT", "LEFT")])
def test_actions_must_be_a_tuple_of_distinct_names(actions: Any) -> None:
    simulator = Corridor()
    simulator.actions = actions
    with pytest.raises(SimulatorError, match="actions"):
        check_simulator(simulator)


class Returns(Corridor):
    """A corridor whose steps return something else."""

    def __init__(self, transition: Any) -> None:
        super().__init__()
        self.transition = transition

    def step(self, state: State, action: int) -> Transition:
        return self.transition  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("transition", "sentence"),
    [
        ((CorridorState(1), 0.0, False), "must return a Transition, not a tuple"),
        (Transition(CorridorState(1), float("nan"), False), "finite float, not nan"),
        (Transition(CorridorState(1), float("inf"), False), "finite float, not inf"),
        (Transition(CorridorState(1), 1, False), "finite float, not 1"),
        (Transition(CorridorState(1), 0.0, np.False_), "terminal must be True or False, not np.False_"),  # type: ignore[arg-type]
        (Transition(1, 0.0, False), "must be a State, not a int"),  # type: ignore[arg-type]
        (Transition(State([1]), 0.0, False), "numpy array of numbers, not a list"),  # type: ignore[arg-type]
        (Transition(State(np.array(["a"])), 0.0, False), "numpy array of numbers, not a ndarray of <U1"),
        (Transition(State(np.array([1, 2])), 0.0, False), r"int64 \(2,\), but that of the start is"),
        (Transition(State(np.array([1.0])), 0.0, False), r"float64 \(1,\), but that of the start is"),
    ],
)
def test_what_a_step_returns_is_checked(transition: Any, sentence: str) -> None:
    with pytest.raises(SimulatorError, match=rf"^Walk 1, step 1, action \d \([A-Z]+\): .*{sentence}"):
        check_simulator(Returns(transition))


def test_a_start_that_is_not_the_same_each_time_is_found() -> None:
    class Elsewhere(Corridor):
        def __init__(self) -> None:
            super().__init__()
            self.cells = itertools.cycle([0, 1])

        def start(self) -> CorridorState:
            return CorridorState(next(self.cells))

    with pytest.raises(NotDeterministicError, match="start"):
        check_simulator(Elsewhere())


def test_a_simulator_that_continues_where_it_stands_is_found() -> None:
    class Forgetful(Corridor):
        """Ignores the state it is given, as a wrapped environment without snapshots does."""

        def start(self) -> CorridorState:
            self.current = CorridorState(0)
            return self.current

        def step(self, state: State, action: int) -> Transition:
            transition = super().step(self.current, action)
            assert isinstance(transition.state, CorridorState)
            self.current = transition.state
            return transition

    with pytest.raises(NotDeterministicError, match=r"^Walk 1, step \d+, .* with other branches"):
        check_simulator(Forgetful(1000))


def test_a_simulator_that_cannot_go_back_far_is_found() -> None:
    class Nearsighted(Corridor):
        """Pays by mistake when it is to continue far from where it stands."""

        def start(self) -> CorridorState:
            self.cell = 0
            return super().start()

        def step(self, state: State, action: int) -> Transition:
            assert isinstance(state, CorridorState)
            far, self.cell = abs(state.cell - self.cell) > 1, state.cell
            return super().step(state, action)._replace(reward=float(far))

    with pytest.raises(NotDeterministicError, match=r"with other branches .* the reward is 1\.0 instead of 0\.0"):
        check_simulator(Nearsighted(1000))


def test_a_simulator_that_counts_its_steps_is_found() -> None:
    class Counter(Corridor):
        steps = 0

        def step(self, state: State, action: int) -> Transition:
            self.steps += 1
            transition = super().step(state, action)
            return transition._replace(reward=1.0 if self.steps % 7 == 0 else 0.0)

    with pytest.raises(NotDeterministicError, match=r"replayed, the reward is .* instead of"):
        check_simulator(Counter(1000))


def test_a_simulator_with_a_random_end_is_found() -> None:
    class Moody(Corridor):
        rng = np.random.default_rng(0)

        def step(self, state: State, action: int) -> Transition:
            return super().step(state, action)._replace(terminal=bool(self.rng.random() < 0.3))

    with pytest.raises(NotDeterministicError, match=r"terminal is (True|False) instead of"):
        check_simulator(Moody(1000))


def test_a_step_that_changes_the_observation_it_was_given_is_found() -> None:
    class InPlace(Corridor):
        def step(self, state: State, action: int) -> Transition:
            state.observation += 1
            return super().step(state, action)

    with pytest.raises(SimulatorError, match="changed the observation of the state it was given"):
        check_simulator(InPlace())


def test_a_step_that_changes_what_is_hidden_in_its_argument_is_found() -> None:
    class Sneaky(Corridor):
        def step(self, state: State, action: int) -> Transition:
            transition = super().step(state, action)
            assert isinstance(state, CorridorState)
            state.cell += 1
            return transition

    with pytest.raises(NotDeterministicError, match="step must not change it"):
        check_simulator(Sneaky(1000))


def test_an_observation_that_changes_later_is_found() -> None:
    class OneBuffer(Corridor):
        """Observes all states but the start in two arrays, in turns."""

        def __init__(self) -> None:
            super().__init__(1000)
            self.buffers = itertools.cycle([np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)])

        def step(self, state: State, action: int) -> Transition:
            transition = super().step(state, action)
            buffer = next(self.buffers)
            buffer[:] = transition.state.observation
            transition.state.observation = buffer
            return transition

    with pytest.raises(SimulatorError, match=r"^Walk 1: .* give every state an array of its own"):
        check_simulator(OneBuffer())


def test_an_exception_is_wrapped_and_located() -> None:
    class Fragile(Corridor):
        def step(self, state: State, action: int) -> Transition:
            raise ZeroDivisionError("no way")

    with pytest.raises(SimulatorError, match=r"Walk 1, step 1, .* ZeroDivisionError: no way") as caught:
        check_simulator(Fragile())
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_the_same_seed_chooses_the_same_walks() -> None:
    class Recorder(Corridor):
        def __init__(self) -> None:
            super().__init__()
            self.taken: list[int] = []

        def step(self, state: State, action: int) -> Transition:
            self.taken.append(action)
            return super().step(state, action)

    first, second, third = Recorder(), Recorder(), Recorder()
    for recorder, seed in ((first, 1), (second, 1), (third, 2)):
        check_simulator(recorder, walks=3, seed=seed)
    assert first.taken == second.taken != third.taken


# What it says.


class Priced(Corridor):
    """A corridor in which every step costs 1 but the last, which pays 5; it says that there is no chance."""

    has_chance = False

    def draw(self, state: State, action: int, dice: int) -> Draw:
        return Draw(self.step(state, action), certain=True)

    def step(self, state: State, action: int) -> Transition:
        following, reward, terminal = super().step(state, action)
        return Transition(following, 5.0 if reward else -1.0, terminal)


def test_the_report_says_what_was_covered_and_found_in_words() -> None:
    report = str(check_simulator(Corridor(3), walks=2, length=50)).splitlines()
    assert report[0].startswith("A function of state and action: ")
    assert report[0].endswith("transitions of 2 random walks, 2 of which ended, came out the same each time.")
    assert report[1] == "Chance: the simulator knows of none."
    assert report[2] == "2 actions; observed is a vector of 1 whole number."
    assert re.fullmatch(r"An interaction takes [\d.e-]+ ms; a state takes .* kB, 1,000 nodes .* MB\.", report[3])
    assert re.fullmatch(r"Rewards: .*% of the transitions paid nothing, the others 1\.", report[4])


def test_rewards_are_counted_by_hand() -> None:
    """A corridor of 2 cells: a walk is some bumps into the wall, which cost 1, and then the exit, which pays 5."""
    checked = check_simulator(Priced(2), walks=3, length=50)
    assert (checked.found.lowest, checked.found.highest, checked.found.unrewarded) == (-1.0, 5.0, 0.0)
    assert checked.found.chance is False
    assert "Chance: none was found." in str(checked)
    assert "paid nothing, the others -1 to 5." in str(checked)
    none = check_simulator(Corridor(1000), walks=3, length=50)
    assert (none.found.lowest, none.found.highest, none.found.unrewarded) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("simulator", "advice"),
    [
        (Corridor(1000), "Random play finds no reward: novelty reaches further than random rollouts"),
        (Priced(1000), "What is paid are costs: agents that prune take a pruned state to be worth nothing"),
        (Corridor(50, rewards={cell: 1.0 for cell in range(0, 50, 2)}), "Rewards are frequent: riw-c will do"),
    ],
)
def test_what_follows_for_the_choice_of_an_agent_is_said(simulator: Corridor, advice: str) -> None:
    assert str(check_simulator(simulator, walks=3, length=30)).splitlines()[-1].startswith(advice)


def test_continuous_vectors_and_snapshots_are_named() -> None:
    checked = check_simulator(GymnasiumSimulator("CartPole-v1"), walks=3, length=20)
    assert checked.found.continuous
    assert checked.found.snapshot_ms is not None
    assert checked.found.snapshot_ms > 0
    assert "a vector of 4 numbers" in str(checked)
    assert "for the snapshot" in str(checked)
    assert "bins of the continuous values" in str(checked)


@pytest.mark.parametrize(
    ("slippery", "sentence"),
    [(True, "Chance: a random generator inside decides what happens"), (False, "Chance: none was found.")],
)
def test_chance_is_found_where_it_decides(slippery: bool, sentence: str) -> None:
    simulator = GymnasiumSimulator("FrozenLake-v1", is_slippery=slippery)
    assert str(check_simulator(simulator, walks=2, length=10)).splitlines()[1].startswith(sentence)


def test_the_size_of_a_state_is_what_it_takes_in_memory() -> None:
    class Heavy(Corridor):
        def step(self, state: State, action: int) -> Transition:
            following, reward, terminal = super().step(state, action)
            copied = CorridorState(following.cell)  # type: ignore[attr-defined]
            copied.observation = np.zeros(100_000, dtype=np.int64)
            return Transition(copied, reward, terminal)

        def start(self) -> CorridorState:
            start = super().start()
            start.observation = np.zeros(100_000, dtype=np.int64)
            return start

    found = check_simulator(Heavy(1000), walks=1, length=5).found
    assert 790_000 < found.state_bytes < 850_000


def test_images_are_said_to_be_images() -> None:
    simulator = Atari("breakout")
    found = check_simulator(simulator, walks=1, length=5).found
    simulator.close()
    assert found.observation == "an image of 84 x 84 pixels"
    assert 7_000 < found.state_bytes < 12_000


def test_the_command_line_says_it_too(cli: Cli) -> None:
    said = cli("check", "corridor", "--walks", 2, "--length", 5)
    assert said.code == 0
    assert "A function of state and action: 10 transitions of 2 random walks" in said.out
    found = cli("check", "corridor", "--walks", 2, "--length", 5, "--json").object
    assert (found["game"], found["transitions"], found["found"]["actions"]) == ("corridor", 10, 2)
    assert "Unknown game" in cli("check", "nowhere").sentence
