"""Reports for tests, and what they are made of."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import numpy as np

from noveltree.report.document import Cell, Chart, Charts, Document, Notice, Paragraph, Section, Table
from noveltree.report.report import build_report
from noveltree.results import Records, read_records

SCRIPT = "<script>alert(1)</script> | 100% \\of_it & more"
NASTY = '<b>&"x_1'
#: Own scores in Atari games: two agents, one of which has a nasty name, and a third that shares no game with it.
ATARI = f"""agent,game,trial,episode,phase,score,steps,interactions,seconds
mine,pong,0,0,evaluation,10,100,5000,2.5
mine,pong,0,1,evaluation,12,120,6000,3
mine,pong,1,0,evaluation,17,140,7000,3.5
mine,breakout,0,0,evaluation,30.125,50,2500,1
mine,breakout,1,0,evaluation,55.5,60,3000,1.25
"{NASTY.replace('"', '""')}",pong,0,0,evaluation,-3,100,5000,2
"{NASTY.replace('"', '""')}",pong,0,1,evaluation,-4,100,5000,2
loner,solaris,0,0,evaluation,1000,,,
loner,solaris,0,1,evaluation,1000,,,
"""
VOID = {"meta", "br", "link", "img", "hr", "input"}


def report_of(
    *paths: Path,
    published: bool = False,
    base: Path = Path(),
    records: Records | None = None,
    title: str = "Mine",
    rank_all: bool = False,
) -> Document:
    """The report that the command line makes."""
    read = read_records(paths, beside_published=True) if paths else records
    rng = np.random.default_rng(0)
    return build_report(read, published=published, base=base, title=title, rng=rng, rank_all=rank_all)


def section(document: Document, name: str) -> Section:
    (found,) = (each for each in document.sections if each.name == name)
    return found


def tables_of(document: Document) -> list[Table]:
    return [block for block in document.blocks() if isinstance(block, Table)]


def table(document: Document, name: str) -> Table:
    (found,) = (each for each in tables_of(document) if each.name == name)
    return found


def charts(document: Document, name: str) -> tuple[Chart, ...]:
    (found,) = (block for block in section(document, name).blocks if isinstance(block, Charts))
    return found.charts


def first_paragraph(document: Document) -> str:
    """The sentences with which a report begins."""
    return next(block.text for block in document.blocks() if isinstance(block, Paragraph))


def notices(document: Document) -> dict[str, tuple[str, ...]]:
    return {block.title: block.items for block in document.blocks() if isinstance(block, Notice)}


def notice(document: Document, beginning: str) -> str:
    """The items of the notice whose title begins or ends so."""
    (items,) = (items for title, items in notices(document).items() if beginning in title)
    return "\n".join(items)


def titles(made: Table) -> list[str]:
    return [column.title for column in made.columns]


def row(made: Table, first: str) -> tuple[Cell, ...]:
    (found,) = (cells for cells in (*made.rows, *made.foot) if cells[0].text == first)
    return found


def cell(made: Table, first: str, title: str, group: str = "") -> Cell:
    (number,) = (
        number
        for number, column in enumerate(made.columns)
        if column.title == title and (not group or column.group == group)
    )
    return row(made, first)[number]


class Page(HTMLParser):
    """What a page is made of; complains about tags that do not fit."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert len(dict(attrs)) == len(attrs), attrs
        for name, value in attrs:
            assert not name.startswith("on"), attrs
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.open):
            self.text += data
