"""What a learner is: networks in training, fed with critical paths."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from noveltree.learning.experience import CriticalPath, Experience
from noveltree.learning.snapshot import Snapshot

#: By what was trained, such as `value`: the losses of its updates.
Losses = dict[str, list[float]]


class Learner(Protocol):
    """Learns from critical paths, or pieces of them, in the order in which they are handed in."""

    experience: Experience

    def take_in(self, path: CriticalPath, *, rng: np.random.Generator) -> Losses:
        """Hold the transitions of a path, and learn what is learnt as transitions come in."""
        ...

    def close_interval(self, *, rng: np.random.Generator) -> Losses:
        """Learn what is learnt at the end of an interval, before networks are deployed."""
        ...

    def keep(self, count: int, *, drop_newest: int = 0) -> None:
        """Hold the newest `count` paths only, not counting the `drop_newest` newest, which go too."""
        ...

    def snapshot(self) -> Snapshot:
        """Everything in training as it is now, to be deployed."""
        ...

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot. The experience stays as it is."""
        ...
