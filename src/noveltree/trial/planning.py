"""The loop of agents that learn nothing: there is an evaluation, and no training."""

from __future__ import annotations

from typing import Any

from noveltree.episodes import Episode
from noveltree.trial.trial import Trial


class Planning:
    """The first `episodes` episodes of a seed."""

    def __init__(self, trial: Trial, episodes: int) -> None:
        self._trial = trial
        self._count = episodes
        self._episodes: list[Episode] = []

    def train(self) -> None:
        pass

    def evaluate(self) -> list[Episode]:
        self._episodes = self._trial.evaluate_frozen(None, 0, self._count)
        return self._episodes

    def outcome(self) -> dict[str, Any]:
        return {"interactions": sum(episode.interactions for episode in self._episodes)}
