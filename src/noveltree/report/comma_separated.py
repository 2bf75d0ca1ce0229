"""A report as CSV files, one per table and per group of charts, with numbers as they are."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence

from noveltree.report.document import Cell, Charts, Document, EpisodeList, Notice, Table
from noveltree.report.wording import MISSING
from noveltree.wording import spreadsheet_cell

#: The table of contents: a row per file.
CONTENTS = "contents.csv"
#: Its heading, which no other table has.
_HEADING = ("file", "what it is in this noveltree report")


def to_csv_files(document: Document) -> dict[str, str]:
    """The contents of the files by their names."""
    made: list[tuple[str, str, Iterable[Sequence[object]]]] = []  # name, what it is, rows
    problems: list[Sequence[object]] = []
    episodes: list[Sequence[object]] = []
    for block in document.blocks():
        match block:
            case Table():
                made.append((block.name, block.caption, _table(block)))
            case Charts():
                made.append((block.name, block.caption, _charts(block)))
            case Notice(kind="problem"):
                problems += [(block.title, item) for item in block.items]
            case EpisodeList():
                episodes += [
                    (block.title, each.score.replace(",", ""), each.manifest, each.file, each.video)
                    for each in block.episodes
                ]
    if problems:
        made.append(("problems", "What is wrong with the records.", [("problem", "what"), *problems]))
    if episodes:
        heading = ("of", "score", "manifest", "file", "video")
        made.append(("episodes", "The records behind the scores.", [heading, *episodes]))
    contents = [_HEADING, *((f"{name}.csv", what) for name, what, _ in made)]
    return {CONTENTS: _write(contents), **{f"{name}.csv": _write(rows) for name, _, rows in made}}


def files_of(contents: str) -> set[str]:
    """The names of the files of a report, by the text of its table of contents; none if it is that of another."""
    heading, *rows = csv.reader(io.StringIO(contents))
    if tuple(heading) != _HEADING:
        return set()
    return {CONTENTS, *(row[0] for row in rows if row and row[0].endswith(".csv") and "/" not in row[0])}


def _write(rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([spreadsheet_cell(cell) for cell in row] for row in rows)
    return text.getvalue()


def _table(table: Table) -> Iterator[Sequence[object]]:
    """Every number in a column of its own."""
    rows = (*table.rows, *table.foot)
    widths = [
        max([1, *(len(row[number].numbers) for row in rows)]) if rows else 1 for number in range(len(table.columns))
    ]
    head = []
    for column, width in zip(table.columns, widths, strict=True):
        title = f"{column.title} ({column.group})" if column.group else column.title
        parts = {1: (), 2: (column.second,), 3: ("low", "high")}[width]
        head += [title, *(f"{title}: {part}" for part in parts)]
    yield head
    for row in rows:
        line: list[object] = []
        for cell, width in zip(row, widths, strict=True):
            line += _cell(cell, width)
        yield line


def _cell(cell: Cell, width: int) -> list[object]:
    values: list[object] = [_number(number) for number in cell.numbers] or [
        "" if cell.text == MISSING else cell.plain
    ]
    return [*values, *([""] * (width - len(values)))]


def _charts(block: Charts) -> Iterator[Sequence[object]]:
    yield ("chart", "series", "x", "y", "interval")
    for chart in block.charts:
        for series in chart.series:
            intervals = series.intervals or (math.nan,) * len(series.points)
            for (x, y), half in zip(series.points, intervals, strict=True):
                yield (chart.title, series.name, _number(x), _number(y), "" if math.isnan(half) else _number(half))


def _number(value: float) -> str:
    return f"{value:.10g}"
