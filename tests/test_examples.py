"""Every example runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
RESULTS = str(Path(__file__).parent.parent / "results" / "paper-planners")


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("own_simulator.py", (), "score 10 in 8 steps"),
        ("gymnasium_worlds.py", (), "FrozenLake-v1: score"),
        ("play_atari.py", ("pong", "90"), "the score holds"),
        ("analyse_results.py", (), "all games (53): N-CPL 260, N-CPL_D 249, CPL 227, RIW_C 94, RIW_D 103"),
        ("analyse_results.py", (RESULTS,), "10 agents in 12 games"),
    ],
)
def test_example_runs(name: str, arguments: tuple[str, ...], expected: str, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    assert expected in run.stdout


def test_every_example_is_tested() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == {
        "own_simulator.py",
        "gymnasium_worlds.py",
        "play_atari.py",
        "analyse_results.py",
    }
