"""Journals: one JSON object per line; lines are only ever added."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from noveltree.errors import OutputError
from noveltree.records.files import read_json_lines


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
        """All complete events."""
        events = read_json_lines(self.path, parse_constant=_refuse)
        return [event for event in events if isinstance(event, dict)]

    @staticmethod
    def _ends_whole(file: Any) -> bool:
        file.seek(-1, os.SEEK_END)
        return bool(file.read(1) == b"\n")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")
