"""`noveltree runs`: what has been trained, and how far it has come."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from noveltree.cli.common import FORESEEN
from noveltree.cli.console import out, print_json, table
from noveltree.errors import InputError, NoveltreeError
from noveltree.records.run_directory import RunDirectory
from noveltree.wording import numerically

_STYLES = {"damaged": "bold red", "running": "green"}


def runs(
    directory: Annotated[Path, typer.Argument(help="A directory with runs, or a run.")] = Path("runs"),
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """List runs: their state, their progress, and their scores.

    [bold]Example[/]: noveltree runs runs
    """
    if not directory.is_dir():
        raise InputError(f"There is no directory {directory}.")
    # The second pattern does not look into directories that are links, the first one does.
    found = {file.parent for pattern in ("*/run.json", "**/run.json") for file in directory.glob(pattern)}
    rows = [_describe(path) for path in sorted(found, key=lambda path: numerically(str(path)))]
    if json:
        print_json({"runs": rows})
        return
    if not rows:
        out.print(f"There are no runs in {directory.resolve()}.", soft_wrap=True)
        return
    listing = table(
        *("run", "state", "interactions", "interval", "last return", "score"),
        right=("interactions", "interval", "last return", "score"),
    )
    listing.columns[0].overflow = "fold"
    for row in rows:
        if row["state"] == "damaged":
            listing.add_row(row["run"], Text("damaged", _STYLES["damaged"]), "", "", "", "")
            continue
        listing.add_row(
            row["run"],
            Text(row["state"], _STYLES.get(row["state"], "")),
            f"{row['interactions']:,}" + ("" if row["budget"] is None else f" of {row['budget']:,}"),
            "" if row["interval"] is None else str(row["interval"]),
            "" if row["last_return"] is None else f"{row['last_return']:,.5g}",
            "" if row["score"] is None else f"{row['score']:,.5g}",
        )
    out.print(listing)
    if clairvoyants := [row["run"] for row in rows if row.get("chance") == FORESEEN]:
        out.print(f"Clairvoyants, who foresaw what chance would bring: {', '.join(clairvoyants)}", soft_wrap=True)
    for row in rows:
        if row["complaint"]:
            out.print(row["complaint"], soft_wrap=True)


def _describe(path: Path) -> dict[str, Any]:
    try:
        run = RunDirectory.open(path)
        return _describe_whole(run)
    except NoveltreeError as error:
        return {"run": str(path), "state": "damaged", "complaint": str(error)}
    except (KeyError, TypeError):
        problem = f"The metrics in {path} are damaged: they have lines that noveltree does not write."
        return {"run": str(path), "state": "damaged", "complaint": problem}


def _describe_whole(run: RunDirectory) -> dict[str, Any]:
    result = run.read_result()
    metrics = run.read_metrics()
    budget = run.protocol.training_interactions or None
    intervals = [line for line in metrics if line["event"] == "interval"]
    interactions = intervals[-1]["interactions"] if intervals else 0
    episodes = [line for line in metrics if line["event"] == "episode"]
    in_progress = sum(line["interactions"] for line in episodes if line["interval"] > len(intervals))
    # Episodes that began in an interval before the one they ended in say when that was.
    played = max([interactions + in_progress, *(line.get("at", 0) for line in episodes)])
    returns = [line["mean_return"] for line in intervals if line["episodes"]]
    state = "finished" if result is not None else "running" if run.is_locked else "stopped"
    return {
        "run": str(run.path),
        "state": state,
        "game": run.protocol.game,
        "agent": run.protocol.agent,
        "seed": run.seed,
        "protocol_hash": run.protocol.hash,
        "chance": run.protocol.chance,
        "interactions": played if result is None else result["interactions"],
        "budget": budget,
        "interval": budget and len(intervals) + (state != "finished"),
        "accepted": sum(line["accepted"] for line in intervals),
        "rejected": sum(not line["accepted"] for line in intervals),
        "last_return": returns[-1] if returns else None,
        "score": None if result is None else result["score"],
        "complaint": "",
    }
