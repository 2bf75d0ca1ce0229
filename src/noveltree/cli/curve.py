"""`noveltree curve`: draw the learning curves of runs."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noveltree.analysis import AuthorsWay, authors_way, up_to
from noveltree.cli.common import need_extra
from noveltree.cli.console import out, print_json
from noveltree.errors import InputError
from noveltree.learning import VaeSettings
from noveltree.published import authors_curve, nearest_agent
from noveltree.records import write_atomically
from noveltree.records.run_directory import RunDirectory
from noveltree.report.curves import epochs_chart, pay_chart, runs_chart
from noveltree.report.wording import rounded
from noveltree.results import EpochCurve, PayCurve, RunCurve, read_curve, read_epochs, read_pay

if TYPE_CHECKING:
    from noveltree.protocol import Protocol
    from noveltree.published import TrialCurve
    from noveltree.report.document import Chart
    from noveltree.report.figure import FigureFormat

_Curve = RunCurve | PayCurve | EpochCurve
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

    Runs may still be in progress: what is finished is drawn; what decisions pay until enough episodes have ended.

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
        for run, each in zip(opened, curves, strict=True):
            for told in (*_milestones(each, way), *_progress(each, way, _trained(run, each))):
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
                    **_numbers(run),
                    "milestones": list(made.milestones),
                    "evaluation": made.evaluation,
                    "share_of_authors_way": _share(made, way),
                }
                for run, made in zip(opened, curves, strict=True)
            ],
            "authors": [dataclasses.asdict(trial) for trial in authors],
        }
    )


def _numbers(run: RunDirectory) -> dict[str, Any]:
    """All curves of a run, whichever of them is drawn."""
    learnt, paid, epochs = read_curve(run, "", None), read_pay(run, "", None), read_epochs(run, "", None)
    return {
        "intervals": [] if learnt is None else list(map(dataclasses.asdict, learnt.points)),
        "reward_per_decision": None if paid is None else list(paid.points),
        "foresight": None if paid is None else list(paid.foresight),
        "held_out_reconstruction": None if epochs is None else list(epochs.points),
    }


def _chart(protocol: Protocol, curves: Sequence[_Curve], authors: Sequence[TrialCurve]) -> Chart:
    """Returns in front of the authors'; where hardly any episode has ended, what decisions pay. Or encoders."""
    game, agent = protocol.game, protocol.agent
    if learnt := [each for each in curves if isinstance(each, RunCurve)]:
        return runs_chart(game, agent, learnt, authors)
    if paid := [each for each in curves if isinstance(each, PayCurve)]:
        return pay_chart(game, agent, paid)
    return epochs_chart(game, agent, [each for each in curves if isinstance(each, EpochCurve)])


def _reached(curve: _Curve) -> float | None:
    """How good the agent is: by its evaluation or, as long as there is none, in the last interval."""
    if curve.evaluation is None and isinstance(curve, RunCurve):
        return curve.points[-1].mean_return
    return curve.evaluation


def _last(curve: _Curve) -> int:
    """The interactions of its last point; what an encoder was trained with is no way that others went."""
    match curve:
        case RunCurve():
            return curve.points[-1].interactions
        case PayCurve():
            return curve.points[-1][0]
        case EpochCurve():
            return 0


def _share(curve: _Curve, way: AuthorsWay | None) -> float | None:
    reached = _reached(curve)
    return None if way is None or reached is None else way.share(reached)


def _trained(run: RunDirectory, curve: _Curve) -> int:
    """The interactions that a run was trained for when it was evaluated, or up to the last point of its curve."""
    result = run.read_result() or {}
    interactions: int = result.get("interactions", _last(curve))
    return interactions


def _progress(curve: _Curve, way: AuthorsWay | None, trained: int) -> Iterator[str]:
    """How far a run has come; nothing if nobody went that way before."""
    if not isinstance(curve, RunCurve):
        (_, first), (at, last) = curve.points[0], curve.points[-1]
        if isinstance(curve, PayCurve):
            pays = f"a decision pays {last:.4g}, in the beginning {first:.4g}"
            if curve.foresight:
                (_, before), (_, now) = curve.foresight[0], curve.foresight[-1]
                pays = f"the policy foresees {now:.0%} of what is chosen, in the beginning {before:.0%}; {pays}"
            yield f"{curve.label}, after {at:,} interactions: {pays}; too few episodes have ended for a curve"
        else:
            lose = f"screens held out lose {last:,.4g}, after the first {first:,.4g}"
            yield f"{curve.label}, after {at} epochs: {lose}"
    if way is not None and (reached := _reached(curve)) is not None:
        theirs = f"from {rounded(way.first)} in the 1st to {rounded(way.last)} in the 20th million"
        yield (
            f"{curve.label}, after {trained:,} interactions: {rounded(reached)}, {way.share(reached):.0%} of the "
            f"way of N-CPL's authors {theirs}"
        )


def _milestones(curve: _Curve, way: AuthorsWay | None) -> list[str]:
    """What evaluations on the way scored."""
    told = []
    for interactions, mean in curve.milestones:
        share = "" if way is None else f", {way.share(mean):.0%} of the way of N-CPL's authors"
        told.append(f"{curve.label}, evaluated after {interactions:,} interactions: {rounded(mean)}{share}")
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


def _curves(runs: Sequence[RunDirectory]) -> list[_Curve]:
    """The learning curves of runs; of one in which hardly any episode has ended, what its decisions pay."""
    return [_curve(run, label) for run, label in zip(runs, _labels(runs), strict=True)]


def _curve(run: RunDirectory, label: str) -> _Curve:
    result = run.read_result()
    score = None if result is None else result["score"]
    if isinstance(run.protocol.learning, VaeSettings):  # what it has played was not played with what it learns
        if epochs := read_epochs(run, label, score):
            return epochs
        raise InputError(f"No epoch is over in {run.path} yet: there is nothing to draw.")
    made = read_curve(run, label, score)
    if made is None or len(made.points) < 2:  # the first episodes that end are the shortest
        paid = read_pay(run, label, score)
        if paid is not None:
            return paid
    if made is None:
        raise InputError(
            f"No episode has ended in a finished interval of {run.path} yet: there is nothing to draw."
        )
    return made


def _end(runs: Sequence[RunDirectory], curves: Sequence[_Curve]) -> int:
    """Where the authors' curve ends: at the end of training, whether that is reached or not."""
    budgets = [run.protocol.training_interactions for run in runs]
    return max([*budgets, *map(_last, curves)])
