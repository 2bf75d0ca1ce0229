"""What a process does before it plays and learns for hours."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import sys

#: Of glibc's <malloc.h>.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
#: The largest that glibc accepts; no array of a batch is larger.
_LARGEST_BLOCK = 32 * 2**20
#: Objects between two runs of the garbage collector.
_OBJECTS = 100_000


def use_one_thread() -> None:
    """Let torch compute with one thread: with more, sums are added up in another order."""
    os.environ["OMP_NUM_THREADS"] = "1"  # heeded when torch is imported
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def prepare_process() -> None:
    """Use one thread, keep memory that is freed, and look for garbage rarely.

    By default glibc gives large blocks back to the system as soon as they are freed, and training spends a tenth of
    its time on having them back. Lookaheads are freed without the garbage collector, which finds nothing, but whose
    search through all their nodes takes some hundredths of the time of planning.
    """
    use_one_thread()
    gc.set_threshold(_OBJECTS)
    with contextlib.suppress(OSError, AttributeError):  # other C libraries do not know the call
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_MMAP_THRESHOLD, _LARGEST_BLOCK)
        mallopt(_M_TRIM_THRESHOLD, 8 * _LARGEST_BLOCK)
