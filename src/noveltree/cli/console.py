"""What all commands share: where and how they print."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.live import Live
from rich.segment import Segment

from noveltree.cli.tables import shown
from noveltree.cli.tables import table as table
from noveltree.wording import counted as counted
from noveltree.wording import finite, printable


class _Terminal(Console):
    """Where everything passes that is printed, also names and texts of files that anybody may have written.

    None of their characters does anything to the terminal but stand there.
    """

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*map(shown, objects), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text, lines=True), style, control)


# No markup: brackets and colons in names of files and games are just characters.
#: Results.
out = _Terminal(highlight=False, markup=False, emoji=False)
#: Errors and warnings.
err = _Terminal(stderr=True, highlight=False, markup=False, emoji=False)
#: Seconds without news after which a live line says so.
_PATIENCE = 10.0


def print_json(value: Any) -> None:
    """One JSON object on standard output, on one line; numbers that JSON lacks are null."""
    text = json.dumps(finite(value), allow_nan=False)
    sys.stdout.write(text.replace("\x7f", "\\u007f") + "\n")  # all else that a terminal obeys is escaped already
    sys.stdout.flush()


def print_text(text: str) -> None:
    """A text of several lines on standard output, as it is."""
    sys.stdout.write(printable(text, lines=True))
    sys.stdout.flush()


class LiveLine:
    """One line that is rewritten in place on a terminal, below all that is printed to `out`; elsewhere nothing.

    If it is not rewritten for long, because a simulator takes its time, it says for how long. A quiet one keeps
    what simulators print apart from the one object that is printed.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._line, self._updated = "", time.monotonic()
        self._quiet = quiet
        self._live = (
            Live(get_renderable=self._shown, console=out, transient=True, refresh_per_second=8)
            if out.is_terminal and not quiet
            else None
        )

    def __enter__(self) -> LiveLine:
        otherwise = redirect_stdout(sys.stderr) if self._quiet else nullcontext()
        self._context: AbstractContextManager[object] = otherwise if self._live is None else self._live
        self._context.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._context.__exit__(*exception)

    def update(self, line: str) -> None:
        self._line, self._updated = line, time.monotonic()

    def _shown(self) -> str:
        waited = time.monotonic() - self._updated
        waiting = f"waiting for {duration(waited)}  " if waited >= _PATIENCE else ""
        return beginning(f"{waiting}{self._line}", out.width - 1)

    def warn(self, text: str) -> None:
        """Print a warning above the line."""
        (err if self._live is None else out).print(text, soft_wrap=True)


def beginning(line: str, width: int) -> str:
    """As much of a line as fits, without half a word or half a number at its end."""
    if len(line) <= width:
        return line
    end = line.rfind(" ", 0, width + 1)
    return line[:end].rstrip() if end > 0 else line[:width]


def completion(names: Iterable[str]) -> Callable[[str], list[str]]:
    """The names that a shell offers while one of them is typed."""
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


def duration(seconds: float) -> str:
    """`75` is `1:15`, `3700` is `1:01:40`."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def long_duration(seconds: float) -> str:
    """As `duration`, but `200000` is `2.3 days`."""
    return f"{seconds / 86400:,.1f} days" if seconds >= 2 * 86400 else duration(seconds)


def size(count: float) -> str:
    """`1500000` is `1.5 MB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
