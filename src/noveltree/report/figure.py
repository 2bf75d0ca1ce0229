"""The figure of learning curves: runs in front of the authors' trials."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, Literal

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from noveltree.analysis import ranges
from noveltree.published import TrialCurve
from noveltree.results import RunCurve

FigureFormat = Literal["png", "svg"]

_MILLION = 1_000_000
_MILLIMETRE = 1 / 25.4
#: A column of a paper.
_WIDTH, _HEIGHT, _LEGEND_LINE = 80 * _MILLIMETRE, 60 * _MILLIMETRE, 4 * _MILLIMETRE
#: Okabe and Ito's colours without the grey ones and yellow; with the markers 30 runs differ.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_MARKERS = ("o", "s", "^", "D", "v")
_GREY, _DARK_GREY = "#A0A0A0", "#606060"
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


def draw_curves(
    runs: Sequence[RunCurve],
    authors: Sequence[TrialCurve],
    *,
    title: str,
    authors_label: str,
    format: FigureFormat,
) -> bytes:
    """The figure as a file; the same curves give the same bytes."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(layout="constrained")
        axes = figure.subplots()
        axes.set_title(title)
        axes.set_xlabel("simulator interactions (millions)")
        axes.set_ylabel("mean return")
        axes.xaxis.set_major_locator(MaxNLocator(5))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
        entries = [*_draw_authors(axes, authors, authors_label), *_draw_runs(axes, runs)]
        axes.set_xlim(left=0)
        figure.legend(handles=entries, loc="outside lower center", ncols=2, frameon=False)
        figure.set_size_inches(_WIDTH, _HEIGHT + _LEGEND_LINE * ((len(entries) + 1) // 2))
        file = io.BytesIO()
        undated = {"Date": None} if format == "svg" else {"Software": None}
        # Tight: a legend of long names makes the figure wider instead of being cut.
        figure.savefig(file, format=format, dpi=300, metadata=undated, bbox_inches="tight")
    return file.getvalue()


def _draw_authors(axes: Axes, trials: Sequence[TrialCurve], label: str) -> list[Line2D]:
    """The trials as thin lines, their range as a band, their mean as a line; what the legend says of it."""
    for trial in trials:
        axes.plot(
            [million.number for million in trial.millions],
            [million.mean_return for million in trial.millions],
            color=_GREY,
            linewidth=0.4,
            marker=".",
            markersize=1.5,
        )
    if not (spread := ranges(trials)):
        return []
    millions = [one.million for one in spread]
    axes.fill_between(
        millions,
        [one.lowest for one in spread],
        [one.highest for one in spread],
        color=_GREY,
        alpha=0.25,
        linewidth=0,
    )
    return axes.plot(
        millions, [one.mean for one in spread], color=_DARK_GREY, marker=".", markersize=3, label=label
    )


def _draw_runs(axes: Axes, runs: Sequence[RunCurve]) -> list[Line2D]:
    """The runs as strong lines, with crosses on rejected intervals; what the legend says of them."""
    entries = []
    for number, run in enumerate(runs):
        colour = _COLOURS[number % len(_COLOURS)]
        entries += axes.plot(
            [interval.interactions / _MILLION for interval in run.points],
            [interval.mean_return for interval in run.points],
            color=colour,
            marker=_MARKERS[number % len(_MARKERS)],
            markersize=3.5,
            clip_on=False,
            label=run.label,
        )
        if run.evaluation is not None:
            axes.axhline(run.evaluation, color=colour, linestyle="--", linewidth=0.9)
    rejected = [interval for run in runs for interval in run.points if not interval.accepted]
    if rejected:
        entries += axes.plot(
            [interval.interactions / _MILLION for interval in rejected],
            [interval.mean_return for interval in rejected],
            color="black",
            linestyle="none",
            marker="x",
            markersize=5.5,
            label="rejected",
        )
    if any(run.evaluation is not None for run in runs):
        entries.append(Line2D([], [], color="black", linestyle="--", linewidth=0.9, label="evaluation"))
    return entries
