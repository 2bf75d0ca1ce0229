"""Recorded episodes: finding one to watch, and the networks that it was played with."""

from __future__ import annotations

from pathlib import Path

from noveltree.errors import InputError
from noveltree.records import read_episode
from noveltree.records.run_directory import RUN
from noveltree.viewer.watching import Watching


def is_recorded(path: Path) -> bool:
    """Whether this is a file or a run, and not the name of a game; raises InputError if it can only be meant so."""
    if path.is_file() or (path / RUN).is_file():
        return True
    if path.suffix == ".json":
        raise InputError(f"There is no file {path}.")
    if path.is_dir() and len(path.parts) > 1:
        raise InputError(f"There is no run in {path}: it has no {RUN}.")
    return False


def watch_recorded(path: Path, *, weights: Path | None = None) -> Watching:
    """An episode file, or the last evaluated episode of a run; its networks are those of the run it lies in."""
    file = path if path.is_file() else _episode_of(path)
    record = read_episode(file)
    run = weights
    if run is None and record.weights is not None:
        run = next((place for place in file.resolve().parents if (place / RUN).is_file()), None)
    protocol = record.protocol
    evaluation = protocol.level_of(record.index, evaluation=True) == record.level
    return Watching(protocol, record.seed, record.index, record.interval, evaluation, run, file, record)


def _episode_of(run: Path) -> Path:
    """The first episode of the last evaluation, or of the last interval of training."""
    for kind in ("evaluation", "episodes"):
        if files := sorted((run / kind).glob("interval-*/*.json")):
            last = files[-1].parent
            return next(file for file in files if file.parent == last)
    raise InputError(f"The run in {run} has no episodes yet.")
