"""`noveltree verify`: does a recorded score hold, and is everything in a directory true?"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from noveltree.cli.common import Import
from noveltree.cli.console import LiveLine, cores, counted, out, print_json
from noveltree.errors import InputError, NoveltreeError
from noveltree.records import read_episode
from noveltree.records.manifest import MANIFEST
from noveltree.replay import verify_episode
from noveltree.results import Audit, audit


def verify(
    paths: Annotated[list[Path], typer.Argument(help="Episode files, or directories of runs or benchmarks.")],
    workers: Annotated[
        int | None,
        typer.Option(help="Number of processes that replay.", min=1, show_default="one per processor core"),
    ] = None,
    renew: Annotated[
        bool, typer.Option("--renew", help="Sign off again what has changed since a directory was signed off.")
    ] = False,
    imports: Import = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Replay recorded episodes in a fresh emulator, without planning, and compare.

    In a directory, every episode is replayed, and results and tables are compared with the episodes. If all of it
    holds, the checksums of all files are written to manifest.json; an existing manifest.json must match.

    Exits with 1 if anything does not hold or cannot be read.

    [bold]Examples[/]

      noveltree verify episodes/*.json

      noveltree verify results/paper-planners
    """
    if renew and not any(path.is_dir() for path in paths):
        raise InputError("Only directories are signed off; leave out --renew.")
    paths = _without_manifests(paths)
    files: list[dict[str, Any]] = []
    directories: list[dict[str, Any]] = []
    for number, path in enumerate(paths, start=1):
        if path.is_dir():
            try:
                directories.append(_verify_directory(path, workers or cores(), renew=renew, quiet=json))
            except NoveltreeError as error:
                if len(paths) == 1:
                    raise
                directories.append(_unreadable(path, str(error), quiet=json))
            continue
        with LiveLine(quiet=json) as line:
            line.update(f"Verifying {number} of {len(paths)}: {path}")
            files.append(_verify_file(path))
        if not json:
            _report_file(files[-1])
    failed = sum(not result["holds"] for result in (*files, *directories))
    if json:
        print_json({"verified": len(paths) - failed, "failed": failed, "files": files, "directories": directories})
    elif files:
        held = sum(result["holds"] for result in files)
        out.print(f"{held} of {len(files)} hold")
    if failed:
        raise typer.Exit(1)


def _without_manifests(paths: Sequence[Path]) -> list[Path]:
    """What is to be verified of `episodes/*.json`, among which there may be what verifying a directory wrote."""
    episodes = [path for path in paths if path.name != MANIFEST]
    if not episodes:
        raise InputError(f"{paths[0]} is not an episode but signs off its directory: give {paths[0].parent}.")
    return episodes


def _unreadable(path: Path, problem: str, *, quiet: bool) -> dict[str, Any]:
    """What there is to say of a directory that cannot be verified, so that others are."""
    if not quiet:
        out.print(Text.assemble(("UNREADABLE", "bold red"), f"  {problem}"), soft_wrap=True)
    findings = [{"file": "", "holds": False, "replayed": False, "finding": problem}]
    return {"directory": str(path), "holds": False, "episodes": 0, "findings": findings, "manifest": None}


def _verify_directory(path: Path, workers: int, *, renew: bool, quiet: bool) -> dict[str, Any]:
    with LiveLine(quiet=quiet) as line:
        made = audit(
            path,
            workers=workers,
            renew=renew,
            on_progress=lambda done, total: line.update(f"Replaying: {done:,} of {total:,} episodes of {path}"),
        )
    if not quiet:
        _report_directory(path, made)
    return {
        "directory": str(path),
        "holds": made.holds,
        "episodes": made.episodes,
        "findings": [
            {
                "file": finding.file,
                "holds": finding.holds,
                "replayed": finding.replayed,
                "finding": finding.sentence,
            }
            for finding in made.findings
        ],
        "manifest": made.manifest.digest if made.holds else None,
    }


def _report_directory(path: Path, made: Audit) -> None:
    for finding in sorted(made.findings, key=lambda finding: finding.holds):
        failed = "DOES NOT HOLD" if finding.replayed else "NOT REPLAYED"
        mark = ("caveat", "yellow") if finding.holds else (failed, "bold red")
        out.print(Text.assemble(mark, f"  {path / finding.file}: {finding.sentence}"), soft_wrap=True)
    if not made.holds:
        bad = len({finding.file for finding in made.findings if not finding.holds})
        of = f"{counted(bad, 'file')} of {counted(len(made.manifest.files), 'file')} in doubt"
        out.print(f"{path}: {of}", soft_wrap=True)
        if (path / MANIFEST).exists():
            again = shlex.join(["noveltree", "verify", "--renew", str(path)])
            out.print(f"If files were added or changed on purpose, sign them off again: {again}", soft_wrap=True)
        return
    episodes = f"{counted(made.episodes, 'episode')} {'holds' if made.episodes == 1 else 'hold'}"
    out.print(
        f"{path}: {episodes}; {counted(len(made.manifest.files), 'file')} signed off in {path / MANIFEST}, digest "
        f"{made.manifest.digest}",
        soft_wrap=True,
    )


def _report_file(result: dict[str, Any]) -> None:
    if result["score"] is None:
        out.print(Text.assemble(("UNREADABLE", "bold red"), f"  {result['finding']}"), soft_wrap=True)
        return
    failed = "DOES NOT HOLD" if result["replayed"] else "NOT REPLAYED"
    mark = ("holds", "green") if result["holds"] else (failed, "bold red")
    finding = f"  ({result['finding']})" if result["finding"] else ""
    out.print(Text.assemble(mark, f"  score {result['score']:,.10g}  {result['file']}{finding}"), soft_wrap=True)


def _verify_file(file: Path) -> dict[str, Any]:
    score: float | None = None
    try:
        record = read_episode(file)
        score = record.episode.score
        verification = verify_episode(record)
    except NoveltreeError as error:
        return {"file": str(file), "holds": False, "replayed": False, "score": score, "finding": str(error)}
    return {
        "file": str(file),
        "holds": verification.holds,
        "replayed": True,
        "score": score,
        "finding": verification.finding,
    }
