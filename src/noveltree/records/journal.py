"""Journals: one JSON object per line; lines are only ever added.

Each line ends with a checksum of the whole file up to there, so that it is noticed when lines were changed, dropped
or moved. Older journals have lines without: where one has a checksum, all after it must.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from noveltree.errors import OutputError, RecordError
from noveltree.records import disk
from noveltree.records.parsing import parse_json

_BEGINNING = b'{"event": "'
_CHECKSUM = b', "checksum": "'
_DIGITS = 16
_END = len(_CHECKSUM) + _DIGITS + len(b'"}\n')


class Journal:
    """What happened, in the order in which it did. One process at a time writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._written: _Reading | None = None
        """What the file has, as far as this process knows."""
        self._named = False
        """Whether its name is on the disk."""

    @property
    def size(self) -> int:
        """Of all whole lines, in bytes."""
        return self._known().size

    @property
    def checksum(self) -> str:
        """Of all whole lines."""
        return self._known().checksum()

    def add(self, event: dict[str, Any]) -> None:
        """Add an event; a crash may lose it until `sync` has returned."""
        known = self._known()
        content = json.dumps(event).encode().removesuffix(b"}")
        digest = known.digest.copy()
        digest.update(content)
        line = content + _CHECKSUM + digest.hexdigest()[:_DIGITS].encode() + b'"}\n'
        try:
            with disk.append_to(self.path) as file:
                file.write(line)
        except OSError as error:
            self._written = None  # perhaps a part of it was
            raise OutputError(f"Cannot write {self.path}: {error.strerror or error}.") from error
        known.add(line)

    def sync(self) -> None:
        """When this returns, all that was added is on the disk."""
        if not self.path.exists():
            return
        try:
            with disk.append_to(self.path) as file:
                file.sync()
            if not self._named:
                disk.sync_directory(self.path.parent)
                self._named = True
        except OSError as error:
            raise OutputError(f"Cannot write {self.path}: {error.strerror or error}.") from error

    def cut(self, size: int, checksum: str | None = None) -> None:
        """Drop what is after the first `size` bytes; raise RecordError if these are not what they were."""
        reading = _Reading(self.path, self._read())
        for _ in reading.lines(until=size):
            pass
        if reading.size != size or checksum not in (None, reading.checksum()):
            raise RecordError(
                f"{self.path} is not what it was when the checkpoint was written to which its first {size:,} bytes "
                "belong. Put it back from a copy, or begin anew in another directory."
            )
        self._cut_to(reading)

    def read(
        self, event: str | None = None, *, having: str = "", parse_constant: Callable[[str], Any] | None = None
    ) -> list[Any]:
        """All whole lines; or only those of one event, or with a name in them, which is faster.

        Raise RecordError if one was changed.
        """
        found = []
        beginning = _BEGINNING if event is None else _BEGINNING + f'{event}"'.encode()
        name = f'"{having}": '.encode() if having else b""
        for line in _Reading(self.path, self._read()).lines():
            if line.startswith(_BEGINNING) and (not line.startswith(beginning) or name not in line):
                continue  # by the layout in which lines are written here, without parsing them
            try:
                content = parse_json(line, parse_constant=parse_constant)
            except ValueError:  # of a writer that was killed, before journals had checksums
                continue
            if isinstance(content, dict):
                content.pop("checksum", None)
                if event not in (None, content.get("event")) or (having and having not in content):
                    continue
            found.append(content)
        return found

    def _known(self) -> _Reading:
        """What is in the file, which nobody else writes now; half a line at its end is cut off."""
        size = self.path.stat().st_size if self.path.exists() else 0
        if self._written is None or self._written.size != size:
            reading = _Reading(self.path, self._read())
            for _ in reading.lines():
                pass
            self._cut_to(reading)
        assert self._written is not None
        return self._written

    def _cut_to(self, reading: _Reading) -> None:
        """Drop what was not read."""
        if reading.size < len(reading.data):
            try:
                with disk.append_to(self.path) as file:
                    file.cut(reading.size)
            except OSError as error:
                raise OutputError(f"Cannot write {self.path}: {error.strerror or error}.") from error
        reading.data = b""
        self._written = reading

    def _read(self) -> bytes:
        try:
            return disk.read(self.path) if self.path.exists() else b""
        except OSError as error:
            raise RecordError(f"Cannot read {self.path}: {error.strerror or error}.") from error


class _Reading:
    """Whole lines of a journal, and the digest of all that was read."""

    def __init__(self, path: Path, data: bytes) -> None:
        self._path = path
        self.data = data
        self.size = 0
        self.digest = hashlib.sha256()
        self._checked = False
        """Whether lines have checksums from here on."""

    def checksum(self) -> str:
        return self.digest.hexdigest()[:_DIGITS]

    def lines(self, *, until: int | None = None) -> Iterator[bytes]:
        """The lines, each checked; a last one that does not fit is none: whoever wrote it was killed."""
        data, number = self.data, 0
        while (end := data.find(b"\n", self.size, until) + 1) > 0:
            line, number = data[self.size : end], number + 1
            split = len(line) - _END
            checked = split > 0 and line[split : split + len(_CHECKSUM)] == _CHECKSUM
            digest = self.digest.copy()
            digest.update(line[:split] if checked else line)
            fits = not self._checked
            if checked:
                fits = line[split + len(_CHECKSUM) : -len(b'"}\n')] == digest.hexdigest()[:_DIGITS].encode()
                digest.update(line[split:])
            if not fits and data.find(b"\n", end, until) < 0:
                return
            if not fits:
                raise RecordError(f"{self._path} was changed after it was written: line {number} does not fit.")
            self.digest, self._checked, self.size = digest, checked, end
            yield line

    def add(self, line: bytes) -> None:
        """Take in a line that was written."""
        self.digest.update(line)
        self.size += len(line)
