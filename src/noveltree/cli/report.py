"""`noveltree report`: what records and published results say, as one document."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from noveltree.benchmark.directory import PLAN
from noveltree.cli.console import completion, counted, err, out, print_json, print_text
from noveltree.errors import InputError, UnknownNameError
from noveltree.records import check_writable, write_atomically
from noveltree.records.run_directory import RUN
from noveltree.report.comma_separated import CONTENTS, files_of, to_csv_files
from noveltree.report.document import Document, Notice
from noveltree.report.html import to_html
from noveltree.report.latex import to_latex
from noveltree.report.markdown import to_markdown
from noveltree.report.report import build_report
from noveltree.results.recorded import Records, read_records

_WRITERS: dict[str, Callable[[Document], str]] = {"html": to_html, "md": to_markdown, "latex": to_latex}
_ENDINGS = {".html": "html", ".htm": "html", ".md": "md", ".tex": "latex"}
_DEFAULTS = {"html": "report.html", "md": "report.md", "latex": "report.tex", "csv": "report-csv"}
#: As `--out`: print the report.
_TERMINAL = Path("-")
_PUBLISHED_TITLE = "Width-based planning and learning on the Atari-2600: the published results"
#: Of the bootstrap; the same records give the same report.
_SEED = 0


def report(
    sources: Annotated[
        list[Path] | None, typer.Argument(help="Benchmarks, runs, folders of these, or tables.", metavar="DIR")
    ] = None,
    published: Annotated[
        bool, typer.Option("--published", help="Add the paper's results section; without DIR, write only that.")
    ] = False,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="html, md, latex, or csv for a directory of tables.",
            show_default="from the name of --out, or html",
            autocompletion=completion(_DEFAULTS),
        ),
    ] = None,
    out_path: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Where to write it; - prints it.", show_default="report.html, ..."),
    ] = None,
    rank_all: Annotated[
        bool,
        typer.Option("--rank-all", help="Rank scores under other conditions than the rest, too."),
    ] = False,
    title: Annotated[str | None, typer.Option(help="The title of the report.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Write a report: what was found, problems, scores beside the published ones, statistics, curves, all episodes.

    HTML is one file that needs no network. A benchmark may still be running: the report has what is finished.

    [bold]Examples[/]

      noveltree report results --out report.html

      noveltree report --published --format latex --out paper.tex

      noveltree report smoke runs/qbert-n-cpl-seed0 --format csv --out tables
    """
    if not sources and not published:
        raise InputError("Nothing to report: give directories or tables, or --published for the paper's results.")
    kind = _format(format, out_path)
    to_terminal = out_path == _TERMINAL
    if to_terminal and (json or kind == "csv"):
        raise InputError("Only an HTML, Markdown or LaTeX document can be printed; name a place with --out.")
    path = Path(_DEFAULTS[kind]) if out_path is None or to_terminal else out_path
    if not to_terminal:
        path = _check_target(path, kind, sources or [])
    records = read_records(sources, beside_published=True) if sources else None
    document = build_report(
        records,
        published=published,
        base=path.parent,
        title=title or ("noveltree report" if records else _PUBLISHED_TITLE),
        rng=np.random.default_rng(_SEED),
        rank_all=rank_all,
    )
    if kind == "csv":
        files = {path / name: text for name, text in to_csv_files(document).items()}
        earlier = {path / name for name in _report_in(path)}
    else:
        files, earlier = {path: _WRITERS[kind](document)}, set()
    if to_terminal:
        print_text(files.pop(path))
    for file, text in files.items():
        write_atomically(file, text.encode(errors="backslashreplace"))  # names of files need not be text
    for file in earlier - files.keys():
        file.unlink(missing_ok=True)
    problems = [block for block in document.blocks() if isinstance(block, Notice) and block.kind == "problem"]
    if json:
        found = records or Records()
        print_json(
            {
                "report": str(path),
                "format": kind,
                "files": [str(file) for file in files],
                "agents": [agent.name for agent in found.agents],
                "problems": {problem.title: problem.items for problem in problems},
                "failed": list(found.failed),
                "unfinished": found.unfinished,
                "unverified": found.unverified,
                "manifests": {
                    folder: {"digest": each.manifest.digest, "level": each.manifest.checked.level}
                    for folder, each in found.manifests.items()
                    if each.manifest is not None
                },
                "differs": {agent.name: agent.differs for agent in found.agents if agent.differs},
            }
        )
        return
    for problem in problems:
        err.print(f"Warning: {problem.title}: {'; '.join(problem.items)}", soft_wrap=True)
    if not to_terminal:
        what = f"{counted(len(files), 'file')} in {path}" if kind == "csv" else str(path)
        out.print(f"Report: {what}", soft_wrap=True)


def _format(named: str | None, path: Path | None) -> str:
    """The format that was named, or the one of the file's ending."""
    if named is not None:
        short = {"markdown": "md", "tex": "latex"}.get(named.lower(), named.lower())
        if short not in _DEFAULTS:
            raise UnknownNameError("format", named, _DEFAULTS)
        return short
    if path is None or not path.suffix:
        return "html"
    if path.suffix.lower() == ".csv":
        raise InputError("A report has many tables; give --format csv and a directory as --out.")
    if path.suffix.lower() not in _ENDINGS:
        raise InputError(f"{path.name} has no known format; give --format html, md, latex or csv.")
    return _ENDINGS[path.suffix.lower()]


def _check_target(path: Path, kind: str, sources: Sequence[Path]) -> Path:
    """Where to write, if this is a link; raise InputError before the work rather than after it."""
    path = path.resolve() if path.is_symlink() else path
    if path.exists() and not path.is_dir() and not path.is_file():
        raise InputError(f"{path} is not a file, and would be replaced by one.")
    for place in (path.resolve(), *path.resolve().parents):
        if (place / PLAN).exists() or (place / RUN).exists():
            raise InputError(f"{place} is what a report is about, not where it belongs; choose another --out.")
    if any(path.resolve() == source.resolve() for source in sources):
        raise InputError(f"{path} is what the report is about; choose another --out.")
    if kind == "csv":
        if path.exists() and not path.is_dir():
            raise InputError(f"{path} is a file; a report as CSV is a directory of tables.")
        check_writable(path)
        if others := sorted({file.name for file in path.iterdir()} - _report_in(path)):
            raise InputError(f"{path} has other files, such as {others[0]}; choose an empty directory.")
        return path
    if path.is_dir():
        raise InputError(f"{path} is a directory; name a file, such as {path / _DEFAULTS[kind]}.")
    check_writable(path.parent)
    return path


def _report_in(path: Path) -> set[str]:
    """The names of the files of an earlier report, which may be replaced."""
    try:
        return files_of((path / CONTENTS).read_text())
    except (OSError, ValueError, csv.Error):  # there is none, or it is not a table
        return set()
