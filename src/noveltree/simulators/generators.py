"""Random generators inside of environments: finding them, and letting dice decide what they give."""

from __future__ import annotations

import functools
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeGuard

import numpy as np

from noveltree.errors import InputError
from noveltree.simulators.simulator import Simulator, State, chance_of

#: Steps on which it is tried whether generators in states are consulted; only one if they take so many seconds.
_TRIED_STEPS = 10
_SLOW = 0.5
#: A generator whose state can be set and compared.
Generator = np.random.Generator | np.random.BitGenerator | np.random.RandomState | random.Random
#: How a generator is reached from an object: by names of attributes, keys of dicts, indices of lists and tuples.
Place = tuple[object, tuple[Any, ...]]


def is_generator(value: object) -> TypeGuard[Generator]:
    """Whether this is a random generator whose state can be set."""
    return isinstance(value, Generator) and not isinstance(value, random.SystemRandom)


def find_generators(owners: Iterable[object]) -> list[Place]:
    """The places below some objects where random generators are kept: in their attributes, and theirs, and so on.

    A place and not the generator itself, since whoever owns it may put another one there.
    """
    seen: set[int] = set()
    stack: list[tuple[Place, object]] = [((owner, ()), owner) for owner in owners]
    places = []
    while stack:
        (owner, path), value = stack.pop()
        if is_generator(value):
            places.append((owner, path))
        elif id(value) not in seen and not isinstance(value, type):
            seen.add(id(value))
            stack.extend(((owner, (*path, key)), inside) for key, inside in parts_of(value))
    return places


def generators_at(places: Sequence[Place]) -> list[Generator]:
    """The generators that are there now."""
    found = (functools.reduce(_look_up, path, owner) for owner, path in places)
    return [generator for generator in found if is_generator(generator)]


def distinct(generators: Iterable[Generator]) -> list[Generator]:
    """Each of them once, and none that is a part of another."""
    found = list({id(generator): generator for generator in generators}.values())
    parts = {id(each.bit_generator) for each in found if isinstance(each, np.random.Generator)}
    return [generator for generator in found if id(generator) not in parts]


def foresees(simulator: Simulator) -> bool:
    """Whether a simulator that knows of no chance has states that hold a random generator, and steps consult it.

    Whoever plans with such a simulator foresees what chance will bring.
    """
    if chance_of(simulator) is not None:
        return False
    state = simulator.start()
    for action in range(_TRIED_STEPS):
        before, started = _held(state), time.perf_counter()
        state, _, terminal = simulator.step(state, action % len(simulator.actions))
        if before and _held(state) != before:
            return True
        if terminal or time.perf_counter() - started > _SLOW:
            return False
    return False


def check_foresight(simulator: Simulator, whose: str, asking: str) -> None:
    """Raise InputError if planning would foresee chance unasked; `asking` says how one asks for it."""
    if foresees(simulator):
        raise InputError(
            f"The states of {whose} hold a random generator that its steps consult, so that lookaheads would "
            f"foresee what it brings: give it has_chance and draw(state, action, dice), or {asking}."
        )


def _held(state: State) -> list[Any]:
    """The states of the generators that a state holds."""
    return states_of(generators_at(find_generators([state])))


def throw(generators: Sequence[Generator], dice: int) -> None:
    """Put generators into states that follow from `dice` and from their order alone."""
    for number, generator in enumerate(generators):
        seeds = np.random.SeedSequence(dice, spawn_key=(number,))
        if isinstance(generator, np.random.Generator | np.random.BitGenerator):
            bits: Any = _bits(generator)
            bits.state = type(bits)(seeds).state
        elif isinstance(generator, np.random.RandomState):
            generator.seed(seeds.generate_state(4))
        else:
            generator.seed(int.from_bytes(seeds.generate_state(4).tobytes(), "little"))


def states_of(generators: Sequence[Generator]) -> list[Any]:
    """The states that generators are in, to be compared: a generator that was consulted is in another one."""
    return [_comparable(_state(generator)) for generator in generators]


def _bits(generator: np.random.Generator | np.random.BitGenerator) -> np.random.BitGenerator:
    return generator.bit_generator if isinstance(generator, np.random.Generator) else generator


def _state(generator: Generator) -> Any:
    if isinstance(generator, np.random.Generator | np.random.BitGenerator):
        return _bits(generator).state
    return generator.get_state() if isinstance(generator, np.random.RandomState) else generator.getstate()


def _comparable(state: Any) -> Any:
    if isinstance(state, dict):
        return {name: _comparable(value) for name, value in state.items()}
    if isinstance(state, tuple):
        return tuple(map(_comparable, state))
    return state.tobytes() if isinstance(state, np.ndarray) else state


def parts_of(value: object) -> Iterator[tuple[Any, object]]:
    """What an object holds, and by which name, key or index it is found there."""
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list | tuple):
        yield from enumerate(value)
    else:
        slots = (name for kind in type(value).__mro__ for name in vars(kind).get("__slots__", ()))
        for name in (*getattr(value, "__dict__", ()), *slots):
            yield name, getattr(value, name, None)


def _look_up(holder: Any, key: Any) -> Any:
    if isinstance(holder, dict):
        return holder.get(key)
    if isinstance(holder, list | tuple):
        return holder[key] if key < len(holder) else None
    return getattr(holder, key, None)
