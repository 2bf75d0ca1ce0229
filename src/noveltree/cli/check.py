"""`noveltree check`: is a simulator a function of state and action, and what is it like?"""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Annotated, Any

import typer

from noveltree.cli.console import LiveLine, completion, out, print_json
from noveltree.cli.options import CONDITIONS, protocol_options, takes
from noveltree.protocol import make_protocol
from noveltree.simulators import all_names, check_simulator


@takes(protocol_options(CONDITIONS))
def check(
    game: Annotated[
        str,
        typer.Argument(
            help="An Atari game, a Gymnasium id, `retro:` and a game of stable-retro, or 'corridor'.",
            autocompletion=completion(all_names()),
        ),
    ],
    walks: Annotated[int, typer.Option(help="Random walks, each of which is played three times.", min=1)] = 20,
    length: Annotated[int, typer.Option(help="Actions of a walk at most.", min=1)] = 50,
    seconds: Annotated[
        float, typer.Option(help="About how long it may take; walks are fewer and shorter then.", min=0.0)
    ] = 60.0,
    seed: Annotated[int, typer.Option(help="Seed of the walks.", min=0, max=2**64 - 1)] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    **choices: Any,
) -> None:
    """Check that a simulator is a function of state and action; say what it costs, shows and pays.

    [bold]Examples[/]

      noveltree check CartPole-v1

      noveltree check maze.py:Maze --option size=9
    """
    protocol = make_protocol(game, agent="random", **choices)
    with contextlib.closing(protocol.make_simulator()) as simulator, LiveLine(quiet=json) as line:
        line.update(f"Walking through {protocol.title}")
        checked = check_simulator(simulator, walks=walks, length=length, seed=seed, seconds=seconds)
    if json:
        print_json({"game": protocol.game, **dataclasses.asdict(checked)})
    else:
        out.print(str(checked), soft_wrap=True)
