"""Parsing JSON that anybody may have written: strictly, and within limits that no record comes near."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

#: In bytes. With the limits below, what is parsed takes less than a gigabyte of memory.
LARGEST_FILE = 128 * 2**20
_MOST_VALUES = 4_000_000
_DEEPEST = 64
#: Of a whole number: enough for the state of a random generator.
_MOST_DIGITS = 60

_STRING_OR_BRACKET = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)|[\[\]{}]', re.DOTALL)


class _Refused(ValueError):
    """What JSON may have, but no record has."""


def parse_json(data: bytes | str, *, parse_constant: Callable[[str], Any] | None = None) -> Any:
    """A value from JSON text; what a ValueError says fits behind the name of a file: "it is not valid JSON"."""
    data = data.encode(errors="surrogatepass") if isinstance(data, str) else data
    if len(data) > LARGEST_FILE:
        raise ValueError(f"it is larger than {LARGEST_FILE >> 20} MB")
    opened = data.count(b"[") + data.count(b"{")
    if opened + data.count(b",") > _MOST_VALUES:
        raise ValueError(f"it has more than {_MOST_VALUES:,} values")
    if opened > _DEEPEST and _depth(data) > _DEEPEST:
        raise ValueError(f"it is nested more than {_DEEPEST} levels deep")
    try:
        text = data.decode()
        return json.loads(text, object_pairs_hook=_object, parse_int=_whole_number, parse_constant=parse_constant)
    except _Refused:
        raise
    except (ValueError, RecursionError) as error:
        raise ValueError("it is not valid JSON") from error


def _depth(data: bytes) -> int:
    """How deep lists and objects are nested in each other."""
    depth = deepest = 0
    for found in _STRING_OR_BRACKET.finditer(data):
        match found[0][:1]:
            case b"[" | b"{":
                depth += 1
                deepest = max(deepest, depth)
            case b"]" | b"}":
                depth -= 1
    return deepest


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Refused(f"it has {twice[:40]!r} twice")
    return content


def _whole_number(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise _Refused(f"it has a number with {len(digits)} digits")
    return int(digits)
