"""A report as one HTML file that needs nothing else: no network, and no script to be read."""

from __future__ import annotations

import html
import importlib.resources
import re
from urllib.parse import quote

from noveltree.report.chart import COLOURS, draw
from noveltree.report.document import (
    Block,
    Cell,
    Charts,
    Column,
    Document,
    EpisodeList,
    Notice,
    Paragraph,
    Section,
    Table,
)
from noveltree.report.wording import printable
from noveltree.version import __version__

#: Steps of colour between even and always better, or worse.
_SHADES = 10
#: Tables with more columns are set smaller on paper.
_MANY = 12
#: Longer headings may be broken into lines where short ones, as `N-CPL`, are not.
_LONG = 16


def to_html(document: Document) -> str:
    """The document as a page."""
    body = "".join(_section(section) for section in document.sections)
    links = "".join(f'<a href="#{section.name}">{_name(section.title)}</a>' for section in document.sections)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        # Nothing is ever fetched, whatever stands in the records.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'; img-src data:\">\n"
        f"<title>{escape(document.title)}</title>\n<style>\n{_asset('style.css')}</style>\n</head>\n<body>\n"
        f'<header><h1>{escape(document.title)}</h1><p class="lead">{escape(document.lead)}</p></header>\n'
        f'<nav aria-label="Sections">{links}</nav>\n<main>\n{body}</main>\n'
        f"<footer>noveltree {__version__}</footer>\n<script>\n{_asset('script.js')}</script>\n</body>\n</html>\n"
    )


def _asset(name: str) -> str:
    return importlib.resources.files(__package__).joinpath(name).read_text()


def _section(section: Section) -> str:
    blocks = "\n".join(_block(block) for block in section.blocks)
    return f'<section id="{section.name}">\n<h2>{_name(section.title)}</h2>\n{blocks}\n</section>\n'


def _block(block: Block) -> str:
    match block:
        case Table():
            return _table(block)
        case Charts():
            return _charts(block)
        case Notice():
            return _notice(block)
        case Paragraph():
            return f"<p>{_name(block.text)}</p>"
        case EpisodeList():
            return _episodes(block)


def _notice(notice: Notice) -> str:
    items = "".join(f"<li>{escape(item)}</li>" for item in notice.items)
    listed = f"<ul>{items}</ul>" if items else ""
    return f'<div class="notice {notice.kind}"><b>{escape(notice.title)}</b>{listed}</div>'


def _table(table: Table) -> str:
    kind = "matrix" if table.matrix else "sortable"
    if table.compact:
        kind += " compact"
    if len(table.columns) > _MANY:
        kind += " many"
    head = f"<tr>{''.join(_heading(column) for column in table.columns)}</tr>"
    if groups := table.groups():
        cells = "".join(f'<th colspan="{count}" scope="colgroup">{escape(group)}</th>' for group, count in groups)
        head = f'<tr class="groups">{cells}</tr>{head}'
    body, foot = ("".join(f"<tr>{_cells(row, table)}</tr>\n" for row in rows) for rows in (table.rows, table.foot))
    return (
        f'<figure id="{table.name}-table"><figcaption><span>{_name(table.caption)}</span></figcaption>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(table.name)}"><table class="{kind}">'
        f"<thead>{head}</thead>\n<tbody>{body}</tbody>"
        f"{f'<tfoot>{foot}</tfoot>' if foot else ''}</table></div></figure>"
    )


def _heading(column: Column) -> str:
    kinds = ["words"] * column.words + ["long"] * (len(column.title) > _LONG)
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    return f'<th scope="col"{kind}>{_name(column.title)}</th>'


def _cells(row: tuple[Cell, ...], table: Table) -> str:
    """The first one names the row."""
    return "".join(
        _cell(cell, column, name='th scope="row"' if number == 0 else "td")
        for number, (cell, column) in enumerate(zip(row, table.columns, strict=True))
    )


def _cell(cell: Cell, column: Column, *, name: str) -> str:
    kinds = []
    if column.words:
        kinds.append("words")
    if cell.best:
        kinds.append("best")
    if cell.strong:
        kinds.append("strong")
    if cell.blank:
        kinds.append("blank")
    if cell.heat is not None:
        distance = cell.heat - 0.5
        kinds += ["heat", "hot" if distance >= 0 else "cold", f"h{round(abs(distance) * 2 * _SHADES)}"]
    mean, *interval = cell.lines
    text = _name(mean) + "".join(f' <span class="pm">{escape(line)}</span>' for line in interval)
    if cell.badge:
        text += f' <span class="badge {cell.badge}">{cell.badge}</span>'
    if cell.link:
        text = f'<a href="{escape(cell.link)}">{text}</a>'
    attributes = f' class="{" ".join(kinds)}"' if kinds else ""
    if cell.numbers:
        attributes += f' data-value="{cell.numbers[0]:.10g}"'
    if cell.note:
        attributes += f' title="{escape(cell.note)}"'
    return f"<{name}{attributes}>{text}</{name.partition(' ')[0]}>"


def _charts(block: Charts) -> str:
    colours: dict[str, int] = {}
    behind: dict[str, bool] = {}
    for chart in block.charts:
        for series in chart.series:
            colours.setdefault(series.name, len(colours))
            behind.setdefault(series.name, series.behind)
    legend = "".join(
        f'<span class="c{number % COLOURS}{" behind" if behind[name] else ""}">{_name(name)}</span>'
        for name, number in colours.items()
    )
    wide = " wide" if any(chart.wide for chart in block.charts) else ""
    drawn = "\n".join(draw(chart, colours) for chart in block.charts)
    return (
        f'<figure id="{block.name}-charts"><figcaption><span>{_name(block.caption)}</span></figcaption>'
        f'<div class="legend">{legend}</div><div class="charts{wide}">{drawn}</div></figure>'
    )


def _episodes(block: EpisodeList) -> str:
    links = " ".join(
        f'<span><a href="{quote(each.file)}">{escape(each.score)}</a>'
        + (' <b class="verified" title="verified">✓</b>' if each.verified else "")
        + (f' <a href="{quote(each.video)}">video</a>' if each.video else "")
        + "</span>"
        for each in block.episodes
    )
    return f'<p class="episodes" id="{escape(block.name)}"><b>{_name(block.title)}</b> {links}</p>'


def _name(text: str) -> str:
    """Text in which the paper's names are set as the paper does: RIW_C with an index, pi as a letter."""
    made = re.sub(r"\b(RIW|N-CPL)_([CD])\b", r"\1<sub>\2</sub>", escape(text))
    return re.sub(r"\bpi-(H?IW)", r"π-\1", made)


def escape(text: str) -> str:
    """Text in which nothing means anything to a browser."""
    return html.escape(printable(text))
