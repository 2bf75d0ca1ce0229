"""The reproduction table is made of recorded episodes, and these hold."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from noveltree.records import read_episode, verify_episode

ROOT = Path(__file__).parent.parent
EPISODES = sorted((ROOT / "results" / "planners").rglob("*.json"))
DOCUMENT = (ROOT / "docs" / "reproduction.md").read_text()


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reproduction", ROOT / "scripts" / "reproduction.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_in_the_document_is_that_of_the_recorded_episodes() -> None:
    records = [read_episode(path) for path in EPISODES]
    assert load_script().build_table(records) in DOCUMENT


def test_there_are_ten_episodes_of_each_planner_in_six_games_or_more() -> None:
    counts = re.findall(r"^\| \w+ \| RIW_[CD] \| (\d+) \|", DOCUMENT, flags=re.MULTILINE)
    assert len(counts) >= 12
    assert {int(count) for count in counts} == {10}


def test_welchs_test_from_a_published_interval_by_hand() -> None:
    # 50 episodes with mean 0 and an interval of 1.6449 have a standard error of 1 (with n in the denominator).
    assert load_script().published_sd(1.6449) == pytest.approx((50 * 50 / 49) ** 0.5)


@pytest.mark.parametrize("path", EPISODES[::10], ids=lambda path: path.name)
def test_recorded_scores_hold(path: Path) -> None:
    assert verify_episode(read_episode(path)).holds


def test_nothing_is_left_to_be_filled_in() -> None:
    for document in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        assert not re.search(r"\b(TODO|TBD|XXX|BUDGETS|SPEEDTABLE)\b", document.read_text()), document.name
