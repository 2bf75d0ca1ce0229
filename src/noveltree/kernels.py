"""Compiled kernels: the few loops over pixels and features that Python is too slow for.

They are compiled when they are first called, and kept on disk for the next process: in the package or in the
user's cache, whichever can be written; else in a directory of the user's own among the temporary files; or nowhere.
"""

from __future__ import annotations

import contextlib
import functools
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
from numba.core.caching import FunctionCache

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` to machine code when it is first called, and keep the result on disk.

    Floating-point arithmetic is left as it is written: kernels must agree bit for bit with their reference.
    Divisors are not tested for zero, as in NumPy: loops that test them are not made of vector instructions.
    """
    compiled: Any = numba.njit(nogil=True, fastmath=False, error_model="numpy")(function)
    if (cache := _cache(function)) is not None:
        compiled._cache = cache
    return cast("Callable[P, R]", compiled)


def kept_in(kernel: Callable[..., Any]) -> Path | None:
    """Where the machine code of a kernel is kept; None if every process compiles it."""
    path = cast("Any", kernel)._cache.cache_path
    return None if path is None else Path(path)


class _Cache(FunctionCache):
    """Numba's cache, except that it never stands in the way: what it cannot read or write is compiled."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever unpickling makes of half a file
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):  # such as a full disk
            super().save_overload(sig, data)


def _cache(function: Callable[..., Any]) -> _Cache | None:
    try:
        return _Cache(function)
    except RuntimeError:  # neither the package nor a home can be written
        directory = private_directory()
    if directory is None:
        return None
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, str(directory)  # a cache stays where it was made
    try:
        return _Cache(function)
    except RuntimeError:  # nor can this, any more
        return None
    finally:
        config.CACHE_DIR = before


@functools.cache
def private_directory() -> Path | None:
    """A directory among the temporary files that no other user can have written to; None if there is none.

    What is found in a cache is executed, so that somebody else's must not be taken for one's own.
    """
    try:
        parent = Path(tempfile.gettempdir())
        directory = parent / f"noveltree-{os.geteuid()}"
        directory.mkdir(mode=0o700, exist_ok=True)
        safe = _only_ours(directory.lstat()) and _cannot_be_exchanged_in(parent.stat())
    except OSError:
        return None
    return directory if safe else None


def _only_ours(found: os.stat_result) -> bool:
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077


def _cannot_be_exchanged_in(parent: os.stat_result) -> bool:
    """Whether other users can neither remove nor rename what is ours in a directory; root can anyway."""
    if parent.st_uid not in (0, os.geteuid()):
        return False
    return bool(parent.st_mode & stat.S_ISVTX) or not parent.st_mode & 0o022
