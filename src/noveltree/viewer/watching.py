"""What is watched: an episode that is played now, or one that was recorded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from noveltree.agents import AGENTS
from noveltree.protocol import Protocol
from noveltree.records import EpisodeRecord
from noveltree.viewer.spec import Spec


@dataclass(frozen=True, slots=True)
class Watching:
    """An episode, and the run whose networks it is played with, if any."""

    protocol: Protocol
    seed: int
    index: int = 0
    interval: int = 0
    evaluation: bool = True
    """Whether it is one of an evaluation, which may have levels of its own."""
    run: Path | None = None
    file: Path | None = None
    """Where it was recorded."""
    record: EpisodeRecord | None = None

    def spec(self) -> Spec:
        """What a planning process is told."""
        return Spec(
            protocol=self.protocol.model_dump(mode="json"),
            seed=self.seed,
            index=self.index,
            interval=self.interval,
            evaluation=self.evaluation,
            run=None if self.run is None else str(self.run),
            file=None if self.file is None else str(self.file),
        )

    def agents(self) -> list[str]:
        """The agents that can play on: those without networks, and the one whose networks there are."""
        trained = self.protocol.agent if self.run is not None else None
        return [name for name, agent in AGENTS.items() if not agent.heads or name == trained]
