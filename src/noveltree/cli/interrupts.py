"""Ctrl-C and SIGTERM, from the first import to the last line: one line and exit code 130, never a traceback."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from types import FrameType

from noveltree.errors import INTERRUPTED

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_LINE = "Interrupted.\n"
_Handler = Callable[[int, FrameType | None], None] | signal.Handlers


def heed(handler: _Handler) -> None:
    """Let `handler` answer both signals, but for one that is ignored, as in background jobs.

    A mask that was inherited is lifted: neither this process nor those that it starts are to be deaf.
    """
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def leave(number: int, frame: FrameType | None) -> None:
    """End the process at once: while modules are imported, and at the end, there is nothing to lose."""
    os.write(2, _LINE.encode())  # past sys.stderr, which may be in the middle of a line
    os._exit(INTERRUPTED)


def interrupt(number: int, frame: FrameType | None) -> None:
    """Being terminated is being interrupted: what was played is written."""
    raise KeyboardInterrupt


def tell() -> None:
    """The one line of an interrupted command that has nothing to say itself."""
    sys.stderr.write(_LINE)
    sys.stderr.flush()


@contextlib.contextmanager
def interruptible_once() -> Iterator[None]:
    """Let an impatient second Ctrl-C not disturb the ending that the first one led to, until the process ends."""
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    interrupted = False

    def interrupt_once(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        heed(signal.SIG_IGN)
        raise KeyboardInterrupt

    heed(interrupt_once)
    try:
        yield
    finally:
        if not interrupted:
            _restore(before)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Let an impatient second Ctrl-C not cut off the writing that the first one led to."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _SIGNALS}
    try:
        yield
    finally:
        _restore(before)


def _restore(handlers: dict[signal.Signals, _Handler | int | None]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
