"""Compiled kernels: where their machine code is kept, and that playing does not depend on that."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core.caching import FunctionCache

from noveltree.kernels import kept_in, kernel, private_directory
from tests.support.command_line import NOVELTREE
from tests.support.other_user import own_directory, read_only_package, without_a_home

PLAYING = (*NOVELTREE, "play", "breakout", "--budget", 5, "--max-steps", 2)


def test_a_read_only_package_plays_without_a_home_and_compiles_once() -> None:
    with read_only_package() as package, own_directory() as cwd, own_directory() as temporary:
        first = without_a_home(*PLAYING, cwd=cwd, package=package, temporary=temporary)
        assert (first.returncode, first.stderr) == (0, "")
        (cache,) = temporary.iterdir()
        assert cache.name.startswith("noveltree-")
        assert cache.stat().st_mode & 0o777 == 0o700
        kept = {file: file.stat().st_mtime_ns for file in cache.rglob("*.nb[ci]")}
        assert kept
        again = without_a_home(*PLAYING, cwd=cwd, package=package, temporary=temporary)
        assert (again.returncode, again.stderr) == (0, "")
        assert {file: file.stat().st_mtime_ns for file in cache.rglob("*.nb[ci]")} == kept
        assert not [*package.rglob("__pycache__")]


def test_a_cache_that_others_can_write_is_not_used() -> None:
    with read_only_package() as package, own_directory() as cwd, own_directory() as temporary:
        temporary.chmod(0o777)
        played = without_a_home(*PLAYING, cwd=cwd, package=package, temporary=temporary)
        assert (played.returncode, played.stderr) == (0, "")
        assert not [*temporary.rglob("*.nb[ci]")]
        told = without_a_home(*NOVELTREE, "doctor", cwd=cwd, package=package, temporary=temporary)
        assert "ok   kernels: compiled; every start compiles them again, since there is no place" in told.stdout
        assert told.returncode == 0


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory of temporary files that is one's own."""
    tmp_path.chmod(0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    private_directory.cache_clear()
    yield tmp_path
    private_directory.cache_clear()


def test_the_private_directory_is_made_for_its_user_alone(temporary: Path) -> None:
    assert private_directory() == temporary / f"noveltree-{os.geteuid()}"
    assert (temporary / f"noveltree-{os.geteuid()}").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o755, 0o740])
def test_a_directory_that_is_open_to_others_is_not_private(temporary: Path, mode: int) -> None:
    there = temporary / f"noveltree-{os.geteuid()}"
    there.mkdir()
    there.chmod(mode)
    assert private_directory() is None


def test_neither_a_link_nor_a_file_is_a_private_directory(temporary: Path) -> None:
    there = temporary / f"noveltree-{os.geteuid()}"
    elsewhere = temporary / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    there.symlink_to(elsewhere)
    assert private_directory() is None
    there.unlink()
    there.write_text("")
    private_directory.cache_clear()
    assert private_directory() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a directory somebody else's")
def test_a_directory_of_somebody_else_is_not_private(temporary: Path) -> None:
    there = temporary / f"noveltree-{os.geteuid()}"
    there.mkdir(mode=0o700)
    os.chown(there, 65534, 65534)
    assert private_directory() is None
    os.chown(there, os.geteuid(), -1)
    os.chown(temporary, 65534, 65534)  # who could put another one in its place
    private_directory.cache_clear()
    assert private_directory() is None


@pytest.mark.parametrize(("mode", "safe"), [(0o777, False), (0o770, False), (0o1777, True), (0o755, True)])
def test_others_must_not_be_able_to_exchange_the_private_directory(temporary: Path, mode: int, safe: bool) -> None:
    temporary.chmod(mode)
    assert (private_directory() is not None) == safe


def add_one(value: int) -> int:
    return value + 1


def test_half_a_file_in_the_cache_is_compiled_anew(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(temporary))
    assert kernel(add_one)(1) == 2
    for file in temporary.rglob("*.nb[ci]"):
        file.write_bytes(file.read_bytes()[:7])
    assert kernel(add_one)(1) == 2
    assert min(file.stat().st_size for file in temporary.rglob("*.nb[ci]")) > 7  # which the next process finds


def test_a_cache_that_cannot_be_written_any_more_is_no_error(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(temporary))

    def full(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(FunctionCache, "_save_overload", full)
    assert kernel(add_one)(1) == 2
    assert not [*temporary.rglob("*.nb[ci]")]


def test_it_can_be_asked_where_a_kernel_is_kept(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(temporary))
    place = kept_in(kernel(add_one))
    assert place is not None
    assert place.parent == temporary

    def nowhere(self: Any, function: Any) -> None:
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(FunctionCache, "__init__", nowhere)
    assert kept_in(kernel(add_one)) is None
    assert str(temporary) == numba.config.CACHE_DIR
