"""A chart of learning curves as a file for a paper, PNG or SVG, which matplotlib draws.

Charts of pages take their colours from the style sheet, by day and by night, and need no library; a PNG needs one.
Both draw the same `Chart`.
"""

from __future__ import annotations

import io
import re
from typing import Any, Literal

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from noveltree.report.document import Chart, Series

FigureFormat = Literal["png", "svg"]

_MILLIMETRE = 1 / 25.4
#: A column of a paper.
_WIDTH, _HEIGHT, _LEGEND_LINE = 80 * _MILLIMETRE, 60 * _MILLIMETRE, 4 * _MILLIMETRE
#: Okabe and Ito's colours without the grey ones and yellow; with the markers 30 series differ.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_MARKERS = ("o", "s", "^", "D", "v")
_GREY, _DARK_GREY = "#A0A0A0", "#606060"
_DIAMOND: dict[str, Any] = {"linestyle": "none", "marker": "D", "markersize": 5, "markerfacecolor": "none"}
_STYLE: dict[Any, Any] = {
    "font.size": 7,
    "axes.titlesize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.fontsize": 6.5,
    "lines.linewidth": 1.2,
    # Without it an SVG has other identifiers every time it is written.
    "svg.hashsalt": "noveltree",
}


def draw_figure(chart: Chart, *, format: FigureFormat) -> bytes:
    """The chart as a file; the same chart gives the same bytes."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(layout="constrained")
        axes = figure.subplots()
        axes.set_title(_name(chart.title))
        axes.set_xlabel(chart.x_label)
        axes.set_ylabel(chart.y_label)
        axes.xaxis.set_major_locator(MaxNLocator(5))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
        front = [series for series in chart.series if not series.behind]
        entries = []
        for series in chart.series:
            if series.behind:
                entries += _draw_series(axes, series, _DARK_GREY, markersize=3, marker=".")
            else:
                number = front.index(series)
                colour, marker = _COLOURS[number % len(_COLOURS)], _MARKERS[number % len(_MARKERS)]
                entries += _draw_series(axes, series, colour, markersize=3.5, marker=marker, clip_on=False)
        axes.set_xlim(left=0)
        entries += _signs(chart)
        figure.legend(handles=entries, loc="outside lower center", ncols=2, frameon=False)
        figure.set_size_inches(_WIDTH, _HEIGHT + _LEGEND_LINE * ((len(entries) + 1) // 2))
        file = io.BytesIO()
        undated = {"Date": None} if format == "svg" else {"Software": None}
        # Tight: a legend of long names makes the figure wider instead of being cut.
        figure.savefig(file, format=format, dpi=300, metadata=undated, bbox_inches="tight")
    return file.getvalue()


def _draw_series(axes: Axes, series: Series, colour: str, **style: Any) -> list[Line2D]:
    """Draw a series; what the legend says of it."""
    for trial in series.trials:
        axes.plot(*zip(*trial, strict=True), color=_GREY, linewidth=0.4, marker=".", markersize=1.5)
    if band := series.band():
        places, low, high = zip(*band, strict=True)
        axes.fill_between(places, low, high, color=_GREY if series.behind else colour, alpha=0.25, linewidth=0)
    if series.level is not None:
        axes.axhline(series.level, color=colour, linestyle="--", linewidth=0.9)
    if series.crosses:
        axes.plot(*zip(*series.crosses, strict=True), color="black", linestyle="none", marker="x", markersize=5.5)
    if series.diamonds:
        axes.plot(*zip(*series.diamonds, strict=True), color=colour, **_DIAMOND)
    return axes.plot(*zip(*series.points, strict=True), color=colour, label=_name(series.name), **style)


def _signs(chart: Chart) -> list[Line2D]:
    """What the legend says of crosses, diamonds and dashed lines."""
    signs = []
    if any(series.crosses for series in chart.series):
        signs.append(Line2D([], [], color="black", linestyle="none", marker="x", markersize=5.5, label="rejected"))
    if any(series.diamonds for series in chart.series):
        signs.append(Line2D([], [], color="black", label="evaluation on the way", **_DIAMOND))
    if any(series.level is not None for series in chart.series):
        signs.append(Line2D([], [], color="black", linestyle="--", linewidth=0.9, label="evaluation"))
    return signs


def _name(text: str) -> str:
    """Text in which the paper's names are set as the paper does, as `N-CPL_D` with an index."""
    return re.sub(r"\b(RIW|N-CPL)_([CD])\b", r"\1$_\2$", text.replace("$", r"\$"))
