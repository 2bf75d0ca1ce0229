"""A report as Markdown, for a README or an issue: its tables; the charts are in the HTML report."""

from __future__ import annotations

from urllib.parse import quote

from noveltree.report.document import Block, Cell, Charts, Document, EpisodeList, Notice, Paragraph, Table
from noveltree.report.wording import printable


def to_markdown(document: Document) -> str:
    """The document as Markdown with tables in the dialect of GitHub."""
    parts = [f"# {_escape(document.title)}", _escape(document.lead)]
    for section in document.sections:
        blocks = [text for block in section.blocks if (text := _block(block))]
        if blocks:
            parts += [f"## {_escape(section.title)}", *blocks]
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> str:
    match block:
        case Table():
            return _table(block)
        case Notice():
            return "\n".join([f"**{_escape(block.title)}**", "", *(f"- {_escape(item)}" for item in block.items)])
        case Paragraph():
            return _escape(block.text)
        case EpisodeList():
            links = ", ".join(
                f"[{each.score}]({quote(each.file)}){f' ({each.manifest})' if each.manifest else ''}"
                + (f" [video]({quote(each.video)})" if each.video else "")
                for each in block.episodes
            )
            return f"{_escape(block.title)}: {links}"
        case Charts():
            return ""


def _table(table: Table) -> str:
    titles = [
        f"{column.title} ({column.group})" if column.group == "published" else column.title
        for column in table.columns
    ]
    lines = [
        _escape(table.caption),
        "",
        f"| {' | '.join(map(_escape, titles))} |",
        f"| {' | '.join('---' if column.words else '---:' for column in table.columns)} |",
        *(f"| {' | '.join(map(_cell, row))} |" for row in (*table.rows, *table.foot)),
    ]
    return "\n".join(lines)


def _cell(cell: Cell) -> str:
    text = _escape(cell.plain)
    return f"**{text}**" if (cell.best or cell.strong) and text else text


def _escape(text: str) -> str:
    text = printable(text)
    for character in "\\|*_<`[":
        text = text.replace(character, f"\\{character}")
    return text.replace("\n", " ")
