"""Locks on directories, which end with the process that holds them, however it ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from noveltree.errors import BusyError, OutputError

LOCK = "lock"
#: How long to wait for a lock: a process that only asks whether something is locked holds it for an instant.
_SECONDS_TO_LOCK = 0.5


@contextlib.contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Be the only process that works on a directory."""
    try:
        handle = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise OutputError(f"Cannot lock {directory}: {error.strerror or error}.") from error
    try:
        try:
            free = _lock(handle)
        except OSError as error:
            raise OutputError(f"Cannot lock {directory}: {error.strerror or error}.") from error
        if not free:
            holder = os.read(handle, 20).decode(errors="replace").strip() or "another one"
            raise BusyError(f"A process is already working on {directory} (process {holder}).")
        with contextlib.suppress(OSError):  # the lock holds on a full disk, too
            os.ftruncate(handle, 0)
            os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(handle)


def is_locked(directory: Path) -> bool:
    """Whether a process is working on a directory."""
    try:
        with (directory / LOCK).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # no process could lock what is not there
        return False
    return False


def _lock(handle: int) -> bool:
    """Lock an open file; False if another process keeps it locked."""
    give_up = time.monotonic() + _SECONDS_TO_LOCK
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > give_up:
                return False
            time.sleep(0.02)
        else:
            return True
