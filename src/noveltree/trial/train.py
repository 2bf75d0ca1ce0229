"""Training an agent in a directory: begin, or go on."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from noveltree.collection import Placement, make_collector
from noveltree.collection.tuning import prepare_process
from noveltree.errors import InputError
from noveltree.learning.deployment import check_device
from noveltree.protocol import Protocol
from noveltree.records.run_directory import RunDirectory
from noveltree.trial.memory import check_memory
from noveltree.trial.watcher import Watcher

#: Episodes that a process plays at once unless said otherwise: more do not make batches cheaper.
EPISODES_AT_ONCE = 32


def train(
    directory: Path,
    protocol: Protocol,
    *,
    seed: int = 0,
    workers: int = 1,
    episodes_at_once: int = EPISODES_AT_ONCE,
    device: str = "cpu",
    placement: Placement | None = None,
    watcher: Watcher | None = None,
) -> dict[str, Any]:
    """Train an agent in `directory`, or go on if it was begun there, and evaluate it; its result.

    With one worker everything happens in this process; with more, so many others play, on this machine or wherever
    `placement` puts them. The result is the same.
    """
    check_device(device)
    if protocol.learning is None:
        raise InputError(f"{protocol.agent} learns nothing; train n-cpl, n-cpl-d or cpl.")
    protocol.learning.check()
    check_memory(protocol, workers=workers if placement is None else 1, at_once=episodes_at_once)
    run = RunDirectory.create(directory, protocol, seed)
    with run.locked():
        if (result := run.read_result()) is not None:
            return result
        # Imported here, so that whoever only plays with networks does not load torch.
        from noveltree.trial.trial import Trial

        prepare_process()
        with contextlib.closing(
            make_collector(
                protocol, seed, workers=workers, at_once=episodes_at_once, device=device, placement=placement
            )
        ) as collector:
            return Trial(run, collector, watcher or Watcher(), device=device).run()
