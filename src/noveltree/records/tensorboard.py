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
            self._writer.add_scalar("episode/return", episode["return"], step=done)
            self._writer.add_scalar("episode/steps", episode["steps"], step=done)
            if episode["value_loss"] is not None:
                self._writer.add_scalar("loss/value", episode["value_loss"], step=done)
        self._episodes.clear()
        self._writer.add_scalar("interval/mean_return", line["mean_return"], step=total)
        self._writer.add_scalar("interval/accepted", float(line["accepted"]), step=total)
        if line.get("policy_losses"):
            self._writer.add_scalar("loss/policy", line["policy_losses"][-1], step=total)
        self._writer.flush()
