"""A report as one HTML file that needs nothing else: no network, and no script to be read."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from noveltree.report.chart import Plot
from noveltree.report.document import Cell, Chart, Charts, Column, Document
from noveltree.report.wording import printable
from noveltree.version import __version__

#: Steps of colour between even and always better, or worse.
_SHADES = 10
#: Colours in the style sheet.
_COLOURS = 12


def to_html(document: Document) -> str:
    """The document as a page."""
    return _templates().get_template("report.html").render(document=document, version=__version__)


def to_svg(chart: Chart) -> str:
    """A chart as an element of a page."""
    (plot,) = _plots(Charts("", "", (chart,)))
    return _templates().get_template("chart.svg").render(plot=plot)


def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("noveltree.report"),
        autoescape=True,
        finalize=_printable,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals |= {"classes": _classes, "plots": _plots, "kind": lambda block: type(block).__name__}
    made.globals["colours"] = _COLOURS
    made.filters |= {"name": _name, "quoted": quote}
    return made


def _printable(value: Any) -> Any:
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _classes(cell: Cell, column: Column) -> str:
    """The classes by which the style sheet knows a cell."""
    kinds = {"words": column.words, "best": cell.best, "strong": cell.strong, "blank": cell.blank}
    names = [name for name, holds in kinds.items() if holds]
    if cell.heat is not None:
        distance = cell.heat - 0.5
        names += ["heat", "hot" if distance >= 0 else "cold", f"h{round(abs(distance) * 2 * _SHADES)}"]
    return " ".join(names)


def _plots(block: Charts) -> list[Plot]:
    """The charts with their series in the colours of the legend."""
    colours = {series.name: number % _COLOURS for number, series in enumerate(block.legend())}
    return [Plot(chart, colours) for chart in block.charts]


def _name(text: Any) -> Markup:
    """Text in which the paper's names are set as the paper does: RIW_C with an index, pi as a letter."""
    made = re.sub(r"\b(RIW|N-CPL)_([CD])\b", r"\1<sub>\2</sub>", str(escape(printable(text))))
    return Markup(re.sub(r"\bpi-(H?IW)", r"π-\1", made))
