"""`noveltree train`: train an agent, or go on training it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from noveltree.agents import AGENTS, get_agent
from noveltree.cli.console import LiveLine, completion, duration, err, out, print_json
from noveltree.cli.learning import need_learn_extra
from noveltree.errors import InputError
from noveltree.learning import LearningSettings
from noveltree.protocol import Protocol, make_protocol
from noveltree.simulators.games import all_games

_LEARN = "Learning"
_MACHINE = "This machine"
_INTERRUPTED = 130


def train(
    game: Annotated[
        str | None,
        typer.Argument(
            help="An Atari game in any spelling, a Gymnasium id, or 'corridor'.",
            autocompletion=completion((*all_games(), "corridor")),
        ),
    ] = None,
    agent: Annotated[
        str,
        typer.Option(
            help="n-cpl, n-cpl-d or cpl.",
            autocompletion=completion(name for name, known in AGENTS.items() if known.learns),
        ),
    ] = "n-cpl",
    interactions: Annotated[int, typer.Option(help="Training budget.", min=1)] = 20_000_000,
    interval: Annotated[
        int | None,
        typer.Option(help="Interactions between two updates, about.", show_default="1000000", min=1),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the trial.", min=0, max=2**64 - 1)] = 0,
    out_dir: Annotated[
        Path | None, typer.Option("--out", help="The run's directory.", show_default="runs/GAME-AGENT-seedN")
    ] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the run in this directory.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    workers: Annotated[int, typer.Option(help="Processes that play.", min=1, rich_help_panel=_MACHINE)] = 1,
    episodes_at_once: Annotated[
        int | None,
        typer.Option(
            help="Episodes that a process plays at once.", show_default="16", min=1, rich_help_panel=_MACHINE
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.", rich_help_panel=_MACHINE)] = "cpu",
    budget: Annotated[
        int | None, typer.Option(help="Interactions per decision.", show_default="100", min=1)
    ] = None,
    value_targets: Annotated[
        str, typer.Option(help="paper, lambda-returns or monte-carlo.", rich_help_panel=_LEARN)
    ] = "paper",
    retention: Annotated[
        str, typer.Option(help="Transitions that outlive an interval: paper or latest.", rich_help_panel=_LEARN)
    ] = "paper",
    p_value: Annotated[
        float, typer.Option(help="Below it Welch's test rejects an update.", rich_help_panel=_LEARN)
    ] = 0.1,
    sides: Annotated[str, typer.Option(help="two-sided or one-sided.", rich_help_panel=_LEARN)] = "two-sided",
    evaluation: Annotated[str, typer.Option(help="frozen or continuing.", rich_help_panel=_LEARN)] = "frozen",
    evaluation_episodes: Annotated[
        int, typer.Option(help="Episodes of the evaluation.", min=1, rich_help_panel=_LEARN)
    ] = 10,
) -> None:
    """Train an agent, then evaluate it. Run the same command again to go on after a crash.

    [bold]Examples[/]

      noveltree train qbert --interactions 2000000

      noveltree train breakout --agent n-cpl-d --workers 2 --seed 1

      noveltree train --resume runs/qbert-n-cpl-seed0
    """
    need_learn_extra("Training")
    if resume is not None:
        if game is not None or out_dir is not None:
            raise InputError("With --resume the game and the directory are known: leave them out.")
        from noveltree.records.run_directory import RunDirectory

        run = RunDirectory.open(resume)
        directory, protocol, seed = resume, run.protocol, run.seed
    else:
        if game is None:
            raise InputError("Which game? Give its name, or --resume DIR to go on with a run.")
        if not get_agent(agent).learns:
            learning = ", ".join(name for name, known in AGENTS.items() if known.learns)
            raise InputError(f"{agent} learns nothing; the agents that do are {learning}.")
        settings = _settings(
            schedule={
                "interactions": interactions,
                "interval": 1_000_000 if interval is None else interval,
                "p_value": p_value,
                "sides": sides,
            },
            value={"targets": {"kind": value_targets}},
            retention={"kind": retention},
            evaluation=evaluation,
            evaluation_episodes=evaluation_episodes,
        )
        protocol = make_protocol(game, agent=agent, budget=budget, learning=settings)
        name = protocol.game.replace("/", "-")
        directory = out_dir or Path("runs") / f"{name}-{protocol.agent}-seed{seed}"
    _run(directory, protocol, seed, workers, episodes_at_once, device, json=json)


def _settings(**chosen: Any) -> LearningSettings:
    import pydantic

    try:
        return LearningSettings.model_validate(chosen)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{where}: {first['msg'].lower()}.") from error


def _run(
    directory: Path, protocol: Protocol, seed: int, workers: int, at_once: int | None, device: str, *, json: bool
) -> None:
    from noveltree.trial import EPISODES_AT_ONCE, Watcher
    from noveltree.trial import train as train_in

    assert protocol.learning is not None
    with LiveLine(quiet=json) as line:
        watcher = Watcher(
            progress=lambda progress: line.update(str(progress)),
            metrics=lambda metrics: None if json else err.print(str(metrics)),
            notice=lambda text: err.print(text, soft_wrap=True),
        )
        started = time.monotonic()
        result = train_in(
            directory,
            protocol,
            seed=seed,
            workers=workers,
            episodes_at_once=at_once or EPISODES_AT_ONCE,
            device=device,
            watcher=watcher,
        )
    if json:
        print_json(result)
    else:
        out.print(f"{result['score']} after {duration(time.monotonic() - started)}")
