"""The reproduction table is made of recorded episodes, and these hold."""

from __future__ import annotations

import csv
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from noveltree.audit import check_benchmark
from noveltree.records import read_episode
from noveltree.records.manifest import checksums, read_manifest
from noveltree.records.run_directory import RunDirectory
from noveltree.replay import verify_episode
from noveltree.results import Sample

ROOT = Path(__file__).parent.parent
PLANNERS = ROOT / "results" / "paper-planners"
ANYTIME = ROOT / "results" / "anytime"
EPISODES = sorted(PLANNERS.glob("trials/*/*/*/evaluation/*/*.json"))
DOCUMENT = (ROOT / "docs" / "reproduction.md").read_text()


def load_script(name: str = "reproduction") -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_in_the_document_is_that_of_the_benchmark() -> None:
    script = load_script()
    assert script.build_table(PLANNERS / "results.csv") in DOCUMENT


def test_the_table_of_budgets_is_that_of_the_benchmarks() -> None:
    assert load_script("anytime").build_table([ANYTIME, PLANNERS]) in DOCUMENT


@pytest.mark.parametrize(("folder", "episodes"), [(PLANNERS, 240), (ANYTIME, 240)], ids=["planners", "anytime"])
def test_benchmarks_are_what_their_manifests_say(folder: Path, episodes: int) -> None:
    manifest = read_manifest(folder)
    assert manifest is not None
    assert list(manifest.changes(checksums(folder))) == []
    assert manifest.checked.episodes == episodes
    for plan in sorted(folder.rglob("plan.json")):
        assert not list(check_benchmark(plan.parent, plan.parent))


def test_with_ten_interactions_both_planners_do_nearly_the_same() -> None:
    same = 0
    for game in ("berzerk", "gravitar"):
        for index in range(10):
            name = f"trial-0/evaluation/interval-0000/{index:05}.json"
            folder = ANYTIME / "budget-10" / "trials" / game
            classic, depth = (read_episode(folder / agent / name).episode.actions for agent in ("riw-c", "riw-d"))
            same += classic == depth
    assert same == 18


def test_there_are_ten_episodes_of_each_planner_in_twelve_games_or_more() -> None:
    counts = re.findall(r"^\| \w+ \| RIW_[CD] \| (\d+) \|", DOCUMENT, flags=re.MULTILINE)
    assert len(counts) >= 24
    assert {int(count) for count in counts} == {10}


def test_welchs_test_from_a_published_interval_by_hand() -> None:
    # 50 episodes with mean 0 and an interval of 1.6449 have a standard error of 1 (with n in the denominator).
    assert Sample.published(0.0, 1.6449, 50).sd == pytest.approx((50 * 50 / 49) ** 0.5, rel=1e-4)


@pytest.mark.parametrize(
    "path", [*EPISODES[::20], *sorted(ANYTIME.rglob("interval-0000/*.json"))[::60]], ids=lambda path: path.name
)
def test_recorded_scores_hold(path: Path) -> None:
    assert verify_episode(read_episode(path)).holds


def test_nothing_is_left_to_be_filled_in() -> None:
    for document in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        assert not re.search(r"\b(TODO|TBD|XXX|BUDGETS|SPEEDTABLE)\b", document.read_text()), document.name


RUN = ROOT / "results" / "learning" / "qbert-n-cpl-seed0"


def test_the_table_of_learning_is_that_of_the_recorded_runs() -> None:
    assert load_script("learning").build_table(ROOT / "results" / "learning") in DOCUMENT


def test_the_metrics_of_the_recorded_run_are_those_of_its_episodes() -> None:
    lines = [line for line in RunDirectory.open(RUN).read_metrics() if line["event"] == "episode"]
    assert len(lines) == 38 + 11
    for line in lines:
        record = read_episode(RunDirectory.open(RUN).episode_path(line["interval"], line["index"]))
        assert record.episode.score == line["return"]
        assert record.episode.interactions == line["interactions"]


def test_the_second_interval_is_not_below_the_authors_trials() -> None:
    (_, second) = [line for line in RunDirectory.open(RUN).read_metrics() if line["event"] == "interval"]
    rows = csv.DictReader((ROOT / "results" / "authors_intervals.csv").read_text().splitlines())
    theirs = [
        float(row["mean_return"])
        for row in rows
        if (row["agent"], row["game"], row["interval"]) == ("n-cpl", "qbert", "2")
    ]
    assert len(theirs) == 5
    assert second["mean_return"] >= min(theirs)


@pytest.mark.parametrize(
    "name", ["interval-0001/00003.json", "interval-0002/00001.json", "interval-0002/00007.json"]
)
def test_recorded_episodes_of_a_learner_hold(name: str) -> None:
    assert verify_episode(read_episode(RUN / "episodes" / name)).holds


def test_intervals_of_the_authors_end_where_they_trained() -> None:
    episodes = [
        {"algorithm": "N-CPL", "game": "Qbert", "trial": "0", "reward": str(reward), "trained": trained}
        for reward, trained in [(1, ""), (3, "1"), (5, ""), (7, "0"), (9, "")]
    ]
    assert load_script("authors_intervals").aggregate(episodes).splitlines()[1:] == [
        "n-cpl,qbert,0,1,2,2",
        "n-cpl,qbert,0,2,2,6",
        "n-cpl,qbert,0,3,1,9",
    ]
