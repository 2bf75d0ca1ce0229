"""Interrupts (Ctrl-C and SIGTERM), and the processes that this one starts."""

from __future__ import annotations

import contextlib
import multiprocessing.resource_tracker
import signal
import threading
from collections.abc import Iterator

INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


def unblock() -> None:
    """Hear interrupts, even if whoever started this process had blocked them."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """Let no interrupt cut off what is being done; one that comes meanwhile counts afterwards."""
    if threading.current_thread() is not threading.main_thread():  # which is never interrupted
        yield
        return
    came: list[int] = []
    before = {number: signal.signal(number, lambda number, _: came.append(number)) for number in INTERRUPTS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


@contextlib.contextmanager
def starting_processes() -> Iterator[None]:
    """Start processes whole, and deaf to interrupts until they call `leave_to_parent`."""
    multiprocessing.resource_tracker.ensure_running()  # which unblocks interrupts, if it is started in between
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
    try:
        with held_back():
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def leave_to_parent() -> None:
    """Ignore Ctrl-C, which the process that has started this one heeds, and then ends this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    unblock()
