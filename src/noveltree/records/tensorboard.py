"""A run's metrics for TensorBoard, if it is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class TensorBoard:
    """Writes the lines of an interval when it is over, so that nothing is written twice after a crash."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._writer: Any = None
        self._episodes: list[dict[str, Any]] = []

    def add(self, line: dict[str, Any]) -> None:
        """Take in one line of the metrics."""
        if line["event"] == "episode":
            self._episodes.append(line)
        if line["event"] == "interval":
            self._add_interval(line)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    def _add_interval(self, line: dict[str, Any]) -> None:
        if self._writer is None:
            from tensorboard.summary import Writer

            self._writer = Writer(str(self._directory))
        total = line["interactions"]
        done = total - sum(episode["interactions"] for episode in self._episodes)
        for episode in self._episodes:
            done += episode["interactions"]
            step = episode.get("at", done)
            self._add("episode/return", episode["return"], step)
            self._add("episode/steps", episode["steps"], step)
            for name, loss in episode.items():
                if name.endswith("_loss"):
                    self._add(f"loss/{name.removesuffix('_loss')}", loss, step)
        self._episodes.clear()
        self._add("interval/mean_return", line["mean_return"], total)
        self._add("interval/reward_per_decision", line.get("reward_per_decision"), total)
        self._add("interval/accepted", float(line["accepted"]), total)
        for name, losses in line.items():
            if name.endswith("_losses") and losses:
                self._add(f"loss/{name.removesuffix('_losses')}", losses[-1], total)
        self._writer.flush()

    def _add(self, name: str, value: float | None, step: int) -> None:
        if value is not None:
            assert self._writer is not None
            self._writer.add_scalar(name, value, step=step)
