"""Trials that are cut off again and again, as if they were killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from noveltree.protocol import Protocol
from noveltree.trial import train
from noveltree.trial.lockstep import Lockstep


class _Cut(Exception):
    pass


def train_in_pieces(directory: Path, protocol: Protocol, *, every: int = 3, workers: tuple[int, ...] = (1,)) -> int:
    """Train in lockstep, cut off after every so many checkpoints, with `workers` in turn; how often it began."""
    write = Lockstep._write_checkpoint
    lives = written = 0

    def cut(loop: Lockstep) -> None:
        nonlocal written
        write(loop)
        written += 1
        if written % every == 0 and not loop._state.schedule.finished:
            raise _Cut

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Lockstep, "_write_checkpoint", cut)
        # Trials of tests are short.
        patch.setattr("noveltree.trial.lockstep.DECISIONS_BETWEEN_CHECKPOINTS", 20)
        while True:
            lives += 1
            count = workers[lives % len(workers)]
            try:
                train(directory, protocol, workers=count, episodes_at_once=32 if count == 1 else 1)
                return lives
            except _Cut:
                pass
