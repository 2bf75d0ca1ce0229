"""`noveltree taxonomy`: what games are like, by branching factor and reward feedback."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from noveltree.analysis.taxonomy import (
    Classification,
    branching_factor,
    classify_agents,
    measured_taxonomy,
    published_taxonomy,
)
from noveltree.benchmark import BenchmarkDirectory, plan_suite, read_suite
from noveltree.benchmark.directory import PLAN
from noveltree.cli.benchmark_run import Where, run_in_view
from noveltree.cli.benchmark_view import View
from noveltree.cli.console import completion, counted, out, print_json, table
from noveltree.errors import InputError, UnknownNameError
from noveltree.results import read_records
from noveltree.simulators.games import SUITES, all_games, canonical_game

_SUITE = "smrf"
#: Names of simulators that are not Atari games: ids of Gymnasium environments, and the toy.
_NOT_ATARI = re.compile(r"(?!ale/).+-v\d+|gym(nasium)?:.*|corridor", flags=re.IGNORECASE)


def taxonomy(
    games: Annotated[
        list[str] | None,
        typer.Argument(help="Atari games in any spelling.", autocompletion=completion(all_games())),
    ] = None,
    suite: Annotated[
        str | None,
        typer.Option(help=f"The games of a suite: {', '.join(SUITES)}.", autocompletion=completion(SUITES)),
    ] = None,
    out_dir: Annotated[
        Path,
        typer.Option("--out", help="Directory of the episodes, a benchmark to which games are added."),
    ] = Path("taxonomy"),
    workers: Annotated[
        int | None,
        typer.Option(help="Number of trials to run at once.", min=1, show_default="one per processor core"),
    ] = None,
    shipped: Annotated[
        bool, typer.Option("--shipped", help="Print what was measured for noveltree; run nothing.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Classify games by branching factor and by sparse meaningful reward feedback (SMRF).

    Feedback is sparse where RTDP is not better than random actions (Welch's test, p < 0.1) in 20 episodes of 50
    decisions. Episodes that are there already are not played again. Exits with 1 if a trial failed.

    [bold]Examples[/]

      noveltree taxonomy freeway pong

      noveltree taxonomy --suite paper --out results/taxonomy --workers 8

      noveltree taxonomy --shipped
    """
    names = _wanted(games or (), suite)
    if shipped:
        measured = measured_taxonomy()
        _print(names or list(measured), measured, json=json)
        return
    if not names:
        raise InputError("No games: name some, or give --suite paper, or --shipped to see what was measured.")
    directory = _grow(out_dir, names)
    view = View(directory, quiet=json)
    again = ["noveltree", "taxonomy", *(games or ()), *_option("--suite", suite), "--out", str(out_dir)]
    again += _option("--workers", workers)
    statuses = run_in_view(directory, Where(workers=workers), view, to_resume=again)
    failed = [status for status in statuses if status.state == "failed"]
    if not json:
        view.print_failures(failed)
    ours = classify_agents(read_records([out_dir]).agents)
    _print(names, ours, json=json, failed={status.trial.name: status.error for status in failed})
    if failed:
        if not json:
            retry = shlex.join(["noveltree", "benchmark", "retry-failed", str(out_dir)])
            out.print(f"To retry what failed: {retry}", soft_wrap=True)
        raise typer.Exit(1)


def _wanted(games: Iterable[str], suite: str | None) -> list[str]:
    """The canonical names of the games, each once."""
    if suite is not None and suite not in SUITES:
        raise UnknownNameError("suite of games", suite, SUITES)
    names = [_canonical(game) for game in games]
    return list(dict.fromkeys([*names, *(SUITES[suite] if suite is not None else ())]))


def _canonical(game: str) -> str:
    try:
        return canonical_game(game)
    except UnknownNameError:
        if _NOT_ATARI.fullmatch(game.strip()):
            raise InputError(f"The taxonomy covers Atari games only, and {game} is not one.") from None
        raise


def _grow(path: Path, games: Sequence[str]) -> BenchmarkDirectory:
    """The benchmark in `path` with these games added to it, but only their trials."""
    opened = BenchmarkDirectory.open(path) if (path / PLAN).is_file() else None
    before = [trial.game for trial in opened.trials] if opened is not None else []
    suite = read_suite(_SUITE).part(games=dict.fromkeys([*before, *games]))
    trials = plan_suite(suite)
    if opened is not None and {trial.name for trial in trials} == {trial.name for trial in opened.trials}:
        suite = opened.suite  # which may spell its games differently: nothing is changed unless it grows
    BenchmarkDirectory.create(path, suite, trials)
    return BenchmarkDirectory(path, suite, [trial for trial in trials if trial.game in games])


def _option(name: str, value: object) -> list[str]:
    return [] if value is None else [name, str(value)]


def _print(
    games: Sequence[str],
    ours: Mapping[str, Classification],
    *,
    json: bool,
    failed: Mapping[str, str] | None = None,
) -> None:
    published = published_taxonomy()
    if json:
        rows = [_object(game, ours.get(game), published.get(game)) for game in games]
        print_json({"games": rows, "failed": failed or {}, "verdict": _sentence(games, ours)})
        return
    listing = table(
        *("game", "actions", "RTDP", "+- sd", "random", "+- sd", "p", "SMRF", "paper"),
        right=("actions", "RTDP", "+- sd", "random", "p"),
    )
    for game in games:
        cells = [""] * 6
        if (made := ours.get(game)) is not None:
            sides = (made.rtdp.mean, made.rtdp.population_sd, made.random.mean, made.random.population_sd)
            p = "" if made.p_value is None else f"{made.p_value:.3f}"
            cells = [*map(_number, sides), p, _yes_or_no(made)]
        listing.add_row(game, str(branching_factor(game)), *cells, _yes_or_no(published.get(game)))
    out.print(listing)
    out.print(_sentence(games, ours), soft_wrap=True)


def _number(value: float) -> str:
    """With one decimal, as in the paper; large ones, for which there is no room, without."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.1f}"


def _yes_or_no(made: Classification | None) -> str:
    return "-" if made is None or made.smrf is None else "yes" if made.smrf else "no"


def _object(game: str, ours: Classification | None, published: Classification | None) -> dict[str, Any]:
    made = {} if ours is None else {**asdict(ours), "smrf": ours.smrf}
    test = {name: made.get(name) for name in ("rtdp", "random", "p_value", "smrf")}
    verdict = None if published is None else published.smrf
    return {"game": game, "actions": branching_factor(game), **test, "published_smrf": verdict}


def _sentence(games: Sequence[str], ours: Mapping[str, Classification]) -> str:
    """How many games are SMRF, and which the paper classifies differently."""
    published = published_taxonomy()
    measured = [game for game in games if game in ours]
    parts = [f"{counted(len(measured), 'game')}: {sum(ours[game].smrf is True for game in measured)} SMRF"]
    if compared := [game for game in measured if game in published]:
        others = [game for game in compared if ours[game].smrf != published[game].smrf]
        same = f"as published in {len(compared) - len(others)}"
        parts.append(f"{same}, not in {len(others)}: {', '.join(others)}" if others else same)
    if missing := len(games) - len(measured):
        parts.append(f"{counted(missing, 'game')} not measured")
    return "; ".join(parts)
