"""Episodes that were recorded, rightly or wrongly."""

from __future__ import annotations

import contextlib
from pathlib import Path

from noveltree.episodes import Choice
from noveltree.protocol import Protocol
from noveltree.records import EpisodeRecord, write_episode


def recorded(place: Path, protocol: Protocol, *, seed: int = 2, wrong: int | None = None) -> Path:
    """A file with an episode; `wrong` is a decision whose action is another one than was chosen."""
    with contextlib.closing(protocol.make_simulator()) as simulator:
        play = protocol.make_play(simulator, seed=seed, index=0)
        while not play.finished:
            for _ in play.plan():
                raise AssertionError
            choice = play.choose()
            if len(play.decisions) == wrong:
                choice = Choice((choice.action + 1) % len(choice.values), choice.values)
            play.execute(choice)
        file = place / "episode.json"
        write_episode(file, EpisodeRecord(play.episode(), protocol, seed, 0))
    return file
