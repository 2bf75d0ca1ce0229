"""Play files: an episode that was paused after a decision, from which it goes on as if it had not been.

A play file is one safetensors file. Its arrays are the lookahead's (see `tree/storage.py`) and what the planner
remembers besides, with `planner.` before their names; its metadata holds, as JSON, the protocol, the decisions and
the state of the random generator, and the SHA-256 digest of the whole file, computed with zeros in the digest's own
place. Nothing is decoded before the digest was found to be right,
for a damaged snapshot can crash the emulator. A digest is not a signature: read only plays from people you trust.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pydantic
import safetensors
import safetensors.numpy
from pydantic import BaseModel, ConfigDict, Field

from noveltree.episodes import Decision, Play
from noveltree.errors import InputError, RecordError
from noveltree.heuristics import UNINFORMED, Heuristics
from noveltree.lookahead import POLICY, VALUE
from noveltree.protocol import Protocol, compare_protocols, parse_protocol
from noveltree.reading import complaint
from noveltree.records import disk
from noveltree.records.files import write_atomically
from noveltree.simulators import Simulator
from noveltree.tree import Arrays, Counts, StoredLookahead, restore_lookahead, store_lookahead

_NO_DIGEST = b"0" * 64
# Quotation marks inside of JSON strings are escaped, so that nothing in front of the digest looks like it.
_DIGEST = re.compile(rb'"sha256":"([0-9a-f]{64})"')
_GENERATOR = "PCG64"
_LENGTH = 8  # bytes at the beginning that say how long the header is
_PLANNER = "planner."


class _Words(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    state: int
    inc: int


class _Generator(BaseModel):
    """The state of a random generator, as numpy gives it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    bit_generator: Literal["PCG64"]
    state: _Words
    has_uint32: int
    uinteger: int


class _Chance(BaseModel):
    """What the dice of an episode follow from."""

    model_config = ConfigDict(extra="forbid", strict=True)

    seed: Annotated[int, Field(ge=0)]
    index: Annotated[int, Field(ge=0)]
    interval: Annotated[int, Field(ge=0)]
    level: Annotated[int, Field(ge=0)] | None = None


class _Paused(BaseModel):
    """All of a play but its lookahead's arrays."""

    model_config = ConfigDict(extra="forbid", strict=True, ser_json_inf_nan="constants")

    format: Literal["noveltree-play"] = "noveltree-play"
    version: Literal[2] = 2
    protocol: dict[str, Any]
    actions: list[str]
    decisions: list[Decision]
    generator: _Generator
    counts: Counts
    chance: _Chance | None = None
    """Where there is chance, whose dice are thrown."""


def write_play(path: Path, play: Play, protocol: Protocol) -> None:
    """Write a play that is paused, atomically. Networks that it was driven with are not written."""
    write_atomically(path, encode_play(play, protocol))


def read_play(
    path: Path, protocol: Protocol, simulator: Simulator, *, heuristics: Heuristics | None = UNINFORMED
) -> Play:
    """Read a play that was paused under `protocol`, to be driven on with a simulator made by it.

    `heuristics` is what the play was driven with, such as the same networks: driven on with them, the play asks and
    does what it would have without being written. Only that they have a base policy and a termination cost where
    the others had can be checked. None says that they are not at hand: what they answered is then forgotten.
    """
    try:
        data = disk.read(path)
    except OSError as error:
        raise RecordError(f"Cannot read {path}: {error.strerror or error}.") from error
    return decode_play(data, protocol, simulator, heuristics=heuristics, source=str(path))


def encode_play(play: Play, protocol: Protocol) -> bytes:
    """The bytes of a play file."""
    if play.deciding:
        raise InputError("A play can be stored between two decisions, not in the middle of one.")
    generator = play.rng.bit_generator.state
    if generator["bit_generator"] != _GENERATOR:
        raise InputError(f"A play can be stored if it draws from {_GENERATOR}, not {generator['bit_generator']}.")
    stored = store_lookahead(play.lookahead)
    paused = _Paused(
        protocol=protocol.model_dump(mode="json"),
        actions=list(play.lookahead.simulator.actions),
        decisions=play.decisions,
        generator=_Generator.model_validate(generator),
        counts=stored.counts,
        chance=None if play.chance is None else _Chance(**asdict(play.chance)),
    )
    untold = {"chance"} if play.chance is None else None
    metadata = {"play": paused.model_dump_json(exclude=untold), "sha256": _NO_DIGEST.decode()}
    arrays = {**stored.arrays, **{f"{_PLANNER}{name}": array for name, array in play.memory().items()}}
    data = safetensors.numpy.save({name: np.ascontiguousarray(array) for name, array in arrays.items()}, metadata)
    place = _DIGEST.search(data)
    assert place is not None
    digest = _digest(data, place).encode()
    return b"".join((data[: place.start(1)], digest, data[place.end(1) :]))


def decode_play(
    data: bytes,
    protocol: Protocol,
    simulator: Simulator,
    *,
    heuristics: Heuristics | None = UNINFORMED,
    source: str = "This",
    begun: Play | None = None,
) -> Play:
    """A play from the bytes of its file; see `read_play`. It replaces all of `begun` but where that began."""
    _check_digest(data, source)
    try:
        paused, arrays = _parse(data)
        _check_conditions(paused, protocol, simulator, heuristics)
        play = _begin(paused, protocol, simulator) if begun is None else begun
        if play.chance is not None and paused.chance != _Chance(**asdict(play.chance)):
            raise RecordError("Its dice are not in it, or they are those of another episode.")
        _set_generator(play.rng, paused.generator)  # whatever it was seeded with
        of_nodes = {name: array for name, array in arrays.items() if not name.startswith(_PLANNER)}
        memory = {name.removeprefix(_PLANNER): array for name, array in arrays.items() if name not in of_nodes}
        lookahead = restore_lookahead(
            StoredLookahead(of_nodes, paused.counts),
            simulator,
            node_type=play.lookahead.node_type,
            rng=play.rng,
            samples=play.lookahead.samples,
            free=play.lookahead.free,
        )
        if lookahead.root.time != len(paused.decisions):
            raise RecordError("Its lookahead does not stand where its decisions lead.")
        if heuristics is None:
            heuristics = UNINFORMED
            lookahead.forget_answers(
                base_policy=heuristics.initial_base_policy(), termination_cost=heuristics.initial_termination_cost()
            )
        play.restore(lookahead, paused.decisions, heuristics=heuristics, memory=memory)
    except RecordError as error:
        raise RecordError(f"{source} cannot be read as a paused play. {error}") from error
    except InputError as error:
        raise InputError(f"{source} cannot be played on. {error}") from error
    return play


def heads_asked(data: bytes) -> frozenset[str]:
    """The heads that every node of a stored play was asked for: networks may have got more of them since."""
    counts = _parse(data)[0].counts
    born_with = {POLICY: counts.uniform, VALUE: counts.termination_cost is not None}
    return frozenset(head for head, given in born_with.items() if not given)


def _digest(data: bytes, place: re.Match[bytes]) -> str:
    """The digest of a file with zeros where it has its own."""
    view = memoryview(data)
    digest = hashlib.sha256(view[: place.start(1)])
    digest.update(_NO_DIGEST)
    digest.update(view[place.end(1) :])
    return digest.hexdigest()


def is_play(data: bytes) -> bool:
    """Whether these are the bytes of a play file, all of them."""
    try:
        _check_digest(data, "This")
    except RecordError:
        return False
    return True


def _check_digest(data: bytes, source: str) -> None:
    """Raise RecordError if these are not the bytes that were written."""
    place = _DIGEST.search(data)
    if place is None:
        raise RecordError(f"{source} is not a paused play of noveltree, or its beginning is damaged.")
    if place[1] != _digest(data, place).encode():
        raise RecordError(f"{source} is damaged or truncated: its checksum does not fit.")


def _begin(paused: _Paused, protocol: Protocol, simulator: Simulator) -> Play:
    """A play that is at the start, with the dice of the stored one."""
    chance = paused.chance or _Chance(seed=0, index=0, interval=0)
    return protocol.make_play(simulator, seed=chance.seed, index=chance.index, interval=chance.interval)


def _parse(data: bytes) -> tuple[_Paused, Arrays]:
    length = int.from_bytes(data[:_LENGTH], "little")
    try:
        text = json.loads(data[_LENGTH : _LENGTH + length])["__metadata__"]["play"]
        return _Paused.model_validate_json(text), dict(safetensors.numpy.load(data))
    except pydantic.ValidationError as error:
        raise RecordError(f"Its metadata are of another version: {complaint(error)}") from error
    except (safetensors.SafetensorError, ValueError, KeyError, TypeError) as error:
        raise RecordError("It is another file with a checksum like that of a paused play.") from error


def _check_conditions(
    paused: _Paused, protocol: Protocol, simulator: Simulator, heuristics: Heuristics | None
) -> None:
    """Raise InputError if the play was paused under other conditions than those under which it is to go on."""
    before = parse_protocol(paused.protocol)
    if before.hash != protocol.hash:
        first = compare_protocols(before, protocol)[0]
        raise InputError(
            f"It was played under another protocol: {first.setting} was {first.first!r} and is {first.second!r}."
        )
    if paused.actions != list(simulator.actions):
        raise InputError(f"It has the actions {', '.join(paused.actions)}: make the simulator by its protocol.")
    counts = paused.counts
    if heuristics is not None and (counts.uniform, counts.termination_cost) != (
        heuristics.initial_base_policy() is not None,
        heuristics.initial_termination_cost(),
    ):
        policy = "uniform" if counts.uniform else "evaluated"
        cost = "zero" if counts.termination_cost is not None else "evaluated"
        raise InputError(
            f"Its base policy was {policy} and its termination cost {cost}: read it with the heuristics that it "
            "was driven with, or with None, which forgets what was evaluated."
        )


def _set_generator(rng: np.random.Generator, generator: _Generator) -> None:
    try:
        rng.bit_generator.state = generator.model_dump()
    except (ValueError, TypeError, OverflowError) as error:
        raise RecordError("The state of its random generator is not one that a generator can be in.") from error
