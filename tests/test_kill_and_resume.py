"""`kill -9` at any instant, of any process: the same command ends with the same networks, bit for bit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from noveltree.trial import train
from tests.support.killing import LOOPS, killed_protocol
from tests.support.runs import contents

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module", params=LOOPS)
def loop(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def undisturbed(loop: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a run holds that nobody disturbed."""
    directory = tmp_path_factory.mktemp("undisturbed") / "run"
    train(directory, killed_protocol(loop))
    return contents(directory)


class Kills(NamedTuple):
    kills: int
    intervals: int
    """In how many different intervals."""
    workers_left: int
    """Whose master was killed, and which did not end."""


def kill_and_resume(directory: Path, *options: str) -> Kills:
    """Train and be killed until the trial is over."""
    command = [sys.executable, "-m", "tests.support.killing", str(directory), *options]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    assert result.returncode == 0, result.stdout + result.stderr
    return Kills(**json.loads(result.stdout))


def assert_kills_leave_no_trace(
    directory: Path, loop: str, undisturbed: dict[str, Any], *, kills: int, intervals: int, longest_life: float
) -> None:
    """Kill trials so often, and in so many intervals: each ends with what one has that nobody disturbed."""
    found = found_intervals = attempt = 0
    # On a fast machine a trial may be over before; on a busy one nobody may live to see the second interval.
    while found < kills or found_intervals < intervals:
        assert attempt < 12, (found, found_intervals)
        run, longest = directory / f"run{attempt}", longest_life
        options = ("--loop", loop, "--kills", str(kills * 5 // 4), "--longest-life", str(longest))
        killed = kill_and_resume(run, *options, "--seed", str(attempt))
        assert contents(run) == undisturbed
        found += killed.kills
        found_intervals += killed.intervals
        attempt += 1
        longest_life *= 1 if found_intervals >= intervals else 2


def test_more_than_twenty_kills_leave_no_trace(tmp_path: Path, loop: str, undisturbed: dict[str, Any]) -> None:
    assert_kills_leave_no_trace(tmp_path, loop, undisturbed, kills=20, intervals=3, longest_life=0.8)


def test_neither_do_kills_of_workers_and_of_their_master(
    tmp_path: Path, loop: str, undisturbed: dict[str, Any]
) -> None:
    kills = attempt = 0
    while kills < 6:
        run = tmp_path / f"run{attempt}"
        options = ("--loop", loop, "--kills", "6", "--longest-life", "3", "--workers", "2", "--seed", str(attempt))
        killed = kill_and_resume(run, *options)
        assert contents(run) == undisturbed
        assert killed.workers_left == 0
        kills += killed.kills
        attempt += 1


def test_the_comparison_can_fail(tmp_path: Path, loop: str, undisturbed: dict[str, Any]) -> None:
    """Negative control: a trial that resumes without the first moments of Adam ends with other networks."""
    for attempt in range(4):  # on a busy machine nobody may live long enough to have moments
        run = tmp_path / f"run{attempt}"
        kill_and_resume(run, "--loop", loop, "--kills", "6", "--longest-life", str(2 * 2**attempt), "--sabotage")
        sabotaged = contents(run)
        assert sabotaged["arrays"].keys() == undisturbed["arrays"].keys()
        if sabotaged["arrays"] != undisturbed["arrays"]:
            return
    raise AssertionError("a trial without the first moments of Adam is the same")
