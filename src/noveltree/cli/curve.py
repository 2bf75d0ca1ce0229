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
from noveltree.report.curves import pay_chart, runs_chart
from noveltree.results import PayCurve, RunCurve, read_curve, read_pay

if TYPE_CHECKING:
    from noveltree.protocol import Protocol
    from noveltree.published import TrialCurve
    from noveltree.report.document import Chart
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

    Runs may still be in progress: what is finished is drawn, and what decisions pay until an episode has ended.

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
    curves = _curves(opened)
    protocol = opened[0].protocol
    authors = up_to(_end(opened, curves), authors_curve(protocol.game, nearest_agent(protocol.agent)))
    from noveltree.report.figure import draw_figure

    chart = _chart(protocol, curves, authors)
    write_atomically(path, draw_figure(chart, format=_FORMATS[path.suffix.lower()]))
    way = authors_way(protocol.game)
    if not json:
        out.print(f"Figure: {path}", soft_wrap=True)
        for each in curves:
            for told in (*_milestones(each, way), _progress(each, way)):
                if told:
                    out.print(told, soft_wrap=True)
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
                    "intervals": [] if isinstance(made, PayCurve) else list(map(dataclasses.asdict, made.points)),
                    "reward_per_decision": list(made.points) if isinstance(made, PayCurve) else None,
                    "milestones": list(made.milestones),
                    "evaluation": made.evaluation,
                    "share_of_authors_way": _share(made, way),
                }
                for run, made in zip(opened, curves, strict=True)
            ],
            "authors": [dataclasses.asdict(trial) for trial in authors],
        }
    )


def _chart(protocol: Protocol, curves: Sequence[RunCurve | PayCurve], authors: Sequence[TrialCurve]) -> Chart:
    """Returns in front of the authors'; where no episode has ended yet, what decisions pay."""
    learnt = [each for each in curves if isinstance(each, RunCurve)]
    if learnt:
        return runs_chart(protocol.game, protocol.agent, learnt, authors)
    return pay_chart(protocol.game, protocol.agent, [each for each in curves if isinstance(each, PayCurve)])


def _reached(curve: RunCurve | PayCurve) -> float | None:
    """How good the agent is: by its evaluation or, as long as there is none, in the last interval."""
    if curve.evaluation is not None or isinstance(curve, PayCurve):
        return curve.evaluation
    return curve.points[-1].mean_return


def _last(curve: RunCurve | PayCurve) -> int:
    """The interactions of its last point."""
    return curve.points[-1][0] if isinstance(curve, PayCurve) else curve.points[-1].interactions


def _share(curve: RunCurve | PayCurve, way: AuthorsWay | None) -> float | None:
    reached = _reached(curve)
    return None if way is None or reached is None else way.share(reached)


def _progress(curve: RunCurve | PayCurve, way: AuthorsWay | None) -> str:
    """How far a run has come; empty if nobody went that way before."""
    told = f"{curve.label}, after {_last(curve):,} interactions: "
    if isinstance(curve, PayCurve) and curve.evaluation is None:
        (_, first), (_, last) = curve.points[0], curve.points[-1]
        return f"{told}a decision pays {last:.4g}, in the beginning {first:.4g}; no episode has ended yet"
    if way is None or (reached := _reached(curve)) is None:
        return ""
    return (
        f"{told}{reached:,.6g}, {way.share(reached):.0%} of the authors' way from {way.first:,.6g} in the 1st to "
        f"{way.last:,.6g} in the 20th million"
    )


def _milestones(curve: RunCurve | PayCurve, way: AuthorsWay | None) -> list[str]:
    """What evaluations on the way scored."""
    told = []
    for interactions, mean in curve.milestones:
        share = "" if way is None else f", {way.share(mean):.0%} of the authors' way"
        told.append(f"{curve.label}, evaluated after {interactions:,} interactions: {mean:,.6g}{share}")
    return told


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


def _curves(runs: Sequence[RunDirectory]) -> list[RunCurve | PayCurve]:
    """The learning curves of runs; of one in which no episode has ended, what its decisions pay."""
    return [_curve(run, label) for run, label in zip(runs, _labels(runs), strict=True)]


def _curve(run: RunDirectory, label: str) -> RunCurve | PayCurve:
    result = run.read_result()
    score = None if result is None else result["score"]
    made = read_curve(run, label, score) or read_pay(run, label, score)
    if made is None:
        raise InputError(
            f"No episode has ended in a finished interval of {run.path} yet: there is nothing to draw."
        )
    return made


def _end(runs: Sequence[RunDirectory], curves: Sequence[RunCurve | PayCurve]) -> int:
    """Where the authors' curve ends: at the end of training, whether that is reached or not."""
    budgets = [run.protocol.training_interactions for run in runs]
    return max([*budgets, *map(_last, curves)])
