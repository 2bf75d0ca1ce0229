"""A real Ray cluster of two nodes on this machine, one of which is killed: the same results."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from noveltree.records.run_directory import RunDirectory
from noveltree.trial import train
from tests.support.benchmarks import SMALL, TINY, create, played, table
from tests.support.command_line import NOVELTREE
from tests.support.processes import descendants_of, is_alive, listening_addresses, wait_until
from tests.support.runs import contents, small_protocol

pytestmark = [
    pytest.mark.ray,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed"),
]

#: Long enough to kill a node in the middle.
TRIALS = SMALL.replace("training_interactions: 3000", "training_interactions: 8000")


class TwoNodes:
    """The cluster of `tests.support.two_nodes` in its own process: Ray reads its environment when imported."""

    def __init__(self) -> None:
        self.environment = {**os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        self.environment.pop("RAY_ADDRESS", None)
        self._trials: set[int] = set()
        self._whole = True
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.two_nodes"],
            cwd=Path(__file__).parent.parent,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.address = self._read_line()

    def kill_node(self) -> None:
        self._say("kill")
        self._whole = False

    def make_whole(self) -> None:
        """Start a node in place of one that was killed."""
        if not self._whole:
            self._say("add")
            self._whole = True

    def close(self) -> None:
        self._process.communicate(timeout=60)

    def start(self, *arguments: object, **environment: str) -> subprocess.Popen[str]:
        """A command that works on this cluster."""
        return subprocess.Popen(
            [*NOVELTREE, *map(str, arguments), "--executor", "ray", "--address", self.address, "--json"],
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**self.environment, **environment},
        )

    def trial_processes(self) -> list[int]:
        """The processes of trials that this cluster's workers supervise."""
        for process in descendants_of(self._process.pid):
            with contextlib.suppress(OSError):
                if b"noveltree.benchmark.trial_process" in Path(f"/proc/{process}/cmdline").read_bytes():
                    self._trials.add(process)
        return [process for process in self._trials if is_alive(process)]  # also of workers that are dead

    def _say(self, word: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()
        assert self._read_line() == "done"

    def _read_line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        assert line, "the cluster did not start"
        return line


@pytest.fixture(scope="module")
def started() -> Iterator[TwoNodes]:
    with contextlib.closing(TwoNodes()) as made:
        yield made


@pytest.fixture
def cluster(started: TwoNodes) -> TwoNodes:
    started.make_whole()
    return started


def finish(process: subprocess.Popen[str]) -> dict[str, object]:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    result = json.loads(out)
    assert isinstance(result, dict)
    return result


def test_a_node_that_dies_under_a_benchmark_changes_nothing(cluster: TwoNodes, tmp_path: Path) -> None:
    played(tmp_path / "local", TRIALS)
    create(tmp_path / "ray", TRIALS)
    process = cluster.start("benchmark", "resume", tmp_path / "ray")
    wait_until(lambda: len(list(tmp_path.glob("ray/trials/*/*/*/evaluation/*/*.json"))) > 0, 120)
    wait_until(lambda: len(cluster.trial_processes()) == 2, 60)
    cluster.kill_node()
    assert finish(process)["finished"] == 6
    assert table(tmp_path / "ray") == table(tmp_path / "local")


#: 127.0.0.1, alone and as an address of version 6; and ::1.
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


@pytest.mark.skipif(sys.platform != "linux", reason="Linux says who listens where")
def test_a_ray_of_this_machine_alone_listens_on_loopback_only(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    options = "--interactions 100000 --interval 1000 --budget 5 --max-frames 200 --workers 2 --executor ray"
    process = subprocess.Popen(
        [*NOVELTREE, "train", "corridor", *options.split(), "--out", str(tmp_path / "run")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    try:
        wait_until(lambda: any((tmp_path / "run").glob("episodes/*/*.json")) or process.poll() is not None, 180)
        assert process.poll() is None
        found = listening_addresses([process.pid, *descendants_of(process.pid)])
    finally:
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=120)
    assert found
    assert found <= LOOPBACK
    assert process.returncode == 130, err


def test_without_the_token_nobody_gets_in_and_an_interrupt_leaves_no_trial_behind(
    cluster: TwoNodes, tmp_path: Path
) -> None:
    create(tmp_path / "intruder")
    create(tmp_path / "benchmark", TINY.replace("corridor", "breakout").replace("max_frames: 200", ""))
    refused = cluster.start("benchmark", "resume", tmp_path / "intruder", RAY_AUTH_TOKEN="wrong" * 8)
    process = cluster.start("benchmark", "resume", tmp_path / "benchmark")
    wait_until(lambda: len(cluster.trial_processes()) == 2, 120)
    process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    _, err = process.communicate(timeout=90)
    assert time.monotonic() - began < 20
    assert process.returncode == 130
    assert err.endswith(f"To resume: noveltree benchmark resume {tmp_path / 'benchmark'}\n")
    wait_until(lambda: not cluster.trial_processes(), 30)
    out, err = refused.communicate(timeout=120)
    assert refused.returncode == 2
    assert out == ""
    assert f"Error: Cannot connect to the Ray cluster at {cluster.address}: " in err
    assert "token" in err


def test_a_node_that_dies_under_a_trial_changes_nothing(cluster: TwoNodes, tmp_path: Path) -> None:
    protocol = small_protocol(interactions=20_000)
    train(tmp_path / "local", protocol)
    RunDirectory.create(tmp_path / "ray", protocol, 0)
    process = cluster.start("train", "--resume", tmp_path / "ray", "--workers", 2, "--episodes-at-once", 3)
    wait_until(lambda: (tmp_path / "ray/checkpoints/000003").exists(), 120)
    cluster.kill_node()
    finish(process)
    assert contents(tmp_path / "ray") == contents(tmp_path / "local")


def test_without_an_address_a_cluster_is_started_on_this_machine(tmp_path: Path) -> None:
    played(tmp_path / "local")
    create(tmp_path / "ray")
    result = subprocess.run(
        [*NOVELTREE, "benchmark", "resume", str(tmp_path / "ray"), "--executor", "ray", "--workers", "2", "--json"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["finished"] == 4
    assert table(tmp_path / "ray") == table(tmp_path / "local")
