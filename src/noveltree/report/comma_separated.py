"""A report as CSV files, one per table and per group of charts, with numbers as they are."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence

from noveltree.report.document import Cell, Charts, Document, Table


def to_csv_files(document: Document) -> dict[str, str]:
    """The contents of the files by their names."""
    files = {}
    for section in document.sections:
        for block in section.blocks:
            match block:
                case Table():
                    files[f"{block.name}.csv"] = _write(_table(block))
                case Charts():
                    files[f"{block.name}.csv"] = _write(_charts(block))
    return files


def _write(rows: Iterator[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
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
        head += [title, *(f"{title}: {number}" for number in range(2, width + 1))]
    yield head
    for row in rows:
        line: list[object] = []
        for cell, width in zip(row, widths, strict=True):
            line += _cell(cell, width)
        yield line


def _cell(cell: Cell, width: int) -> list[object]:
    values: list[object] = [_number(number) for number in cell.numbers] or [cell.text]
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
