"""Interrupts (Ctrl-C and SIGTERM), and the processes that this one starts."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


def unblock() -> None:
    """Receive interrupts, even if the parent process had blocked them."""
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
    from multiprocessing import resource_tracker  # not when the command line starts, which has to be quick

    resource_tracker.ensure_running()  # which unblocks interrupts, if it is started in between
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
    try:
        with held_back():
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def leave_to_parent() -> None:
    """Ignore Ctrl-C: it is for the parent process, which then ends this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    unblock()


@contextlib.contextmanager
def asked_to_stop(can_wait: Callable[[], bool]) -> Iterator[Callable[[], bool]]:
    """Whether an interrupt has come, so that work can be brought to an end before it counts.

    One that comes when nothing `can_wait` counts at once, and so does a second one.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in INTERRUPTS}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def stop(number: int, frame: FrameType | None) -> None:
        restore()
        if can_wait():
            came.append(number)
        else:
            signal.raise_signal(number)

    for number in INTERRUPTS:
        signal.signal(number, stop)
    try:
        yield lambda: bool(came)
    finally:
        restore()
        if came:
            signal.raise_signal(came[0])


def is_loading_code(frame: FrameType | None) -> bool:
    """Whether a module is being imported or a kernel compiled, where an exception does not get through.

    Libraries in C++ abort the process if their import is interrupted; LLVM calls Python back and drops exceptions.
    """
    while frame is not None:
        name = frame.f_code.co_filename
        if name == "<frozen importlib._bootstrap>" or "/llvmlite/binding/" in name:
            return True
        frame = frame.f_back
    return False
