"""The command line: one module a command, each of which parses, calls the library and prints."""

from __future__ import annotations

import sys

import typer

from noveltree.cli import agents, bench, doctor, games, play, protocol, render, verify
from noveltree.cli.console import err
from noveltree.errors import NoveltreeError
from noveltree.version import __version__

app = typer.Typer(
    name="noveltree",
    help="Width-based planning over black-box simulators, Atari-2600 first.",
    epilog="Start with: noveltree play breakout",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command()(play.play)
app.command()(games.games)
app.command()(agents.agents)
app.command()(verify.verify)
app.command()(render.render)
app.command()(doctor.doctor)
app.add_typer(protocol.app, name="protocol")
app.add_typer(bench.app, name="bench")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"noveltree {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error. May stand anywhere."),
) -> None:
    pass


def main() -> None:
    """Run the command line; every error on purpose is one sentence and an exit code."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    debug = len(arguments) < len(sys.argv) - 1
    try:
        app(args=arguments, prog_name="noveltree")
    except NoveltreeError as error:
        if debug:
            raise
        err.print(f"[bold red]Error:[/] {_escape(str(error))}", soft_wrap=True)
        sys.exit(error.exit_code)


def _escape(text: str) -> str:
    return text.replace("[", "\\[")
