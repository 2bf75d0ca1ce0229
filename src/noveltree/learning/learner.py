"""What a learner is: networks in training, fed with critical paths."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from noveltree.learning.deployment import Deployment
from noveltree.learning.experience import CriticalPath, Experience
from noveltree.learning.inputs import InputShape
from noveltree.learning.snapshot import Snapshot

#: By what was trained, such as `value`: the losses of its updates.
Losses = dict[str, list[float]]


class Learner(ABC):
    """Learns from critical paths, or pieces of them, in the order in which they are handed in."""

    def __init__(self, shape: InputShape) -> None:
        self.experience = Experience(shape)
        #: What whoever watches the trial is to be told; whoever tells it removes it.
        self.notices: list[str] = []

    def take_in(self, path: CriticalPath, *, rng: np.random.Generator) -> Losses:
        """Hold the transitions of a path, and learn what is learnt as transitions come in."""
        self.experience.add(path)
        return {}

    def close_round(self, decisions: int, *, rng: np.random.Generator) -> Losses:
        """Learn what is learnt after every round of lanes, in which this many decisions were made."""
        return {}

    def close_interval(self, *, rng: np.random.Generator) -> Losses:
        """Learn what is learnt at the end of an interval, before networks are deployed."""
        return {}

    def keep(self, count: int, *, drop_newest: int = 0) -> None:
        """Hold the newest `count` paths only, not counting the `drop_newest` newest, which go too."""
        paths = self.experience.paths[: len(self.experience.paths) - drop_newest]
        self.experience.keep(paths[len(paths) - count :])

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """Everything in training as it is now, to be deployed."""

    def deployment(self) -> Deployment | None:
        """The networks to play with as they are now."""
        return self.snapshot().deployment

    @abstractmethod
    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot. The experience stays as it is."""
