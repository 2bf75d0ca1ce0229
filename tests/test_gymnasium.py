"""Gymnasium environments as simulators: faithful to uninterrupted play, or refused with a reason."""

from __future__ import annotations

import enum
import random
import sys
import threading
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils import EzPickle
from gymnasium.wrappers import FrameStackObservation, TimeLimit, TransformReward

from noveltree.errors import InputError, NotDeterministicError, SimulatorError, UnknownNameError
from noveltree.simulators.check import check_simulator
from noveltree.simulators.corridor import CorridorState
from noveltree.simulators.environment_observation import EnvironmentObserver
from noveltree.simulators.gymnasium import GymnasiumSimulator


class Line(gymnasium.Env[Any, Any]):
    """Cells 0 to 9; action 0 goes left, 1 right; cell 9 pays 1 and ends. The base of the environments below."""

    def __init__(self) -> None:
        self.action_space: Any = spaces.Discrete(2)
        self.observation_space: Any = spaces.Discrete(10)
        self.cell = np.zeros(1, dtype=np.int64)
        self.resets = self.closed = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.cell = np.zeros(1, dtype=np.int64)
        self.resets += 1
        return self.observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.cell[0] = min(9, max(0, self.cell[0] + (1 if action else -1)))  # in place: aliasing shows
        end = bool(self.cell[0] == 9)
        return self.observe(), float(end), end, False, {}

    def observe(self) -> Any:
        return int(self.cell[0])

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def registered() -> Iterator[str]:
    """The id of `Line`, registered with a time limit while the test runs."""
    gymnasium.register("NoveltreeLine-v0", entry_point=lambda **_: Line(), max_episode_steps=7)
    yield "NoveltreeLine-v0"
    del gymnasium.registry["NoveltreeLine-v0"]


def play(simulator: GymnasiumSimulator, actions: list[int]) -> list[tuple[bytes, float, bool]]:
    state, seen = simulator.start(), []
    for action in actions:
        state, reward, terminal = simulator.step(state, action)  # type: ignore[assignment]
        seen.append((state.observation.tobytes(), reward, terminal))
        if terminal:
            break
    return seen


# Environments of Gymnasium, without versions: they differ between the releases we support.


@pytest.mark.parametrize("name", ["FrozenLake", "Taxi", "CliffWalking", "CartPole"])
def test_environments_of_gymnasium_pass_the_check(name: str) -> None:
    simulator = GymnasiumSimulator(name)
    assert simulator.snapshots == "deepcopy"
    assert check_simulator(simulator, walks=3, length=20).transitions > 0
    simulator.close()


@pytest.mark.parametrize("name", ["FrozenLake", "Taxi", "CliffWalking", "CartPole"])
def test_a_simulator_plays_what_the_environment_plays(name: str) -> None:
    simulator = GymnasiumSimulator(name, seed=3)
    env = gymnasium.make(simulator.environment)
    first, _ = env.reset(seed=3)
    assert np.array_equal(simulator.start().observation, np.ravel(first))
    actions = np.random.default_rng(5).integers(len(simulator.actions), size=40).tolist()
    for action, (observation, reward, terminal) in zip(actions, play(simulator, actions), strict=False):
        expected = env.step(action)
        dtype = simulator.start().observation.dtype
        assert (observation, reward, terminal) == (np.ravel(expected[0]).astype(dtype).tobytes(), *expected[1:3])


def test_whole_numbers_are_observed_as_int64_and_others_as_float64() -> None:
    assert GymnasiumSimulator("FrozenLake").start().observation.dtype == np.int64
    pole = GymnasiumSimulator("CartPole").start().observation
    assert pole.dtype == np.float64
    assert pole.shape == (4,)


def test_the_seed_chooses_the_start() -> None:
    starts = [GymnasiumSimulator("CartPole", seed=seed).start().observation.tolist() for seed in (1, 1, 2)]
    assert starts[0] == starts[1] != starts[2]


def test_options_are_those_of_the_environment() -> None:
    simulator = GymnasiumSimulator("FrozenLake", is_slippery=False, map_name="8x8")
    states = [simulator.step(simulator.start(), action).state.observation.item() for action in range(4)]
    assert states == [0, 8, 1, 0]


def test_an_id_without_a_version_is_resolved() -> None:
    assert GymnasiumSimulator("FrozenLake").environment == "FrozenLake-v1"


def test_an_environment_without_names_of_actions_gets_generic_ones() -> None:
    assert GymnasiumSimulator("CartPole").actions == ("action 0", "action 1")


def test_atari_through_gymnasium_takes_snapshots_by_its_hooks() -> None:
    simulator = GymnasiumSimulator("ALE/Pong-v5", repeat_action_probability=0.0)
    assert simulator.snapshots == "clone_state and restore_state"
    assert simulator.actions[:2] == ("NOOP", "FIRE")
    assert simulator.start().observation.shape == (210, 160, 3)
    assert simulator.start().observation.dtype == np.uint8


def test_sticky_actions_are_refused() -> None:
    with pytest.raises(NotDeterministicError, match="repeat_action_probability=0"):
        GymnasiumSimulator("ALE/Pong-v5")


def test_minigrid_passes_the_check_and_names_its_actions() -> None:
    pytest.importorskip("minigrid")
    simulator = GymnasiumSimulator("MiniGrid-Empty-5x5-v0")
    check_simulator(simulator, walks=2, length=15)
    assert simulator.actions == ("left", "right", "forward", "pickup", "drop", "toggle", "done")
    assert simulator.left_out == ("mission",)
    assert simulator.start().observation.shape == (1 + 7 * 7 * 3,)  # direction, image
    assert simulator.max_episode_steps == 100


def test_a_missing_minigrid_is_named_with_the_way_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "minigrid", None)
    with pytest.raises(SimulatorError, match=r'pip install "noveltree\[minigrid\]"'):
        GymnasiumSimulator("MiniGrid-Empty-5x5-v0")


# Names that are refused.


def test_an_unknown_id_is_answered_with_the_closest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'FrozenLake-v1'"):
        GymnasiumSimulator("FrozenLak-v1")


def test_an_id_of_an_unknown_version_is_answered_with_the_closest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'CartPole-v"):
        GymnasiumSimulator("CartPole-v99")


def test_an_id_that_would_import_a_module_is_refused() -> None:
    assert "antigravity" not in sys.modules
    with pytest.raises(InputError, match="names a module to import"):
        GymnasiumSimulator("antigravity:CartPole-v1")
    assert "antigravity" not in sys.modules


def test_options_that_the_environment_does_not_know_are_refused() -> None:
    with pytest.raises(InputError, match=r"cannot make 'CartPole-v1'.*'wheels'"):
        GymnasiumSimulator("CartPole-v1", wheels=4)


def test_options_for_a_made_environment_are_refused() -> None:
    with pytest.raises(InputError, match="made already"):
        GymnasiumSimulator(Line(), wheels=4)


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(InputError, match="-1"):
        GymnasiumSimulator("CartPole-v1", seed=-1)


# The function of state and action.


def test_a_state_can_be_stepped_from_again_and_again() -> None:
    simulator = GymnasiumSimulator(Line())
    start = simulator.start()
    right = simulator.step(start, 1).state
    assert simulator.step(right, 1).state.observation.item() == 2
    assert simulator.step(right, 0).state.observation.item() == 0
    assert simulator.step(start, 1).state.observation.item() == 1
    assert simulator.start() is start


def test_a_terminal_state_stays_terminal_and_pays_nothing() -> None:
    simulator = GymnasiumSimulator(Line())
    state = simulator.start()
    for _ in range(9):
        transition = simulator.step(state, 1)
        state = transition.state  # type: ignore[assignment]
    assert transition[1:] == (1.0, True)
    assert simulator.step(state, 0)[1:] == (0.0, True)


def test_the_first_action_of_a_discrete_space_need_not_be_0() -> None:
    class Centered(Line):
        def __init__(self) -> None:
            super().__init__()
            self.action_space = spaces.Discrete(3, start=-1)

        def step(self, action: Any) -> Any:
            assert action in (-1, 0, 1)
            return super().step(action > 0) if action else (self.observe(), 0.5, False, False, {})

    simulator = GymnasiumSimulator(Centered())
    assert simulator.actions == ("action -1", "action 0", "action 1")
    assert simulator.step(simulator.start(), 1).reward == 0.5
    assert simulator.step(simulator.start(), 2).state.observation.item() == 1


def test_actions_that_do_not_exist_and_foreign_states_are_refused() -> None:
    simulator = GymnasiumSimulator(Line())
    for action in (-1, 2):
        with pytest.raises(InputError, match=f"actions 0 to 1, not {action}"):
            simulator.step(simulator.start(), action)
    with pytest.raises(InputError, match="CorridorState"):
        simulator.step(CorridorState(0), 0)


def test_an_enum_of_actions_gives_their_names_unless_a_wrapper_changes_the_actions() -> None:
    class Named(Line):
        actions = enum.IntEnum("Moves", {"left": 0, "right": 1})  # type: ignore[misc]

    class Rightwards(gymnasium.ActionWrapper[Any, Any, Any]):
        def __init__(self) -> None:
            super().__init__(Named())
            self.action_space = spaces.Discrete(1)

        def action(self, action: Any) -> Any:
            return 1

    assert GymnasiumSimulator(Named()).actions == ("left", "right")
    assert GymnasiumSimulator(Rightwards()).actions == ("action 0",)


def test_a_time_limit_is_told_but_does_not_end_episodes(registered: str) -> None:
    for simulator in (
        GymnasiumSimulator(registered),
        GymnasiumSimulator(gymnasium.make(registered)),
        GymnasiumSimulator(TransformReward(TimeLimit(Line(), 7), lambda reward: reward)),
    ):
        assert simulator.max_episode_steps == 7
        assert len(play(simulator, [0] * 20)) == 20
    assert GymnasiumSimulator(Line()).max_episode_steps is None


def test_a_time_limit_below_other_wrappers_is_removed() -> None:
    class Forbidding(TimeLimit):
        def step(self, action: Any) -> Any:
            raise AssertionError

    assert play(GymnasiumSimulator(TransformReward(Forbidding(Line(), 7), lambda reward: reward)), [1])


def test_the_environment_is_closed_with_the_simulator() -> None:
    env = Line()
    GymnasiumSimulator(env).close()
    assert env.closed == 1


# Snapshots.


class Hooked(Line):
    """Has hooks that copy, and cannot be copied itself."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()

    def get_state(self) -> Any:
        return self.cell.copy()

    def set_state(self, state: Any) -> None:
        self.cell = state.copy()


def test_hooks_are_used_where_an_environment_has_them() -> None:
    simulator = GymnasiumSimulator(Hooked())
    assert simulator.snapshots == "get_state and set_state"
    check_simulator(simulator, walks=3)


def test_hooks_that_do_not_copy_are_replaced_by_deep_copies() -> None:
    class Aliased(Line):
        def get_state(self) -> Any:
            return self.cell

        def set_state(self, state: Any) -> None:
            self.cell = state

    assert GymnasiumSimulator(Aliased()).snapshots == "deepcopy"


def test_hooks_below_a_wrapper_with_a_state_are_replaced_by_deep_copies() -> None:
    class Copyable(Hooked):
        def __init__(self) -> None:
            super().__init__()
            del self.lock
            self.observation_space = spaces.Box(0, 9, (1,), np.int64)

        def observe(self) -> Any:
            return self.cell.copy()

    simulator = GymnasiumSimulator(FrameStackObservation(Copyable(), 3))
    assert simulator.snapshots == "deepcopy"
    check_simulator(simulator, walks=2, length=10)


def test_methods_that_only_have_the_names_of_hooks_are_no_hooks() -> None:
    class Physics(Line):
        def get_state(self) -> Any:
            raise AssertionError

        def set_state(self, position: Any, velocity: Any) -> None:
            raise AssertionError

    assert GymnasiumSimulator(Physics()).snapshots == "deepcopy"


def test_hooks_that_restore_too_little_are_refused() -> None:
    class Constant(Hooked):
        def get_state(self) -> Any:
            return None

        def set_state(self, state: Any) -> None:
            self.cell = np.zeros(1, dtype=np.int64)

    with pytest.raises(NotDeterministicError, match=r"get_state and set_state.*uninterrupted play"):
        GymnasiumSimulator(Constant())


def test_hooks_that_only_serve_straight_play_are_refused() -> None:
    class Moody(Hooked):
        """Pays for repeating an action, but does not restore which one was the last."""

        steps = last = 0

        def step(self, action: Any) -> Any:
            observation, _, *rest = super().step(action)
            repeated, self.last, self.steps = action == self.last, action, self.steps + 1
            return observation, float(repeated), *rest

        def get_state(self) -> Any:
            return self.steps, self.cell.copy()

        def set_state(self, state: Any) -> None:
            self.steps, self.cell = state[0], state[1].copy()
            self.last = self.last if self.steps else 0

    with pytest.raises(NotDeterministicError, match="with other branches simulated in between, the reward"):
        GymnasiumSimulator(Moody())


def test_an_environment_that_cannot_be_copied_is_refused_and_closed() -> None:
    class Locked(Line):
        def __init__(self) -> None:
            super().__init__()
            self.lock = threading.Lock()

    env = Locked()
    with pytest.raises(SimulatorError, match=r"Locked cannot be copied.*lock.*get_state"):
        GymnasiumSimulator(env)
    assert env.closed == 1


def test_an_environment_whose_copies_are_built_afresh_is_refused() -> None:
    class Rebuilt(Line, EzPickle):
        def __init__(self) -> None:
            Line.__init__(self)
            EzPickle.__init__(self)

    with pytest.raises(SimulatorError, match="Rebuilt cannot be copied: it is an EzPickle"):
        GymnasiumSimulator(Rebuilt())


def test_the_random_generator_of_an_environment_is_part_of_its_state() -> None:
    class Dice(Line):
        def step(self, action: Any) -> Any:
            return self.observe(), float(self.np_random.random()), False, False, {}

    simulator = GymnasiumSimulator(Dice())
    first = simulator.step(simulator.start(), 0)
    assert simulator.step(simulator.start(), 0).reward == first.reward
    assert simulator.step(first.state, 0).reward != first.reward


def test_a_seeded_space_that_the_environment_draws_from_is_part_of_its_state() -> None:
    class Drawing(Line):
        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            self.action_space.seed(seed)
            return super().reset(seed=seed)

        def step(self, action: Any) -> Any:
            return super().step(self.action_space.sample())

    check_simulator(GymnasiumSimulator(Drawing()), walks=3, length=15)


# Environments that break the contract.


def test_randomness_from_a_global_generator_is_refused() -> None:
    class Global(Line):
        def step(self, action: Any) -> Any:
            return super().step(random.random() < 0.5)

    with pytest.raises(NotDeterministicError, match=r"Global is not deterministic.*self\.np_random"):
        GymnasiumSimulator(Global())


def test_state_outside_the_environment_is_refused() -> None:
    class Shared(Line):
        steps: list[int] = []  # noqa: RUF012

        def step(self, action: Any) -> Any:
            self.steps.append(1)
            observation, _, *rest = super().step(action)
            return observation, float(len(self.steps)), *rest

    with pytest.raises(NotDeterministicError, match="the reward is"):
        GymnasiumSimulator(Shared())


@pytest.mark.parametrize(
    "space", [spaces.Box(-1, 1, (2,)), spaces.MultiDiscrete([2, 2]), spaces.MultiBinary(3)], ids=str
)
def test_actions_that_are_not_discrete_are_refused(space: Any) -> None:
    env = Line()
    env.action_space = space
    with pytest.raises(InputError, match=r"Line has the action space .* needs a Discrete one"):
        GymnasiumSimulator(env)


def test_an_exception_of_the_environment_is_wrapped() -> None:
    class Fragile(Line):
        broken = False

        def step(self, action: Any) -> Any:
            if self.broken:
                raise ZeroDivisionError("no way")
            return super().step(action)

    simulator = GymnasiumSimulator(Fragile())
    Fragile.broken = True
    with pytest.raises(
        SimulatorError, match="Fragile failed at the action 'action 1': ZeroDivisionError: no way"
    ) as caught:
        simulator.step(simulator.start(), 1)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_an_exception_at_reset_is_wrapped() -> None:
    class Stillborn(Line):
        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            raise ZeroDivisionError("no way")

    with pytest.raises(SimulatorError, match="Stillborn failed at the start: ZeroDivisionError") as caught:
        GymnasiumSimulator(Stillborn())
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_reward_that_is_no_number_is_refused() -> None:
    class Priceless(Line):
        def step(self, action: Any) -> Any:
            return self.observe(), float("nan"), False, False, {}

    with pytest.raises(SimulatorError, match=r"reward .* nan"):
        GymnasiumSimulator(Priceless())


def test_an_observation_outside_its_space_is_refused() -> None:
    class Liar(Line):
        def observe(self) -> Any:
            return [1, 2]

    with pytest.raises(SimulatorError, match="2 numbers instead of 1"):
        GymnasiumSimulator(Liar())


# Observations.


def box(low: float, high: float, shape: tuple[int, ...], dtype: Any) -> spaces.Box:
    return spaces.Box(low, high, shape, dtype)


@pytest.mark.parametrize("shape", [(4, 5), (4, 5, 3)])
def test_images_stay_images_and_are_copied(shape: tuple[int, ...]) -> None:
    image = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
    observed = EnvironmentObserver(box(0, 255, shape, np.uint8))(image)
    assert observed.dtype == np.uint8
    assert np.array_equal(observed, image)
    assert not np.shares_memory(observed, image)


@pytest.mark.parametrize(
    ("space", "observation", "expected", "dtype"),
    [
        (spaces.Discrete(5, start=2), 4, [4], np.int64),
        (spaces.MultiDiscrete(np.array([[3, 4], [5, 6]])), np.array([[0, 1], [2, 3]]), [0, 1, 2, 3], np.int64),
        (spaces.MultiBinary(3), np.array([1, 0, 1], dtype=np.int8), [1, 0, 1], np.int64),
        (box(0, 255, (3,), np.uint8), np.array([7, 8, 9], dtype=np.uint8), [7, 8, 9], np.int64),
        (box(0, 1, (3,), np.bool_), np.array([True, False, True]), [1, 0, 1], np.int64),
        (box(-1, 1, (2, 1), np.float32), np.array([[0.5], [-0.5]], dtype=np.float32), [0.5, -0.5], np.float64),
        (spaces.Tuple((spaces.Discrete(3), box(0, 1, (2,), np.float64))), (2, [0.25, 0.5]), [2, 0.25, 0.5], float),
        (
            spaces.Dict(z=spaces.Discrete(3), a=spaces.Dict(y=spaces.Discrete(3), x=spaces.Discrete(3))),
            {"z": 0, "a": {"y": 1, "x": 2}},
            [2, 1, 0],
            np.int64,
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_observations_become_one_vector(
    space: spaces.Space[Any], observation: Any, expected: list[float], dtype: Any
) -> None:
    observed = EnvironmentObserver(space)(observation)
    assert observed.tolist() == expected
    assert observed.dtype == dtype


def test_a_vector_is_copied() -> None:
    numbers = np.arange(3)
    assert not np.shares_memory(EnvironmentObserver(box(0, 9, (3,), np.int64))(numbers), numbers)


def test_parts_that_are_no_numbers_are_left_out_and_named() -> None:
    observer = EnvironmentObserver(
        spaces.Dict(cell=spaces.Discrete(3), said=spaces.Tuple((spaces.Text(5), spaces.Discrete(2))))
    )
    assert observer.left_out == ("said/0",)
    assert observer({"cell": 2, "said": ("hello", 1)}).tolist() == [2, 1]


@pytest.mark.parametrize("space", [spaces.Text(5), spaces.Dict(mission=spaces.Text(5)), box(0, 1, (0,), float)])
def test_an_observation_without_any_numbers_is_refused(space: spaces.Space[Any]) -> None:
    with pytest.raises(InputError, match="Nothing can be observed as numbers"):
        EnvironmentObserver(space)


@pytest.mark.parametrize(
    ("space", "observation"),
    [
        (box(0, 255, (4, 5), np.uint8), np.zeros((5, 4), dtype=np.uint8)),
        (box(0, 255, (4, 5), np.uint8), np.zeros((4, 5))),
        (spaces.Discrete(3), 1.5),
        (spaces.Discrete(3), "one"),
        (spaces.Dict(cell=spaces.Discrete(3)), {}),
    ],
    ids=str,
)
def test_an_observation_that_does_not_fit_its_space_is_refused(space: spaces.Space[Any], observation: Any) -> None:
    with pytest.raises(SimulatorError, match="not of its observation space"):
        EnvironmentObserver(space)(observation)
