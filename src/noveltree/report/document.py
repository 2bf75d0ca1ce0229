"""What a report is made of, however it is written down: sections of notices, tables and charts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Point = tuple[float, float]
#: Tables with more columns have their intervals below the means, as the paper's have.
_COMPACT = 6


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table."""

    text: str
    numbers: tuple[float, ...] = ()
    """What the text says, unrounded: a value, and half the width of its interval."""
    best: bool = False
    strong: bool = False
    """Whether it sums up others."""
    heat: float | None = None
    """From 0 to 1: how it compares with the others; 0.5 is even."""
    note: str = ""
    """A tooltip."""
    link: str = ""
    badge: str = ""
    """A word that is set apart from the text."""
    blank: bool = False
    """Whether nothing can stand here: an agent against itself."""

    @property
    def plain(self) -> str:
        """Its text, with the badge in brackets."""
        return f"{self.text} ({self.badge})" if self.badge else self.text

    @property
    def lines(self) -> tuple[str, ...]:
        """A mean, and below it its interval, if it has one."""
        mean, plus_minus, interval = self.text.partition(" ± ")
        return (mean, f"± {interval}") if plus_minus else (mean,)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    title: str
    group: str = ""
    """What several columns side by side have in common."""
    words: bool = False
    """Whether it holds words rather than numbers."""
    second: str = "interval"
    """What the second number of its cells is."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first column names the rows."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    foot: tuple[tuple[Cell, ...], ...] = ()
    matrix: bool = False
    """Whether its rows are compared with its columns, and coloured."""

    @property
    def compact(self) -> bool:
        """Whether intervals stand below their means."""
        return len(self.columns) > _COMPACT

    def groups(self) -> list[tuple[str, int]]:
        """What runs of columns have in common, and how long they are; empty if no column has a group."""
        if not any(column.group for column in self.columns):
            return []
        runs = itertools.groupby(self.columns, key=lambda column: column.group)
        return [(group, len(list(columns))) for group, columns in runs]


@dataclass(frozen=True, slots=True)
class Series:
    """A line of a chart."""

    name: str
    points: tuple[Point, ...]
    intervals: tuple[float, ...] = ()
    """Half the width of the band around every point, if there is one; NaN where it is not known."""
    behind: bool = False
    """Whether it stands behind the others, for comparison."""
    trials: tuple[tuple[Point, ...], ...] = ()
    """Thin lines that it is the mean of."""
    level: float | None = None
    """Where a dashed line goes across: what an evaluation scored."""
    crosses: tuple[Point, ...] = ()
    """Points that were rejected."""
    diamonds: tuple[Point, ...] = ()
    """What was scored by evaluations on the way."""

    def band(self) -> list[tuple[float, float, float]]:
        """Place, lower and upper end of the band at every point that has one."""
        bands = zip(self.points, self.intervals, strict=False)
        return [(x, y - half, y + half) for (x, y), half in bands if math.isfinite(half)]

    def heights(self) -> list[float]:
        """All values that have to be seen."""
        lines = (self.points, self.crosses, self.diamonds, *self.trials)
        ends = [end for _, low, high in self.band() for end in (low, high)]
        return [y for line in lines for _, y in line] + ends + ([] if self.level is None else [self.level])


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over one axis."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    logarithmic: bool = False
    """The horizontal axis."""
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Charts:
    """Charts side by side, whose series of the same name look the same."""

    name: str
    caption: str
    charts: tuple[Chart, ...]

    @property
    def wide(self) -> bool:
        return any(chart.wide for chart in self.charts)

    def legend(self) -> list[Series]:
        """The first series of every name."""
        named: dict[str, Series] = {}
        for chart in self.charts:
            for series in chart.series:
                named.setdefault(series.name, series)
        return list(named.values())


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that must not be overlooked, or the news that all is well."""

    kind: Literal["problem", "good"]
    title: str
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Paragraph:
    text: str


@dataclass(frozen=True, slots=True)
class EpisodeLink:
    """An episode and where its record is."""

    score: str
    file: str
    manifest: str
    """The name of the manifest that has the record as it is; empty if there is none."""
    video: str = ""


@dataclass(frozen=True, slots=True)
class EpisodeList:
    """The episodes behind a score."""

    name: str
    title: str
    episodes: tuple[EpisodeLink, ...]


Block = Table | Charts | Notice | Paragraph | EpisodeList


@dataclass(frozen=True, slots=True)
class Section:
    name: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    title: str
    lead: str
    sections: tuple[Section, ...]

    def blocks(self) -> Iterator[Block]:
        """All blocks of all sections, in their order."""
        for section in self.sections:
            yield from section.blocks
