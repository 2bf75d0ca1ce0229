"""The taxonomy: by hand, the paper's, what ships, and real runs that are kept and grow."""

from __future__ import annotations

import csv
import importlib.resources
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from scipy import stats

import measured_taxonomy as script
from noveltree.analysis.taxonomy import (
    branching_factor,
    classify,
    classify_agents,
    classify_samples,
    measured_taxonomy,
    published_taxonomy,
)
from noveltree.benchmark import BenchmarkDirectory, plan_suite, read_suite, run_benchmark, shipped_suites
from noveltree.benchmark.executors import LocalExecutor
from noveltree.cli import benchmark_run
from noveltree.errors import RecordError
from noveltree.published import published_smrf
from noveltree.results import Sample, read_records
from noveltree.simulators import action_counts
from noveltree.simulators.games import PAPER_GAMES, SMRF_GAMES
from tests.support.benchmarks import create
from tests.support.command_line import Cli

#: The shipped suite, but that each trial takes a moment.
SMALL = shipped_suites()["smrf"].replace("episodes: 20", "episodes: 2").replace("max_frames: 750", "max_frames: 30")


class TestByHand:
    def test_rtdp_that_is_better_finds_reward_feedback(self) -> None:
        made = classify("pong", 6, Sample.of([2.0, 3.0, 4.0]), Sample.of([-1.0, 0.0, 1.0]))
        # The standard error is sqrt(1/3 + 1/3), so t = 3.674, with 4 degrees of freedom.
        assert made.p_value == pytest.approx(2 * stats.t.sf(3 / math.sqrt(2 / 3), 4))
        assert made.p_value == pytest.approx(0.0213, abs=1e-4)
        assert not made.smrf

    def test_rtdp_that_is_worse_does_not(self) -> None:
        made = classify("pong", 6, Sample.of([-1.0, 0.0, 1.0]), Sample.of([2.0, 3.0, 4.0]))
        assert made.p_value == pytest.approx(0.0213, abs=1e-4)
        assert made.smrf

    def test_nor_does_a_difference_that_may_be_chance(self) -> None:
        rtdp, random = Sample.of([0.0, 1.0, 2.0]), Sample.of([-1.0, 0.0, 1.0])
        assert classify("pong", 6, rtdp, random).p_value == pytest.approx(0.2879, abs=1e-4)
        assert classify("pong", 6, rtdp, random).smrf
        assert not classify("pong", 6, rtdp, random, p_value=0.3).smrf

    @pytest.mark.parametrize(
        ("rtdp", "random", "p_value", "smrf"),
        [
            ([0.0, 0.0], [0.0, 0.0], 1.0, True),
            ([5.0, 5.0], [0.0, 0.0], 0.0, False),
            ([0.0, 0.0], [5.0, 5.0], 0.0, True),
            ([5.0], [0.0, 0.0], None, None),
        ],
    )
    def test_samples_without_variance(
        self, rtdp: list[float], random: list[float], p_value: float | None, smrf: bool
    ) -> None:
        made = classify("pong", 6, Sample.of(rtdp), Sample.of(random))
        assert (made.p_value, made.smrf) == (p_value, smrf)

    def test_only_games_of_both_agents_are_classified(self) -> None:
        zero, one = Sample.of([0.0, 0.0]), Sample.of([1.0, 1.0])
        samples = {"rtdp": {"pong": one, "alien": one}, "random": {"pong": zero, "skiing": zero}, "uct": {}}
        made = classify_samples(samples)
        assert made == {"pong": classify("pong", 6, one, zero)}
        assert classify_samples({"rtdp": {"pong": one}}) == {}

    def test_a_game_that_is_not_in_the_table_is_asked_of_the_emulator(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delitem(action_counts.ACTION_COUNTS, "freeway")
        assert branching_factor("freeway") == 3


class TestPublished:
    def test_the_published_classification_comes_out_in_all_55_games(self) -> None:
        made = published_taxonomy()
        assert {game: each.smrf for game, each in made.items()} == {
            game: test.smrf for game, test in published_smrf().items()
        }
        assert made.keys() == set(PAPER_GAMES)
        assert {game for game, each in made.items() if each.smrf} == set(SMRF_GAMES)
        assert sum(each.smrf for each in made.values()) == 13

    def test_a_one_sided_test_is_not_the_papers(self) -> None:
        one_sided = {
            game
            for game, each in published_taxonomy().items()
            if each.p_value is not None and each.p_value / 2 < 0.1 and each.rtdp.mean > each.random.mean
        }
        assert one_sided & set(SMRF_GAMES) == {"jamesbond", "zaxxon"}

    def test_the_published_deviations_have_n_in_the_denominator(self) -> None:
        # In these games only some episodes have any score at all, and all of them the same.
        scores = {"zaxxon": [200.0] * 2 + [0.0] * 18, "jamesbond": [50.0] * 6 + [0.0] * 14}
        for game, values in scores.items():
            assert published_taxonomy()[game].rtdp.mean == Sample.of(values).mean
            assert published_taxonomy()[game].rtdp.sd == pytest.approx(Sample.of(values).sd, abs=0.05)


class TestMeasured:
    def test_the_table_says_what_follows_from_it(self) -> None:
        text = importlib.resources.files("noveltree.results").joinpath("taxonomy.csv").read_text()
        rows = list(csv.DictReader(text.splitlines()))
        made = measured_taxonomy()
        assert [row["game"] for row in rows] == sorted(made)
        for row in rows:
            each = made[row["game"]]
            assert each.smrf == (row["smrf"] == "1")
            assert each.p_value == pytest.approx(float(row["p_value"]), rel=1e-3, abs=1e-12)
            assert each.actions == branching_factor(row["game"])
            assert each.rtdp.count == each.random.count == 20

    def test_a_table_is_read_as_it_was_written(self) -> None:
        text = importlib.resources.files("noveltree.results").joinpath("taxonomy.csv").read_text()
        rewritten = script.to_csv(measured_taxonomy())
        assert [line.split(",")[:7] for line in rewritten.splitlines()] == [
            line.split(",")[:7] for line in text.splitlines()
        ]
        uneven = classify("pong", 6, Sample.of([0.0, 1.0]), Sample.of([0.0]))
        with pytest.raises(SystemExit, match="2 episodes of RTDP, but 1 at random"):
            script.to_csv({"pong": uneven})


@pytest.fixture
def small_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noveltree.benchmark.suite.shipped_suites", lambda: {"smrf": SMALL})


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Freeway, played and kept, to be copied."""
    path = tmp_path_factory.mktemp("played") / "taxonomy"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("noveltree.benchmark.suite.shipped_suites", lambda: {"smrf": SMALL})
        suite = read_suite("smrf").part(games=["freeway"])
        run_benchmark(BenchmarkDirectory.create(path, suite, plan_suite(suite)), LocalExecutor(2))
    return path


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def submit(self: LocalExecutor, name: str, task: object) -> None:
        raise AssertionError(f"{name} is run")

    monkeypatch.setattr(LocalExecutor, "submit", submit)


def in_80_columns(text: str) -> bool:
    return all(len(line) <= 80 for line in text.splitlines())


@pytest.mark.usefixtures("small_suite")
class TestCommandLine:
    def test_games_are_played_kept_and_added_to(self, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", "80")
        ran = cli("taxonomy", "Freeway", "--workers", 2)
        assert ran.code == 0
        assert "finished  freeway, rtdp, trial 0" in ran.out
        assert re.search(r"^freeway +3 +0\.0 +0\.0 +0\.0 +0\.0 +1\.000 +yes +yes *$", ran.out, flags=re.MULTILINE)
        assert ran.out.endswith("1 game: 1 SMRF; as published in 1\n")
        kept = Path("taxonomy/trials/freeway/rtdp/trial-0/result.json").read_bytes()
        told = cli("taxonomy", "ALE/Adventure-v5", "freeway", "--workers", 2, "--json").object
        assert [game["game"] for game in told["games"]] == ["adventure", "freeway"]
        assert told["games"][0]["actions"] == 18
        assert told["games"][0]["published_smrf"] is None
        assert told["games"][1]["rtdp"] == {"mean": 0.0, "sd": 0.0, "count": 2}
        assert told["games"][1]["published_smrf"] is True
        assert told["failed"] == {}
        assert Path("taxonomy/trials/freeway/rtdp/trial-0/result.json").read_bytes() == kept
        assert BenchmarkDirectory.open(Path("taxonomy")).suite.game_names == ["freeway", "adventure"]

    @pytest.mark.usefixtures("nothing_runs")
    def test_what_was_played_is_not_played_again(self, cli: Cli, played: Path) -> None:
        shutil.copytree(played, "kept")
        before = {path: path.read_bytes() for path in Path("kept").rglob("*") if path.is_file()}
        again = cli("taxonomy", "freeway", "FREEWAY", "--out", "kept")
        assert again.code == 0
        assert "finished" not in again.out
        assert "1 game: 1 SMRF" in again.out
        assert {path: path.read_bytes() for path in Path("kept").rglob("*") if path.is_file()} == before

    @pytest.mark.usefixtures("nothing_runs")
    def test_only_the_games_that_are_asked_for_are_played(self, cli: Cli, played: Path) -> None:
        shutil.copytree(played, "kept")
        suite = read_suite("smrf").part(games=["freeway", "skiing"])
        grown = BenchmarkDirectory.create(Path("kept"), suite, plan_suite(suite))
        assert [game["game"] for game in cli("taxonomy", "freeway", "--out", "kept", "--json").object["games"]] == [
            "freeway"
        ]
        assert [status.state for status in grown.statuses()] == ["finished", "finished", "waiting", "waiting"]

    @pytest.mark.usefixtures("nothing_runs")
    def test_a_trial_that_failed_is_shown_and_the_exit_code_is_one(self, cli: Cli, played: Path) -> None:
        shutil.copytree(played, "kept")
        suite = read_suite("smrf").part(games=["freeway", "skiing"])
        grown = BenchmarkDirectory.create(Path("kept"), suite, plan_suite(suite))
        for status in grown.statuses()[2:]:
            for _ in range(3):
                grown.failed(status, 1.0, "boom")
        shown = cli("taxonomy", "skiing", "freeway", "--out", "kept")
        assert shown.code == 1
        assert shown.out.startswith("FAILED  skiing, rtdp, trial 0: boom\n")
        assert "1 game: 1 SMRF; as published in 1; 1 game not measured\n" in shown.out
        assert shown.out.endswith("To retry what failed: noveltree benchmark retry-failed kept\n")
        told = cli("taxonomy", "skiing", "freeway", "--out", "kept", "--json")
        assert told.code == 1
        assert told.object["failed"]["trials/skiing/rtdp/trial-0"] == "boom"
        assert told.object["games"][0]["smrf"] is None

    def test_an_interrupt_says_how_to_go_on(self, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(*arguments: object, **options: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(benchmark_run, "run_benchmark", interrupted)
        stopped = cli("taxonomy", "ms pacman", "--suite", "smrf", "--out", "kept", "--workers", 2)
        assert stopped.code == 130
        command = "noveltree taxonomy 'ms pacman' --suite smrf --out kept --workers 2"
        assert stopped.err.endswith(f"To resume: {command}\n")

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            ([], "No games: name some, or give --suite paper"),
            (["pnog"], "Unknown game 'pnog'. Did you mean 'pong'?"),
            (["CartPole-v1"], "The taxonomy covers Atari games only, and CartPole-v1 is not one."),
            (["corridor", "pong"], "The taxonomy covers Atari games only, and corridor is not one."),
            (["gym:Maze"], "The taxonomy covers Atari games only, and gym:Maze is not one."),
            (["ALE/Nothing-v5"], "Unknown game 'ALE/Nothing-v5'."),
            (["combat"], "combat is a game for several players"),
            (["--suite", "papr"], "Unknown suite of games 'papr'. Did you mean 'paper'?"),
            (["pong", "--workers", "0"], "'--workers'"),
        ],
    )
    def test_bad_input_gets_one_sentence(self, cli: Cli, arguments: list[str], complaint: str) -> None:
        refused = cli("taxonomy", *arguments)
        assert complaint in refused.sentence
        assert refused.code == 2
        assert not Path("taxonomy").exists()

    def test_a_directory_with_something_else_in_it_is_left_alone(self, cli: Cli) -> None:
        create(Path("other"))
        before = Path("other/plan.json").read_bytes()
        assert "other holds another benchmark" in cli("taxonomy", "freeway", "--out", "other").sentence
        assert Path("other/plan.json").read_bytes() == before
        Path("notes").mkdir()
        Path("notes/diary.txt").touch()
        assert "holds no benchmark; choose another --out" in cli("taxonomy", "pong", "--out", "notes").sentence

    def test_rows_under_other_conditions_are_refused(self, played: Path) -> None:
        agents = read_records([played]).agents
        assert classify_agents(agents)["freeway"].rtdp.count == 2
        with pytest.raises(RecordError, match="is not comparable with the others: frame skip 4"):
            classify_agents([*agents, replace(agents[0], differs="frame skip 4")])


@pytest.mark.usefixtures("nothing_runs")
class TestShipped:
    def test_all_that_was_measured_is_printed(self, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", "80")
        shown = cli("taxonomy", "--shipped")
        assert [line.split()[0] for line in shown.out.splitlines()[1:-1]] == sorted(measured_taxonomy())
        smrf = sum(made.smrf for made in measured_taxonomy().values())
        assert f"{len(measured_taxonomy())} games: {smrf} SMRF; as published in " in shown.out
        assert not Path("taxonomy").exists()

    def test_games_that_were_not_measured_show_the_papers_side(
        self, cli: Cli, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", "80")
        kept = {"skiing": measured_taxonomy()["skiing"]}
        monkeypatch.setattr("noveltree.cli.taxonomy.measured_taxonomy", lambda: kept)
        shown = cli("taxonomy", "--shipped", "--suite", "paper", "adventure").out
        lines = {line.split()[0]: line.split() for line in shown.splitlines()}
        assert lines["skiing"] == ["skiing", "3", "-1,248", "0.0", "-1,248", "0.0", "1.000", "yes", "yes"]
        assert lines["montezuma_revenge"] == ["montezuma_revenge", "18", "yes"]
        assert lines["pong"] == ["pong", "6", "no"]
        assert lines["adventure"] == ["adventure", "18", "-"]
        assert in_80_columns("\n".join(shown.splitlines()[:-1]))
        assert shown.endswith("1 game: 1 SMRF; as published in 1; 55 games not measured\n")

    def test_another_classification_than_the_papers_is_named(
        self, cli: Cli, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        better = classify("zaxxon", 18, Sample(50_000.0, 100.0, 20), Sample(20_000.0, 12_000.0, 20))
        monkeypatch.setattr("noveltree.cli.taxonomy.measured_taxonomy", lambda: {"zaxxon": better})
        told = cli("taxonomy", "--shipped", "--json").object
        assert told["verdict"] == "1 game: 0 SMRF; as published in 0, not in 1: zaxxon"
        assert told["games"][0]["rtdp"] == {"mean": 50_000.0, "sd": 100.0, "count": 20}


def test_the_script_builds_the_table_of_what_is_finished(played: Path, tmp_path: Path) -> None:
    shutil.copytree(played, tmp_path / "kept")
    assert script.build_table(tmp_path / "kept").splitlines()[1:] == ["freeway,3,2,0.0,0.0,0.0,0.0,1,1"]
    (tmp_path / "kept/trials/freeway/random/trial-0/result.json").unlink()
    assert len(script.build_table(tmp_path / "kept").splitlines()) == 1
    create(tmp_path / "other")
    with pytest.raises(SystemExit, match="is a benchmark of the suite tiny, not smrf"):
        script.build_table(tmp_path / "other")
