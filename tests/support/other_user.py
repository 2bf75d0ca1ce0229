"""Somebody who may read what is installed here, and write none of it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import noveltree

_NOBODY = 65534
#: To read through directories that are root's alone, such as the one that Python itself may be in.
_READ_ALL = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")


@contextmanager
def read_only_package() -> Iterator[Path]:
    """A directory that anybody can read and nobody can write, with the package in it as it was installed."""
    with TemporaryDirectory() as directory:
        place = Path(directory)
        package = Path(noveltree.__file__).parent
        shutil.copytree(package, place / "noveltree", ignore=shutil.ignore_patterns("__pycache__"))
        _set_mode(place, file=0o444, directory=0o555)
        try:
            yield place
        finally:
            _set_mode(place, file=0o644, directory=0o755)


@contextmanager
def own_directory() -> Iterator[Path]:
    """A directory that is this other user's, and nobody else's."""
    with TemporaryDirectory() as directory:
        if os.geteuid() == 0:
            os.chown(directory, _NOBODY, _NOBODY)
        yield Path(directory)


def without_a_home(*command: object, cwd: Path, package: Path, temporary: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as a user who has no home and can write nothing but `cwd` and `temporary`."""
    environment = {
        "HOME": "/nonexistent",
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(package),
        "TMPDIR": str(temporary),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    words = [*_as_somebody_else(), *map(str, command)]
    return subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120)


def _as_somebody_else() -> list[str]:
    """Root writes what is read-only, so that it has to become somebody else; everybody else stays who they are."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root can write everything, and there is no setpriv to become somebody else")
    return ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", *_READ_ALL]


def _set_mode(place: Path, *, file: int, directory: int) -> None:
    for path in (place, *place.rglob("*")):
        path.chmod(directory if path.is_dir() else file)
