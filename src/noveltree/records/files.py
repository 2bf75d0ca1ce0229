"""Writing files so that a crash at any instant leaves the old file or the new one, never half of one."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from noveltree.errors import OutputError, RecordError

#: Bytes that must fit before work is begun whose result is to be written.
_ROOM = 2**16


def write_atomically(path: Path, data: bytes) -> None:
    """Write to a temporary file in the same directory, flush it to the disk, and rename it."""
    try:
        make_directory(path.parent)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(0o644)
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        sync_directory(path.parent)
    except OSError as error:
        raise OutputError(f"Cannot write {path}: {error.strerror or error}.") from error


def write_quickly(path: Path, data: bytes) -> None:
    """Write what is useful for a moment only: readers see the old or the new, and a crash may lose it.

    If it cannot be written, it is skipped.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        temporary.write_bytes(data)
        temporary.replace(path)


def sync_directory(directory: Path) -> None:
    """Flush the names in a directory to the disk."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_directory(directory: Path) -> None:
    """Make a directory and its parents; it may exist already."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:  # a file of that name
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(directory)) from error


def checksum(content: dict[str, Any]) -> str:
    """The SHA-256 digest of a JSON object without its own checksum, whatever the order of its keys."""
    rest = {key: value for key, value in content.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def file_digest(path: Path) -> str:
    """The SHA-256 digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def parse_json(data: bytes | str, *, parse_constant: Callable[[str], Any] | None = None) -> Any:
    """A value from JSON; raise ValueError if an object has a name twice, of which readers see one or the other."""
    return json.loads(data, object_pairs_hook=_object, parse_constant=parse_constant)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a name is there twice")
    return content


def read_json(file: Path) -> dict[str, Any]:
    """Read a JSON object from a file; raise RecordError if it is anything else."""
    try:
        content = parse_json(file.read_bytes())
    except OSError as error:
        raise RecordError(f"Cannot read {file}: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{file} is damaged: it is not valid JSON, or has a name twice.") from error
    if not isinstance(content, dict):
        raise RecordError(f"{file} is damaged: it is not a JSON object.")
    return content


def read_json_lines(
    file: Path,
    *,
    beginning: bytes = b"",
    having: bytes = b"",
    parse_constant: Callable[[str], Any] | None = None,
) -> list[Any]:
    """The values on the lines of a file, which need not exist; lines that were cut off are skipped.

    So are lines that do not start with `beginning` or do not have `having` in them, without parsing them.
    """
    try:
        data = file.read_bytes() if file.exists() else b""
    except OSError as error:
        raise RecordError(f"Cannot read {file}: {error.strerror or error}.") from error
    values = []
    for line in data.splitlines():
        if not line.startswith(beginning) or having not in line:
            continue
        with contextlib.suppress(ValueError):
            values.append(parse_json(line, parse_constant=parse_constant))
    return values


def check_writable(directory: Path) -> None:
    """Raise OutputError if nothing can be written to `directory`, before the work is done rather than after."""
    try:
        make_directory(directory)
        with tempfile.TemporaryFile(dir=directory) as file:
            file.write(bytes(_ROOM))  # a full disk has room for an empty file
            file.flush()
    except OSError as error:
        raise OutputError(f"Cannot write to {directory}: {error.strerror or error}.") from error


def numbered(path: Path) -> Iterator[Path]:
    """`path`, `path-2`, `path-3`, ...: the names of files that would all be called the same."""
    yield path
    for number in itertools.count(2):
        yield path.with_name(f"{path.stem}-{number}{path.suffix}")
