"""What travels between a page, the server and a planning process: a JSON object, and bytes behind it.

4 bytes                 the length of the JSON, little endian
JSON                    padded with spaces, so that what follows begins at a multiple of eight
the rest                arrays, or pictures
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal

import pydantic
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from noveltree.errors import InputError
from noveltree.wording import finite

#: Bytes of the longest message that a page may send.
LARGEST_COMMAND = 4096
_LENGTH = struct.Struct("<I")
_ALIGNED = 8

Head = dict[str, Any]


def pack(head: Head, payload: bytes = b"") -> bytes:
    """One message; numbers that JSON lacks become null."""
    text = json.dumps(finite(head), allow_nan=False, separators=(",", ":")).encode()
    text += b" " * (-(_LENGTH.size + len(text)) % _ALIGNED)
    return _LENGTH.pack(len(text)) + text + payload


def unpack(message: bytes) -> tuple[Head, bytes]:
    """The JSON of a message, and the bytes behind it."""
    (length,) = _LENGTH.unpack_from(message)
    end = _LENGTH.size + length
    return json.loads(message[_LENGTH.size : end]), message[end:]


def pack_all(messages: Iterable[bytes]) -> bytes:
    """Messages one after another, each behind its length."""
    return b"".join(_LENGTH.pack(len(message)) + message for message in messages)


def unpack_all(data: bytes) -> Iterator[tuple[Head, bytes]]:
    """The messages that were packed together."""
    start = 0
    while start < len(data):
        (length,) = _LENGTH.unpack_from(data, start)
        start += _LENGTH.size
        yield unpack(data[start : start + length])
        start += length


class _Command(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


_Step = Annotated[int, Field(ge=0, le=10**9)]
_Name = Annotated[str, Field(min_length=1, max_length=40)]
#: Which of two lookaheads at the same state: that of the agent which plays, or of the one it is compared with.
Side = Literal["a", "b"]


class Go(_Command):
    """Play on, pause, or do one thing."""

    do: Literal["play", "pause", "decision", "rollout", "restart"]


class Speed(_Command):
    """How fast time passes: 1 is the speed of the console, 0 as fast as planning goes."""

    do: Literal["speed"]
    speed: Annotated[float, Field(ge=0, le=64)]


class Spend(_Command):
    """Change the budget of the decisions from this one on."""

    do: Literal["budget"]
    budget: Annotated[int, Field(ge=1, le=100_000)]


class Agent(_Command):
    """Let another agent play on."""

    do: Literal["agent"]
    agent: _Name


class Compare(_Command):
    """Let another agent look ahead from the same states, or none."""

    do: Literal["compare"]
    agent: _Name | None


class Act(_Command):
    """Execute an action that a person has chosen."""

    do: Literal["act"]
    action: Annotated[int, Field(ge=0, le=65535)]


class Seek(_Command):
    """Go to a decision, planning everything up to there."""

    do: Literal["seek"]
    t: _Step


class Rewind(_Command):
    """Forget everything from a decision on, and go on from there."""

    do: Literal["rewind"]
    t: _Step


class See(_Command):
    """Show a decision that was made and is kept."""

    do: Literal["see"]
    t: _Step


class LookAt(_Command):
    """Tell everything about a node of a decision's lookahead."""

    do: Literal["node"]
    t: _Step
    number: _Step
    side: Side = "a"


class Film(_Command):
    """Make a video of the decisions that are kept."""

    do: Literal["film"]


Command = Annotated[
    Go | Speed | Spend | Agent | Compare | Act | Seek | Rewind | See | LookAt | Film, Field(discriminator="do")
]
_COMMAND: TypeAdapter[Command] = TypeAdapter(Command)


def parse_command(text: str) -> Command:
    """A command of a page; an InputError if it is none."""
    if len(text) > LARGEST_COMMAND:
        raise InputError(f"A message of a page has at most {LARGEST_COMMAND:,} characters, not {len(text):,}.")
    try:
        return _COMMAND.validate_json(text)
    except pydantic.ValidationError as error:
        problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
        raise InputError(f"A message of a page makes no sense: {problem['msg']}.") from error
