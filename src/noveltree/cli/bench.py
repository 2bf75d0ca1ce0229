"""`noveltree bench`: measure what planning costs on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noveltree.cli.common import need_extra
from noveltree.cli.console import LiveLine, out, print_json, table
from noveltree.errors import InputError
from noveltree.speed import PlanningCost, measure_planning

app = typer.Typer(
    help="Measure noveltree's own cost on this machine, relative to the raw emulator.", no_args_is_help=True
)


@app.callback()
def _group() -> None:
    pass


@app.command()
def planning(
    games: Annotated[str, typer.Option(help="Games, separated by commas.")] = "breakout,pong,qbert",
    agent: Annotated[str, typer.Option(help="The agent.")] = "riw-c",
    features: Annotated[str | None, typer.Option(help="The feature set.", show_default="pixels")] = None,
    budgets: Annotated[str, typer.Option(help="Budgets, separated by commas.")] = "100",
    steps: Annotated[int, typer.Option(help="Planning steps to measure per game.", min=1)] = 40,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """CPU time of a planning step, as a ratio to as many raw 15-frame emulator calls in the same run.

    [bold]Example[/]: noveltree bench planning --agent riw-d --budgets 100,1000,10000
    """
    listing = table(
        *("game", "budget", "ratio", "quartiles", "us/interaction", "us/raw call", "kB/node"),
        right=("budget", "ratio", "us/interaction", "us/raw call", "kB/node"),
    )

    def add(cost: PlanningCost) -> None:
        listing.add_row(
            *(cost.game, f"{cost.budget:,}", f"{cost.ratio:.3f}", f"{cost.ratio_low:.3f}-{cost.ratio_high:.3f}"),
            *(f"{cost.interaction_us:,.0f}", f"{cost.raw_us:,.0f}", f"{cost.node_bytes / 1000:.1f}"),
        )
        line.update(f"{cost.game}, budget {cost.budget}: {cost.ratio:.3f}")

    with LiveLine(quiet=json) as line:
        result = measure_planning(
            _parse_games(games),
            agent=agent,
            features=features,
            budgets=_parse_budgets(budgets),
            steps=steps,
            on_cost=add,
        )
    if json:
        print_json(result)
        return
    out.print(listing)
    for budget, ratio in result["median_ratio"].items():
        out.print(f"Median over the games with a budget of {int(budget):,}: {ratio:.3f}")


@app.command()
def learning(
    games: Annotated[str, typer.Option(help="Games, separated by commas.")] = "breakout,pong,qbert",
    agent: Annotated[str, typer.Option(help="The agent.")] = "n-cpl",
    episodes_at_once: Annotated[int, typer.Option(help="Episodes at once in (b) and (c).", min=1)] = 32,
    decisions: Annotated[int, typer.Option(help="Decisions of each episode that are measured.", min=1)] = 8,
    lanes: Annotated[int, typer.Option(help="Lanes in (d).", min=1)] = 8,
    workers: Annotated[bool, typer.Option(help="Also measure two worker processes.")] = True,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """CPU time of playing with networks and of learning, as a ratio to as many raw 15-frame emulator calls.

    (a) one episode; (b) several episodes at once; (c) several at once, and learning from them; (d) training in
    lockstep, checkpoints included.

    [bold]Example[/]: noveltree bench learning --games qbert --decisions 16
    """
    need_extra("Measuring learning")
    from noveltree.speed.learning import LearningCost, measure_learning

    listing = table(
        *("game", "(a)", "s/decision", "(b)", "(c)", "(d)", "us/raw call"),
        right=("(a)", "s/decision", "(b)", "(c)", "(d)", "us/raw call"),
    )
    splits = table("of (c)", right=())

    def add(cost: LearningCost) -> None:
        listing.add_row(
            *(cost.game, f"{cost.latency_ratio:.3f}", f"{cost.decision_seconds:.3f}"),
            *(f"{cost.collecting_ratio:.3f}", f"{cost.learning_ratio:.3f}"),
            *(f"{cost.lockstep_ratio:.3f}", f"{cost.raw_us:,.0f}"),
        )
        splits.add_column(cost.game, justify="right")
        line.update(f"{cost.game}: {cost.latency_ratio:.3f} {cost.collecting_ratio:.3f} {cost.learning_ratio:.3f}")

    with LiveLine(quiet=json) as line:
        result = measure_learning(
            _parse_games(games),
            agent=agent,
            episodes_at_once=episodes_at_once,
            decisions=decisions,
            lanes=lanes,
            workers=workers,
            on_cost=add,
        )
    if json:
        print_json(result)
        return
    out.print(listing)
    for part in result["games"][0]["split"]:
        splits.add_row(part, *(f"{cost['split'][part]:.3f}" for cost in result["games"]))
    out.print(splits)
    out.print(
        f"Medians: (a) {result['median_latency_ratio']:.3f}, (b) {result['median_collecting_ratio']:.3f}, "
        f"(c) {result['median_learning_ratio']:.3f}, (d) {result['median_lockstep_ratio']:.3f}; "
        f"peak memory {result['peak_memory_mb']:,} MB"
    )
    if workers:
        out.print(f"Two worker processes collect {result['two_workers']:.2f} times what one does.")


@app.command()
def playing(
    run: Annotated[Path, typer.Argument(help="The run whose networks are played with.")],
    episodes_at_once: Annotated[int, typer.Option(help="Episodes at once.", min=1)] = 32,
    decisions: Annotated[int, typer.Option(help="Decisions of each episode that are measured.", min=1)] = 8,
    warm_up: Annotated[int, typer.Option(help="Decisions of each episode before that.", min=0)] = 20,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """CPU time of playing with a run's networks, as a ratio to as many raw 15-frame emulator calls.

    [bold]Example[/]: noveltree bench playing runs/qbert-vae-iw-seed0 --episodes-at-once 8
    """
    need_extra("Playing with networks", ("onnx", "onnxruntime", "safetensors"))
    from noveltree.records.run_directory import RunDirectory
    from noveltree.speed.learning import measure_playing

    result = measure_playing(
        RunDirectory.open(run), episodes_at_once=episodes_at_once, decisions=decisions, warm_up=warm_up
    )
    if json:
        print_json(result)
        return
    split = ", ".join(f"{part} {ratio:.3f}" for part, ratio in result["split"].items())
    out.print(
        f"{result['game']}, {result['agent']}: one episode {result['latency_ratio']:.3f}, {episodes_at_once} at "
        f"once {result['collecting_ratio']:.3f} ({split}); a raw call takes {result['raw_us']:,.0f} us; peak "
        f"memory {result['peak_memory_mb']:,} MB",
        soft_wrap=True,
    )


def _parse_games(text: str) -> list[str]:
    games = [game.strip() for game in text.split(",") if game.strip()]
    if not games:
        raise InputError(f"Games are names separated by commas, not {text!r}.")
    return games


def _parse_budgets(text: str) -> list[int]:
    try:
        budgets = sorted({int(part) for part in text.split(",")})
    except ValueError:
        raise InputError(f"Budgets are whole numbers separated by commas, not {text!r}.") from None
    if min(budgets) < 1:
        raise InputError(f"A budget must be at least 1 interaction, not {min(budgets)}.")
    return budgets
