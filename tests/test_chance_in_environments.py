"""Chance inside of Gymnasium environments: found, decided by dice alone, and never foreseen unasked."""

from __future__ import annotations

import copy
import itertools
import random
from collections import Counter
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from noveltree.errors import NotDeterministicError, SimulatorError
from noveltree.simulators import Chancy, Draw, GymnasiumSimulator, chance_of, check_simulator
from noveltree.simulators.generators import find_generators, generators_at, states_of, throw
from tests.support.chance_worlds import ChanceWorld, coin


class Coin(gymnasium.Env[Any, Any]):
    """Guess a coin: 0 heads, 1 tails, 2 leaves it. Guessing right pays 1; what fell is observed."""

    def __init__(self) -> None:
        self.action_space: Any = spaces.Discrete(3)
        self.observation_space: Any = spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return 2, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if action == 2:
            return 2, 0.0, False, False, {}
        fell = self.fall()
        return fell, float(fell == action), False, False, {}

    def fall(self) -> int:
        return int(self.np_random.integers(2))


class LegacyCoin(Coin):
    """Falls as a generator of numpy's old kind says, which is kept in something else."""

    class Game:
        __slots__ = ("random",)

        def __init__(self) -> None:
            self.random = np.random.RandomState(0)

    def __init__(self) -> None:
        super().__init__()
        self.game = self.Game()

    def fall(self) -> int:
        return int(self.game.random.randint(2))


class PythonCoin(Coin):
    """Falls as a generator of Python's own says, and has hooks."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = {"random": [random.Random(0)]}

    def fall(self) -> int:
        return self.parts["random"][0].randrange(2)

    def get_state(self) -> Any:
        return copy.deepcopy(self.parts)

    def set_state(self, state: Any) -> None:
        self.parts["random"] = copy.deepcopy(state)["random"]


@pytest.mark.parametrize(
    ("environment", "by"),
    [(Coin, "deepcopy"), (LegacyCoin, "deepcopy"), (PythonCoin, "get_state and set_state")],
)
class TestAFairCoin:
    def test_its_chance_is_found(self, environment: type[Coin], by: str) -> None:
        simulator = GymnasiumSimulator(environment())
        assert simulator.snapshots == by
        assert simulator.chance == "sampled"
        assert isinstance(simulator, Chancy)
        assert chance_of(simulator) is simulator

    def test_a_draw_follows_from_state_action_and_dice_alone(self, environment: type[Coin], by: str) -> None:
        simulator = GymnasiumSimulator(environment())
        start = simulator.start()
        later = simulator.draw(simulator.draw(start, 0, 5).transition.state, 1, 6).transition.state
        for dice in range(50):
            first = simulator.draw(start, 0, dice)
            simulator.draw(later, 1, dice + 7)
            again = simulator.draw(start, 0, dice)
            assert first.transition[1:] == again.transition[1:]
            # What fell before is forgotten: the dice alone decide, not where the generator stands.
            elsewhere = simulator.draw(later, 0, dice)
            assert first.transition.state.observation == elsewhere.transition.state.observation

    def test_it_is_fair(self, environment: type[Coin], by: str) -> None:
        simulator = GymnasiumSimulator(environment())
        heads = sum(simulator.draw(simulator.start(), 0, dice).transition.reward for dice in range(400))
        assert 160 <= heads <= 240  # four standard deviations of 10

    def test_leaving_it_is_certain_and_guessing_is_not(self, environment: type[Coin], by: str) -> None:
        simulator = GymnasiumSimulator(environment())
        assert [simulator.draw(simulator.start(), action, 1).certain for action in range(3)] == [False, False, True]

    def test_its_step_stays_a_function_of_state_and_action(self, environment: type[Coin], by: str) -> None:
        assert check_simulator(GymnasiumSimulator(environment()), walks=2, length=10).transitions == 20


@pytest.mark.parametrize(
    ("name", "options", "chance"),
    [
        ("FrozenLake", {}, "sampled"),
        ("FrozenLake", {"is_slippery": False}, "none"),
        ("Taxi", {}, "none"),
        ("Taxi", {"is_rainy": True}, "sampled"),
        ("Taxi", {"fickle_passenger": True}, "sampled"),
        ("CliffWalking", {}, "none"),
        ("CartPole", {}, "none"),
        ("Blackjack", {}, "sampled"),
    ],
)
def test_chance_is_what_could_have_been_otherwise(name: str, options: dict[str, Any], chance: str) -> None:
    """Most of them consult a generator in every step, also where there is but one outcome."""
    assert GymnasiumSimulator(name, **options).chance == chance


def test_a_slippery_lake_slips_to_each_side_as_often_as_not() -> None:
    simulator = GymnasiumSimulator("FrozenLake")
    cells = Counter(
        simulator.draw(simulator.start(), 2, dice).transition.state.observation.item() for dice in range(900)
    )
    assert set(cells) == {0, 1, 4}
    assert all(240 <= count <= 360 for count in cells.values())  # 300, four standard deviations of 14


def test_chance_that_shows_up_late_is_an_error_and_not_foreseen() -> None:
    class Late(Coin):
        """The coin falls from the hundredth step on; before, it stays."""

        steps = 0

        def step(self, action: Any) -> Any:
            self.steps += 1
            return super().step(action if self.steps >= 100 else 2)

    simulator = GymnasiumSimulator(Late())
    assert simulator.chance == "none"
    state: Any = simulator.start()
    for _ in range(99):
        state = simulator.step(state, 0).state
    with pytest.raises(SimulatorError, match=r"consulted a random .* 'action 0'.*--chance sampled"):
        simulator.step(state, 0)
    assert GymnasiumSimulator(Late(), chance="sampled").has_chance


def test_whoever_asks_for_it_foresees() -> None:
    simulator = GymnasiumSimulator(Coin(), chance="foreseen")
    assert chance_of(simulator) is None
    state: Any = simulator.start()
    for _ in range(20):  # one of the two guesses is right, and a look ahead tells which
        right = max(range(2), key=lambda guess: simulator.step(state, guess).reward)
        transition = simulator.step(state, right)
        assert transition.reward == 1.0
        state = transition.state


def test_a_generator_that_is_not_inside_is_refused() -> None:
    class Global(Coin):
        def fall(self) -> int:
            return random.randrange(2)

    with pytest.raises(NotDeterministicError, match="not deterministic when continued from snapshots"):
        GymnasiumSimulator(Global())


class TestGenerators:
    def test_they_are_found_in_attributes_lists_dicts_and_tuples_and_where_they_move(self) -> None:
        class Owner:
            def __init__(self, **attributes: Any) -> None:
                vars(self).update(attributes)

        first, second, third = np.random.default_rng(1), random.Random(2), np.random.RandomState(3)
        inner = Owner(rng=first)
        outer = Owner(parts=[{"a": (inner,)}, second], mine=third, itself=None, no=random.SystemRandom())
        vars(outer)["itself"] = outer
        places = find_generators([outer])
        assert {id(each) for each in generators_at(places)} == {id(first), id(second), id(third)}
        vars(inner)["rng"] = other = np.random.default_rng(4)
        assert any(each is other for each in generators_at(places))

    def test_dice_decide_about_every_kind_and_consulting_shows(self) -> None:
        kinds: list[Any] = [
            np.random.default_rng(0),
            np.random.Generator(np.random.MT19937(0)),
            np.random.RandomState(0),
            random.Random(0),
        ]
        drawn = []
        for dice in (7, 7, 8):
            throw(kinds, dice)
            before = states_of(kinds)
            assert states_of(kinds) == before
            drawn.append([each.random() for each in kinds])
            assert all(one != other for one, other in zip(before, states_of(kinds), strict=True))
        assert drawn[0] == drawn[1]
        assert not set(drawn[0]) & set(drawn[2])
        assert len(set(drawn[0])) == 4


class TestTheCheck:
    def test_it_accepts_draws_that_are_functions_of_the_dice(self) -> None:
        check_simulator(coin(), walks=2, length=10)

    def test_it_refuses_draws_that_depend_on_anything_else(self) -> None:
        class Counting(ChanceWorld):
            def draw(self, state: Any, action: int, dice: int) -> Draw:
                return super().draw(state, action, next(numbers))

        numbers = itertools.cycle((0, 0, 1))
        world = Counting(coin().table)
        object.__setattr__(world, "step", coin().step)
        with pytest.raises(NotDeterministicError, match="drawn again with the same dice, the "):
            check_simulator(world, walks=3, length=20)

    def test_it_refuses_a_certainty_that_is_none(self) -> None:
        class Sure(ChanceWorld):
            def draw(self, state: Any, action: int, dice: int) -> Draw:
                return super().draw(state, action, dice)._replace(certain=True)

        with pytest.raises(SimulatorError, match="said to be certain, but with other dice the "):
            check_simulator(Sure(coin().table), walks=3, length=20)
