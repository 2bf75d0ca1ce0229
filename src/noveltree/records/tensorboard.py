"""A run's metrics for TensorBoard, if it is installed.

Event files are written here and now, not in a thread as by TensorBoard's own writer, which loses what it cannot
write: a disk that is full ends training with one sentence, and the interval is written when it is played again.
"""

from __future__ import annotations

import io
import os
import socket
import time
from pathlib import Path
from typing import Any

from noveltree.errors import OutputError
from noveltree.records import disk
from noveltree.records.files import make_directory


class TensorBoard:
    """Writes the lines of an interval when it is over, so that nothing is written twice after a crash."""

    def __init__(self, directory: Path) -> None:
        name = f"events.out.tfevents.{int(time.time()):010}.{socket.gethostname()}.{os.getpid()}"
        self._file = directory / name
        self._begun = False
        self._episodes: list[dict[str, Any]] = []
        self._events = io.BytesIO()

    def add(self, line: dict[str, Any]) -> None:
        """Take in one line of the metrics."""
        if line["event"] == "episode":
            self._episodes.append(line)
        if line["event"] == "interval":
            self._add_interval(line)

    def _add_interval(self, line: dict[str, Any]) -> None:
        if not self._begun:
            self._add_event(file_version="brain.Event:2")
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
        self._write()

    def _add(self, name: str, value: float | None, step: int) -> None:
        if value is not None:
            self._add_event(step=step, summary={"value": [{"tag": name, "simple_value": value}]})

    def _add_event(self, **content: Any) -> None:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.summary.writer.record_writer import RecordWriter

        RecordWriter(self._events).write(Event(wall_time=time.time(), **content).SerializeToString())

    def _write(self) -> None:
        try:
            make_directory(self._file.parent)
            with disk.append_to(self._file) as file:
                file.write(self._events.getvalue())
        except OSError as error:
            raise OutputError(f"Cannot write {self._file}: {error.strerror or error}.") from error
        self._begun = True
        self._events = io.BytesIO()
