"""`noveltree curve`: draw the learning curves of runs."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noveltree.analysis import AuthorsWay, authors_way, up_to
from noveltree.cli.common import need_extra
from noveltree.cli.console import out, print_json
from noveltree.errors import InputError
from noveltree.published import authors_curve, nearest_agent
from noveltree.records import write_atomically
from noveltree.records.run_directory import RunDirectory
from noveltree.report.curves import runs_chart
from noveltree.results import RunCurve, read_curve

if TYPE_CHECKING:
    from noveltree.report.figure import FigureFormat

_FORMATS: dict[str, FigureFormat] = {".png": "png", ".svg": "svg"}


def curve(
    runs: Annotated[list[Path], typer.Argument(help="Directories of runs of one agent in one game.")],
    out_file: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The figure, .png or .svg.", show_default="curve.png in the first run"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Draw the learning curves of runs in front of those that the paper's authors released.

    Runs may still be in progress: what is finished is drawn.

    [bold]Examples[/]

      noveltree curve runs/qbert-n-cpl-seed0

      noveltree curve runs/qbert-n-cpl-seed* --out qbert.svg
    """
    need_extra("Drawing", ("matplotlib",), extra="plot")
    path = runs[0] / "curve.png" if out_file is None else out_file
    if path.suffix.lower() not in _FORMATS:
        raise InputError(f"A figure is a .png or an .svg, not {path.suffix or path.name!r}.")
    opened = [RunDirectory.open(run) for run in runs]
    _check_same(opened)
    curves = [_curve(run, label) for run, label in zip(opened, _labels(opened), strict=True)]
    protocol = opened[0].protocol
    authors = up_to(_end(opened, curves), authors_curve(protocol.game, nearest_agent(protocol.agent)))
    from noveltree.report.figure import draw_figure

    chart = runs_chart(protocol.game, protocol.agent, curves, authors)
    write_atomically(path, draw_figure(chart, format=_FORMATS[path.suffix.lower()]))
    way = authors_way(protocol.game)
    if not json:
        out.print(f"Figure: {path}", soft_wrap=True)
        if way is not None:
            for each in curves:
                out.print(_progress(each, way), soft_wrap=True)
        return
    print_json(
        {
            "figure": str(path),
            "game": protocol.game,
            "agent": protocol.agent,
            "runs": [
                {
                    "run": str(run.path),
                    "seed": run.seed,
                    "protocol_hash": run.protocol.hash,
                    "intervals": [dataclasses.asdict(interval) for interval in made.points],
                    "evaluation": made.evaluation,
                    "share_of_authors_way": None if way is None else way.share(_reached(made)),
                }
                for run, made in zip(opened, curves, strict=True)
            ],
            "authors": [dataclasses.asdict(trial) for trial in authors],
        }
    )


def _reached(curve: RunCurve) -> float:
    """How good the agent is: by its evaluation or, as long as there is none, in the last interval."""
    return curve.points[-1].mean_return if curve.evaluation is None else curve.evaluation


def _progress(curve: RunCurve, way: AuthorsWay) -> str:
    reached, last = _reached(curve), curve.points[-1].interactions
    return (
        f"{curve.label}: {reached:,.6g} after {last:,} interactions, {way.share(reached):.0%} of the authors' way "
        f"from {way.first:,.6g} in the 1st to {way.last:,.6g} in the 20th million"
    )


def _check_same(runs: Sequence[RunDirectory]) -> None:
    first = runs[0]
    for run in runs[1:]:
        if (run.protocol.game, run.protocol.agent) != (first.protocol.game, first.protocol.agent):
            raise InputError(
                f"A figure shows one agent in one game, but {first.path} is {first.protocol.agent} in "
                f"{first.protocol.game} and {run.path} is {run.protocol.agent} in {run.protocol.game}."
            )


def _labels(runs: Sequence[RunDirectory]) -> list[str]:
    """Their seeds or, if some are the same, the parts of their directories' names that differ."""
    if len({run.seed for run in runs}) == len(runs):
        return [f"noveltree, seed {run.seed}" for run in runs]
    paths = [run.path.resolve() for run in runs]
    return [str(path.relative_to(os.path.commonpath(paths))) for path in paths]


def _curve(run: RunDirectory, label: str) -> RunCurve:
    result = run.read_result()
    made = read_curve(run, label, None if result is None else result["score"])
    if made is None:
        raise InputError(
            f"No episode has ended in a finished interval of {run.path} yet: there is nothing to draw."
        )
    return made


def _end(runs: Sequence[RunDirectory], curves: Sequence[RunCurve]) -> int:
    """Where the authors' curve ends: at the end of training, whether that is reached or not."""
    budgets = [run.protocol.training_interactions for run in runs]
    return max([*budgets, *(made.points[-1].interactions for made in curves)])
