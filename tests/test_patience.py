"""Steps that take a minute: what is still tried of a simulator, and what is said of the rest."""

from __future__ import annotations

import itertools
import time
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from noveltree.errors import NotDeterministicError, SimulatorError
from noveltree.features import learn_ranges
from noveltree.simulators import Corridor, GymnasiumSimulator, SlowSimulatorWarning, check_simulator
from noveltree.simulators.patience import Patience
from tests.support.command_line import Cli, in_a_process


class Clock:
    """A clock that stands still unless somebody lets time pass."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "perf_counter", made)
    return made


class Slow(gymnasium.Env[Any, Any]):
    """A point that is pushed to and fro; every step takes its time, and may throw a die."""

    observation_space = spaces.Box(-100.0, 100.0, (2,))
    action_space = spaces.Discrete(2)
    taken = 0

    def __init__(self, clock: Clock, seconds: float, *, thrown: bool = False) -> None:
        type(self).taken = 0
        self.clock, self.seconds, self.thrown = clock, seconds, thrown

    def __deepcopy__(self, memo: dict[int, Any]) -> Slow:
        twin = type(self).__new__(type(self))
        generator = np.random.Generator(type(self.np_random.bit_generator)())
        generator.bit_generator.state = self.np_random.bit_generator.state
        vars(twin).update(vars(self), _np_random=generator)
        memo[id(generator)] = generator
        return twin

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.speed = 0.25, 0.1
        return self.seen(), {}

    def seen(self) -> Any:
        return np.array([self.place, self.speed], dtype=np.float32)

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        type(self).taken += 1
        self.clock.now += self.seconds
        self.speed += 0.01 * (2 * action - 1) + (0.001 * self.np_random.random() if self.thrown else 0.0)
        self.place += self.speed
        return self.seen(), -1.0, False, False, {}


def slow(clock: Clock, seconds: float, **options: bool) -> tuple[GymnasiumSimulator, str]:
    """The simulator, and what is said of it."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        simulator = GymnasiumSimulator(Slow(clock, seconds, **options))
    return simulator, " ".join(str(each.message) for each in said)


class TestPatience:
    def steps(self, clock: Clock, *durations: float, usual: int = 100) -> Patience:
        patience = Patience(usual, seconds=10.0)
        for seconds in durations:
            if not patience.more():
                break
            clock.now += seconds
        return patience

    def test_quick_steps_are_as_many_as_usual(self, clock: Clock) -> None:
        patience = self.steps(clock, *[0.01] * 200)
        assert (patience.taken, patience.count, patience.cut_short) == (100, 100, False)

    def test_a_single_step_is_always_taken(self, clock: Clock) -> None:
        patience = self.steps(clock, *[60.0] * 9)
        assert (patience.taken, patience.count, patience.cut_short) == (1, 1, True)

    def test_steps_end_before_the_time_is_exceeded_and_a_power_of_two_counts(self, clock: Clock) -> None:
        patience = self.steps(clock, *[1.5] * 9)
        assert (patience.taken, patience.count, patience.cut_short) == (6, 4, True)

    def test_a_first_step_that_compiles_something_does_not_make_a_simulator_slow(self, clock: Clock) -> None:
        patience = self.steps(clock, 8.0, *[0.01] * 200)
        assert (patience.taken, patience.cut_short) == (100, False)


class TestEnvironments:
    def test_a_quick_one_is_not_complained_of(self, clock: Clock) -> None:
        assert slow(clock, 0.01)[1] == ""

    def test_a_step_of_a_minute_is_taken_a_few_times_and_it_is_said_what_was_not_tried(self, clock: Clock) -> None:
        _, said = slow(clock, 60.0)
        assert said == (
            "Steps of Slow take long: snapshots were compared with uninterrupted play on 1 step; whether it is a "
            "function of state and action was not tried (noveltree check does); chance was looked for on 1 step, "
            "and none was found."
        )
        assert Slow.taken == 4  # played, compared, walked, searched

    def test_a_step_of_a_fifth_of_a_second_is_tried_less(self, clock: Clock) -> None:
        _, said = slow(clock, 0.2)
        assert "whether it is a function of state and action was tried on " in said
        assert "uninterrupted play on 24 steps" in said
        assert clock.now < 40.0

    def test_chance_that_the_first_step_shows_is_found(self, clock: Clock) -> None:
        simulator, _ = slow(clock, 60.0, thrown=True)
        assert simulator.chance == "sampled"

    def test_a_first_step_that_differs_is_found(self, clock: Clock) -> None:
        class Fickle(Slow):
            counter = itertools.count()

            def seen(self) -> Any:
                return super().seen() + next(self.counter)

        with pytest.raises(NotDeterministicError, match="Step 1, action 1"):
            GymnasiumSimulator(Fickle(clock, 60.0))


class TestRanges:
    def test_ranges_follow_from_the_number_of_steps_and_not_from_the_clock(self, clock: Clock) -> None:
        """Steps of 2 s leave time for 5, of which 4 count; so do steps of 2.2 s."""
        learnt = set()
        for seconds in (2.0, 2.2):
            simulator, _ = slow(clock, seconds)
            with pytest.warns(SlowSimulatorWarning, match="were learnt on 4 of them"):
                learnt.add(learn_ranges(simulator))
        assert len(learnt) == 1
        assert learnt != {learn_ranges(slow(clock, 0.0)[0])}


class SlowCorridor(Corridor):
    """Steps of a corridor by another clock."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        super().__init__(1_000)
        self.clock, self.seconds, self.taken = clock, seconds, 0

    def step(self, state: Any, action: int) -> Any:
        self.taken += 1
        self.clock.now += self.seconds
        return super().step(state, action)


class TestChecks:
    def test_a_check_ends_when_the_time_is_up_and_says_so(self, clock: Clock) -> None:
        simulator = SlowCorridor(clock, 1.0)
        report = check_simulator(simulator, seconds=60.0)
        assert 0 < report.transitions < 20
        assert "The time was up before more could be tried (--seconds)." in str(report)
        assert clock.now < 300.0

    def test_where_no_step_can_be_repeated_nothing_is_claimed(self, clock: Clock) -> None:
        report = check_simulator(SlowCorridor(clock, 60.0), seconds=60.0)
        assert report.transitions == 0
        assert str(report).startswith("Not known to be a function of state and action: the time was up")

    def test_a_quick_simulator_is_checked_as_ever(self, clock: Clock) -> None:
        limited = check_simulator(SlowCorridor(clock, 0.0), seconds=60.0)
        assert limited == check_simulator(SlowCorridor(clock, 0.0))
        assert not limited.cut_short


def test_the_command_line_says_of_ones_own_simulator_what_was_not_tried(tmp_path: Path) -> None:
    """Its clock goes on by a minute with every step."""
    (tmp_path / "corridor.py").write_text(
        "import time\n\nfrom noveltree import Corridor\n\n\nclass Slow(Corridor):\n"
        "    def step(self, state, action):\n        now = time.perf_counter()\n"
        "        time.perf_counter = lambda: now + 60.0\n        return super().step(state, action)\n"
    )
    told = in_a_process("play", "corridor.py:Slow", "--agent", "iw1", "--max-steps", 1, cwd=tmp_path)
    assert told.returncode == 0
    assert told.stderr == (
        "Warning: Steps of corridor.py:Slow take long: whether it is a function of state and action was not tried "
        "(noveltree check does).\n"
    )


def test_a_slow_step_that_returns_something_else_is_refused_all_the_same(clock: Clock) -> None:
    class Broken(SlowCorridor):
        def step(self, state: Any, action: int) -> Any:
            return tuple(super().step(state, action))

    with pytest.raises(SimulatorError, match="step must return a Transition"):
        check_simulator(Broken(clock, 60.0), seconds=60.0)


def test_the_command_that_checks_has_a_limit(cli: Cli, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    step = Corridor.step

    def wait(self: Corridor, state: Any, action: int) -> Any:
        clock.now += 60.0
        return step(self, state, action)

    monkeypatch.setattr(Corridor, "step", wait)
    told = cli("check", "corridor", "--seconds", 10)
    assert told.out.startswith("Not known to be a function of state and action")
