"""`noveltree benchmark`: games x agents x trials, on this machine or on a cluster."""

from __future__ import annotations

import importlib.util
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from noveltree.benchmark import (
    BenchmarkDirectory,
    PlannedTrial,
    Suite,
    plan_suite,
    read_suite,
    shipped_suites,
)
from noveltree.benchmark.directory import REGISTRATION, RESULTS
from noveltree.benchmark.estimate import Estimate, estimate, makespan
from noveltree.benchmark.plan import protocols_of
from noveltree.benchmark.registration import register as register_trials
from noveltree.benchmark.suite import CONDITIONS
from noveltree.benchmark.template import TEMPLATE
from noveltree.cli.benchmark_run import Where, need_packages, run_in_view
from noveltree.cli.benchmark_view import View, summary
from noveltree.cli.common import Import
from noveltree.cli.console import (
    completion,
    cores,
    counted,
    err,
    long_duration,
    out,
    print_json,
    size,
    table,
)
from noveltree.cli.options import protocol_options, takes
from noveltree.errors import InputError
from noveltree.records.files import check_writable, write_atomically
from noveltree.results import collect as collect_episodes
from noveltree.simulators import name_game
from noveltree.simulators.games import SUITES as GAME_SUITES

app = typer.Typer(
    help="Games x agents x trials: plan, run on this machine or on a cluster, collect.", no_args_is_help=True
)
_CONDITIONS = protocol_options(CONDITIONS, default="the suite's")
#: Rows of games and agents that `plan` prints unless told to print every trial.
_MOST_ROWS = 60


def _complete_suite(incomplete: str) -> list[str]:
    """What a shell offers while a suite is typed; their files are not read before."""
    return completion(shipped_suites())(incomplete)


_Suite = Annotated[
    str,
    typer.Argument(
        help="A suite: smoke, paper, paper-planners, smrf, or a YAML file.", autocompletion=_complete_suite
    ),
]
_Dir = Annotated[Path, typer.Argument(help="The benchmark's directory.")]
_Games = Annotated[str | None, typer.Option("--games", help="Only these games, separated by commas.")]
_Agents = Annotated[str | None, typer.Option("--agents", help="Only these agents of the suite, by their names.")]
_Trials = Annotated[int | None, typer.Option("--trials", help="Override the suite's number of trials.", min=1)]
_Episodes = Annotated[
    int | None, typer.Option("--episodes", help="Override the suite's number of evaluation episodes.", min=1)
]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
_Workers = Annotated[
    int | None,
    typer.Option("--workers", help="Trials that run at once.", min=1, show_default="one per processor core"),
]
_TrialWorkers = Annotated[
    int, typer.Option("--trial-workers", help="Processes that play the episodes of one trial.", min=1)
]
_Executor = Annotated[str, typer.Option("--executor", help="local, or ray for a cluster.")]
_Address = Annotated[
    str | None,
    typer.Option("--address", help="The Ray cluster's address.", show_default="$RAY_ADDRESS, or a local one"),
]


@app.command()
def init(
    file: Annotated[Path, typer.Argument(help="The file to write.")] = Path("suite.yaml"),
    suite: Annotated[
        str | None,
        typer.Option("--from", help="A shipped suite to begin with.", autocompletion=_complete_suite),
    ] = None,
) -> None:
    """Write a commented suite to change to your liking.

    [bold]Example[/]: noveltree benchmark init suite.yaml
    """
    if file.exists():
        raise InputError(f"{file} is there already; choose another name.")
    if suite is None:
        text = TEMPLATE
    else:
        read_suite(suite)  # complains if there is no such suite
        text = shipped_suites().get(suite) or Path(suite).read_text()
    write_atomically(file, text.encode())
    to_plan = shlex.join(["noveltree", "benchmark", "plan", str(file)])
    out.print(f"Suite: {file}. To see what it takes: {to_plan}", soft_wrap=True)


@app.command()
@takes(_CONDITIONS)
def plan(
    suite: _Suite,
    games: _Games = None,
    agents: _Agents = None,
    trials: _Trials = None,
    episodes: _Episodes = None,
    workers: _Workers = None,
    every: Annotated[bool, typer.Option("--all", help="Print every trial.")] = False,
    imports: Import = False,
    json: _Json = False,
    **conditions: Any,
) -> None:
    """Print the trials of a suite and what they take, before anything runs.

    The time is that of this machine, measured now.

    [bold]Example[/]: noveltree benchmark plan paper --workers 80
    """
    wanted = _part(suite, games, agents, trials, episodes, conditions)
    planned = plan_suite(wanted)
    estimates = estimate(planned)
    count = workers or cores()
    total = {
        "interactions": sum(each.interactions for each in estimates),
        "seconds": sum(each.seconds for each in estimates),
        "makespan": makespan([each.seconds for each in estimates], count),
        "bytes": sum(each.size for each in estimates),
    }
    if json:
        rows = [
            {
                "trial": trial.name,
                "agent": trial.label,
                "game": trial.game,
                "seed": trial.seed,
                "protocol_hash": hashed,
                "interactions": each.interactions,
                "seconds": round(each.seconds, 1),
                "bytes": each.size,
            }
            for trial, hashed, each in zip(planned, _hashes(planned), estimates, strict=True)
        ]
        print_json({"suite": wanted.name, "workers": count, **total, "trials": rows})
        return
    out.print(_plan_table(planned, estimates, every=every))
    game_count = len({trial.game for trial in planned})
    out.print(
        f"{counted(len(planned), 'trial')}: {counted(game_count, 'game')} x {counted(len(wanted.agents), 'agent')} "
        f"x {len(wanted.trial_seeds)}, {total['interactions']:,} interactions",
        soft_wrap=True,
    )
    out.print(
        f"Expected: {long_duration(total['seconds'])} of one core; {long_duration(total['makespan'])} with "
        f"{counted(count, 'worker')}; {size(total['bytes'])} of disk",
        soft_wrap=True,
    )


def _hashes(trials: Sequence[PlannedTrial]) -> list[str]:
    """The hashes of the protocols; one is computed once for all trials that share it."""
    hashes = {key: protocol.hash for key, protocol in protocols_of(trials).items()}
    return [hashes[id(trial.protocol)] for trial in trials]


def _plan_table(trials: Sequence[PlannedTrial], estimates: Sequence[Estimate], *, every: bool) -> Table:
    groups: dict[tuple[str, ...], list[int]] = {}
    pairs = {(trial.game, trial.label) for trial in trials}
    all_games = counted(len({game for game, _ in pairs}), "game")
    for number, trial in enumerate(trials):
        if every:
            key: tuple[str, ...] = (trial.game, trial.label, f"{trial.trial} (seed {trial.seed})")
        elif len(pairs) <= _MOST_ROWS:
            key = (trial.game, trial.label)
        else:
            key = (all_games, trial.label)
        groups.setdefault(key, []).append(number)
    last = "trial" if every else "trials"
    listing = table(
        *("game", "agent", last, "episodes", "interactions", "time", "disk"),
        right=("trials", "episodes", "interactions", "time", "disk"),
    )
    for key, numbers in groups.items():
        chosen = [estimates[number] for number in numbers]
        listing.add_row(
            *(key if every else (*key, f"{len(numbers):,}")),
            f"{sum(trials[number].episodes for number in numbers):,}",
            f"{sum(each.interactions for each in chosen):,}",
            long_duration(sum(each.seconds for each in chosen)),
            size(sum(each.size for each in chosen)),
        )
    return listing


@app.command()
@takes(_CONDITIONS)
def run(
    suite: _Suite,
    out_dir: Annotated[Path, typer.Option("--out", help="The benchmark's directory.")],
    workers: _Workers = None,
    trial_workers: _TrialWorkers = 1,
    games: _Games = None,
    agents: _Agents = None,
    trials: _Trials = None,
    episodes: _Episodes = None,
    executor: _Executor = "local",
    address: _Address = None,
    imports: Import = False,
    json: _Json = False,
    **conditions: Any,
) -> None:
    """Run a suite, or what is left of it. Finished trials are not run again; interrupted ones go on.

    Exits with 1 if a trial failed, even after two retries.

    [bold]Examples[/]

      noveltree benchmark run smoke --out smoke

      noveltree benchmark run paper-planners --games breakout,pong --trials 1 --out planners --workers 2

      noveltree benchmark run paper --out /shared/paper --executor ray --address 10.0.0.1:6379
    """
    wanted = _part(suite, games, agents, trials, episodes, conditions)
    where = Where(executor, address, workers, trial_workers)
    planned = plan_suite(wanted)
    need_packages(planned)
    _run(BenchmarkDirectory.create(out_dir, wanted, planned), where, json=json)


@app.command()
@takes(_CONDITIONS)
def register(
    suite: _Suite,
    out_dir: Annotated[Path, typer.Option("--out", help="The benchmark's directory.")],
    games: _Games = None,
    agents: _Agents = None,
    trials: _Trials = None,
    episodes: _Episodes = None,
    imports: Import = False,
    json: _Json = False,
    **conditions: Any,
) -> None:
    """Write down which trials will be run, before any of them is, and print the digest of that: publish it.

    Trials that are left out afterwards, or changed, are then found by noveltree verify.

    [bold]Example[/]: noveltree benchmark register paper-planners --trials 1 --out planners
    """
    wanted = _part(suite, games, agents, trials, episodes, conditions)
    made = register_trials(BenchmarkDirectory.create(out_dir, wanted, plan_suite(wanted)))
    if json:
        print_json(
            {"directory": str(out_dir), "trials": len(made.trials), "date": made.date, "digest": made.digest}
        )
        return
    file = out_dir / REGISTRATION
    out.print(f"{counted(len(made.trials), 'trial')} registered in {file}, digest {made.digest}", soft_wrap=True)


@app.command()
def resume(
    directory: _Dir,
    workers: _Workers = None,
    trial_workers: _TrialWorkers = 1,
    executor: _Executor = "local",
    address: _Address = None,
    imports: Import = False,
    json: _Json = False,
) -> None:
    """Resume a benchmark: the same as running its suite again.

    [bold]Example[/]: noveltree benchmark resume smoke
    """
    _run(_reopen(directory), Where(executor, address, workers, trial_workers), json=json)


@app.command("retry-failed")
def retry_failed(
    directory: _Dir,
    workers: _Workers = None,
    trial_workers: _TrialWorkers = 1,
    executor: _Executor = "local",
    address: _Address = None,
    imports: Import = False,
    json: _Json = False,
) -> None:
    """Retry the trials that failed up to three times, and resume the rest.

    [bold]Example[/]: noveltree benchmark retry-failed smoke
    """
    opened = _reopen(directory)
    with opened.locked():
        for status in opened.statuses():
            if status.state == "failed":
                opened.retry(status)
    _run(opened, Where(executor, address, workers, trial_workers), json=json)


@app.command()
def status(directory: _Dir, json: _Json = False) -> None:
    """How far a benchmark is; failed trials first, with their errors.

    [bold]Example[/]: noveltree benchmark status smoke
    """
    opened = BenchmarkDirectory.open(directory)
    statuses = opened.statuses()
    if json:
        print_json(summary(opened, statuses))
        return
    View(opened, quiet=False).print_status(statuses, running=opened.is_locked)


@app.command()
def collect(
    directories: Annotated[list[Path], typer.Argument(help="Directories of benchmarks.")],
    out_file: Annotated[
        Path | None, typer.Option("--out", help="The table.", show_default="results.csv in the directory")
    ] = None,
    json: _Json = False,
) -> None:
    """Write the episodes of all finished trials as one tidy table: CSV, and Parquet if pyarrow is installed.

    Scores under other conditions are labelled in the column `differs`, and warned about.

    [bold]Example[/]: noveltree benchmark collect smoke
    """
    if out_file is None:
        if len(directories) > 1:
            raise InputError("Where to? Give --out FILE if there are several directories.")
        out_file = directories[0] / RESULTS
    if out_file.suffix != ".csv":
        raise InputError(f"The table is a CSV file (and a Parquet file beside it), not {out_file.name}.")
    if len({directory.resolve() for directory in directories}) < len(directories):
        raise InputError("A directory is given twice.")
    opened = [BenchmarkDirectory.open(directory) for directory in directories]
    check_writable(out_file.parent)
    made = collect_episodes(opened, relative_to=out_file.parent)
    if not made.scores:
        raise InputError("There is nothing to collect: no trial is finished.")
    files = [out_file]
    write_atomically(out_file, made.to_csv().encode())
    if importlib.util.find_spec("pyarrow") is not None:
        files.append(out_file.with_suffix(".parquet"))
        write_atomically(files[-1], made.to_parquet())
    if json:
        print_json(
            {
                "rows": len(made.scores),
                "finished": made.finished,
                "missing": made.missing,
                "warnings": made.warnings,
                "manifests": made.manifests,
                "files": [str(file) for file in files],
            }
        )
        return
    for warning in made.warnings:
        err.print(Text.assemble(("Warning: ", "bold yellow"), warning), soft_wrap=True)
    if made.missing:
        first = ", ".join(made.missing[:3]) + (", ..." if len(made.missing) > 3 else "")
        err.print(
            Text.assemble(
                ("Warning: ", "bold yellow"),
                f"{counted(len(made.missing), 'trial')} not finished, and not in the table: {first}",
            ),
            soft_wrap=True,
        )
    out.print(
        f"{counted(len(made.scores), 'episode')} of {counted(made.finished, 'trial')}: {files[0]}", soft_wrap=True
    )
    for directory, statement in made.manifests.items():
        out.print(f"{directory}: {statement}", soft_wrap=True)


def _run(directory: BenchmarkDirectory, where: Where, *, json: bool) -> None:
    view = View(directory, quiet=json)
    to_resume = ["noveltree", "benchmark", "resume", str(directory.path)]
    statuses = run_in_view(directory, where, view, to_resume=to_resume)
    if json:
        print_json(summary(directory, statuses))
    else:
        view.print_status(statuses, running=False)
    if any(status.state == "failed" for status in statuses):
        raise typer.Exit(1)


def _reopen(path: Path) -> BenchmarkDirectory:
    """The benchmark in a directory, if it would be the same with what is installed now."""
    opened = BenchmarkDirectory.open(path)
    for trial in opened.trials:
        if not opened.is_finished(trial):
            trial.protocol.check_plannable()
    return BenchmarkDirectory.create(path, opened.suite, plan_suite(opened.suite))


def _part(
    name: str,
    games: str | None,
    agents: str | None,
    trials: int | None,
    episodes: int | None,
    conditions: Mapping[str, Any],
) -> Suite:
    suite = read_suite(name)
    chosen = {name: value for name, value in conditions.items() if value is not None}
    if not chosen and (games, agents, trials, episodes) == (None, None, None, None):
        return suite
    for game in _split(games) or ():
        if game not in GAME_SUITES:
            name_game(game)
    return suite.part(
        games=_split(games), agents=_split(agents), trials=trials, episodes=episodes, conditions=chosen
    )


def _split(names: str | None) -> list[str] | None:
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]
