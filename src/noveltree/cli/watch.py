"""`noveltree watch`: see an agent think, in the browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated, Any

import typer

from noveltree.agents import AGENTS
from noveltree.cli.common import Import, need_extra
from noveltree.cli.console import LiveLine, completion, out, size
from noveltree.cli.options import CONDITIONS, PLANNING, protocol_options, takes
from noveltree.cli.render import parse_steps
from noveltree.errors import InputError
from noveltree.protocol import DEFAULT_PRESET, PRESETS, make_protocol
from noveltree.simulators import all_names
from noveltree.trial.playing import choices_of_run, run_to_play
from noveltree.viewer.export import export_page
from noveltree.viewer.recorded import is_recorded, watch_recorded
from noveltree.viewer.watching import Watching


@takes(protocol_options((*CONDITIONS, *PLANNING)))
def watch(
    what: Annotated[
        str,
        typer.Argument(
            help="A game, an episode file, or the directory of a run.",
            autocompletion=completion(all_names()),
            show_default=False,
        ),
    ],
    agent: Annotated[
        str | None,
        typer.Option(
            help="The agent; `noveltree agents` lists them.",
            show_default="riw-c",
            autocompletion=completion(AGENTS),
        ),
    ] = None,
    preset: Annotated[
        str, typer.Option(help="The experimental settings of a paper.", autocompletion=completion(PRESETS))
    ] = DEFAULT_PRESET,
    budget: Annotated[
        int | None, typer.Option(help="Interactions per decision.", show_default="100", min=1)
    ] = None,
    weights: Annotated[
        Path | None, typer.Option(help="The run whose networks an agent that learns plays with.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the agent's random choices.", min=0, max=2**64 - 1)] = 0,
    port: Annotated[
        int | None, typer.Option(help="The port; 0: any that is free.", show_default="8642", min=0, max=65535)
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on; others need --token.")] = "127.0.0.1",
    token: Annotated[
        str | None, typer.Option(help="The secret in the address.", show_default="a new one every time")
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(help="Write one HTML file with the lookaheads instead, to send to somebody.", dir_okay=False),
    ] = None,
    steps: Annotated[
        str | None, typer.Option(help="Export only these decisions, FROM:TO; -100: means the last hundred.")
    ] = None,
    imports: Import = False,
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the address, and open no browser.")] = False,
    **choices: Any,
) -> None:
    """Show an agent's lookaheads in the browser, while it plays or as it played.

    [bold]Examples[/]

      noveltree watch breakout

      noveltree watch qbert --weights runs/qbert-n-cpl-seed0

      noveltree watch episodes/breakout-riw-c-seed0-episode0-....json

      noveltree watch episodes/breakout-....json --export breakout.html --steps 0:100
    """
    if is_recorded(Path(what)):
        chosen = [name for name, value in choices.items() if value is not None]
        if agent is not None or budget is not None or chosen:
            raise InputError("A recorded episode has its own agent and settings; they can be changed on the page.")
        watching = watch_recorded(Path(what), weights=weights)
    else:
        run = run_to_play(weights, agent)
        choices |= {"agent": agent, "budget": budget, "budget_unit": None if budget is None else "interactions"}
        if run is not None:
            choices = choices_of_run(run, what, choices)
        watching = Watching(make_protocol(what, preset=preset, **choices), seed, run=weights)

    if export is not None:
        _export(watching, export, steps)
        return
    if steps is not None:
        raise InputError("--steps says what is exported: give a file with --export.")
    need_extra("Watching", ("starlette", "uvicorn", "websockets"), extra="watch")
    from noveltree.viewer.serve import serve

    def show(address: str) -> None:
        out.print(f"Watch it at {address}", soft_wrap=True)
        out.print("Ctrl-C ends it.")
        if not no_open:
            webbrowser.open(address)

    serve(watching, host=host, port=port, token=token, on_address=show)


def _export(watching: Watching, path: Path, steps: str | None) -> None:
    count = watching.record.episode.steps if watching.record is not None else watching.protocol.max_steps
    with LiveLine() as line:
        export_page(
            watching,
            path,
            steps=parse_steps(steps, count),
            progress=lambda done, total: line.update(f"Planning: decision {done} of {total}"),
        )
    out.print(f"Page: {path} ({size(path.stat().st_size)})", soft_wrap=True)
