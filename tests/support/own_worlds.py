"""Simulators of one's own, as files that tests write."""

from __future__ import annotations

from pathlib import Path

#: A line of cells whose end pays 1. Levels are the cells in which it begins.
LINE = '''
import numpy as np

from noveltree import State, Transition


class At(State):
    def __init__(self, place):
        super().__init__(np.array([place], dtype=np.int64))
        self.place = place


class Line:
    """A line of `size` cells."""

    actions = ("LEFT", "RIGHT")

    def __init__(self, size: int = 5, reward: float = 1.0, name: str = "", open: bool = True):
        self.size, self.reward = size, reward

    def start(self):
        return At(0)

    def start_at(self, level):
        if level >= self.size - 1:
            raise IndexError(f"a line of {self.size} cells has no level {level}")
        return At(level)

    def step(self, state, action):
        place = max(0, state.place + (1 if action else -1))
        end = place >= self.size - 1
        return Transition(At(place), self.reward if end else 0.0, end)

    def close(self):
        pass
'''


def write_line(folder: Path, name: str = "line.py", more: str = "") -> Path:
    """Write the line, and `more` code, into a file."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(LINE + more)
    return path
