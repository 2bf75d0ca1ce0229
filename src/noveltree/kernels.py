"""Compiled kernels: the few loops over pixels and features that Python is too slow for."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` to machine code when it is first called, and keep the result on disk.

    Floating-point arithmetic is left as it is written: kernels must agree bit for bit with their reference.
    """
    return cast("Callable[P, R]", numba.njit(cache=True, nogil=True, fastmath=False)(function))
