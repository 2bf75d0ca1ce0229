"""The tables of experiments in the documents are those that the commands below them make of the records."""

from __future__ import annotations

import re
import runpy
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def commands() -> Iterator[list[str]]:
    """Those that write a table into a document, as they stand there."""
    for document in ("faster-learning.md", "faster-learning-log.md", "reproduction.md"):
        text = (ROOT / "docs" / document).read_text().replace("\\\n", " ")
        for line in re.findall(r"^    python scripts/(.* --write .*)$", text, flags=re.MULTILINE):
            yield shlex.split(line)


COMMANDS = list(commands())


def test_there_are_tables_of_experiments() -> None:
    assert len(COMMANDS) >= 15


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[command.index("--write") + 1])
def test_a_command_writes_the_table_that_is_there(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, _, section = command[command.index("--write") + 1].partition(":")
    copy = shutil.copy(ROOT / document, tmp_path)
    command[command.index("--write") + 1] = f"{copy}:{section}" if section else str(copy)
    if "--figure" in command:
        command[command.index("--figure") + 1] = str(tmp_path / "figure.png")
    script, *arguments = command
    paths = [
        str(path) for each in arguments for path in (sorted(ROOT.glob(each)) if "experiments/" in each else [each])
    ]
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(ROOT / "scripts")
    monkeypatch.setattr(sys, "argv", [script, *paths])
    runpy.run_path(str(ROOT / "scripts" / script), run_name="__main__")
    assert Path(copy).read_text() == (ROOT / document).read_text()
