"""Ctrl-C and SIGTERM, from the first import to the last line: one line and exit code 130, never a traceback."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

from noveltree.errors import INTERRUPTED
from noveltree.signals import INTERRUPTS, is_loading_code, unblock

_LINE = "Interrupted.\n"
#: Of a terminal: a live line away, the cursor back.
_CLEAR_LINE = b"\r\x1b[2K\x1b[?25h"


class Interrupts:
    """What an interrupt does to the command line while it runs."""

    def __init__(self) -> None:
        self.came = False
        """Whether a command was interrupted."""
        self._heed(self._leave)
        unblock()

    def raise_from_now_on(self) -> None:
        """A command runs, and has to end carefully. Impatient further interrupts do not disturb its ending."""
        self._heed(self._interrupt)

    def leave_from_now_on(self) -> None:
        """Nothing can be lost any more: an interrupt ends the process at once."""
        self._heed(self._leave)

    def end(self) -> None:
        """Heed nothing any more: all is done and said, and only Python's own ending remains."""
        self._heed(signal.SIG_IGN)
        # Python ends itself with SIGINT, whatever the exit code, if the last string that was executed was
        # interrupted, as when a named tuple is made.
        exec("")

    def report(self) -> None:
        """Print the one line of an interrupted command that has nothing to say itself."""
        sys.stderr.write(_LINE)

    def _heed(self, handler: Callable[[int, FrameType | None], None] | signal.Handlers) -> None:
        for number in INTERRUPTS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as it is in background jobs
                signal.signal(number, handler)

    def _leave(self, number: int, frame: FrameType | None) -> None:
        if os.isatty(1):
            os.write(1, _CLEAR_LINE)
        os.write(2, _LINE.encode())  # past sys.stderr, which may be in the middle of a line
        os._exit(INTERRUPTED)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if is_loading_code(frame):  # late imports are those of runs that can be resumed
            self._leave(number, frame)
        self.came = True
        self._heed(signal.SIG_IGN)
        raise KeyboardInterrupt
