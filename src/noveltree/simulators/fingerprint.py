"""What a state holds, as a digest: by it states are told apart that are observed alike.

A view of seven cells looks the same in many places of a large room, though the state knows where the player is.
"""

from __future__ import annotations

import enum
import hashlib
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from noveltree.errors import InputError
from noveltree.simulators.generators import is_generator, parts_of
from noveltree.simulators.simulator import Simulator, State, StorableStates, chance_of

#: What is a value and nothing more; its type and its `repr` say all of it.
_PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic, enum.Enum, np.dtype, range, slice)
#: What says how something is done, and not how things stand.
_CODE = (type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, types.CodeType)
_NUMBERS = (int, float, np.integer, np.floating)
_WALKS, _LENGTH = 3, 20
#: The fewest transitions by which a number may be taken for a clock.
_FEWEST = 10

#: How something is reached from a state.
Path = tuple[Any, ...]
#: Objects by their identity, with their digests.
_Known = dict[int, tuple[object, bytes]]


class Fingerprint:
    """From a state to a digest of all that it holds, but for random generators and `clocks`.

    What is observed always counts. If a simulator encodes its states (`encode_state`), that is what they hold.
    """

    def __init__(self, simulator: Simulator, clocks: str | None = None) -> None:
        self._encode = simulator.encode_state if isinstance(simulator, StorableStates) else None
        self._clocks = frozenset(clocks.split(",")) if clocks else frozenset[str]()
        #: What several states have in common is looked at once: nothing in it tells them apart.
        self._shared: _Known = {}
        self._last: tuple[State, _Known] | None = None

    def __call__(self, state: State) -> bytes:
        observed = state.observation.tobytes()
        if self._encode is not None:
            return observed + self._encode(state)
        return observed + self.look(state).said

    def look(self, state: State) -> _Digest:
        """What a state holds."""
        digest = _Digest(self._shared, self._clocks)
        digest.said = digest.of(state, ())
        if self._last is not None and self._last[0] is not state:
            before = self._last[1]
            self._shared |= {which: known for which, known in digest.met.items() if which in before}
        self._last = state, digest.met
        return digest


def learn_clocks(simulator: Simulator) -> str | None:
    """The places of numbers in states that only count steps, with commas between them; None if there are none.

    A clock grows by the same amount in every step of some random walks, always the same ones: with it no state
    would ever come back.
    """
    if isinstance(simulator, StorableStates):
        return None
    look = Fingerprint(simulator).look
    start, grown = look(simulator.start()).numbers, list[dict[Path, Any]]()
    for walk in _walks(simulator):
        before = start
        for state in walk:
            after = look(state).numbers
            grown.append({path: after[path] - number for path, number in before.items() if path in after})
            before = after
    if len(grown) < _FEWEST:
        return None
    first, *others = grown
    clocks = [
        written(path)
        for path, amount in first.items()
        if amount != 0 and path[0] != "observation" and all(each.get(path) == amount for each in others)
    ]
    return ",".join(clocks) or None


def written(path: Path) -> str:
    """The place of a number in a state, as protocols have it."""
    return ".".join(str(part).replace(",", " ") for part in path)


class _Digest:
    """Of one state: digests of everything below it."""

    def __init__(self, known: _Known, clocks: frozenset[str]) -> None:
        self._known, self._clocks = known, clocks
        self.said = b""
        self.met: _Known = {}
        self.numbers: dict[Path, Any] = {}
        self._open: dict[int, int] = {}

    def of(self, value: Any, path: Path) -> bytes:
        if isinstance(value, _PLAIN):
            if isinstance(value, _NUMBERS):
                self.numbers[path] = value
                if self._clocks and written(path) in self._clocks:
                    return b"a clock"
            return f"{type(value).__name__} {value!r}".encode()
        if isinstance(value, np.ndarray) and value.dtype != object:
            return f"{value.dtype} {value.shape}".encode() + value.tobytes()
        if isinstance(value, _CODE) or is_generator(value):
            return b"no part of a state"
        which = id(value)
        if which in self._open:  # a circle
            return f"circle {len(self._open) - self._open[which]}".encode()
        known = self._known.get(which) or self.met.get(which)
        if known is not None and known[0] is value:
            return known[1]
        self._open[which] = len(self._open)
        digest = hashlib.blake2b(type(value).__qualname__.encode(), digest_size=16)
        for name, part in self._parts(value):
            digest.update(f"\n{name!r}\n".encode() + self.of(part, (*path, name)))
        del self._open[which]
        self.met[which] = value, digest.digest()
        return digest.digest()

    def _parts(self, value: Any) -> Iterator[tuple[Any, Any]]:
        if isinstance(value, set | frozenset):
            return enumerate(sorted(value, key=repr))
        if isinstance(value, np.ndarray):
            return enumerate(value.ravel().tolist())
        if not (isinstance(value, dict | list | tuple) or hasattr(value, "__dict__") or _has_slots(value)):
            raise InputError(
                f"What is inside of a {type(value).__name__} that states hold cannot be seen, so that they are "
                "told apart by what is observed alone (--state-keys observed)."
            )
        return parts_of(value)


def _has_slots(value: object) -> bool:
    return any("__slots__" in vars(kind) for kind in type(value).__mro__)


def _walks(simulator: Simulator) -> Iterator[Iterator[State]]:
    rng = np.random.default_rng(0)
    chance = chance_of(simulator)

    def walk() -> Iterator[State]:
        state, terminal = simulator.start(), False
        for _ in range(_LENGTH):
            action, dice = int(rng.integers(len(simulator.actions))), int(rng.integers(2**63))
            if chance is None:
                state, _, terminal = simulator.step(state, action)
            else:
                state, _, terminal = chance.draw(state, action, dice).transition
            if terminal:
                return
            yield state

    return (walk() for _ in range(_WALKS))
