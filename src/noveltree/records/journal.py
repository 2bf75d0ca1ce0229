"""Journals: one JSON object per line, which are only ever added."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from noveltree.errors import OutputError, RecordError


class Journal:
    """What happened, in the order in which it did. One process at a time writes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, event: dict[str, Any]) -> None:
        """Add an event; when this returns it is on the disk."""
        try:
            with self.path.open("ab+") as file:
                line = json.dumps(event).encode() + b"\n"
                if file.tell() and not self._ends_whole(file):  # the last writer was killed in the middle
                    line = b"\n" + line
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise OutputError(f"Cannot write {self.path}: {error.strerror or error}.") from error

    def read(self) -> list[dict[str, Any]]:
        """All events that were written whole."""
        try:
            data = self.path.read_bytes() if self.path.exists() else b""
        except OSError as error:
            raise RecordError(f"Cannot read {self.path}: {error.strerror or error}.") from error
        events = []
        for line in data.splitlines():
            with contextlib.suppress(ValueError):  # one that was cut off, or damaged
                event = json.loads(line, parse_constant=_refuse)
                if isinstance(event, dict):
                    events.append(event)
        return events

    @staticmethod
    def _ends_whole(file: Any) -> bool:
        file.seek(-1, os.SEEK_END)
        return bool(file.read(1) == b"\n")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")
