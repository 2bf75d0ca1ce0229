"""Golden lookaheads, and that they would notice."""

from __future__ import annotations

import json

import pytest

from tests.golden_lookaheads import CASES, DIRECTORY, encode, grow


@pytest.mark.parametrize("name", CASES)
def test_lookahead_is_the_golden_one(name: str) -> None:
    golden = json.loads((DIRECTORY / f"{name}.json").read_text())
    assert json.loads(encode(grow(CASES[name]))) == golden


@pytest.mark.parametrize("name", CASES)
def test_golden_lookaheads_are_worth_comparing(name: str) -> None:
    golden = json.loads((DIRECTORY / f"{name}.json").read_text())
    assert len(golden["decisions"]) == 3
    assert len(golden["nodes"]) > 1
