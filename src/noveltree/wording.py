"""How numbers of things, and advice that several places give, are written."""

from __future__ import annotations


def counted(number: int, what: str) -> str:
    """`1 step`, `2 steps`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def installing(extra: str) -> str:
    """The command that installs what an extra has, wherever noveltree itself came from."""
    return f'pip install "noveltree[{extra}]"'
