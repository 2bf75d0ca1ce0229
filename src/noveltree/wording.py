"""How numbers of things, and advice that several places give, are written; how texts with numbers are sorted.

And what becomes of characters that a terminal, or a spreadsheet, would not just show but obey.
"""

from __future__ import annotations

import math
import re
from typing import Any

#: What is not to be seen: controls (C0, DEL, C1), overrides of the direction of writing and other marks of format,
#: separators of lines, tags, and halves of characters, which stand for bytes of names that are no text.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
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


def printable(text: str, *, lines: bool = False) -> str:
    """A text that a terminal just shows: what is not to be seen is written out, as `\\x1b`.

    That is true of the ends of lines and of tabs, too, unless the text has several `lines`.
    """

    def written_out(found: re.Match[str]) -> str:
        return found[0] if lines and found[0] in "\n\t" else found[0].encode("unicode_escape").decode()

    return _HIDDEN.sub(written_out, text)


def spreadsheet_cell(value: Any) -> Any:
    """The same for a spreadsheet, in which a text that looks like a formula would be computed."""
    if not isinstance(value, str):
        return value
    value = printable(value)
    if not value.startswith(("=", "+", "-", "@")):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value
