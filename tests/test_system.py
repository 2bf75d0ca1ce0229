"""What tests need besides Python: installed each by itself, and never silently missed where everything must run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.programs import program

SCRIPT = Path(__file__).parent.parent / "scripts" / "install_system"


def install(place: Path, *there: str, fails: str = "nothing") -> tuple[int, list[str]]:
    """Run the script on a machine that has some programs; its exit code, and what it has asked Debian for."""
    for name in ("bash", "env", "timeout", "test"):
        (place / name).symlink_to(str(shutil.which(name)))
    (place / "apt-get").write_text(f'#!/bin/bash\necho "$@" >> {place}/asked\n[[ "$*" != *{fails}* ]]\n')
    for name in there:
        (place / name).write_text("#!/bin/bash\n")
    for file in ("apt-get", *there):
        (place / file).chmod(0o755)
    done = subprocess.run([str(SCRIPT)], env={"PATH": str(place)}, capture_output=True, check=False)
    asked = (place / "asked").read_text().splitlines() if (place / "asked").exists() else []
    fonts = [each for each in asked if "fonts" in each]  # which this machine may have or not
    return done.returncode, [each.split()[-1] for each in asked if each not in fonts]


def test_only_what_is_missing_is_installed(tmp_path: Path) -> None:
    code, asked = install(tmp_path, "node", "npm", "pdflatex", "kpsewhich")
    assert (code, asked) == (0, ["update", "chromium"])


def test_what_cannot_be_installed_keeps_nothing_else_away(tmp_path: Path) -> None:
    code, asked = install(tmp_path, fails="nodejs")
    assert (code, asked) == (1, ["update", "chromium", "texlive-latex-recommended", "nodejs", "npm"])


@pytest.mark.parametrize(("ci", "outcome"), [("true", pytest.fail.Exception), (None, pytest.skip.Exception)])
def test_a_program_that_is_missing_fails_in_ci_and_skips_elsewhere(
    monkeypatch: pytest.MonkeyPatch, ci: str | None, outcome: type[BaseException]
) -> None:
    monkeypatch.setitem(os.environ, "PATH", "")
    monkeypatch.delenv("CI", raising=False)
    if ci is not None:
        monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="chromium"):
        program("chromium")
