"""The tables of a report as a LaTeX document that compiles as it is, and look like the paper's."""

from __future__ import annotations

import re
import textwrap
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
\setlength{\extrarowheight}{1pt}
% Lines within a cell.
\newcommand{\lines}[3][c]{{\setlength{\extrarowheight}{0pt}\renewcommand{\arraystretch}{1}%
\begin{tabular}[#1]{@{}#2@{}}\rule{0pt}{2.6ex}#3\rule[-1.2ex]{0pt}{0pt}\end{tabular}}}
% Makes a table narrower that would be wider than the page.
\newsavebox{\tablebox}
\newcommand{\fitted}{\ifdim\wd\tablebox>\linewidth\resizebox{\linewidth}{!}{\usebox{\tablebox}}\else\usebox{\tablebox}\fi}
\sloppy
\begin{document}
"""
#: Lines that fit on a page; longer tables are cut into parts.
_MOST_LINES = 62
#: Letters in a line of a heading, and of the name of a row.
_HEADING, _NAME = 14, 28
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
    prose = [_is_prose(table, number) for number in range(len(table.columns))]
    all_rows, all_foot = ([_cells(row, table, prose) for row in rows] for rows in (table.rows, table.foot))
    lines = sum(max(cell.count(r"\\") + 1 for cell in cells) for cells in all_rows)
    count = max(1, -(-lines // _MOST_LINES))
    size = -(-len(all_rows) // count) or 1
    for part in range(count):
        rows = all_rows[part * size : (part + 1) * size]
        foot = all_foot if part == count - 1 else []
        caption = table.caption if count == 1 else f"{table.caption} (Part {part + 1} of {count}.)"
        label = table.name if part == 0 else f"{table.name}-{part + 1}"
        yield "\n".join(
            [
                r"\begin{table}[H]",
                rf"\caption{{{_text(caption)}}}\label{{tab:{label}}}",
                r"\centering\scriptsize",
                r"\begin{lrbox}{\tablebox}",
                rf"\begin{{tabular}}{{{_alignment(table, prose)}}}",
                *_head(table),
                *(_row(row, table) + (r" \hline" if table.matrix else "") for row in rows),
                *([r"\hline"] if foot else []),
                *(_row(row, table) for row in foot),
                r"\end{tabular}\end{lrbox}\fitted",
                r"\end{table}",
            ]
        )


def _alignment(table: Table, prose: Sequence[bool]) -> str:
    return "".join(
        "p{80mm}" if prose[number] else "l" if column.words or number == 0 else "c"
        for number, column in enumerate(table.columns)
    )


def _is_prose(table: Table, number: int) -> bool:
    """Whether a column holds sentences, which are broken into lines by themselves."""
    return table.columns[number].words and any(len(row[number].text) > 60 for row in table.rows)


def _head(table: Table) -> Iterator[str]:
    if groups := table.groups():
        yield " & ".join(rf"\multicolumn{{{count}}}{{c}}{{{_text(group)}}}" for group, count in groups) + r" \\"
    titles = [_lines(column.title, _HEADING, "[b]", "l" if column.words else "c") for column in table.columns]
    yield " & ".join(rf"\textbf{{{title}}}" if title else "" for title in titles) + r" \\ \hline"


def _row(cells: Sequence[str], table: Table) -> str:
    first, *others = cells
    if table.matrix:
        first = rf"\textbf{{{first}}}"
    if first.startswith(("[", "*")):  # which the end of the row before would take for its own
        first = "{}" + first
    return " & ".join([first, *others]) + r" \\"


def _cells(row: Sequence[Cell], table: Table, prose: Sequence[bool]) -> list[str]:
    return [_cell(cell, table, is_name=number == 0 and not prose[0]) for number, cell in enumerate(row)]


def _cell(cell: Cell, table: Table, *, is_name: bool) -> str:
    if cell.blank:
        return r"\cellcolor[gray]{0.6}"
    if is_name:
        text = _lines(cell.plain, _NAME, "", "l")
    elif table.compact and len(cell.lines) > 1:
        text = _stacked([_text(line) for line in cell.lines], "", "c")
    else:
        text = _text(cell.plain)
    if cell.strong and text:
        return rf"\textbf{{{text}}}"
    return rf"\best{{{text}}}" if cell.best and text else text


def _lines(text: str, width: int, where: str, align: str) -> str:
    """Text in lines of about that many letters, if it is longer."""
    return _stacked([_text(line) for line in textwrap.wrap(text, width, break_long_words=False)], where, align)


def _stacked(lines: Sequence[str], where: str, align: str) -> str:
    if len(lines) < 2:
        return "".join(lines)
    return rf"\lines{where}{{{align}}}{{" + r" \\ ".join(lines) + "}"


def _latin(character: str) -> str:
    """A character that LaTeX can set without further packages, as letters with accents are; or its number."""
    parts = unicodedata.normalize("NFD", character)
    if parts[0].isascii() and all(accent in _ACCENTS for accent in parts[1:]):
        return character
    return f"[U+{ord(character):04X}]"


def _breakable(text: str) -> str:
    """Text in which long paths may be broken."""
    return re.sub(r"(/|\\_|-)(?=\w)", r"\1\\allowbreak{}", _text(text))


def _text(text: str) -> str:
    escaped = "".join(_SPECIAL.get(character, character) for character in printable(text))
    escaped = "".join(map(_latin, escaped))
    escaped = re.sub(r"\b(RIW|N-CPL)\\_([CD])\b", r"\1$_\2$", escaped)
    return re.sub(r"\bpi-(H?IW)", r"$\\pi$-\1", escaped)
