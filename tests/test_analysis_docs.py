"""What docs/analysis.md says is so."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from noveltree.report.report import build_report
from noveltree.results.recorded import read_records
from noveltree.results.tables import NEEDED
from tests.support.command_line import Cli

ROOT = Path(__file__).parent.parent
DOCUMENT = (ROOT / "docs" / "analysis.md").read_text()


def test_the_first_commands_work_word_for_word(cli: Cli) -> None:
    (block,) = re.findall(r"\n\n((?:    noveltree .*\n)+)\n## Reports", DOCUMENT)
    lines = [shlex.split(line, comments=True)[1:] for line in block.strip().splitlines()]
    assert [line[0] for line in lines] == ["report"] * 3 + ["compare"] * 2 + ["taxonomy"]
    Path("results").symlink_to(ROOT / "results")
    Path("smoke").symlink_to(ROOT / "results" / "paper-planners")
    for line in lines[:-1]:
        assert cli(*line).code == 0, line
    assert Path("report.html").exists()
    assert Path("smoke.tex").exists()
    assert cli(*lines[-1], "--shipped").code == 0  # without running anything


def test_the_python_of_the_document_prints_the_papers_table(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", DOCUMENT, flags=re.DOTALL)
    exec(compile(code, "analysis.md", "exec"), {})
    printed = capsys.readouterr().out
    assert printed.startswith("[[ 0 26 35 49 47 32 39 32]\n")
    assert "Estimate(value=" in printed


def test_all_sections_of_a_report_are_explained() -> None:
    rng = np.random.default_rng(0)
    records = read_records([ROOT / "results"], beside_published=True)
    document = build_report(records, published=False, base=ROOT, title="", rng=rng)
    titles = [section.title for section in document.sections]
    assert titles[:2] == ["What was found", "Problems"]
    for title in titles:
        words = {"Taxonomy of the games": "Taxonomy", "Experimental settings": "settings"}.get(title, title)
        assert re.search(rf"^\| [^|]*{words.split(' and ')[0]}", DOCUMENT, flags=re.MULTILINE), title


def test_all_columns_that_a_table_needs_are_named() -> None:
    assert all(f"`{name}`" in DOCUMENT for name in NEEDED)
