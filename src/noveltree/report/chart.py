"""Charts without a library: where everything stands. Colours are classes, so that the page decides them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from noveltree.report.document import Chart, Point, Series

_TICKS = 4


@dataclass(frozen=True, slots=True)
class Shape:
    """A path in a chart."""

    kind: str
    """Its classes: what it is, and which colour it has."""
    path: str
    title: str = ""


class Plot:
    """A chart on a page; `colours` numbers its series by name."""

    left = 46

    def __init__(self, chart: Chart, colours: Mapping[str, int]) -> None:
        # On a phone the wide ones have large letters.
        self.width, self.height, self.top, below = (640, 330, 28, 40) if chart.wide else (300, 190, 22, 30)
        self.right = self.width - 14
        bottom = self.height - below
        self.x_label_height = round(bottom + 0.4 * below, 1)
        self.chart = chart
        drawn = [series for series in chart.series if series.points]
        self._x = _Scale([x for each in drawn for x, _ in each.points], self.left, self.right, chart.logarithmic)
        self._y = _Scale([y for each in drawn for y in each.heights()], bottom, self.top, False)
        self.x_ticks, self.y_ticks = (
            [(round(scale(tick), 1), _number(tick)) for tick in scale.ticks()] for scale in (self._x, self._y)
        )
        self.shapes = [
            shape
            for series in sorted(drawn, key=lambda each: not each.behind)
            for shape in self._draw(series, f"c{colours[series.name]}{' behind' if series.behind else ''}")
        ]

    def _draw(self, series: Series, kind: str) -> Iterator[Shape]:
        if len(band := series.band()) > 1:
            outline = [(x, high) for x, _, high in band] + [(x, low) for x, low, _ in reversed(band)]
            yield Shape(f"band {kind}", f"{self._path(outline)}Z")
        for trial in series.trials:
            yield Shape(f"line trial {kind}", self._path(trial))
        yield Shape(f"line {kind}", self._path(series.points), series.name)
        if series.level is not None:
            y = self._y(series.level)
            yield Shape(f"line level {kind}", f"M{self.left} {y:.1f}H{self.right}")
        if len(series.points) <= 30:
            yield Shape(f"dot {kind}", "".join(f"M{x}h0" for x in self._places(series.points)))
        if series.crosses:
            path = "".join(f"M{place}m-3 -3l6 6m0 -6l-6 6" for place in self._places(series.crosses))
            yield Shape("cross", path, "rejected")
        if series.diamonds:
            path = "".join(f"M{place}m0 -4l4 4l-4 4l-4 -4z" for place in self._places(series.diamonds))
            yield Shape("cross", path, "evaluation")

    def _path(self, points: Sequence[Point]) -> str:
        return "M" + "L".join(self._places(points))

    def _places(self, points: Sequence[Point]) -> list[str]:
        return [f"{self._x(x):.1f} {self._y(y):.1f}" for x, y in points]


class _Scale:
    """From values to places on the page."""

    def __init__(self, values: Sequence[float], first: float, last: float, logarithmic: bool) -> None:
        self._logarithmic = logarithmic
        low, high = (min(values), max(values)) if values else (0.0, 1.0)
        if not logarithmic and low > 0 and low < high / 2:
            low = 0.0
        if low == high:
            low, high = (low / 2, high * 2) if logarithmic else (low - 1, high + 1)
        self._low, self._high = low, high
        self._first, self._last = first, last

    def __call__(self, value: float) -> float:
        if self._logarithmic:
            share = math.log(value / self._low) / math.log(self._high / self._low)
        else:
            share = (value - self._low) / (self._high - self._low)
        return self._first + share * (self._last - self._first)

    def ticks(self) -> list[float]:
        if self._logarithmic:
            first, last = math.floor(math.log10(self._low)), math.ceil(math.log10(self._high))
            steps = (1, 2, 5) if last - first <= _TICKS else (1,)
            places = (step * 10.0**decade for decade in range(first, last + 1) for step in steps)
            within = [place for place in places if self._low * (1 - 1e-9) <= place <= self._high * (1 + 1e-9)]
            return within or [self._low, self._high]
        rough = (self._high - self._low) / _TICKS
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(size * power for size in (1, 2, 2.5, 5, 10) if size * power >= rough * 0.999)
        first = math.ceil(self._low / step - 1e-9)
        last = math.floor(self._high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def _number(value: float) -> str:
    """A short label: `1.5M`, `20k`, `0.25`."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size * 10 or (abs(value) >= size and value % (size / 100) == 0):
            return f"{value / size:,.4g}{letter}"
    return f"{value:,.4g}"
