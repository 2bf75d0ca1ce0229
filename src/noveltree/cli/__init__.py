"""The command line: one module a command, each of which parses, calls the library and prints."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

import typer
from rich.text import Text

from noveltree.cli import (
    agents,
    bench,
    benchmark,
    compare,
    curve,
    doctor,
    evaluate,
    games,
    play,
    protocol,
    render,
    report,
    runs,
    taxonomy,
    train,
    verify,
)
from noveltree.cli.console import err
from noveltree.errors import NoveltreeError
from noveltree.version import __version__

app = typer.Typer(
    name="noveltree",
    help="Width-based planning and learning over black-box simulators, Atari-2600 first.",
    epilog="Start with: noveltree play breakout",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command()(play.play)
app.command()(train.train)
app.command()(evaluate.evaluate)
app.command()(runs.runs)
app.command()(curve.curve)
app.command()(compare.compare)
app.command()(report.report)
app.command()(taxonomy.taxonomy)
app.command()(games.games)
app.command()(agents.agents)
app.command()(verify.verify)
app.command()(render.render)
app.command()(doctor.doctor)
app.add_typer(protocol.app, name="protocol")
app.add_typer(bench.app, name="bench")
app.add_typer(benchmark.app, name="benchmark")


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
    signal.signal(signal.SIGTERM, _interrupt)
    # Processes that are started import nothing from the current directory: it may hold somebody else's records.
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        sys.exit(app(args=arguments, prog_name="noveltree", standalone_mode=False))
    except Exception as error:
        if debug:
            raise
        sentence, exit_code = _explain(error)
        if sentence:
            err.print(Text.assemble(("Error: ", "bold red"), sentence), soft_wrap=True)
        sys.exit(exit_code)


def _explain(error: Exception) -> tuple[str, int]:
    """What to print of an error, and what to exit with."""
    match error:
        case NoveltreeError():
            return str(error), error.exit_code
        case typer.TyperException():  # of the arguments; without a message, help was printed instead
            complaint = error.format_message().rstrip(".")
            end = "" if complaint.endswith("?") else "."
            return f"{complaint}{end} Add --help to see what is possible." if complaint else "", error.exit_code
        case OSError():
            return f"{error}.", 1
        case _:
            return f"noveltree failed: {type(error).__name__}: {error}. Add --debug to see where, and report it.", 1


def _interrupt(signum: int, frame: FrameType | None) -> None:
    """Being terminated is being interrupted: what was played is written."""
    raise KeyboardInterrupt
