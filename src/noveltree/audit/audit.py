"""An audit: is everything in a directory true?

Every episode is replayed; results, learning and tables are compared with the episodes. If that is asked for,
episodes are planned again and runs learn again. What was done, and how deep, is signed off in a manifest.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from noveltree.audit.auditor import Auditor, Depth, Progress, places_with
from noveltree.audit.benchmarks import check_benchmark
from noveltree.audit.findings import Audit, Finding, name_in
from noveltree.benchmark.directory import JOURNAL, PLAN, SUITE
from noveltree.errors import BusyError, InputError, RecordError
from noveltree.records.files import check_writable
from noveltree.records.lock import is_locked
from noveltree.records.manifest import (
    MANIFEST,
    SIGNATURE,
    Checked,
    Manifest,
    checksums,
    read_manifest,
    write_manifest,
)
from noveltree.records.run_directory import RUN, RunDirectory
from noveltree.version import __version__

#: Whose versions a manifest has.
_PACKAGES = ("ale-py", "gymnasium", "numpy", "numba", "torch", "onnxruntime")


def audit(
    directory: Path,
    *,
    depth: Depth | None = None,
    workers: int = 1,
    renew: bool = False,
    on_progress: Progress = lambda what, done, total: None,
) -> Audit:
    """Verify everything in a directory; if all of it holds, sign it off in a manifest.

    An existing manifest must fit, unless it is to be renewed. It stays as it is, unless more was done now.
    """
    depth = depth or Depth()
    if not directory.is_dir():
        raise InputError(f"There is no directory {directory}.")
    benchmarks = places_with(directory, SUITE, PLAN, JOURNAL)
    for place in {directory, *places_with(directory, RUN), *benchmarks}:
        if is_locked(place):
            raise BusyError(f"A process is still working on {place}; verify it afterwards.")
    _check_imports(directory)
    if not (directory / MANIFEST).exists() or renew:
        check_writable(directory)
    work = Auditor(directory, depth, workers, on_progress)
    before = None if renew else read_manifest(directory)
    manifests = {} if before is None else {directory: before}
    for place in places_with(directory, MANIFEST):
        if place != directory and (manifest := read_manifest(place)) is not None:
            manifests[place] = manifest
    for place, manifest in manifests.items():
        now = work.files if place == directory else checksums(place)
        work.findings += _changes(directory, place, manifest, now)
    if not work.episodes:
        raise InputError(f"There are no episodes in {directory}.")
    work.replay()
    work.check_runs()
    for place, manifest in manifests.items():
        work.findings += _false_counts(work, place, manifest)
    work.go_deeper()
    for benchmark in benchmarks:
        work.findings += check_benchmark(directory, benchmark, registered=depth.registered)
    checked = _checked(work, work.settle_lacks())
    made = Audit(checked, work.findings, Manifest(checked, work.files), work.sample)
    if checksums(directory) != work.files:
        raise BusyError(f"{directory} was changed while it was verified; verify it again.")
    if not made.holds:
        return made
    if before is None or renew or _surpasses(directory, made.manifest, before):
        write_manifest(directory, made.manifest)
        return made
    return replace(made, manifest=before)


def _checked(work: Auditor, lacking: dict[str, str]) -> Checked:
    versions = {"noveltree": __version__, "python": platform.python_version(), "machine": platform.machine()}
    for package in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return Checked(
        episodes=len(work.episodes),
        replanned=len(work.planned),
        number=work.number,
        learners=len(work.learners),
        relearnt=len(work.relearnt),
        lacking=lacking,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=versions,
    )


def _surpasses(directory: Path, made: Manifest, before: Manifest) -> bool:
    """Whether a manifest that fits is to be replaced by one that says more; what somebody signed stays."""
    signed = (directory / SIGNATURE).exists()
    return made.checked.deeper_than(before.checked) and not signed and os.access(directory, os.W_OK)


def _check_imports(directory: Path) -> None:
    """Raise InputError if simulators of the user's own would have to be imported, and may not be."""
    for run in places_with(directory, RUN):
        with contextlib.suppress(RecordError):  # which is found out later
            protocol = RunDirectory.open(run).protocol
            protocol.simulator_kind.check_import(protocol.game, protocol.source)


def _false_counts(work: Auditor, signed: Path, manifest: Manifest) -> Iterator[Finding]:
    """What a manifest counts that is not there."""
    states = manifest.checked
    episodes = sum((work.directory / name).is_relative_to(signed) for name in work.episodes)
    learners = sum(run.is_relative_to(signed) for run in work.learners)
    for many, of, what in (
        (states.episodes, episodes, "episodes"),
        (states.replanned, episodes, "episodes that were planned again"),
        (states.learners, learners, "runs that learn"),
        (states.relearnt, learners, "runs that learnt again"),
    ):
        if many > of:
            sentence = f"it states {many:,} {what}, but there are {of:,}"
            yield Finding(name_in(work.directory, signed / MANIFEST), False, sentence)


def _changes(directory: Path, signed: Path, manifest: Manifest, now: dict[str, str]) -> Iterator[Finding]:
    """What has changed since a directory was signed off."""
    for name, what in manifest.changes(now):
        yield Finding(name_in(directory, signed / name), False, f"{what} after it was signed off")
