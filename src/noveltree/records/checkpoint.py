"""Checkpoints: arrays and a state, written so that a crash at any instant leaves an intact one behind.

A checkpoint is a directory with `arrays.safetensors` and `state.json`, which holds the digest of the former and its
own. It is written under another name, flushed to the disk and renamed; the last two are kept, and when the newest
is damaged the one before is used.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noveltree.errors import OutputError, RecordError
from noveltree.records import disk
from noveltree.records.files import checksum, make_directory
from noveltree.records.parsing import LARGEST_FILE, parse_json

_ARRAYS, _STATE = "arrays.safetensors", "state.json"
_KEPT = 2
#: Free space that must be left when a checkpoint is written.
_RESERVE = 16 * 2**20

Arrays = dict[str, NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Named arrays, and everything else as JSON."""

    arrays: Arrays
    state: dict[str, Any]
    number: int | None = None
    """Once it was written."""


def write_checkpoint(directory: Path, number: int, checkpoint: Checkpoint) -> None:
    """Write the checkpoint with this number into `directory`, and delete all but the last two."""
    import safetensors.numpy  # of the extra `learn`; listing runs does not need it

    arrays = safetensors.numpy.save({name: np.ascontiguousarray(a) for name, a in checkpoint.arrays.items()})
    state = {"number": number, "arrays": hashlib.sha256(arrays).hexdigest(), "state": checkpoint.state}
    content = json.dumps({**state, "checksum": checksum(state)}, indent=1).encode()
    try:
        make_directory(directory)
        check_space(directory, len(arrays) + len(content))
        _remove_temporaries(directory)
        temporary = directory / f".{secrets.token_hex(4)}"
        try:
            disk.make_directory(temporary)
            for name, data in ((_ARRAYS, arrays), (_STATE, content)):
                with disk.create(temporary / name) as file:
                    file.write(data)
                    file.sync()
            disk.sync_directory(temporary)
            final = directory / _name(number)
            if final.exists():  # a damaged one that was written before
                disk.remove_tree(final)
            disk.rename(temporary, final)
        except BaseException:
            with contextlib.suppress(OSError):
                disk.remove_tree(temporary)
            raise
        disk.sync_directory(directory)
    except OSError as error:
        raise OutputError(f"Cannot write a checkpoint to {directory}: {error.strerror or error}.") from error
    for old in sorted(_numbers(directory))[:-_KEPT]:
        with contextlib.suppress(OSError):
            disk.remove_tree(directory / _name(old))


def read_latest_checkpoint(directory: Path) -> tuple[Checkpoint | None, list[str]]:
    """The newest intact checkpoint (None if there never was one), and what is wrong with newer ones."""
    problems: list[str] = []
    for number in sorted(_numbers(directory), reverse=True):
        try:
            return read_checkpoint(directory / _name(number)), problems
        except RecordError as error:
            problems.append(str(error))
    if problems:
        raise RecordError(f"No intact checkpoint is left. {' '.join(problems)}")
    return None, []


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint; raise RecordError if any bit of it has changed."""
    import safetensors
    import safetensors.numpy

    try:
        content = parse_json(disk.read(path / _STATE, most=LARGEST_FILE))
        arrays = disk.read(path / _ARRAYS)
    except OSError as error:
        raise RecordError(f"Cannot read the checkpoint {path}: {error.strerror or error}.") from error
    except ValueError as error:
        raise RecordError(f"The checkpoint {path} is damaged: {_STATE} cannot be read, for {error}.") from error
    if not isinstance(content, dict) or content.get("checksum") != checksum(content):
        raise RecordError(f"The checkpoint {path} is damaged: the checksum of {_STATE} does not fit.")
    if content.get("arrays") != hashlib.sha256(arrays).hexdigest():
        raise RecordError(f"The checkpoint {path} is damaged: the checksum of {_ARRAYS} does not fit.")
    try:
        named = dict(safetensors.numpy.load(arrays))
    except (safetensors.SafetensorError, ValueError, LookupError, TypeError) as error:
        raise RecordError(f"The checkpoint {path} is damaged: {_ARRAYS} has no arrays ({error}).") from error
    if not isinstance(content.get("state"), dict):
        raise RecordError(f"The checkpoint {path} is damaged: {_STATE} has no state.")
    return Checkpoint(named, content["state"], content.get("number"))


def checkpoint_paths(directory: Path) -> list[Path]:
    """The checkpoints in a directory, the oldest first."""
    return [directory / _name(number) for number in sorted(_numbers(directory))]


def check_space(directory: Path, size: int) -> None:
    """Raise OutputError if there is no room for `size` more bytes, before any of them is written."""
    free = shutil.disk_usage(directory).free
    if free < size + _RESERVE:
        raise OutputError(
            f"There is not enough space on the disk of {directory}: {(size + _RESERVE) / 1e6:,.0f} MB are needed, "
            f"{free / 1e6:,.0f} MB are free."
        )


def _name(number: int) -> str:
    return f"{number:06}"


def _numbers(directory: Path) -> list[int]:
    if not directory.is_dir():
        return []
    numbers = {path.name: int(path.name) for path in directory.iterdir() if path.name.isdecimal() and path.is_dir()}
    return [number for name, number in numbers.items() if name == _name(number)]


def _remove_temporaries(directory: Path) -> None:
    """What a process that was killed left behind."""
    for path in directory.iterdir():
        if path.name.startswith("."):
            with contextlib.suppress(OSError):
                disk.remove_tree(path)
