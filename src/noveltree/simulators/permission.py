"""Whose code may be imported: what somebody has named to this process, never what a file names by itself.

Records, runs and suites name simulators too. To import code because a file says so would let whoever wrote the file
run it here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

#: By what may be imported: the directory in which paths, and modules that are not installed, are looked for.
_ALLOWED: dict[str, Path] = {}
_ANYTHING = "*"


def allow_import(name: str = _ANYTHING, *, folder: Path | None = None) -> None:
    """Let this process import the simulator that is called `name`, or any that it meets.

    It is looked for from `folder` on, the current directory by default.
    """
    _ALLOWED.setdefault(name, Path.cwd() if folder is None else folder)


def may_import(name: str) -> bool:
    """Whether this process may import the simulator that is called `name`."""
    return name in _ALLOWED or _ANYTHING in _ALLOWED


def folder_of(name: str) -> Path:
    """From where the simulator that is called `name` is looked for."""
    return _ALLOWED.get(name) or _ALLOWED.get(_ANYTHING) or Path.cwd()


def permissions() -> dict[str, str]:
    """Everything that this process may import, for processes that it starts."""
    return {name: str(folder) for name, folder in _ALLOWED.items()}


def take_over(allowed: Mapping[str, str]) -> None:
    """Let this process import what the one that started it may."""
    for name, folder in allowed.items():
        allow_import(name, folder=Path(folder))


def forbid_imports() -> None:
    """Forget everything that was allowed."""
    _ALLOWED.clear()
