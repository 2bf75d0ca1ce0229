"""How numbers of things, and advice that several places give, are written; how texts with numbers are sorted."""

from __future__ import annotations

import math
import re
from typing import Any

_NUMBER = re.compile(r"(\d[\d,]*(?:\.\d+)?)")


def counted(number: int, what: str) -> str:
    """`1 step`, `2 steps`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def numerically(text: str) -> tuple[str | float, ...]:
    """A key by which numbers in texts are sorted as numbers: `budget 25` comes before `budget 1,000`."""
    parts = _NUMBER.split(text)  # words and numbers in turn
    return tuple(float(part.replace(",", "")) if place % 2 else part for place, part in enumerate(parts))


def installing(extra: str) -> str:
    """The command that installs what an extra has, wherever noveltree itself came from."""
    return f'pip install "noveltree[{extra}]"'


def finite(value: Any) -> Any:
    """The same for JSON, which has no infinity: None is in its place."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {name: finite(each) for name, each in value.items()}
        case list() | tuple():
            return [finite(each) for each in value]
        case _:
            return value
