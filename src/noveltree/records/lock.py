"""Locks on directories, which end with the process that holds them, however it ends.

The directory itself is locked, and the file `lock` in it, which says who holds it. So a file that was deleted lets
nobody in. Where directories cannot be locked, as on some network file systems, the file alone is.
"""

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
    with contextlib.ExitStack() as opened:

        def open_handle(path: Path, flags: int) -> int:
            handle = os.open(path, flags, 0o644)
            opened.callback(os.close, handle)
            return handle

        try:
            handle = open_handle(directory / LOCK, os.O_RDWR | os.O_CREAT)
            free = _lock(handle) and _lock_directory(open_handle(directory, os.O_RDONLY))
        except OSError as error:
            raise OutputError(f"Cannot lock {directory}: {error.strerror or error}.") from error
        if not free:
            holder = os.read(handle, 20).decode(errors="replace").strip() or "another one"
            raise BusyError(f"A process is already working on {directory} (process {holder}).")
        with contextlib.suppress(OSError):  # the lock holds on a full disk, too
            os.ftruncate(handle, 0)
            os.write(handle, f"{os.getpid()}\n".encode())
        yield


def is_locked(directory: Path) -> bool:
    """Whether a process is working on a directory."""
    return any(map(_is_locked, (directory, directory / LOCK)))


def _is_locked(path: Path) -> bool:
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:  # no process could lock what is not there
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # it cannot be locked
        return False
    finally:
        os.close(handle)
    return False


def _lock_directory(handle: int) -> bool:
    """Lock an open directory, if that can be done at all; False if another process keeps it locked."""
    try:
        return _lock(handle)
    except OSError:
        return True


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
