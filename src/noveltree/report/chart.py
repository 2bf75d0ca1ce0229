"""Charts as SVG, without a library: colours are classes, so that the page decides them, by day and by night."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from noveltree.report.document import Chart, Series

_LEFT, _RIGHT = 46, 14
_TICKS = 4
#: The style sheet has so many colours.
COLOURS = 12


def draw(chart: Chart, colours: dict[str, int]) -> str:
    """The chart as an SVG element; `colours` numbers the series by name."""
    # On a phone the wide ones have large letters.
    width, height, top, below = (640, 330, 28, 40) if chart.wide else (300, 190, 22, 30)
    bottom = height - below
    drawn = [series for series in chart.series if series.points]
    scale_x = _Scale([x for series in drawn for x, _ in series.points], _LEFT, width - _RIGHT, chart.logarithmic)
    scale_y = _Scale(_heights(drawn), bottom, top, False)
    parts = [
        f'<svg class="chart" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(chart.title)}">',
        f'<text class="title" x="{_LEFT}" y="{top - 9}">{escape(chart.title)}</text>',
    ]
    parts.append(_text(width - _RIGHT, top - 9, chart.y_label, "end"))
    for tick in scale_y.ticks():
        y = scale_y(tick)
        parts.append(f'<path class="grid" d="M{_LEFT} {y:.1f}H{width - _RIGHT}"/>')
        parts.append(_text(_LEFT - 4, y + 3, _number(tick), "end"))
    parts += [_text(scale_x(tick), bottom + 0.4 * below, _number(tick), "middle") for tick in scale_x.ticks()]
    parts.append(_text((_LEFT + width - _RIGHT) / 2, height - 4, chart.x_label, "middle"))
    for series in sorted(drawn, key=lambda each: not each.behind):
        parts += _draw_series(series, colours[series.name] % COLOURS, scale_x, scale_y)
    return "".join([*parts, "</svg>"])


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text class="tick" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _draw_series(series: Series, colour: int, x: _Scale, y: _Scale) -> list[str]:
    kind = f"c{colour}{' behind' if series.behind else ''}"
    parts = []
    bands = [
        (x(place), y(value + half), y(value - half))
        for (place, value), half in zip(series.points, series.intervals, strict=False)
        if math.isfinite(half)
    ]
    if len(bands) > 1:
        outline = [(place, top) for place, top, _ in bands] + [(place, low) for place, _, low in reversed(bands)]
        parts.append(f'<path class="band {kind}" d="{_path(outline)}Z"/>')
    places = [(x(place), y(value)) for place, value in series.points]
    parts.append(f'<path class="line {kind}" d="{_path(places)}"><title>{escape(series.name)}</title></path>')
    if len(places) <= 30:
        dots = "".join(f"M{place:.1f} {value:.1f}h0" for place, value in places)
        parts.append(f'<path class="dot {kind}" d="{dots}"/>')
    return parts


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _heights(series: Sequence[Series]) -> list[float]:
    """All values, and the ends of their bands."""
    heights = [value for each in series for _, value in each.points]
    for each in series:
        for (_, value), half in zip(each.points, each.intervals, strict=False):
            if math.isfinite(half):
                heights += [value - half, value + half]
    return heights


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
