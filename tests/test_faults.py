"""A disk that breaks at any operation: crashes, errors, power loss. `make torture` does it at every one of them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from noveltree.records import disk
from tests.support.torture import (
    LOSSES,
    TRIALS,
    Broken,
    Trial,
    crash,
    fresh,
    lose_power,
    tasks,
    undisturbed,
    without_atomicity,
)

#: A prime, so that every kind of operation is met.
_EVERY = 47


@pytest.fixture(scope="module", params=TRIALS)
def trial(request: pytest.FixtureRequest) -> Trial:
    return undisturbed(request.param)


def test_nothing_is_lost_whatever_breaks(trial: Trial) -> None:
    done = {}
    for task in tasks(trial, every=_EVERY):
        task.do()
        done[task.kind] = done.get(task.kind, 0) + 1
    assert done.keys() == {"crashes", "errors", "power losses"}


def _breaks(do: Callable[[int], None], operations: int) -> bool:
    """Whether something is lost by one of some operations, the last ones first."""
    for at in range(operations - 1, 0, -2):
        try:
            do(at)
        except Broken:
            return True
    return False


def test_without_atomic_writes_crashes_lose_something() -> None:
    """Negative control: half of a file that has its final name is found."""
    with without_atomicity():
        trial = undisturbed("planning")
        assert _breaks(lambda at: crash(trial, at), len(trial.operations))


@pytest.mark.parametrize("loss", LOSSES)
def test_without_syncs_a_power_loss_loses_something(loss: str) -> None:
    """Negative control: what was promised and is not there is missed."""
    trial = undisturbed("planning")

    def do(at: int) -> None:
        lose_power(trial, at, loss=loss, seed=at, ignores_syncs=True)  # type: ignore[arg-type]

    assert _breaks(do, len(trial.operations))


def test_parents_that_are_not_synced_are_missed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: a file that was synced in a directory whose own name was not."""

    def make_directory(directory: Path) -> None:
        missing = [each for each in (directory, *directory.parents) if not each.is_dir()]
        for each in reversed(missing):
            disk.make_directory(each)

    for module in ("files", "checkpoint"):
        monkeypatch.setattr(f"noveltree.records.{module}.make_directory", make_directory)
    trial = undisturbed("planning")
    assert _breaks(lambda at: lose_power(trial, at, loss="all", seed=at), len(trial.operations))


def test_every_change_is_announced(trial: Trial) -> None:
    """Python itself says what it opens, renames and removes: nothing that the operations do not name."""
    reading, writing = os.pipe()
    with fresh(trial.name) as directory:
        child = os.fork()
        if child == 0:
            changes, announced = _watch_changes(trial, directory)
            os.write(writing, json.dumps([sorted(changes - announced), len(changes)]).encode())
            os._exit(0)
        os.close(writing)
        assert os.waitpid(child, 0)[1] == 0
        with open(reading, "rb") as pipe:
            unannounced, count = json.loads(pipe.read())
    assert unannounced == []
    assert count > 10


def _watch_changes(trial: Trial, directory: Path) -> tuple[set[str], set[str]]:
    """The files that were changed, with what happened to them; and those that were announced."""
    changes: set[str] = set()
    announced: set[str] = set()
    kinds = {
        "os.rename": "rename",
        "os.remove": "remove",
        "os.mkdir": "make directory",
        "os.rmdir": "remove directory",
    }

    def hear(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            kind = "open"
            if not isinstance(flags, int) or not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                return
        elif event in kinds or event.startswith(("os.link", "os.symlink", "os.truncate", "shutil.", "tempfile.")):
            path, kind = arguments[0], kinds.get(event, event)
        else:
            return
        place = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else str(path)
        if place.startswith(str(directory)) and not place.endswith("/lock"):
            changes.add(f"{kind} {place}")

    def note(operation: disk.Operation) -> None:
        kind = "open" if operation.kind in ("create", "append to") else operation.kind
        announced.add(f"{kind} {operation.path}")

    sys.addaudithook(hear)
    with disk.watched(note):
        trial.run(directory)
    return changes, announced
