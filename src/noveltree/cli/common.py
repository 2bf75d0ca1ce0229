"""What several commands share: what must be installed, where workers are, and interrupts."""

from __future__ import annotations

import contextlib
import importlib.util
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from types import FrameType

from noveltree.errors import InputError

#: What the extra `learn` installs.
_PACKAGES = ("torch", "onnx", "onnxruntime", "safetensors")


def need_extra(what: str, packages: Sequence[str] = _PACKAGES, *, extra: str = "learn") -> None:
    """Complain if something needs packages that are not installed, and say how to get them."""
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    if missing:
        raise InputError(
            f"{what} needs {', '.join(missing)}, which the extra {extra!r} installs: "
            f"pip install --constraint constraints.txt 'noveltree[{extra}]'."
        )


def check_executor(executor: str, address: str | None) -> None:
    """Complain about an executor that is not known or not installed."""
    if executor not in ("local", "ray"):
        raise InputError(f"The executor is local or ray, not {executor!r}.")
    if executor == "local" and address is not None:
        raise InputError("An address is that of a Ray cluster; add --executor ray.")
    if executor == "ray":
        need_extra("Running on a Ray cluster", ("ray",), extra="ray")


def apart_from_results(executor: str) -> AbstractContextManager[object]:
    """Let what Ray has to say, which it prints to standard output, not get between results."""
    return contextlib.redirect_stdout(sys.stderr) if executor == "ray" else contextlib.nullcontext()


@contextlib.contextmanager
def interruptible_once() -> Iterator[None]:
    """Let an impatient second Ctrl-C not disturb the ending that the first one led to, until the process ends."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    heeded = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    interrupted = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        for each in heeded:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number in heeded:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        if not interrupted:
            for number in heeded:
                signal.signal(number, before[number])
