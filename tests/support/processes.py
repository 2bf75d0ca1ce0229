"""Other processes, and waiting for what they do."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Collection
from pathlib import Path


def children_of(process: int) -> list[int]:
    children = []
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # it is over
            children += [int(child) for child in thread.read_text().split()]
    return children


def descendants_of(process: int) -> list[int]:
    """The children of a process, theirs, and so on."""
    return [each for child in children_of(process) for each in (child, *descendants_of(child))]


def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    give_up = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up, "it takes too long"
        time.sleep(0.02)


def is_alive(process: int) -> bool:
    """Whether a process exists and is no zombie that nobody has buried yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def catches(process: int, number: signal.Signals) -> bool:
    """Whether a process has a handler for a signal."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False
    (mask,) = (line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(mask, 16) >> (number - 1) & 1)


def listening_addresses(processes: Collection[int]) -> set[str]:
    """The addresses on which processes listen for TCP connections, as Linux writes them: in hexadecimal."""
    sockets = set()
    for process in processes:
        with contextlib.suppress(OSError):
            for handle in Path(f"/proc/{process}/fd").iterdir():
                with contextlib.suppress(OSError):
                    sockets.add(str(handle.readlink()))
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            _, address, _, state, *_, inode = line.split()[:10]
            if state == "0A" and f"socket:[{inode}]" in sockets:
                found.add(address.split(":")[0])
    return found
