"""Plays that were stored halfway and read again, beside those that were not."""

from __future__ import annotations

from pathlib import Path

from noveltree.episodes import Play, drive
from noveltree.protocol import Protocol
from noveltree.records.play_file import read_play, write_play
from noveltree.simulators import Simulator


def straight_and_resumed(protocol: Protocol, simulator: Simulator, path: Path) -> tuple[Play, Play]:
    """Two plays of 30 decisions of the same episode: one in one go, one stored at `path` after 15."""
    straight = protocol.make_play(simulator, seed=0, index=0)
    drive([straight], decisions=30)
    halfway = protocol.make_play(simulator, seed=0, index=0)
    drive([halfway], decisions=15)
    write_play(path, halfway, protocol)
    resumed = read_play(path, protocol, simulator)
    drive([resumed], decisions=15)
    return straight, resumed
