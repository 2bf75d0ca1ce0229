"""What is installed, by `make play` what planning needs and by `make test` all; what is said of what is missing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from noveltree.cli import doctor

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def what_make_does(target: str, environment: Path) -> str:
    command = ["make", "--dry-run", f"VENV={environment}", target]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout


def test_make_play_installs_what_planning_needs_and_nothing_else(tmp_path: Path) -> None:
    done = what_make_does("play", tmp_path)
    assert "pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .\n" in done
    assert f"touch {tmp_path}/.planning\n" in done
    assert done.count("pip install") == 1


@pytest.mark.parametrize("target", ["test", "check", "bench"])
def test_make_test_installs_all_extras(tmp_path: Path, target: str) -> None:
    (extras,) = re.findall(r"--editable '\.\[(.*)\]'", what_make_does(target, tmp_path))
    assert set(extras.split(",")) == PROJECT["optional-dependencies"].keys()


def test_whoever_has_all_has_what_planning_needs(tmp_path: Path) -> None:
    (tmp_path / ".planning").touch()
    assert "pip install" not in what_make_does("play", tmp_path)
    assert "pip install" in what_make_does("test", tmp_path)
    (tmp_path / ".planning").unlink()
    (tmp_path / ".installed").touch()
    assert "pip install" not in what_make_does("play", tmp_path) + what_make_does("test", tmp_path)
    os.utime(tmp_path / ".installed", (0, 0))  # older than the constraints
    assert ".[" in what_make_does("play", tmp_path)


def test_the_doctor_knows_all_packages_that_are_needed_and_all_extras() -> None:
    needed = {re.split("[<>=]", line)[0] for line in PROJECT["dependencies"]}
    assert set(doctor._PACKAGES) == needed
    extras = {extra for extra, _ in doctor._EXTRAS.values()}
    assert extras == PROJECT["optional-dependencies"].keys() - {"dev"}


def test_the_command_heeds_interrupts_first() -> None:
    assert PROJECT["scripts"] == {"noveltree": "noveltree.__main__:main"}


def needs(packages: str, extra: str) -> str:
    return f'needs {packages}, which the extra {extra!r} installs: pip install "noveltree[{extra}]".'


LEARN = needs("torch, onnx, onnxruntime, safetensors", "learn")
NETWORKS = needs("onnx, onnxruntime, safetensors", "learn")
PLOT = needs("matplotlib", "plot")
RAY = needs("ray", "ray")
#: Each command, and what it says is missing; in an order in which they can be run.
COMMANDS = {
    "play breakout --budget 5 --max-frames 30 --video film.mp4": "",
    "play FrozenLake-v1 --budget 5 --max-steps 2 --out lake": "",
    "play MiniGrid-Empty-5x5-v0": 'needs the package minigrid: pip install "noveltree[minigrid]".',
    "play corridor --weights run": f"Playing with networks {NETWORKS}",
    "train corridor": f"Training {LEARN}",
    "evaluate run": f"Evaluating {LEARN}",
    "runs .": "",
    "curve run": f"Drawing {PLOT}",
    "compare published:riw-c published:n-cpl": "",
    "report episodes": "",
    "report --published --format latex --out tables": "",
    "report lake table.parquet --out r.html": 'needs pyarrow: pip install "noveltree[parquet]".',
    "taxonomy --shipped": "",
    "games": "",
    "agents": "",
    "verify episodes": "",
    "doctor": "",
    "protocol show": "",
    "bench planning --games pong --steps 1 --budgets 3": "",
    "bench learning": f"Measuring learning {LEARN}",
    "bench playing run": f"Playing with networks {NETWORKS}",
    "benchmark init": "",
    "benchmark plan smoke": "",
    "benchmark run smoke --out smoke": f"Training {LEARN}",
    "benchmark run smoke --out smoke --executor ray": f"Running on a Ray cluster {RAY}",
    "benchmark run smoke --agents riw-c --games breakout --out done --max-frames 30 --episodes 1 --trials 1": "",
    "benchmark collect done": "",
    "verify done": "",
    "benchmark status done": "",
}


def test_without_extras_every_command_works_or_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "table.parquet").touch()
    lines = json.dumps([command.split() for command in COMMANDS])
    run = subprocess.run(
        [sys.executable, "-m", "tests.support.bare_environment", lines],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (run.returncode, run.stderr) == (0, "")
    for (command, missing), (code, out, err) in zip(COMMANDS.items(), json.loads(run.stdout), strict=True):
        if missing:
            assert err.startswith("Error: "), command
            assert missing in err, command
            assert (err.count("\n"), out, code in (1, 2)) == (1, "", True), command
        else:
            assert ("Error" in err, code) == (False, 0), command
    assert (tmp_path / "film.mp4").exists()
    assert not (tmp_path / "smoke").exists()


def test_advice_is_for_those_who_have_no_checkout_too() -> None:
    """Neither targets of the Makefile nor files beside the sources are known to somebody who installed a wheel."""
    of_a_checkout = re.compile(r"make (install|play|test)\b|constraints\.txt|pip install (-e|--editable)")
    for file in (ROOT / "src").rglob("*.py"):
        assert not of_a_checkout.search(file.read_text())
