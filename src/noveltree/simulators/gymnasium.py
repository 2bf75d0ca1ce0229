"""Any Gymnasium environment with discrete actions as a function of a state and an action, and of dice."""

from __future__ import annotations

import contextlib
import enum
import functools
import importlib
import inspect
import warnings
from collections.abc import Iterator
from typing import Any

import ale_py
import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import load_env_creator, registry
from gymnasium.wrappers import PassiveEnvChecker, TimeLimit
from numpy.typing import NDArray

from noveltree.errors import InputError, NotDeterministicError, SimulatorError, UnknownNameError
from noveltree.simulators.check import check_transitions, compared, difference
from noveltree.simulators.environment_observation import EnvironmentObserver
from noveltree.simulators.environment_snapshots import (
    Environment,
    Stepped,
    layers,
    ways_of_taking_snapshots,
)
from noveltree.simulators.options import Options, Scalar, fitting
from noveltree.simulators.patience import SECONDS, Patience, warn_of_slowness
from noveltree.simulators.settings import Chance
from noveltree.simulators.simulator import Draw, Frame, State, Transition
from noveltree.wording import counted

# Packages that register environments, by how their ids begin; the extra that installs one has its name.
_PROVIDERS = {"MiniGrid-": "minigrid", "BabyAI-": "minigrid", "MinAtar/": "minatar"}
# The function that registers them, where importing the package does not.
_REGISTERED_BY = {"minatar": ("minatar.gym", "register_envs")}
_CHECKED_WALKS = 2
_CHECKED_LENGTH = 15
_PLAYED = 30
_FRAME_RATE = 10.0  # of environments that do not say
#: Walks on which chance is looked for, and their length.
_SEARCHED_WALKS = 4
_SEARCHED_LENGTH = 50


def is_environment_id(name: str) -> bool:
    """Whether `name` is, or may become once its package is imported, the id of a registered environment."""
    return name in registry or any(name.startswith(prefix) for prefix in _PROVIDERS)


def is_environment_of_gymnasium(name: str) -> bool:
    """Whether `name` is the id of an environment that Gymnasium itself brings."""
    return name in registry and str(registry[name].entry_point).startswith("gymnasium.envs.")


def provider_of(name: str) -> tuple[str, ...]:
    """The package that registers an environment, if Gymnasium itself does not."""
    return tuple(package for prefix, package in _PROVIDERS.items() if name.startswith(prefix))


class GymnasiumState(State):
    """What the environment continues from, and whether it has ended there."""

    __slots__ = ("snapshot", "terminal")

    def __init__(self, snapshot: Any, observation: NDArray[Any], terminal: bool) -> None:
        super().__init__(observation)
        self.snapshot = snapshot
        self.terminal = terminal


class GymnasiumSimulator:
    """A Gymnasium environment with discrete actions.

    `environment` is an id, made with `options`, or an environment, which is handed over: it is reset, loses its
    time limit, and is closed with the simulator. Every episode begins in the state after `reset(seed=seed)`.
    Snapshots are taken by methods of the environment (`get_state` and `set_state`, `clone_state` and
    `restore_state`, ...) if it has a pair that works, by deep copies otherwise; `snapshots` says which.

    A truncation is not terminal: the driver ends episodes, after `max_episode_steps` if it likes. Parts of
    observations that are no numbers are not observed; `left_out` names them. That the environment is a function
    of state and action, and plays as it does when never interrupted, is tried on short random walks at
    construction: `check_simulator` tries longer ones. Where steps take so long that there is no time for that, less
    is tried, which a `SlowSimulatorWarning` says.

    A snapshot of an environment with a random generator, a slippery FrozenLake for one, holds the generator
    too: `step` goes on with it, so that whoever plans with `step` foresees what chance will bring. `draw` lets dice
    decide instead. `chance` says which of them planners use:

        none        step; that a generator is consulted after all is an error
        foreseen    step, as a clairvoyant
        sampled     draw

    Unless it is given, random walks show whether a generator is ever consulted in a step: `sampled` or `none`.

    Atari games are better played by `Atari`, whose snapshots hold more than those of the emulator's environment.
    """

    def __init__(
        self, environment: str | Environment, *, seed: int = 0, chance: Chance | None = None, **options: Any
    ) -> None:
        if seed < 0:
            raise InputError(f"The seed of an environment must not be negative, but it is {seed}.")
        if not isinstance(environment, str) and options:
            raise InputError(f"Options ({', '.join(options)}) are for ids; the environment is made already.")
        env = _make(environment, options) if isinstance(environment, str) else environment
        self.environment: str = _name(env)
        limit = _time_limit(env)
        self._env = _without_limits(env)
        _refuse_sticky_actions(self._env, self.environment)

        space = self._env.action_space
        if not isinstance(space, spaces.Discrete):
            raise InputError(
                f"{self.environment} has the action space {space}, but a lookahead needs a Discrete one; wrap "
                "the environment so that an action is one of a few."
            )
        self._first_action = int(space.start)
        self.actions: tuple[str, ...] = _action_names(self._env, space)
        self._observe = EnvironmentObserver(self._env.observation_space)
        self.left_out: tuple[str, ...] = self._observe.left_out
        self.chance: Chance = "foreseen"  # for the walks below, which compare what was foreseen
        self._slow: list[str] = []  # what there was no time for
        try:
            self._begin(seed)
            self.chance = chance or ("sampled" if self.chance_is_found else "none")
        except SimulatorError:
            self._env.close()
            raise
        if self._slow:
            warn_of_slowness(self.environment, *self._slow)
        self.snapshots: str = self._snapshots.method
        self.max_episode_steps: int | None = _own_limit(self._env) if limit is None else limit

    def start(self) -> GymnasiumState:
        return self._start

    def start_at(self, level: int) -> GymnasiumState:
        """The state after `reset(seed=level)`."""
        with _failures_of(self.environment, f"at the start of level {level}"):
            observation, _ = self._env.reset(seed=level)
            return GymnasiumState(self._snapshots.take(), self._observe(observation), False)

    def step(self, state: State, action: int) -> Transition:
        self._check(state, action)
        assert isinstance(state, GymnasiumState)
        if state.terminal:  # what an environment does after its end is undefined
            return Transition(state, 0.0, True)
        stepped = self._step(state, action)
        if stepped.by_chance and self.chance == "none":
            raise SimulatorError(
                f"{self.environment} consulted a random generator at the action {self.actions[action]!r}, which it "
                "had not done on random walks: play it with the chance 'sampled' (--chance sampled)."
            )
        return self._transition(stepped)

    @property
    def has_chance(self) -> bool:
        return self.chance == "sampled"

    def draw(self, state: State, action: int, dice: int) -> Draw:
        """The transition for these dice, which random generators are seeded with; certain if none was consulted."""
        self._check(state, action)
        assert isinstance(state, GymnasiumState)
        if state.terminal:
            return Draw(Transition(state, 0.0, True), certain=True)
        stepped = self._step(state, action, dice)
        return Draw(self._transition(stepped), certain=not stepped.by_chance)

    @functools.cached_property
    def chance_is_found(self) -> bool:
        """Whether a random generator is consulted on random walks, and could have given something else."""
        rng = np.random.default_rng(0)
        patience = Patience(_SEARCHED_WALKS * _SEARCHED_LENGTH)
        for _ in range(_SEARCHED_WALKS if self._snapshots.generators else 0):
            state: State = self._start
            for _ in range(_SEARCHED_LENGTH):
                if not patience.more():
                    self._slow.append(
                        f"chance was looked for on {counted(patience.taken, 'step')}, and none was found"
                    )
                    return False
                (state, _, terminal), certain = self.draw(state, int(rng.integers(len(self.actions))), 0)
                if not certain:
                    return True
                if terminal:
                    break
        return False

    def close(self) -> None:
        self._env.close()

    def _check(self, state: State, action: int) -> None:
        if not isinstance(state, GymnasiumState):
            raise InputError(f"A Gymnasium simulator cannot step from a {type(state).__name__}.")
        if not 0 <= action < len(self.actions):
            raise InputError(f"{self.environment} has the actions 0 to {len(self.actions) - 1}, not {action}.")

    def _step(self, state: GymnasiumState, action: int, dice: int | None = None) -> Stepped:
        with _failures_of(self.environment, f"at the action {self.actions[action]!r}"):
            return self._snapshots.step(state.snapshot, self._first_action + action, dice)

    def revisit(self, state: State) -> object:
        assert isinstance(state, GymnasiumState)
        return self._snapshots.revisit(state.snapshot)

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Between which values the environment's observation space says that its variables are."""
        return self._observe.bounds

    @property
    def frame_rate(self) -> float:
        """How many pictures a second the environment wants to be shown."""
        return float(self._env.metadata.get("render_fps") or _FRAME_RATE)

    def picture(self, state: State) -> Frame:
        """What the environment renders of a state."""
        if not isinstance(state, GymnasiumState):
            raise InputError(f"A Gymnasium simulator has no picture of a {type(state).__name__}.")
        if "rgb_array" not in self._env.metadata.get("render_modes", ()):
            raise InputError(f"{self.environment} renders no pictures: it has no render mode rgb_array.")
        with _failures_of(self.environment, "when it was to render"):
            picture = np.asarray(self._snapshots.picture(state.snapshot))
        if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype.kind not in "uf":
            raise SimulatorError(
                f"{self.environment} renders {picture.dtype} {picture.shape}, not a picture (height, width, 3)."
            )
        return (picture * 255).round().astype(np.uint8) if picture.dtype.kind == "f" else picture.astype(np.uint8)

    def _begin(self, seed: int) -> None:
        """Settle for the first way of taking snapshots that works, and keep the start."""
        failures: list[SimulatorError] = []
        for way in ways_of_taking_snapshots(self._env):
            self._slow.clear()
            try:
                with _failures_of(self.environment, "at the start"):
                    observation, _ = self._env.reset(seed=seed)
                    self._snapshots = way(self._env)
                    self._start = GymnasiumState(self._snapshots.take(), self._observe(observation), False)
                self._check_uninterrupted()
                self._check_interrupted()
                return
            except SimulatorError as error:
                failures.append(error)
        raise failures[0]

    def _check_uninterrupted(self) -> None:
        """Snapshots that miss something may be restored to the same wrong state every time: compare with play."""
        actions = np.random.default_rng(0).integers(len(self.actions), size=_PLAYED).tolist()
        played: list[Transition] = []
        patience = Patience(_PLAYED, SECONDS / 2)
        for action in actions:
            if not patience.more():
                self._slow.append(
                    f"snapshots were compared with uninterrupted play on {counted(len(played), 'step')}"
                )
                break
            with _failures_of(self.environment, f"at the action {self.actions[action]!r}"):
                outcome = self._env.step(self._first_action + action)
            played.append(self._transition(Stepped(outcome, None, by_chance=False)))
            if played[-1].terminal:
                break
        state: State = self._start
        for number, (action, expected) in enumerate(zip(actions, played, strict=False), start=1):
            found = self.step(state, action)
            if what := difference(expected, found):
                raise self._not_deterministic(
                    f"Step {number}, action {action} ({self.actions[action]}): compared with uninterrupted "
                    f"play, {what}."
                )
            state = found.state

    def _check_interrupted(self) -> None:
        try:
            walked = check_transitions(self, walks=_CHECKED_WALKS, length=_CHECKED_LENGTH, seconds=SECONDS)
        except NotDeterministicError as error:
            raise self._not_deterministic(str(error)) from error
        if walked.cut_short:
            self._slow.append(compared(walked))

    def _transition(self, stepped: Stepped) -> Transition:
        with _failures_of(self.environment, "at what its step returned"):
            observation, reward, terminated, _, _ = stepped.outcome
            terminal = bool(terminated)
            state = GymnasiumState(stepped.snapshot, self._observe(observation), terminal)
            return Transition(state, float(reward), terminal)

    def _not_deterministic(self, what: str) -> NotDeterministicError:
        return NotDeterministicError(
            f"{self.environment} is not deterministic when continued from snapshots (by "
            f"{self._snapshots.method}). {what} Let it draw only from self.np_random, keep its whole state in "
            "its attributes, and let get_state and set_state, if it has them, copy all of it."
        )


@contextlib.contextmanager
def _failures_of(environment: str, when: str) -> Iterator[None]:
    """Turn what foreign code raises into one sentence."""
    try:
        yield
    except SimulatorError:
        raise  # has one already
    except (Exception, SystemExit) as error:
        raise SimulatorError(f"{environment} failed {when}: {type(error).__name__}: {error}") from error


def _make(name: str, options: dict[str, Any]) -> Environment:
    if ":" in name:
        raise InputError(
            f"An id that names a module to import, {name!r}, is refused, for ids are read from records: import "
            f"the module yourself and use {name.rpartition(':')[2]!r}."
        )
    # What foreign packages say when imported, and that an id is not of the latest version, does not concern
    # those who chose the id; `environment` tells which version an id without one stands for.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _import_provider(name)
        try:
            return gymnasium.make(name, **{"disable_env_checker": True, **options})
        except (gymnasium.error.DependencyNotInstalled, ImportError) as error:
            raise SimulatorError(f"{name} needs a package that is not installed: {error}") from error
        except (gymnasium.error.UnregisteredEnv, gymnasium.error.DeprecatedEnv) as error:
            hint = "Has the package that registers it been imported?"
            raise UnknownNameError("environment", name, registry, hint=hint) from error
        except Exception as error:
            raise InputError(f"Gymnasium cannot make {name!r}: {type(error).__name__}: {error}") from error


def fitting_environment(name: str, options: Options) -> dict[str, Scalar]:
    """What an environment is made with; raises InputError if it cannot be, as far as its signature tells."""
    given = options.to_dict()
    _import_provider(name)
    try:
        spec = gymnasium.spec(name)
        creator = load_env_creator(spec.entry_point) if isinstance(spec.entry_point, str) else spec.entry_point
    except Exception:  # making it says what is wrong
        return given
    of_make = inspect.signature(gymnasium.make).parameters
    own = Options({option: value for option, value in options if option not in of_make})
    return given if creator is None else given | fitting(creator, own, whose=name, beside=spec.kwargs)


def _import_provider(name: str) -> None:
    for package in provider_of(name):
        try:
            importlib.import_module(package)
            if package in _REGISTERED_BY and name not in registry:
                module, function = _REGISTERED_BY[package]
                getattr(importlib.import_module(module), function)()
        except ImportError as error:
            raise SimulatorError(
                f'{name} needs the package {package}: pip install "noveltree[{package}]".'
            ) from error


def _name(env: Environment) -> str:
    spec = env.unwrapped.spec
    return type(env.unwrapped).__name__ if spec is None else spec.id


def _time_limit(env: Environment) -> int | None:
    limits = [layer._max_episode_steps for layer in layers(env) if isinstance(layer, TimeLimit)]
    return min(limits, default=None)


def _own_limit(env: Environment) -> int | None:
    limit = getattr(env.unwrapped, "max_steps", None)  # MiniGrid truncates by itself
    return limit if isinstance(limit, int) and limit > 0 else None


def _refuse_sticky_actions(env: Environment, name: str) -> None:
    # The action that may be repeated is not in a snapshot, which short walks do not always show.
    emulator = getattr(env.unwrapped, "ale", None)
    if isinstance(emulator, ale_py.ALEInterface) and emulator.getFloat("repeat_action_probability") > 0:
        raise NotDeterministicError(
            f"{name} repeats actions at random and its snapshots do not hold which: make it with "
            "repeat_action_probability=0, or play the game with noveltree.simulators.Atari."
        )


def _without_limits(env: Environment) -> Environment:
    """The environment without the wrappers that limit or watch episodes but are no part of the MDP."""
    needless = (TimeLimit, PassiveEnvChecker)
    while isinstance(env, needless):
        env = env.env
    for layer in layers(env):
        while isinstance(layer, gymnasium.Wrapper) and isinstance(layer.env, needless):
            layer.env = layer.env.env
    return env


def _action_names(env: Environment, space: spaces.Discrete) -> tuple[str, ...]:
    """The names that the environment gives its actions, or `action 0`, `action 1`, ..."""
    numbers = range(int(space.start), int(space.start + space.n))
    names = {number: f"action {number}" for number in numbers}
    own = dict(names)
    core = env.unwrapped
    if core.action_space == space:  # a wrapper with actions of its own gives them other meanings
        actions, meanings = getattr(core, "actions", None), getattr(core, "get_action_meanings", None)
        if isinstance(actions, type) and issubclass(actions, enum.Enum):
            own |= {member.value: member.name for member in actions if member.value in names}
        elif callable(meanings):
            own |= dict(zip(numbers, map(str, meanings()), strict=False))
    return tuple((own if len(set(own.values())) == len(names) else names).values())
