"""What docs/benchmark.md says is so."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from noveltree.agents import RetiredSettings
from noveltree.benchmark import plan_suite, shipped_suites
from noveltree.benchmark.suite import Conditions, Suite, SuiteAgent, parse_suite
from noveltree.results.collect import COLUMNS
from tests.support.command_line import Cli

DOCUMENT = (Path(__file__).parent.parent / "docs" / "benchmark.md").read_text()


@pytest.fixture
def short_smoke(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the suite `smoke` play the same games with the same agents for less long."""
    text = shipped_suites()["smoke"]
    for setting, less in (
        ("interval: 2000", "interval: 400"),
        ("training_interactions: 4000", "training_interactions: 800"),
        ("trials: 2", "trials: 1"),
        ("max_frames: 300", "max_frames: 150\n  budget: 20"),
    ):
        assert text.count(setting) == 1
        text = text.replace(setting, less)
    monkeypatch.setattr("noveltree.benchmark.suite.shipped_suites", lambda: {"smoke": text})


@pytest.mark.usefixtures("short_smoke")
def test_the_first_commands_work_word_for_word(cli: Cli) -> None:
    (block,) = re.findall(r"\n\n((?:    noveltree .*\n)+)\n## Suites", DOCUMENT)
    lines = [shlex.split(line, comments=True) for line in block.strip().splitlines()]
    assert [line[1] for line in lines] == ["benchmark"] * 4 + ["verify"]
    for line in lines:
        result = cli(*line[1:])
        assert result.code == 0, result
    assert Path("smoke/results.csv").exists()
    assert Path("smoke/manifest.json").exists()


def test_the_suite_of_the_document_can_be_planned() -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", DOCUMENT, flags=re.DOTALL)
    assert len(plan_suite(parse_suite(text))) == 3 * 2 * 5


def test_all_settings_suites_and_columns_are_explained() -> None:
    for model in (Suite, SuiteAgent, Conditions):
        for setting in model.model_fields.keys() - RetiredSettings.model_fields.keys():
            assert re.search(rf"`{setting}`|^{setting}:", DOCUMENT, flags=re.MULTILINE), setting
    for name in (*shipped_suites(), *COLUMNS):
        assert f"`{name}`" in DOCUMENT, name
