"""Nobody foresees what chance brings without having asked for it: worlds that hide their generators."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from noveltree import Planner
from noveltree.errors import InputError, SimulatorError
from noveltree.protocol import make_protocol, play_episode
from noveltree.simulators import Corridor, GymnasiumSimulator, State, Transition
from noveltree.simulators.generators import foresees
from tests.support.command_line import Cli

TOSSES = 20
#: So many of twenty are guessed by a clairvoyant, and by anybody else once in five thousand games.
MANY = 18

Info = dict[str, Any]


class CoinState(State):
    def __init__(self, tossed: int, rng: np.random.Generator | None) -> None:
        super().__init__(np.array([tossed]))
        self.tossed, self.rng = tossed, rng


class OwnCoin:
    """A fair coin is to be guessed; the generator that tosses it goes from state to state."""

    actions = ("HEADS", "TAILS")

    def start(self) -> CoinState:
        return CoinState(0, np.random.default_rng(0))

    def step(self, state: State, action: int) -> Transition:
        assert isinstance(state, CoinState)
        rng = copy.deepcopy(state.rng)
        assert rng is not None
        won = int(rng.integers(2)) == action
        tossed = state.tossed + 1
        return Transition(CoinState(tossed, rng), float(won), tossed == TOSSES)

    def close(self) -> None:
        pass


class Coin(gymnasium.Env[int, int]):
    """The same as an environment, with the generator that Gymnasium gives it."""

    observation_space = spaces.Discrete(TOSSES + 1)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[int, Info]:
        super().reset(seed=seed)
        self.tossed = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, Info]:
        self.tossed += 1
        return self.tossed, float(self.toss() == action), self.tossed == TOSSES, False, {}

    def toss(self) -> int:
        return int(self.np_random.integers(2))


class SelfCopyingCoin(Coin):
    """One that copies itself, and tells nobody what it copies on the way."""

    def __deepcopy__(self, memo: dict[int, Any]) -> SelfCopyingCoin:
        copied = type(self)()
        copied.tossed = self.tossed
        copied._np_random = copy.deepcopy(self.np_random)
        return copied


class BitsCoin(Coin):
    """One that tosses with bare bits."""

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[int, Info]:
        self.bits = np.random.PCG64(seed)
        return super().reset(seed=seed)

    def toss(self) -> int:
        return int(self.bits.random_raw()) >> 5 & 1


def mean_score(simulator: GymnasiumSimulator, episodes: int = 10) -> float:
    """Of a planner that looks one toss ahead, in a control loop."""
    scores = []
    for seed in range(episodes):
        planner = Planner(simulator, agent="bfs", budget=4, seed=seed)
        score, terminal = 0.0, False
        rng = np.random.default_rng(1000 + seed)
        while not terminal:
            action = planner.act()
            (state, reward, terminal), _ = simulator.draw(planner.state, action, int(rng.integers(2**63)))
            planner.advance(action, state)
            score += reward
        scores.append(score)
    return float(np.mean(scores))


@pytest.mark.parametrize("coin", [Coin, SelfCopyingCoin, BitsCoin])
def test_generators_are_found_wherever_an_environment_keeps_them(coin: type[Coin]) -> None:
    simulator = GymnasiumSimulator(coin())
    assert simulator.chance == "sampled"
    # 200 fair tosses: 100 with a standard deviation of 7.1, so that 12.6 a game is five of them away.
    assert 7.4 < mean_score(simulator) < 12.6


def test_a_generator_and_its_bits_are_one() -> None:
    env = Coin()
    env.reset(seed=0)
    assert GymnasiumSimulator(env)._snapshots.generators == 1


def test_states_that_hold_a_generator_that_is_consulted_foresee() -> None:
    assert foresees(OwnCoin())
    assert not foresees(Corridor())


def test_a_planner_refuses_to_foresee_unless_it_is_asked_to() -> None:
    with pytest.raises(InputError, match="hold a random generator that its steps consult"):
        Planner(OwnCoin(), agent="bfs", budget=4)
    simulator = OwnCoin()
    planner = Planner(simulator, agent="bfs", budget=4, chance="foreseen")
    score, state, terminal = 0.0, planner.state, False
    while not terminal:
        action = planner.act()
        state, reward, terminal = simulator.step(state, action)
        planner.advance(action)
        score += reward
    assert score >= MANY


def test_a_simulator_of_ones_own_is_not_foreseen_silently(
    cli: Cli,
) -> None:
    Path("coin.py").write_text(Path(__file__).read_text().partition("def mean_score")[0])
    assert "hold a random generator that its steps consult" in cli("play", "coin.py:OwnCoin").sentence
    assert "There is nothing to sample" in cli("play", "coin.py:OwnCoin", "--chance", "sampled").sentence
    foreseen = cli("play", "coin.py:OwnCoin", "--agent", "bfs", "--budget", 4, "--chance", "foreseen")
    assert float(foreseen.out.split("score ")[1].split()[0]) >= MANY
    assert "This is a clairvoyant's score" in foreseen.out


def test_a_factory_that_makes_a_clairvoyant_is_recorded_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lake.py").write_text(
        "from noveltree.simulators import GymnasiumSimulator\n\n\n"
        "def Lake():\n    return GymnasiumSimulator('FrozenLake-v1', chance='foreseen')\n"
    )
    assert make_protocol("lake.py:Lake").chance == "foreseen"
    with pytest.raises(InputError, match="is made to be foreseen, not sampled"):
        make_protocol("lake.py:Lake", chance="sampled")


class Late(OwnCoin):
    """One that goes wrong after twelve steps, further than it is tried when it is made."""

    def start(self) -> CoinState:
        return CoinState(0, None)

    def step(self, state: State, action: int) -> Transition:
        assert isinstance(state, CoinState)
        if state.tossed < 16:
            return Transition(CoinState(state.tossed + 1, None), 0.0, False)
        return self.fail()

    def fail(self) -> Transition:
        raise SystemExit(3)


class Infinite(Late):
    def fail(self) -> Transition:
        return Transition(CoinState(17, None), float("inf"), False)


class Nothing(Late):
    def fail(self) -> Transition:
        return None  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("world", "what"),
    [
        (Late, "SystemExit: 3"),
        (Infinite, "a State and a finite reward are expected"),
        (Nothing, "cannot unpack"),
    ],
)
def test_what_goes_wrong_late_is_one_sentence(world: type[Late], what: str) -> None:
    planner = Planner(world(), agent="bfs", budget=4)

    def go_on() -> None:
        for _ in range(20):
            planner.advance(planner.act())

    with pytest.raises(SimulatorError, match=f"The simulator failed on action 'HEADS': .*{what}"):
        go_on()


def test_the_dice_of_a_coin_are_fair_in_recorded_episodes() -> None:
    protocol = make_protocol(simulator=Coin, agent="bfs", budget=4)
    scores = [play_episode(protocol, index=index).score for index in range(10)]
    assert 7.4 < np.mean(scores) < 12.6
