"""Everything that records do to a disk, one operation at a time.

No other module of `records/` writes, renames or removes a file, but for locks. So whoever watches sees every
operation before it is done, and may write it down, refuse it with an OSError, or end the process there: tests crash
at each of them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal[
    "read",
    "make directory",
    "create",
    "append to",
    "write",
    "cut",
    "sync",
    "rename",
    "remove",
    "remove directory",
    "sync directory",
]


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that is about to be done."""

    kind: Kind
    path: Path
    data: bytes = b""
    """What is written."""
    size: int = 0
    """To which a file is cut."""
    to: Path | None = None
    """The new name."""


Watcher = Callable[[Operation], None]
_watchers: list[Watcher] = []


@contextlib.contextmanager
def watched(before: Watcher) -> Iterator[None]:
    """Have `before` called with each operation before it is done."""
    _watchers.append(before)
    try:
        yield
    finally:
        _watchers.remove(before)


def _announce(operation: Operation) -> None:
    for watcher in _watchers:
        watcher(operation)


class File:
    """A file that is written to, from its end on."""

    def __init__(self, path: Path, flags: int) -> None:
        self._path = path
        self.handle = os.open(path, flags | os.O_CLOEXEC, 0o644)

    def write(self, data: bytes) -> None:
        _announce(Operation("write", self._path, data))
        left = memoryview(data)
        while left:  # a disk that fills up takes a part first
            left = left[os.write(self.handle, left) :]

    def cut(self, size: int) -> None:
        """Drop what is after the first `size` bytes."""
        _announce(Operation("cut", self._path, size=size))
        os.ftruncate(self.handle, size)

    def sync(self) -> None:
        """Flush what was written to the disk."""
        _announce(Operation("sync", self._path))
        os.fsync(self.handle)

    def __enter__(self) -> File:
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self.handle)


def create(path: Path) -> File:
    """Make a new file; FileExistsError if there is one."""
    _announce(Operation("create", path))
    return File(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)


def append_to(path: Path) -> File:
    """Open a file to write to its end; it need not exist."""
    _announce(Operation("append to", path))
    return File(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def read(path: Path, *, most: int | None = None) -> bytes:
    """What is in a file; if it is more than `most` bytes, only one more than these."""
    _announce(Operation("read", path))
    with path.open("rb") as file:
        return file.read(-1 if most is None else most + 1)


def rename(path: Path, to: Path) -> None:
    """Give a file or a directory another name, whatever had that name before."""
    _announce(Operation("rename", path, to=to))
    path.replace(to)


def remove(path: Path) -> None:
    _announce(Operation("remove", path))
    path.unlink()


def make_directory(path: Path) -> None:
    """Make a directory whose parent exists; FileExistsError if there is something."""
    _announce(Operation("make directory", path))
    path.mkdir()


def remove_tree(path: Path) -> None:
    """Remove a directory with all that is in it; what a link leads to stays."""
    for entry in sorted(path.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            remove_tree(entry)
        else:
            remove(entry)
    _announce(Operation("remove directory", path))
    path.rmdir()


def sync_directory(path: Path) -> None:
    """Flush the names in a directory to the disk."""
    _announce(Operation("sync directory", path))
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
