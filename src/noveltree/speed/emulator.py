"""What the bare emulator costs, with nothing of noveltree around it: the yardstick of all measurements."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Sequence
from typing import Any

import ale_py

from noveltree.simulators import Atari, AtariState


def time_raw_calls(simulator: Atari, state: AtariState, actions: Sequence[int]) -> float:
    """CPU seconds of one emulator call per action, one after another from `state` on, and nothing else.

    Where the game ends it goes on from `state`, which is not timed.
    """
    emulator = simulator.emulator_at(state)
    total = 0.0
    for action in actions:
        total += _time(emulator, ale_py.Action.__members__[simulator.actions[action]])
        if emulator.game_over(False):
            simulator.emulator_at(state)
    return total


def time_emulator(game: str, *, frame_skip: int, calls: int) -> float:
    """CPU seconds of a call of the emulator: the median of several."""
    with contextlib.closing(Atari(game, frame_skip=frame_skip)) as simulator:
        emulator = simulator.emulator_at(simulator.start())
        return statistics.median(_time(emulator, ale_py.Action.NOOP) for _ in range(calls))


def _time(emulator: Any, action: Any) -> float:
    before = time.process_time()
    emulator.act(action)
    return time.process_time() - before
