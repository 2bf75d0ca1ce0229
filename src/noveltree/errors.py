"""Everything that noveltree raises on purpose.

    NoveltreeError                  one clear sentence for the person who reads it
    ├── InputError                  what was asked for makes no sense: fix the call
    │   ├── UnknownNameError        no such game, agent, preset or feature set
    │   └── BusyError               another process is at work there
    ├── SimulatorError              the simulator cannot be used, or failed while it was used
    │   ├── NotDeterministicError   the same state and action gave two different transitions
    │   └── NoRoomError             there is no room for a process that simulates
    ├── LearningError               learning went wrong: a loss is not a number
    ├── RecordError                 a file is corrupt, truncated, foreign, or does not replay
    └── OutputError                 something could not be written

The command line prints the sentence and exits with `exit_code`; `--debug` shows the traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

#: What a command that was interrupted exits with.
INTERRUPTED = 130


class NoveltreeError(Exception):
    """Base of all errors that noveltree raises on purpose."""

    exit_code = 1


class InputError(NoveltreeError):
    """What was asked for makes no sense; the message says what was expected."""

    exit_code = 2


class UnknownNameError(InputError):
    """A name that is not known; the message lists the known ones and the closest match."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, hint: str = "") -> None:
        names = sorted(known)
        folded = {known_name.lower(): known_name for known_name in names}
        close = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.6)
        guess = f" Did you mean {folded[close[0]]!r}?" if close else ""
        listing = f" Known: {', '.join(names)}." if len(names) <= 20 else ""
        super().__init__(f"Unknown {kind} {name!r}.{guess}{listing}{' ' + hint if hint else ''}")
        self.kind = kind
        self.name = name


class BusyError(InputError):
    """Another process is at work there."""


class SimulatorError(NoveltreeError):
    """The simulator cannot be used, or failed while it was used."""


class NotDeterministicError(SimulatorError):
    """The same state and action gave two different transitions."""


class NoRoomError(SimulatorError):
    """There is no room for a process that simulates."""


class LearningError(NoveltreeError):
    """Learning went wrong: a loss is not a number."""


class RecordError(NoveltreeError):
    """A file is corrupt, truncated, foreign, or does not replay."""


class OutputError(NoveltreeError):
    """Something could not be written."""
