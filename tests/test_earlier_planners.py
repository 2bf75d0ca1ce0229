"""The experiments on earlier planners: what they run, and the tables that are made of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scipy import stats

from noveltree.benchmark import plan_suite
from noveltree.benchmark.suite import read_suite
from noveltree.protocol import make_protocol
from noveltree.published import published_planners
from tests.support.benchmarks import played
from tests.test_reproduction import load_script

ROOT = Path(__file__).parent.parent
EXPERIMENTS = ROOT / "experiments"
PRESETS = {
    "bandres-riw-0.5s": ("bandres-2018-103", {}),
    "bandres-ra-riw-0.5s": ("bandres-2018-ra-101", {"budget": 103}),
    "bandres-ns-ra-riw-0.5s": ("bandres-2018-ns-ra-107", {"budget": 103}),
    "lipovetzky-iw1": ("lipovetzky-2015", {}),
}

#: Random actions under the names of planners, for the table alone.
FAKE = """
name: fake
games: [breakout, kangaroo]
agents:
  - {agent: random, name: bandres-riw-0.5s}
  - {agent: random, name: lipovetzky-iw1}
evaluation_episodes: 3
conditions: {max_frames: 900}
"""


@pytest.mark.parametrize("name", ["bandres", "lipovetzky"])
def test_suites_play_what_was_published_by_the_presets(name: str) -> None:
    trials = plan_suite(read_suite(str(EXPERIMENTS / name / "suite.yaml")))
    assert {trial.episodes for trial in trials} == {5}
    for trial in trials:
        preset, choices = PRESETS[trial.label]
        assert trial.protocol == make_protocol(trial.protocol.game, preset=preset, **choices)
        assert trial.protocol.game in published_planners()[trial.label].scores


def test_the_games_are_those_with_the_fewest_decisions() -> None:
    games = {trial.protocol.game for trial in plan_suite(read_suite(str(EXPERIMENTS / "bandres" / "suite.yaml")))}
    riw = published_planners()["bandres-riw-0.5s"].scores
    short = {game for game, score in riw.items() if score.decisions is not None and score.decisions < 300}
    assert games == short - {"montezuma_revenge"}


def test_a_table_has_our_scores_theirs_and_the_test(tmp_path: Path) -> None:
    script = load_script("earlier_planners")
    directory = played(tmp_path / "fake", FAKE)
    table = script.build_table(directory)
    rows = [re.split(r" *\| *", line)[1:-1] for line in table.splitlines()[2:6]]
    assert [row[:3] for row in rows] == [
        ["Breakout", "IW(1)", "3"],
        ["Breakout", "RIW, 0.5 s", "3"],
        ["Kangaroo", "IW(1)", "3"],
        ["Kangaroo", "RIW, 0.5 s", "3"],
    ]
    assert rows[1][6:9] == ["82.4", "39.1", "75"]
    assert rows[0][6:9] == ["384.0", "", ""]
    assert {row[5] for row in rows} == {"1"}, "a random action is one interaction"
    assert table.endswith(f"Not different (p > 0.05) in {sum(float(row[9]) > 0.05 for row in rows)} of 4 rows.")


def test_a_mean_without_a_deviation_counts_as_exact() -> None:
    """Then the test is Student's of one sample."""
    script = load_script("earlier_planners")
    ours = [3.0, 5.0, 9.0, 4.0]
    exact = script.Sample(7.0, 0.0, 2)
    expected = stats.ttest_1samp(ours, 7.0).pvalue
    assert script.welch_p_value(script.Sample.of(ours), exact) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["bandres", "lipovetzky"])
def test_the_document_has_the_table_of_the_records(name: str) -> None:
    script = load_script("earlier_planners")
    document = (EXPERIMENTS.parent / "docs" / "reproduction.md").read_text()
    assert script.build_table(EXPERIMENTS / name / "results") in document
