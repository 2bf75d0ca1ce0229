"""Golden lookaheads and golden trials, and that they would notice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import golden_trials
from tests.support.golden_lookaheads import CASES, DIRECTORY, encode, grow


@pytest.mark.parametrize("name", CASES)
def test_lookahead_is_the_golden_one(name: str) -> None:
    golden = json.loads((DIRECTORY / f"{name}.json").read_text())
    assert json.loads(encode(grow(CASES[name]))) == golden


@pytest.mark.parametrize("name", CASES)
def test_golden_lookaheads_are_worth_comparing(name: str) -> None:
    golden = json.loads((DIRECTORY / f"{name}.json").read_text())
    assert len(golden["decisions"]) == 3
    assert len(golden["nodes"]) > 1


@pytest.mark.parametrize("name", golden_trials.CASES)
def test_trial_is_the_golden_one(name: str, tmp_path: Path) -> None:
    golden = json.loads((DIRECTORY / f"{name}.json").read_text())
    found = golden_trials.run(name, tmp_path / "run")
    for part in golden:
        assert found[part] == golden[part], part
    assert found == golden


@pytest.mark.parametrize("name", golden_trials.CASES)
def test_golden_trials_are_worth_comparing(name: str) -> None:
    golden = json.loads((DIRECTORY / f"{name}.json").read_text())
    assert sum(line["event"] == "interval" for line in golden["metrics"]) >= 2
    assert len(golden["episodes"]) >= 4
    assert any(line["event"] == "interval" and line["policy_losses"] for line in golden["metrics"])
