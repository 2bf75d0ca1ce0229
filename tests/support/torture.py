"""Break the disk under small trials, at every operation, and let them go on: `python -m tests.support.torture`.

    crashes      the process ends before an operation, with all that was done until then on the disk
    errors       an operation fails with EIO, ENOSPC or EDQUOT, once or from then on
    power loss   what was not synced is lost in part, perhaps after a crash; what was promised must be there

Whatever happens, the trial then goes on undisturbed, and must end with what it would have ended with, bit for bit.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from noveltree.errors import NoveltreeError, OutputError, RecordError
from noveltree.learning.settings import LockstepSettings
from noveltree.protocol import Protocol, make_protocol
from noveltree.records import disk, files, read_episode
from noveltree.records.run_directory import RunDirectory
from noveltree.trial import run_trial
from tests.support.killing import PRETRAINING, rounds
from tests.support.power_loss import Loss, ModelDisk
from tests.support.runs import contents, small_protocol

_CRASHED = 77
ERRORS = (errno.EIO, errno.ENOSPC, errno.EDQUOT)
LOSSES: tuple[Loss, ...] = ("all", "content", "some")


def _tiny(**choices: Any) -> Protocol:
    return small_protocol(interactions=600, interval=300, **({"evaluation_episodes": 3} | choices))


TRIALS = {
    "planning": make_protocol("corridor", agent="riw-c", budget=5, max_frames=200),
    "intervals": _tiny(),
    "continuing": _tiny(evaluation="continuing", evaluation_episodes=6),
    "lockstep": _tiny(loop=LockstepSettings(lanes=2, decisions=7)),
    "rounds": rounds(400, interval=200),
    "pretraining": PRETRAINING,
}


class Broken(AssertionError):
    """Something was lost."""


class _Crash(BaseException):
    """The end of a process, as far as the disk can see."""


class Trial(NamedTuple):
    """A trial, what it ends with, and the operations that lead there."""

    name: str
    expected: dict[str, Any]
    operations: list[disk.Operation]

    def run(self, directory: Path) -> None:
        run_trial(directory, TRIALS[self.name], episodes=3)

    def finish(self, directory: Path) -> None:
        """Go on undisturbed: nothing may be different, and nothing be left behind."""
        try:
            self.run(directory)
            found = contents_of(directory)
        except NoveltreeError as error:
            raise Broken(f"it cannot go on: {error}") from error
        if found != self.expected:
            raise Broken("it ended with something else")
        if left := [path.name for path in directory.rglob(".*")]:
            raise Broken(f"{left} were left behind")


def contents_of(directory: Path) -> dict[str, Any]:
    """Everything that a trial has on disk, but for times of the clock."""
    if (directory / "checkpoints").exists():
        return contents(directory)
    run = RunDirectory.open(directory)
    episodes = sorted((directory / "evaluation").rglob("*.json"))
    return {
        "run": json.loads((directory / "run.json").read_text()),
        "result": run.read_result(),
        "episodes": {path.name: read_episode(path).without_account() for path in episodes},
    }


@contextlib.contextmanager
def fresh(trial: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix=f"torture-{trial}-") as directory:
        yield Path(directory) / "run"


def undisturbed(name: str) -> Trial:
    operations: list[disk.Operation] = []
    trial = Trial(name, {}, operations)
    with fresh(name) as directory:
        with disk.watched(operations.append):
            trial.run(directory)
        trial.expected.update(contents_of(directory))
    return trial


def check_whole(directory: Path) -> None:
    """Whatever has its final name must be whole."""
    try:
        if not (directory / "run.json").exists():
            return
        run = RunDirectory.open(directory)
        run.read_result()
        run.read_metrics()
        for path in directory.glob("e*/*/*.json"):
            read_episode(path)
        if complaints := run.read_checkpoint()[1]:
            raise Broken(complaints[0])
    except RecordError as error:
        raise Broken(f"half a file has its final name: {error}") from error


def crash(trial: Trial, at: int) -> None:
    """End the process before an operation, and go on."""
    with fresh(trial.name) as directory:
        child = os.fork()
        if child == 0:
            with disk.watched(_counted(at, lambda _: os._exit(_CRASHED))):
                trial.run(directory)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code == _CRASHED, f"the process ended with {code}"
        check_whole(directory)
        trial.finish(directory)


def fail(trial: Trial, at: int, *, number: int, lasting: bool) -> None:
    """Let an operation fail, or all from then on that change anything, and go on when the disk is well again."""

    def refuse(operation: disk.Operation) -> None:
        raise OSError(number, os.strerror(number))

    with fresh(trial.name) as directory:
        with (
            disk.watched(_counted(at, refuse, lasting=lasting)),
            contextlib.suppress(OutputError, RecordError),  # one sentence each; any other exception is a failure
        ):
            trial.run(directory)
        check_whole(directory)
        trial.finish(directory)


def lose_power(
    trial: Trial, at: int, *, loss: Loss, seed: int, crashes_before: bool = False, ignores_syncs: bool = False
) -> None:
    """Let the power fail before an operation, perhaps after a crash some operations earlier, and go on."""
    rng = np.random.default_rng(seed)
    with fresh(trial.name) as directory:
        model = ModelDisk(directory.parent, ignores_syncs=ignores_syncs)
        first = int(rng.integers(at)) if crashes_before else at
        _live(trial, directory, model, first)
        if crashes_before:
            _live(trial, directory, model, at - first)
        shutil.rmtree(directory.parent)
        model.lose_power(directory.parent, loss, rng=rng)
        for path, content in model.promised.items():
            if not path.exists() or path.read_bytes() != content:
                raise Broken(f"{path.relative_to(directory)} was promised")
        trial.finish(directory)


def _live(trial: Trial, directory: Path, model: ModelDisk, operations: int) -> None:
    """Let a process do so many operations, and end."""

    def stop(operation: disk.Operation) -> None:
        raise _Crash

    counted = _counted(operations, stop, lasting=True)

    def watch(operation: disk.Operation) -> None:
        counted(operation)
        model.do(operation)

    with contextlib.suppress(_Crash), disk.watched(watch):
        trial.run(directory)


def _counted(at: int, then: disk.Watcher, *, lasting: bool = False) -> disk.Watcher:
    count = 0

    def watch(operation: disk.Operation) -> None:
        nonlocal count
        if count == at or (lasting and count > at):
            then(operation)
        count += 1

    return watch


@contextlib.contextmanager
def without_atomicity() -> Iterator[None]:
    """Negative control: files are written under their final names."""

    def write(path: Path, data: bytes) -> None:
        files.make_directory(path.parent)
        path.unlink(missing_ok=True)
        with disk.create(path) as file:
            file.write(data)
            file.sync()

    everywhere = [module for module in list(sys.modules.values()) if getattr(module, "write_atomically", None)]
    kept = [module.write_atomically for module in everywhere]
    try:
        for module in everywhere:
            module.write_atomically = write  # type: ignore[attr-defined]
        yield
    finally:
        for module, own in zip(everywhere, kept, strict=True):
            module.write_atomically = own  # type: ignore[attr-defined]


class Task(NamedTuple):
    """One thing that is done to a trial."""

    kind: str
    at: int
    do: Callable[[], None]


def tasks(trial: Trial, *, every: int = 1) -> Iterator[Task]:
    """All that is done to a trial, or a part of it."""
    for at in range(0, len(trial.operations), every):
        yield Task("crashes", at, lambda at=at: crash(trial, at))
        number = ERRORS[at // every % 3]
        yield Task("errors", at, lambda at=at, number=number: fail(trial, at, number=number, lasting=at % 2 == 1))
        loss = LOSSES[at // every % 3]
        yield Task(
            "power losses",
            at,
            lambda at=at, loss=loss: lose_power(trial, at, loss=loss, seed=at, crashes_before=at % 2 == 1),
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1, help="only every so many operations")
    parser.add_argument("--trials", nargs="+", choices=TRIALS, default=list(TRIALS))
    options = parser.parse_args()
    began = time.monotonic()
    done: Counter[str] = Counter()
    broken: list[str] = []
    for name in options.trials:
        trial = undisturbed(name)
        for task in tasks(trial, every=options.every):
            try:
                task.do()
            except Exception as error:
                broken.append(f"{name}, {task.kind}, operation {task.at}: {type(error).__name__}: {error}")
                print(broken[-1], flush=True)
            done[task.kind] += 1
        print(f"{name}: {len(trial.operations)} operations; so far {dict(done)}", flush=True)
    minutes = (time.monotonic() - began) / 60
    print(f"{dict(done)}, {len(broken)} of them with something lost, in {minutes:.0f} minutes")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
