"""The command line: one module a command, each of which parses, calls the library and prints."""

from __future__ import annotations

import os
import sys
import warnings

from noveltree.cli.interrupts import Interrupts
from noveltree.errors import NoveltreeError


def main() -> None:
    """Run the command line; an error that is raised on purpose becomes one sentence and an exit code."""
    interrupts = Interrupts()
    from noveltree.cli.commands import app

    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    debug = len(arguments) < len(sys.argv) - 1
    # Processes that are started import nothing from the current directory: it may hold somebody else's records.
    os.environ["PYTHONSAFEPATH"] = "1"
    warnings.showwarning = _say
    try:
        sys.exit(app(args=arguments, prog_name="noveltree", standalone_mode=False, obj=interrupts))
    except Exception as error:
        if debug:
            _print_traceback(error)
            sys.exit(1)
        sentence, exit_code = _explain(error)
        if sentence:
            from rich.text import Text

            from noveltree.cli.console import err

            err.print(Text.assemble(("Error: ", "bold red"), sentence), soft_wrap=True)
        sys.exit(exit_code)
    finally:
        interrupts.end()


def _say(message: Warning | str, category: object = None, *where: object, **more: object) -> None:
    """A warning as one sentence: whoever uses a command does not look for the line that gave it."""
    from noveltree.cli.console import err

    err.print(f"Warning: {message}", soft_wrap=True)


def _print_traceback(error: Exception) -> None:
    """Python would print what a message quotes of a file as it is."""
    import traceback

    from noveltree.wording import printable

    sys.stderr.write(printable("".join(traceback.format_exception(error)), lines=True))


def _choices(error: Exception) -> str:
    """What may be typed behind an option that came without, if that is one of a few names."""
    from noveltree.cli.options import choices_of

    choices = choices_of(getattr(error, "option_name", ""))
    return f": {', '.join(choices[:-1])} or {choices[-1]}" if choices else ""


def _explain(error: Exception) -> tuple[str, int]:
    """What to print of an error, and what to exit with."""
    import typer

    match error:
        case NoveltreeError():
            return str(error), error.exit_code
        case typer.TyperException():  # of the arguments; without a message, help was printed instead
            message = error.format_message().rstrip(".")
            if message.endswith("requires an argument"):
                message += _choices(error)
            end = "" if message.endswith("?") else "."
            return f"{message}{end} Add --help to see what is possible." if message else "", error.exit_code
        case OSError():
            return f"{error}.", 1
        case _:
            return f"noveltree failed: {type(error).__name__}: {error}. Add --debug to see where, and report it.", 1
