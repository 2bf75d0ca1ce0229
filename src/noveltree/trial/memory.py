"""Whether a trial fits into memory: better said before it begins than found out in the night."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path

from noveltree.errors import InputError
from noveltree.learning import LearningSettings
from noveltree.protocol import Protocol

#: A process with the emulator and ONNX Runtime; measured, rounded up.
_PROCESS = 300 * 10**6
#: A node with its state, one with a screen for an encoder and what that says of it, and how many times its budget a
#: lookahead holds because subtrees are kept; rounded up.
_NODE, _ENCODED_NODE = 10_000, 45_000
_KEPT = 4
#: What is observed of a state, if it is the screen of an Atari game.
_SCREEN = 84 * 84


def check_memory(protocol: Protocol, *, workers: int, at_once: int) -> None:
    """Raise InputError if that many episodes at once in that many processes need more memory than there is."""
    needed = estimate_memory(protocol, workers=workers, at_once=at_once)
    available = available_memory()
    if available is not None and needed > available:
        raise InputError(
            f"{at_once} episodes at once in {workers} process{'es' if workers > 1 else ''} need about "
            f"{needed / 1e9:,.1f} GB of memory, and {available / 1e9:,.1f} GB are available; choose a smaller "
            "--episodes-at-once or fewer --workers."
        )


def estimate_memory(protocol: Protocol, *, workers: int, at_once: int) -> int:
    """Bytes that a trial needs, about: lookaheads, the screens of episodes being played, and those learnt from."""
    learning = protocol.learning or LearningSettings()
    steps = min(protocol.max_steps, learning.schedule.interval)
    budget = int(protocol.budget) if protocol.budget_unit == "interactions" else 100
    node, screen = (_NODE, _SCREEN) if learning.screen is None else (_ENCODED_NODE, math.prod(learning.screen))
    play = budget * _KEPT * node + steps * screen
    learnt_from = learning.held_observations(budget) * screen
    return workers * (_PROCESS + at_once * play) + learning.training_memory() + learnt_from


def available_memory() -> int | None:
    """Bytes that this process may still take, by the system and by its control group; None if nobody says."""
    limits = []
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                limits.append(int(line.split()[1]) * 1024)
    with contextlib.suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        limit = (group / "memory.max").read_text().strip()
        if limit != "max":
            limits.append(int(limit) - int((group / "memory.current").read_text()))
    return min(limits, default=None)
