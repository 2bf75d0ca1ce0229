"""The tables of a report as a LaTeX document that compiles as it is, and look like the paper's."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from noveltree.report.document import Block, Cell, Document, EpisodeList, Notice, Paragraph, Table
from noveltree.report.wording import printable

_PREAMBLE = r"""\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage[a4paper,margin=18mm]{geometry}
\usepackage[table]{xcolor}
\usepackage{float}
\usepackage{graphicx}
\setlength{\belowcaptionskip}{4pt}
\renewcommand{\arraystretch}{1.15}
\definecolor{best}{HTML}{009901}
\newcommand{\best}[1]{{\color{best}\textbf{#1}}}
% Makes a table narrower that would be wider than the page.
\newsavebox{\tablebox}
\newcommand{\fitted}{\ifdim\wd\tablebox>\linewidth\resizebox{\linewidth}{!}{\usebox{\tablebox}}\else\usebox{\tablebox}\fi}
\sloppy
\begin{document}
"""
#: Rows that fit on a page; longer tables are cut into parts.
_MOST_ROWS = 62
#: Grave, acute, circumflex, tilde, diaeresis, ring, caron, cedilla.
_ACCENTS = "\u0300\u0301\u0302\u0303\u0308\u030a\u030c\u0327"
_SPECIAL = {
    "\\": r"\textbackslash{}",
    **{character: rf"\{character}" for character in "&%$#_{}"},
    "|": r"\textbar{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "†": r"\dag{}",
    "✓": r"$\surd$",
    "—": "---",
    "π": r"$\pi$",
    '"': "''",
}


def to_latex(document: Document) -> str:
    """All tables of the document, in their sections."""
    parts = [f"\\title{{{_text(document.title)}}}\\date{{}}\\maketitle", _text(document.lead)]
    for section in document.sections:
        blocks = list(_blocks(section.blocks))
        # Links to episodes have no place on paper.
        if blocks and not any(isinstance(block, EpisodeList) for block in section.blocks):
            parts += [f"\\section*{{{_text(section.title)}}}", *blocks]
    return _PREAMBLE + "\n\n".join(parts) + "\n\n\\end{document}\n"


def _blocks(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Table():
                yield from _tables(block)
            case Notice():
                items = "".join(f"\\item {{}}{_breakable(item)}\n" for item in block.items)
                listed = f"\n\\begin{{itemize}}\n{items}\\end{{itemize}}" if items else ""
                yield f"\\noindent\\textbf{{{_text(block.title)}}}{listed}"
            case Paragraph():
                yield _breakable(block.text)


def _tables(table: Table) -> Iterator[str]:
    """The table, in as many parts as pages need."""
    count = max(1, -(-len(table.rows) // _MOST_ROWS))
    size = -(-len(table.rows) // count) or 1
    for part in range(count):
        rows = list(table.rows[part * size : (part + 1) * size])
        foot = table.foot if part == count - 1 else ()
        caption = table.caption if count == 1 else f"{table.caption} (Part {part + 1} of {count}.)"
        label = table.name if part == 0 else f"{table.name}-{part + 1}"
        yield "\n".join(
            [
                r"\begin{table}[H]",
                rf"\caption{{{_text(caption)}}}\label{{tab:{label}}}",
                r"\centering\scriptsize",
                r"\begin{lrbox}{\tablebox}",
                rf"\begin{{tabular}}{{{_alignment(table)}}}",
                *_head(table),
                *(_row(row, table) + (r" \hline" if table.matrix else "") for row in rows),
                *([r"\hline"] if foot else []),
                *(_row(row, table) for row in foot),
                r"\end{tabular}\end{lrbox}\fitted",
                r"\end{table}",
            ]
        )


def _alignment(table: Table) -> str:
    letters = ["l", *("c" for _ in table.columns[1:])]
    for number, column in enumerate(table.columns):
        if column.words and any(len(row[number].text) > 60 for row in table.rows):
            letters[number] = "p{80mm}"
        elif column.words:
            letters[number] = "l"
    return "".join(letters)


def _head(table: Table) -> Iterator[str]:
    if groups := table.groups():
        yield " & ".join(rf"\multicolumn{{{count}}}{{c}}{{{_text(group)}}}" for group, count in groups) + r" \\"
    titles = " & ".join(rf"\textbf{{{_text(column.title)}}}" if column.title else "" for column in table.columns)
    yield titles + r" \\ \hline"


def _row(row: Sequence[Cell], table: Table) -> str:
    cells = [_cell(cell) for cell in row]
    if table.matrix:
        cells[0] = rf"\textbf{{{cells[0]}}}"
    if cells[0].startswith(("[", "*")):  # which the end of the row before would take for its own
        cells[0] = "{}" + cells[0]
    return " & ".join(cells) + r" \\"


def _cell(cell: Cell) -> str:
    if cell.blank:
        return r"\cellcolor[gray]{0.6}"
    text = _text(cell.plain)
    if cell.strong and text:
        return rf"\textbf{{{text}}}"
    return rf"\best{{{text}}}" if cell.best and text else text


def _latin(character: str) -> str:
    """A character that LaTeX can set without further packages, as letters with accents are; or a question mark."""
    parts = unicodedata.normalize("NFD", character)
    if parts[0].isascii() and all(accent in _ACCENTS for accent in parts[1:]):
        return character
    return "?"


def _breakable(text: str) -> str:
    """Text in which long paths may be broken."""
    return re.sub(r"(/|\\_|-)(?=\w)", r"\1\\allowbreak{}", _text(text))


def _text(text: str) -> str:
    escaped = "".join(_SPECIAL.get(character, character) for character in printable(text))
    escaped = "".join(map(_latin, escaped))
    escaped = re.sub(r"\b(RIW|N-CPL)\\_([CD])\b", r"\1$_\2$", escaped)
    return re.sub(r"\bpi-(H?IW)", r"$\\pi$-\1", escaped)
