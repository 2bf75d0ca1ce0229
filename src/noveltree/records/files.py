"""Writing files so that a crash at any instant leaves the old file or the new one, never half of one."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import itertools
import json
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from noveltree.errors import OutputError, RecordError
from noveltree.records import disk
from noveltree.records.parsing import LARGEST_FILE, parse_json

#: Bytes that must fit before work is begun whose result is to be written.
_ROOM = 2**16
#: What a file is called until it is whole. Its writer holds a lock on it.
_UNFINISHED = re.compile(r"\..+\.[0-9a-f]{8}\.unfinished")


def write_atomically(path: Path, data: bytes) -> None:
    """Write to a temporary file in the same directory, flush it to the disk, and rename it."""
    try:
        make_directory(path.parent)
        temporary, file = _create_unfinished(path)
        try:
            with file:
                file.write(data)
                file.sync()
                disk.rename(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                disk.remove(temporary)
            raise
        disk.sync_directory(path.parent)
    except OSError as error:
        raise OutputError(f"Cannot write {path}: {error.strerror or error}.") from error


def write_quickly(path: Path, data: bytes) -> None:
    """Write what is useful for a moment only: readers see the old or the new, and a crash may lose it.

    If it cannot be written, it is skipped.
    """
    with contextlib.suppress(OSError):
        temporary, file = _create_unfinished(path)
        with file:
            file.write(data)
            disk.rename(temporary, path)


def check_writable(directory: Path) -> None:
    """Raise OutputError if nothing can be written to `directory`, before the work is done rather than after.

    What writers that were killed left there is removed.
    """
    try:
        make_directory(directory)
        sweep(directory.iterdir())
        temporary, file = _create_unfinished(directory / "room")
        try:
            with file:
                file.write(bytes(_ROOM))  # a full disk has room for an empty file
        finally:
            disk.remove(temporary)
    except OSError as error:
        raise OutputError(f"Cannot write to {directory}: {error.strerror or error}.") from error


def make_directory(directory: Path) -> None:
    """Make a directory and its parents, and flush their names to the disk; it may exist already."""
    missing = list(itertools.takewhile(lambda each: not each.is_dir(), (directory, *directory.parents)))
    for each in reversed(missing):
        try:
            disk.make_directory(each)
        except FileExistsError as error:
            if each.is_dir():  # another process was faster
                continue
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(each)) from error
        disk.sync_directory(each.parent)


def sync_tree(directory: Path) -> None:
    """Flush all names in a directory and below, and its own: whoever made them may have been killed before."""
    made = [Path(place) for place, _, _ in os.walk(directory)]
    device = directory.stat().st_dev
    above = itertools.takewhile(lambda each: each.stat().st_dev == device, directory.resolve().parents)
    for each in (*above, *made):
        with contextlib.suppress(PermissionError):  # of others, who made it
            disk.sync_directory(each)


def sweep(paths: Iterator[Path]) -> None:
    """Remove those files among `paths` that writers left unfinished who were killed."""
    for path in paths:
        if not is_unfinished(path):
            continue
        with contextlib.suppress(OSError), path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # if its writer lives, it has the lock
            disk.remove(path)


def is_unfinished(path: Path) -> bool:
    """Whether a file has the name of one that is being written, or was."""
    return _UNFINISHED.fullmatch(path.name) is not None and path.is_file()


def _create_unfinished(path: Path) -> tuple[Path, disk.File]:
    """A new file, locked, which is to be renamed to `path`."""
    while True:
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.unfinished")
        file = disk.create(temporary)
        try:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(file.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(file.handle).st_nlink:
                    return temporary, file
        except OSError:  # nobody can lock anything here, so that nobody sweeps either
            return temporary, file
        with file:  # somebody swept it before it was locked
            pass


def checksum(content: dict[str, Any]) -> str:
    """The SHA-256 digest of a JSON object without its own checksum, whatever the order of its keys."""
    rest = {key: value for key, value in content.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def file_digest(path: Path) -> str:
    """The SHA-256 digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_json(file: Path) -> dict[str, Any]:
    """Read a JSON object from a file; raise RecordError if it is anything else."""
    try:
        content = parse_json(disk.read(file, most=LARGEST_FILE))
    except OSError as error:
        raise RecordError(f"Cannot read {file}: {error.strerror or error}.") from error
    except ValueError as error:
        raise RecordError(f"{file} is damaged: {error}.") from error
    if not isinstance(content, dict):
        raise RecordError(f"{file} is damaged: it is not a JSON object.")
    return content


def numbered(path: Path) -> Iterator[Path]:
    """`path`, `path-2`, `path-3`, ...: the names of files that would all be called the same."""
    yield path
    for number in itertools.count(2):
        yield path.with_name(f"{path.stem}-{number}{path.suffix}")
