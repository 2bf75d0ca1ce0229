"""What the README says is so."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from noveltree.agents import AGENTS
from noveltree.protocol import PRESETS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def blocks() -> list[str]:
    """The blocks of Python in the README."""
    return re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


def test_the_python_of_the_readme_runs_and_has_eight_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, _ = blocks()
    assert len([line for line in code.splitlines() if line.strip()]) == 8
    monkeypatch.chdir(tmp_path)
    short = code.replace("budget=100", "budget=3, max_frames=150")
    assert short != code
    exec(compile(short, "README.md", "exec"), {})
    assert (tmp_path / "breakout.json").exists()


def test_the_control_loop_of_the_readme_runs_and_has_at_most_ten_lines() -> None:
    _, code = blocks()
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    names: dict[str, Any] = {}
    exec(compile(code, "README.md", "exec"), names)
    assert (names["reward"], names["terminal"], names["planner"].terminal) == (1.0, True, True)


def test_every_agent_is_in_the_readme() -> None:
    assert all(f"`{agent}`" in README for agent in AGENTS)


def test_every_command_of_the_readme_has_help() -> None:
    commands = set(re.findall(r"`noveltree ([a-z]+)", README))
    assert commands == {
        *("play", "train", "evaluate", "runs", "curve", "verify", "render", "games", "agents"),
        *("protocol", "doctor", "bench", "benchmark", "compare", "report", "taxonomy", "check"),
    }


def test_the_make_targets_of_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^    make (\w+)", README, flags=re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)


def test_links_within_the_repository_lead_somewhere() -> None:
    for document in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"), ROOT / "CONTRIBUTING.md"):
        for link in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
            if not link.startswith("http"):
                assert (document.parent / link).exists(), f"{document.name}: {link}"


@pytest.mark.parametrize(("typed", "offered"), [("noveltree play brea", "breakout"), ("noveltree pl", "play")])
def test_the_shell_completes(typed: str, offered: str) -> None:
    words = typed.split()
    environment = os.environ | {
        "_NOVELTREE_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(words) - 1),
    }
    command = [sys.executable, "-m", "noveltree"]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert offered in run.stdout.split()


def test_every_preset_is_explained_in_the_deviations() -> None:
    deviations = (ROOT / "docs" / "deviations.md").read_text()
    assert all(f"`{preset}`" in deviations for preset in PRESETS)
