"""Tables that fit: where a terminal is too narrow for the columns, each row becomes a few lines; nothing is cut."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

from noveltree.wording import printable

#: Between two columns.
_GAP = 2
#: What is left of a column that may be folded anywhere, or cut.
_NARROWEST = 12
#: Spaces at which no line ends.
_TIED = "\N{NO-BREAK SPACE}"


def table(*columns: str, right: tuple[str, ...] = ()) -> Table:
    """A plain table; `right` names the columns that hold numbers."""
    made = _FittingTable(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left")
    return made


class _FittingTable(Table):
    """A table in which numbers are never cut, and words only where a column says `no_wrap`."""

    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:
        super().add_row(*map(shown, cells), **options)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        sizes = [_sizes(column, console, options) for column in self.columns]
        room = options.max_width - _GAP * (len(sizes) - 1)
        if sum(least for least, _ in sizes) > room:
            yield from self._in_lines(options.max_width)
            return
        for column, width in zip(self.columns, _share(room, sizes), strict=True):
            column.width = width
        yield from super().__rich_console__(console, options)

    def _in_lines(self, width: int) -> Iterator[Text]:
        """Every row as its first cell, and below it the others with their names."""
        for first, *others in zip(*(map(_plain, column.cells) for column in self.columns), strict=True):
            yield Text(first, style="bold")
            cells = zip(self.columns[1:], others, strict=True)
            line = "; ".join(_named(column, cell) for column, cell in cells if cell)
            indented = textwrap.wrap(line, width, initial_indent="  ", subsequent_indent="  ")
            yield from (Text(each.replace(_TIED, " ")) for each in indented)


def shown(content: Any) -> Any:
    """The same on one line: whatever a terminal would obey in it, ends of lines as well, is written out."""
    if isinstance(content, str):
        return printable(content)
    if isinstance(content, Text) and (plain := printable(content.plain)) != content.plain:
        content = content.copy()
        content.plain = plain
    return content


def _sizes(column: Column, console: Console, options: ConsoleOptions) -> tuple[int, int]:
    """How wide a column must be, and how wide it would be without others."""
    wide = options.update(max_width=10_000)
    cells = [Measurement.get(console, wide, cell) for cell in (column.header, *column.cells)]
    widest = max(cell.maximum for cell in cells)
    if column.justify == "right":
        return widest, widest
    if column.no_wrap or column.overflow == "fold":
        return min(widest, _NARROWEST), widest
    return max(cell.minimum for cell in cells), widest


def _share(room: int, sizes: list[tuple[int, int]]) -> list[int]:
    """What each column gets: what it must have, and a part of the rest in proportion to what it would like."""
    spare = max(0, room - sum(least for least, _ in sizes))
    wanted = sum(most - least for least, most in sizes)
    if wanted <= spare:
        return [most for _, most in sizes]
    return [least + (most - least) * spare // wanted for least, most in sizes]


def _plain(cell: object) -> str:
    return cell.plain if isinstance(cell, Text) else str(cell)


def _named(column: Column, cell: str) -> str:
    named = f"{_plain(column.header)} {cell}"
    return named.replace(" ", _TIED) if column.justify == "right" else named
