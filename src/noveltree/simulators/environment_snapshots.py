"""How a Gymnasium environment is continued from a state it was in: by hooks of its own, or by copies of it."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import gymnasium
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils import EzPickle

from noveltree.errors import SimulatorError
from noveltree.simulators.generators import (
    Generator,
    distinct,
    find_generators,
    generators_at,
    is_generator,
    states_of,
    throw,
)

Environment = gymnasium.Env[Any, Any]

# Pairs of methods by which environments hand out and take back what they are; the most complete come first.
_HOOKS = (
    ("clone_full_state", "restore_full_state"),
    ("clone_state", "restore_state"),
    ("get_full_state", "set_full_state"),
    ("get_state", "set_state"),
)

_TOY_TEXT = "gymnasium.envs.toy_text."


class Stepped(NamedTuple):
    """What an environment did."""

    outcome: Any
    """What its step returned."""
    snapshot: Any
    """The snapshot after it."""
    by_chance: bool
    """Whether a random generator was consulted, and could have given something else."""


class Snapshots(Protocol):
    """Steps an environment from snapshots of it."""

    @property
    def method(self) -> str:
        """How it is done, for messages."""
        ...

    def take(self) -> Any:
        """A snapshot of the environment as it stands."""
        ...

    @property
    def generators(self) -> int:
        """How many random generators were found inside of the environment."""
        ...

    def step(self, snapshot: Any, action: int, dice: int | None = None) -> Stepped:
        """What the environment does when it stands at `snapshot`.

        Its random generators give what follows from the dice, or, without any, what comes next in the snapshot.
        """
        ...

    def revisit(self, snapshot: Any) -> Any:
        """The snapshot after a step in which nothing happens."""
        ...

    def picture(self, snapshot: Any) -> Any:
        """What the environment renders in the mode `rgb_array` when it stands at `snapshot`."""
        ...


class HookSnapshots:
    """Snapshots by a pair of methods of the unwrapped environment: fast, one environment is enough."""

    def __init__(self, env: Environment, take: Callable[..., Any], restore: Callable[..., Any]) -> None:
        self.method = f"{take.__name__} and {restore.__name__}"
        self._env = env
        self._take = take
        self._restore = restore
        # Atari's clone_state leaves out the random generator unless it is asked for.
        self._options = {"include_rng": True} if "include_rng" in _parameters(take) else {}
        self._places = find_generators(layers(env))
        self.generators = len(self._places)

    def take(self) -> Any:
        return self._take(**self._options)

    def step(self, snapshot: Any, action: int, dice: int | None = None) -> Stepped:
        self._restore(snapshot)
        outcome, by_chance = _step(self._env, action, generators_at(self._places), dice)
        return Stepped(outcome, self._take(**self._options), by_chance)

    def revisit(self, snapshot: Any) -> Any:
        self._restore(snapshot)
        return self._take(**self._options)

    def picture(self, snapshot: Any) -> Any:
        self._restore(snapshot)
        return _render(self._env)


class CopySnapshots:
    """Snapshots by deep copies: a snapshot is an environment that is never stepped, only copied."""

    method = "deepcopy"

    def __init__(self, env: Environment) -> None:
        for layer in layers(env):
            if _is_rebuilt_when_copied(layer):
                raise SimulatorError(
                    f"{type(layer).__name__} cannot be copied: it is an EzPickle, whose copies are built afresh "
                    "and do not stand where the original does. Give it the methods get_state and set_state."
                )
        self._env = env
        self._shared = _constants(env)
        # An environment that copies itself may not tell what it copies on the way.
        self._hides = False
        copied, met = self._copy(env)
        self._hides = len(find_generators(layers(copied))) > len(met)
        self.generators = len(self._copy(env)[1])

    def take(self) -> Any:
        return self._copy(self._env)[0]

    def step(self, snapshot: Any, action: int, dice: int | None = None) -> Stepped:
        env, generators = self._copy(snapshot)
        outcome, by_chance = _step(env, action, generators, dice)
        return Stepped(outcome, env, by_chance)

    def revisit(self, snapshot: Any) -> Any:
        return self._copy(snapshot)[0]

    def picture(self, snapshot: Any) -> Any:
        return _render(self._copy(snapshot)[0])

    def _copy(self, env: Environment) -> tuple[Environment, list[Generator]]:
        """A copy, and the random generators inside of it, wherever they are: copying has met all of them."""
        memo = dict(self._shared)
        try:
            copied = copy.deepcopy(env, memo)
            places = find_generators(layers(copied)) if self._hides else ()
            met = (value for value in memo.values() if is_generator(value))
            return copied, distinct((*met, *generators_at(places)))
        except Exception as error:
            raise SimulatorError(
                f"{type(env.unwrapped).__name__} cannot be copied ({type(error).__name__}: {error}). Give it "
                "the methods get_state and set_state, or make it without rendering."
            ) from error


def _step(env: Environment, action: int, generators: list[Generator], dice: int | None) -> tuple[Any, bool]:
    """What an environment's step returns, and whether chance had a say in it."""
    if dice is not None:
        throw(generators, dice)
    before = states_of(generators)
    outcome = env.step(action)
    return outcome, states_of(generators) != before and not _was_the_only_one(env, outcome)


def _was_the_only_one(env: Environment, outcome: Any) -> bool:
    """Whether the table of an environment says that nothing else could have happened.

    Those of Gymnasium's toy text consult their generator in every step, and say how probable was what they did.
    """
    core = env.unwrapped
    return (
        type(core).__module__.startswith(_TOY_TEXT)
        and outcome[4].get("prob") == 1.0
        and not getattr(core, "fickle_passenger", False)  # who changes his mind besides
    )


def layers(env: Environment) -> Iterator[Environment]:
    """The environment and all that it wraps, from the outside in."""
    while isinstance(env, gymnasium.Wrapper):
        yield env
        env = env.env
    yield env


def ways_of_taking_snapshots(env: Environment) -> Iterator[Callable[[Environment], Snapshots]]:
    """What to try, best first: methods of the unwrapped environment, then copies."""
    for pair in _HOOKS:
        take, restore = (getattr(env.unwrapped, name, None) for name in pair)
        if callable(take) and callable(restore) and _accepts(take, 0) and _accepts(restore, 1):
            yield functools.partial(HookSnapshots, take=take, restore=restore)
    yield CopySnapshots


def _render(env: Environment) -> Any:
    # Environments that are planned over are made without a way to render, which would be copied with them.
    core = env.unwrapped
    mode = core.render_mode
    core.render_mode = "rgb_array"
    try:
        return env.render()
    finally:
        core.render_mode = mode


def _accepts(method: Callable[..., Any], arguments: int) -> bool:
    # MuJoCo's set_state(qpos, qvel), for one, does not take back a snapshot.
    try:
        inspect.signature(method).bind(*range(arguments))
    except TypeError:
        return False
    except ValueError:  # a compiled method whose signature is unknown
        return True
    return True


def _parameters(method: Callable[..., Any]) -> frozenset[str]:
    try:
        return frozenset(inspect.signature(method).parameters)
    except ValueError:
        return frozenset()


def _is_rebuilt_when_copied(layer: Environment) -> bool:
    return (
        isinstance(layer, EzPickle)
        and type(layer).__setstate__ is EzPickle.__setstate__
        and getattr(type(layer), "__deepcopy__", None) is None
    )


def _constants(env: Environment) -> dict[int, Any]:
    """What copies may share because it never changes, as a memo of `deepcopy`: most of the time of a copy."""
    constants: list[Any] = [
        value
        for layer in layers(env)
        for value in vars(layer).values()
        if isinstance(value, EnvSpec) or (isinstance(value, spaces.Space) and not _has_generator(value))
    ]
    core = env.unwrapped
    if type(core).__module__.startswith(_TOY_TEXT):
        constants.append(getattr(core, "P", None))  # the table of all transitions, which is only read
    return {id(constant): constant for constant in constants}


def _has_generator(space: spaces.Space[Any]) -> bool:
    parts = getattr(space, "spaces", ())
    return getattr(space, "_np_random", None) is not None or any(
        _has_generator(part) for part in (parts.values() if isinstance(parts, dict) else parts)
    )
