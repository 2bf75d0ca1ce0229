"""A server of the viewer in a process of its own, as people start it."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

_PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Server:
    """Where it listens, and what it asks for."""

    address: str
    pid: int

    @property
    def port(self) -> int:
        port = urlsplit(self.address).port
        assert port is not None
        return port

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.address).query)["token"][0]

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def cookie(self) -> str:
        return f"noveltree-{self.port}={self.token}"

    def planners(self) -> list[int]:
        """The processes that plan for it."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        threads = Path(f"/proc/{self.pid}/task").iterdir()
        found = children.read_text() + " ".join((thread / "children").read_text() for thread in threads)
        return sorted({int(pid) for pid in found.split() if "spawn_main" in _command(int(pid))})


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


@contextlib.contextmanager
def watching(*arguments: object) -> Iterator[Server]:
    """`noveltree watch` with these arguments, until the end of the block."""
    command = [sys.executable, "-m", "noveltree", "watch", *map(str, arguments), "--no-open", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"http\S+", process.stdout.readline())
        assert found is not None
        yield Server(found[0], process.pid)
    finally:
        process.terminate()
        process.wait(_PATIENCE)
        assert process.stdout is not None
        process.stdout.close()


def eventually(happens: Callable[[], object], *, within: float = _PATIENCE) -> None:
    """Wait until something is so."""
    end = time.monotonic() + within
    while not happens():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
