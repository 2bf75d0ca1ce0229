"""`noveltree verify`: does a recorded score hold?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from noveltree.cli.console import LiveLine, out, print_json
from noveltree.errors import NoveltreeError
from noveltree.records import read_episode, verify_episode


def verify(
    files: Annotated[list[Path], typer.Argument(help="Episode files.")],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Replay recorded episodes in a fresh emulator, without planning, and compare.

    Exits with 1 if a score does not hold or a file cannot be read.

    [bold]Example[/]: noveltree verify episodes/*.json
    """
    results: list[dict[str, Any]] = []
    for number, file in enumerate(files, start=1):
        with LiveLine(quiet=json) as line:
            line.update(f"Verifying {number} of {len(files)}: {file}")
            results.append(_verify(file))
        if not json:
            _report(results[-1])
    failed = sum(not result["holds"] for result in results)
    if json:
        print_json({"verified": len(results) - failed, "failed": failed, "files": results})
    else:
        out.print(f"{len(results) - failed} of {len(results)} hold")
    if failed:
        raise typer.Exit(1)


def _report(result: dict[str, Any]) -> None:
    if result["score"] is None:
        out.print(Text.assemble(("UNREADABLE", "bold red"), f"  {result['finding']}"), soft_wrap=True)
        return
    mark = ("holds", "green") if result["holds"] else ("DOES NOT HOLD", "bold red")
    finding = f"  ({result['finding']})" if result["finding"] else ""
    out.print(Text.assemble(mark, f"  score {result['score']:,.10g}  {result['file']}{finding}"), soft_wrap=True)


def _verify(file: Path) -> dict[str, Any]:
    try:
        record = read_episode(file)
        verification = verify_episode(record)
    except NoveltreeError as error:
        return {"file": str(file), "holds": False, "score": None, "finding": str(error)}
    return {
        "file": str(file),
        "holds": verification.holds,
        "score": record.episode.score,
        "finding": verification.finding,
    }
