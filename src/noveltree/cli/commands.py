"""The commands: what they are called, what they are for, and their modules, imported when they are run."""

from __future__ import annotations

import importlib
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from noveltree.cli.interrupts import Interrupts
from noveltree.errors import INTERRUPTED
from noveltree.version import __version__

#: Each is a function or a Typer `app` in the module of the same name.
COMMANDS = {
    "play": "Play a game, print the score, and record the episodes.",
    "watch": "See an agent think, in the browser.",
    "train": "Train an agent, then evaluate it.",
    "evaluate": "Play episodes with the networks that a run has learnt.",
    "runs": "List runs: their state, their progress, their scores.",
    "curve": "Draw the learning curves of runs.",
    "compare": "Compare the scores of agents.",
    "report": "Write a report: tables, statistics, figures.",
    "taxonomy": "Sort games by how much reward feedback they give.",
    "check": "Check a simulator, and say what it is like.",
    "games": "List the Atari games.",
    "agents": "List the agents and their settings.",
    "verify": "Check recorded scores by replaying them.",
    "render": "Make a video of a recorded episode.",
    "doctor": "Check the installation.",
    "protocol": "Show what a score depends on; compare two protocols.",
    "bench": "Measure what planning and learning cost here.",
    "benchmark": "Games x agents x trials: plan, run, collect.",
}


class _Commands(TyperGroup):
    """Lists the commands without importing them."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: TyperCommand(name, help=summary) for name, summary in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, _, rest = super().resolve_command(ctx, args)
        command = name and _load(name)
        ctx.find_object(Interrupts).raise_from_now_on()
        return name, command, rest

    def invoke(self, ctx: Any) -> Any:
        interrupts = ctx.find_object(Interrupts)
        try:
            return super().invoke(ctx)
        except typer.Exit:  # with everything said
            raise
        except BaseException as error:  # when a library is interrupted while it is imported, it may be any
            if not interrupts.came and not isinstance(error, KeyboardInterrupt):
                raise
            interrupts.report()
            raise typer.Exit(INTERRUPTED) from None
        finally:
            interrupts.leave_from_now_on()


def _load(name: str) -> Any:
    module = importlib.import_module(f"noveltree.cli.{name}")
    commands = typer.Typer(rich_markup_mode="rich")
    if hasattr(module, "app"):
        commands.add_typer(module.app, name=name)
    else:
        commands.command(name, cls=getattr(module, "COMMAND", None))(getattr(module, name))
    return get_group(commands).commands[name]


app = typer.Typer(
    name="noveltree",
    cls=_Commands,
    help="Width-based planning and learning over black-box simulators, Atari-2600 first.",
    epilog="Start with: noveltree play breakout",
    context_settings={"help_option_names": ["--help", "-h"]},
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain: rich would have to be loaded to list the commands
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"noveltree {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error. May stand anywhere."),
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)
