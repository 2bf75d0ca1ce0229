"""How the command line is run in tests, and what it leaves on the screen."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pyte

NOVELTREE = [sys.executable, "-m", "noveltree"]


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def object(self) -> dict[str, Any]:
        """What was printed with `--json`: one object, on one line, and nothing else."""
        assert self.err == ""
        assert self.out.count("\n") == 1
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value

    @property
    def sentence(self) -> str:
        """The one line that an error prints."""
        assert self.out == ""
        assert self.err.startswith("Error: ")
        assert self.err.count("\n") == 1
        return self.err.removeprefix("Error: ").rstrip("\n")


Cli = Callable[..., Result]


def in_a_process(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [*NOVELTREE, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


@contextmanager
def on_a_terminal(*arguments: object, cwd: Path) -> Iterator[tuple[subprocess.Popen[bytes], Callable[[str], str]]]:
    """A process in a terminal of 80 x 24, and a function that reads there until a text appears."""
    terminal, its_end = pty.openpty()
    fcntl.ioctl(its_end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {
        name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")
    }
    process = subprocess.Popen(
        [*NOVELTREE, *map(str, arguments)],
        stdout=its_end,
        stderr=its_end,
        cwd=cwd,
        env=environment | {"TERM": "xterm"},
        # Where tests run in the background, the interrupt would be ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    os.close(its_end)
    seen = ""

    def read_until(text: str) -> str:
        nonlocal seen
        while text not in seen or not text:
            try:
                data = os.read(terminal, 4096)
            except OSError:  # the other end is closed
                data = b""
            if not data:
                break
            seen += data.decode()
        return seen

    try:
        yield process, read_until
    finally:
        process.kill()
        process.wait()
        os.close(terminal)


def on_screen(seen: str) -> list[str]:
    """The lines that a terminal of 80 columns shows in the end."""
    screen = pyte.Screen(80, 500)
    pyte.Stream(screen).feed(seen)
    return [line.rstrip() for line in screen.display if line.strip()]
