"""What an audit finds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from noveltree.records.manifest import Checked, Manifest


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not true, or a caveat."""

    file: str
    holds: bool
    sentence: str
    replayed: bool = True
    """Whether an episode was replayed at all: otherwise nothing is known of it."""


class Lack(Finding):
    """Evidence that is not there: what a run has learnt can then be told only by learning it again."""


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found in a directory."""

    checked: Checked
    findings: list[Finding]
    manifest: Manifest
    sample: tuple[int, int] | None = None
    """How many episodes could have been planned again, and how many were drawn, if they were to be."""

    @property
    def holds(self) -> bool:
        return all(finding.holds for finding in self.findings)

    @property
    def episodes(self) -> int:
        return self.checked.episodes


def name_in(directory: Path, path: Path) -> str:
    """What a file is called in an audit of a directory."""
    return path.relative_to(directory).as_posix()
