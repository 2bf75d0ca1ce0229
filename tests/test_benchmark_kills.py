"""Benchmarks under kill -9 of anything at random instants, on full disks, and where nothing can be written."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from noveltree.audit import audit
from noveltree.benchmark import BenchmarkDirectory, run_benchmark
from noveltree.benchmark.executors import LocalExecutor
from tests.support.benchmarks import SMALL, TINY, create, played, table
from tests.support.command_line import NOVELTREE
from tests.support.processes import children_of, is_alive, wait_until

#: Long enough to be killed many times.
KILLED = SMALL.replace("training_interactions: 3000", "training_interactions: 8000").replace(
    "evaluation_episodes: 4", "evaluation_episodes: 20"
)


KINDS = ("a trial", "the supervisor", "everything")


def start(directory: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*NOVELTREE, "benchmark", "resume", directory.name, "--workers", "2"],
        cwd=directory.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def kill(processes: list[int]) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    """The table of trials that nobody disturbed."""
    return table(played(tmp_path_factory.mktemp("undisturbed") / "benchmark", KILLED))


@pytest.mark.parametrize("seed", [0, 1])
def test_killing_anything_at_random_instants_changes_nothing(
    tmp_path: Path, seed: int, expected: list[dict[str, str]]
) -> None:
    directory = tmp_path / "killed"
    create(directory, KILLED)
    rng = np.random.default_rng(seed)
    kills = dict.fromkeys(KINDS, 0)
    supervisor = start(directory)
    orphans: list[int] = []
    while supervisor.poll() is None and sum(kills.values()) < 12:
        time.sleep(float(rng.uniform(0.5, 4.0)))
        if supervisor.poll() is not None:
            break
        trials = children_of(supervisor.pid)
        victim = next((kind for kind in KINDS if not kills[kind]), KINDS[rng.integers(3)])
        kills[victim] += 1
        if victim == "a trial":
            kill(trials[:1])
            continue
        kill([supervisor.pid, *(trials if victim == "everything" else [])])
        supervisor.wait()
        orphans += trials
        supervisor = start(directory)
    assert supervisor.wait(300) == 0  # to be killed is not a trial's failure, however often
    assert min(kills.values()) >= 1
    wait_until(lambda: not any(map(is_alive, orphans)))
    assert {status.state for status in BenchmarkDirectory.open(directory).statuses()} == {"finished"}
    assert table(directory) == expected
    assert audit(directory, workers=2).holds


def in_a_namespace(script: str, *, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a shell script where file systems can be mounted that nobody else sees."""
    if (
        shutil.which("unshare") is None
        or subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode
    ):
        pytest.skip("file systems cannot be mounted here")
    return subprocess.run(
        ["unshare", "-rm", "bash", "-c", script], cwd=cwd, capture_output=True, text=True, timeout=120
    )


NOVELTREE_COMMAND = " ".join(NOVELTREE)


def test_a_full_disk_is_one_sentence_and_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY.replace("evaluation_episodes: 3", "evaluation_episodes: 40"))
    (tmp_path / "disk").mkdir()
    command = f"{NOVELTREE_COMMAND} benchmark run tiny.yaml --out disk/bench --workers 1"
    result = in_a_namespace(
        "mount -t tmpfs -o size=300k full disk && "
        f"({command}; echo code $? >&2; echo status; {NOVELTREE_COMMAND} benchmark status disk/bench --json; "
        f"mount -o remount,size=100m disk; {command} --json; cp -r disk/bench kept)",
        cwd=tmp_path,
    )
    complaint, code = result.stderr.splitlines()
    assert complaint.startswith("Error: Cannot write ")
    assert complaint.endswith("No space left on device.")
    assert code == "code 1"
    status, finished = (json.loads(line) for line in result.stdout.splitlines() if line.startswith("{"))
    assert status["failed"] == 0
    assert finished["finished"] == 4
    assert len(table(tmp_path / "kept")) == 160
    assert audit(tmp_path / "kept").holds


def test_a_directory_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    (tmp_path / "disk").mkdir()
    result = in_a_namespace(
        f"mount -t tmpfs -o ro closed disk && {NOVELTREE_COMMAND} benchmark run tiny.yaml --out disk", cwd=tmp_path
    )
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr == "Error: Cannot write to disk: Read-only file system.\n"


def test_what_a_trial_cannot_write_is_no_failure_of_the_trial(tmp_path: Path) -> None:
    """The trial's own process finds out, and everything stops."""
    benchmark = create(tmp_path / "benchmark")
    blocked = benchmark.path / "trials"
    blocked.write_text("a file where a directory should be")
    result = subprocess.run(
        [*NOVELTREE, "benchmark", "resume", str(benchmark.path)], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 1
    assert result.stderr.startswith("Error: Cannot write to ")
    assert {status.failures for status in BenchmarkDirectory.open(benchmark.path).statuses()} == {0}
    blocked.unlink()
    assert {status.state for status in run_benchmark(benchmark, LocalExecutor(2))} == {"finished"}
