"""Where results come from: tables, frames, arrays, benchmarks, runs and folders; and their statistics by hand."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from noveltree.analysis import (
    anytime_curves,
    human_normalised,
    mean_curve,
    mean_ranks,
    segments,
    significantly_best,
    summarise,
)
from noveltree.audit import audit
from noveltree.benchmark import BenchmarkDirectory
from noveltree.benchmark.conditions import in_words
from noveltree.errors import InputError, NoveltreeError, RecordError
from noveltree.protocol import make_protocol
from noveltree.published import normalisation
from noveltree.records import read_episode
from noveltree.records.files import checksum
from noveltree.records.manifest import read_manifest
from noveltree.records.run_directory import RunDirectory
from noveltree.results import (
    AgentScores,
    GameScores,
    Results,
    Sample,
    collect,
    common_games,
    means_of,
    read_records,
    read_results,
    results_of_arrays,
    results_of_frame,
    trials_of,
)
from noveltree.simulators.action_counts import ACTION_COUNTS
from noveltree.simulators.games import PAPER_GAMES, SMRF_GAMES
from noveltree.trial import play_trial
from tests.support.benchmarks import TINY, create, episodes_in, fail, played, unfinished_run
from tests.support.command_line import Cli

#: A benchmark of one agent with another budget.

TABLE = """agent,game,trial,episode,phase,score,steps,interactions,seconds
mine,pong,0,0,evaluation,10,100,5000,2.5
mine,pong,0,1,evaluation,12,120,6000,3
mine,pong,1,0,evaluation,17,140,7000,3.5
mine,pong,0,0,training,-5,9,90,0.1
mine,Breakout,0,0,evaluation,3,50,2500,1
mine,Breakout,1,0,evaluation,5.5,60,3000,1.25
other,pong,0,0,evaluation,1,100,5000,2
other,pong,0,1,evaluation,3,100,5000,2
"""


def columns_of(text: str) -> dict[str, list[Any]]:
    """The table as columns of words and numbers, as libraries read it."""
    rows = list(csv.DictReader(io.StringIO(text)))
    kinds: dict[str, Any] = {
        **dict.fromkeys(("trial", "episode", "steps", "interactions"), int),
        **dict.fromkeys(("score", "seconds"), float),
    }
    return {name: [kinds.get(name, str)(row[name]) for row in rows] for name in rows[0]}


def frame_of(library: str, columns: dict[str, list[Any]]) -> Any:
    return pytest.importorskip(library).DataFrame(columns)


@pytest.fixture
def copy(five: Path, tmp_path: Path) -> Path:
    shutil.copytree(five, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return path


class TestTablesAndFrames:
    def test_a_table_has_the_evaluation_episodes_of_its_trials(self, table: Path) -> None:
        results = read_results(str(table))
        assert [agent.name for agent in results.agents] == ["mine", "other"]
        assert results.games == ["breakout", "pong"]
        pong = results.agent("mine").games["pong"]
        assert (pong.sample.mean, pong.sample.count) == (13.0, 3)
        assert pong.trials == (11.0, 17.0)
        assert [(each.steps, each.interactions, each.seconds) for each in pong.episodes] == [
            (100, 5000, 2.5),
            (120, 6000, 3.0),
            (140, 7000, 3.5),
        ]
        assert pong.episodes[0].file is None
        means = results.means(["pong", "breakout"])
        assert means[0].tolist() == [13.0, 4.25]
        assert means[1, 0] == 2.0
        assert math.isnan(means[1, 1])

    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_a_frame_gives_what_the_table_gives(self, library: str, table: Path) -> None:
        made = results_of_frame(frame_of(library, columns_of(TABLE)))
        assert made.agents == read_results(str(table)).agents

    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_a_frame_that_a_library_read_from_the_table_gives_the_same(self, library: str, table: Path) -> None:
        made = results_of_frame(pytest.importorskip(library).read_csv(table))
        assert made.agents == read_results(str(table)).agents

    def test_a_parquet_table_gives_what_the_csv_table_gives(self, table: Path, tmp_path: Path) -> None:
        parquet = pytest.importorskip("pyarrow.parquet")
        arrow = pytest.importorskip("pyarrow")
        path = tmp_path / "table.parquet"
        parquet.write_table(arrow.table(columns_of(TABLE)), path)
        assert read_results(str(path)).agents == read_results(str(table)).agents

    def test_a_file_that_is_no_parquet_is_refused(self, tmp_path: Path) -> None:
        pytest.importorskip("pyarrow")
        (tmp_path / "table.parquet").write_text(TABLE)
        with pytest.raises(RecordError, match=r"table\.parquet is not a table of episodes"):
            read_results(str(tmp_path / "table.parquet"))

    @pytest.mark.parametrize("library", ["pandas", "polars"])
    @pytest.mark.parametrize(
        ("column", "row", "value", "complaint"),
        [
            ("score", 1, math.nan, "the table, row 1: score is missing"),
            ("score", 2, math.inf, "the table, row 2: the score 'inf' is not a number"),
            ("game", 4, "Brekout", "the table, row 4: Unknown game 'Brekout'. Did you mean 'breakout'?"),
            ("phase", 0, "test", "the table, row 0: the phase is training or evaluation, not 'test'"),
            ("episode", 1, 0, "the table, row 1: the same episode as in row 0"),
            ("agent", 3, None, "the table, row 3: agent is missing"),
            ("seconds", 7, math.inf, "the table, row 7: the seconds 'inf' is not a number"),
            ("seconds", 7, -3.0, "the table, row 7: seconds '-3.0' cannot be negative"),
            ("steps", 1, -5, "the table, row 1: steps '-5' cannot be negative"),
            ("score", 2, -1e300, "the table, row 2: the score '-1e+300' is beyond 1e+15"),
        ],
    )
    def test_what_is_wrong_with_a_frame_names_the_row(
        self, library: str, column: str, row: int, value: Any, complaint: str
    ) -> None:
        columns = columns_of(TABLE)
        columns[column][row] = value
        with pytest.raises(RecordError) as caught:
            results_of_frame(frame_of(library, columns))
        assert complaint in str(caught.value)

    def test_a_missing_value_of_pandas_own_is_missing(self) -> None:
        pandas = pytest.importorskip("pandas")
        frame = frame_of("pandas", columns_of(TABLE)).convert_dtypes()
        frame.loc[1, "score"] = pandas.NA
        with pytest.raises(RecordError, match="the table, row 1: score is missing"):
            results_of_frame(frame)

    def test_a_missing_value_of_pandas_own_may_be_missing_where_nothing_is_needed(self) -> None:
        pandas = pytest.importorskip("pandas")
        frame = frame_of("pandas", columns_of(TABLE)).convert_dtypes()
        frame.loc[1, "steps"] = pandas.NA
        episodes = results_of_frame(frame).agent("mine").games["pong"].episodes
        assert [each.steps for each in episodes] == [100, None, 140]

    def test_a_frame_without_a_needed_column_is_refused(self) -> None:
        columns = columns_of(TABLE)
        del columns["phase"]
        with pytest.raises(RecordError, match=r"mine\.csv is not a table of episodes: it has no column phase"):
            results_of_frame(frame_of("pandas", columns), source="mine.csv")

    def test_what_nobody_needs_may_be_missing(self) -> None:
        columns = {name: column for name, column in columns_of(TABLE).items() if name not in ("steps", "seconds")}
        columns["interactions"][0] = None
        first, second, _ = results_of_frame(frame_of("polars", columns)).agent("mine").games["pong"].episodes
        assert (first.steps, first.interactions, first.seconds) == (None, None, None)
        assert second.interactions == 6000

    def test_a_table_that_was_collected_gives_what_the_benchmark_gives(self, five: Path, tmp_path: Path) -> None:
        directory = BenchmarkDirectory.open(five)
        (tmp_path / "results.csv").write_text(collect([directory], relative_to=five).to_csv())
        of_table, of_benchmark = (read_results(str(path)) for path in (tmp_path / "results.csv", five))
        for ours, theirs in zip(of_table.agents, of_benchmark.agents, strict=True):
            assert ours.name == theirs.name
            assert ours.samples == theirs.samples
            assert ours.games["corridor"].trials == theirs.games["corridor"].trials


class TestArrays:
    def test_a_score_that_is_not_a_number_is_a_trial_that_is_missing(self) -> None:
        results = results_of_arrays(
            {"a": [[1.0, 10.0], [3.0, math.nan]], "b": np.array([[math.nan, 4.0]])}, ["pong", "breakout"]
        )
        assert results.agent("a").games["pong"].trials == (1.0, 3.0)
        assert results.agent("a").games["breakout"].trials == (10.0,)
        assert results.agent("b").games.keys() == {"breakout"}
        matrix = trials_of(results.agent("a"), ["pong", "breakout"])
        assert matrix[:, 0].tolist() == [1.0, 3.0]
        assert (matrix[0, 1], math.isnan(matrix[1, 1])) == (10.0, True)
        assert common_games(results.agents) == ["breakout"]
        assert common_games([]) == []

    @pytest.mark.parametrize(
        ("scores", "games", "complaint"),
        [
            ({"a": [[1.0, 2.0]]}, ["pong"], r"a: scores have the shape \(trials, 1\), not \(1, 2\)"),
            ({"a": [1.0]}, ["pong"], r"a: scores have the shape \(trials, 1\), not \(1,\)"),
            ({"a": [[math.inf]]}, ["pong"], "a: scores are numbers, and there must be some"),
            ({"b": [[math.nan]]}, ["pong"], "b: scores are numbers, and there must be some"),
            ({"a": [[1.0, 2.0]]}, ["pong", "pong"], "The game pong is there twice"),
        ],
    )
    def test_arrays_of_another_shape_are_refused(
        self, scores: dict[str, Any], games: list[str], complaint: str
    ) -> None:
        with pytest.raises(InputError, match=complaint):
            results_of_arrays(scores, games)

    def test_an_agent_is_asked_for_by_its_name(self) -> None:
        results = results_of_arrays({"riw-c": [[1.0]], "riw-d": [[2.0]]}, ["pong"], source="mine")
        with pytest.raises(InputError, match="mine has several agents; name one of them"):
            results.agent()
        with pytest.raises(NoveltreeError, match="Unknown agent in mine 'riw-x'"):
            results.agent("riw-x")
        assert results_of_arrays({"riw-c": [[1.0]]}, ["pong"]).agent().name == "riw-c"

    def test_results_are_rows_for_a_frame(self, table: Path) -> None:
        rows = read_results(str(table)).rows()
        assert [(each["agent"], each["game"], each["mean"], each["episodes"], each["trials"]) for each in rows] == [
            ("mine", "pong", 13.0, 3, 2),
            ("mine", "breakout", 4.25, 2, 2),
            ("other", "pong", 2.0, 2, 1),
        ]
        assert frame_of("pandas", rows)["mean"].to_list() == [13.0, 4.25, 2.0]  # type: ignore[arg-type]


class TestDirectories:
    def test_a_benchmark_has_the_scores_of_its_episode_files(self, five: Path) -> None:
        records = read_records([five])
        assert [agent.name for agent in records.agents] == ["riw-c", "riw-d"]
        for agent in records.agents:
            files = [path for path in episodes_in(five) if f"/{agent.name}/" in path.as_posix()]
            recorded = [read_episode(path).episode for path in files]
            scores = agent.games["corridor"]
            assert [each.file for each in scores.episodes] == files
            assert [each.score for each in scores.episodes] == [episode.score for episode in recorded]
            assert [each.interactions for each in scores.episodes] == [each.interactions for each in recorded]
            assert scores.trials == tuple(
                statistics.fmean(episode.score for episode in recorded[first : first + 3]) for first in (0, 3)
            )
            assert agent.protocol is not None
            assert "5 interactions per decision" in agent.settings
        assert (records.failed, records.unfinished, records.without_files) == ({}, [], [])

    def test_a_folder_has_all_benchmarks_and_runs_in_it(self, five: Path, three: Path, tmp_path: Path) -> None:
        shutil.copytree(five, tmp_path / "all" / "deep" / "five")
        shutil.copytree(three, tmp_path / "all" / "three")
        unfinished_run(tmp_path / "all" / "run")
        records = read_records([tmp_path / "all"])
        assert {agent.label for agent in records.agents} == {"riw-c", "riw-d"}
        assert len(records.agents) == 3
        assert records.unfinished == [str(tmp_path / "all" / "run")]

    def test_the_same_agent_under_other_conditions_is_another_agent(self, five: Path, three: Path) -> None:
        for beside_published in (False, True):
            records = read_records([five, three], beside_published=beside_published)
            first, second, other = records.agents
            assert [first.name, second.name] == ["riw-c", "riw-d"]
            assert (first.differs, second.differs) == ("", "")
            assert (other.label, other.name) == ("riw-c", f"riw-c ({other.differs})")
            assert other.differs == "budget 3"
            assert other.protocol is not None
            assert other.protocol.budget == 3
            assert "3 interactions per decision" in other.settings

    def test_what_is_given_first_does_not_decide_what_the_rule_is(self, five: Path, three: Path) -> None:
        """Four of the six trials were played with a budget of 5."""
        for beside_published in (False, True):
            records = read_records([three, five], beside_published=beside_published)
            assert {agent.name: agent.protocol.budget for agent in records.agents if agent.protocol} == {
                "riw-c": 5,
                "riw-d": 5,
                next(agent.name for agent in records.agents if agent.differs): 3,
            }

    def test_another_agent_under_other_conditions_is_not_comparable_either(
        self, three: Path, tmp_path: Path
    ) -> None:
        one = TINY.replace("[riw-c, riw-d]", "[riw-d]").replace("trials: 2", "trials: 1")
        other = played(tmp_path / "other", one)
        for beside_published in (False, True):
            records = read_records([three, other], beside_published=beside_published)
            assert [bool(agent.differs) for agent in records.agents] == [False, True]

    def test_atari_scores_are_held_against_the_published_conditions(self, tmp_path: Path) -> None:
        protocol = make_protocol("breakout", agent="riw-c", budget=5, max_frames=200)
        play_trial(tmp_path / "run", protocol, seed=0, episodes=2)
        (alone,) = read_records([tmp_path / "run"]).agents
        assert alone.differs == ""
        (beside,) = read_records([tmp_path / "run"], beside_published=True).agents
        assert "budget 5" in beside.differs
        assert "at most 200 frames" in beside.differs
        assert beside.label == "riw-c"

    def test_a_trial_that_is_given_twice_is_refused_with_both_places(self, five: Path, copy: Path) -> None:
        with pytest.raises(InputError) as caught:
            read_records([five, copy])
        assert str(five / "trials/corridor/riw-c/trial-0") in str(caught.value)
        assert str(copy / "trials/corridor/riw-c/trial-0") in str(caught.value)
        assert "are the same trial; leave one of them out" in str(caught.value)

    def test_an_episode_that_two_tables_have_is_refused(self, table: Path, tmp_path: Path) -> None:
        shutil.copy(table, tmp_path / "again.csv")
        with pytest.raises(NoveltreeError, match=r"again\.csv"):
            read_records([table, tmp_path / "again.csv"])

    def test_a_table_and_a_directory_of_the_same_agent_are_refused(self, five: Path, tmp_path: Path) -> None:
        path = tmp_path / "results.csv"
        path.write_text(collect([BenchmarkDirectory.open(five)], relative_to=five).to_csv())
        with pytest.raises(InputError, match="riw-c is an agent of several of these"):
            read_records([five, path])

    def test_a_folder_with_nothing_in_it_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError) as caught:
            read_records([tmp_path])
        assert str(caught.value) == f"There is no benchmark, run or episode in {tmp_path}."

    def test_a_run_that_is_not_over_has_no_scores_but_a_curve(self, tmp_path: Path) -> None:
        path = unfinished_run(tmp_path / "run")
        with pytest.raises(InputError, match="is finished yet: there are no scores"):
            read_results(str(path))
        records = read_records([path])
        assert records.agents == ()
        assert records.unfinished == [str(path)]
        (curves,) = records.curves
        assert (curves.name, curves.agent, curves.game) == ("n-cpl", "n-cpl", "corridor")
        (run,) = curves.runs
        assert [(each.interactions, each.mean_return) for each in run.points] == [(1000, 3), (2000, 4)]
        assert run.evaluation is None

    def test_a_benchmark_of_which_nothing_is_finished_has_no_scores(self, tmp_path: Path) -> None:
        create(tmp_path / "bench")
        with pytest.raises(InputError, match=r"Nothing in .* is finished yet: there are no scores"):
            read_results(str(tmp_path / "bench"))

    def test_trials_that_failed_or_wait_are_missing_from_the_scores(self, copy: Path) -> None:
        fail(copy, "trials/corridor/riw-d/trial-0", "boom")
        shutil.rmtree(copy / "trials/corridor/riw-c/trial-1")
        records = read_records([copy])
        assert records.failed == {str(copy / "trials/corridor/riw-d/trial-0"): "boom"}
        assert records.unfinished == [str(copy / "trials/corridor/riw-c/trial-1")]
        for agent in records.agents:
            assert agent.missing == {"corridor": 1}
            assert (len(agent.games["corridor"].trials), agent.games["corridor"].sample.count) == (1, 3)

    def test_a_result_with_another_number_of_scores_than_planned_is_refused(self, copy: Path) -> None:
        run = RunDirectory.open(copy / "trials/corridor/riw-c/trial-0")
        result = run.read_result()
        assert result is not None
        run.write_result({**result, "scores": result["scores"][:2]})
        with pytest.raises(RecordError, match="has 2 scores, not 3 as planned"):
            read_records([copy])


class TestVerified:
    def test_what_was_verified_is(self, five: Path, three: Path) -> None:
        records = read_records([five, three])
        assert records.unverified == [str(three)]
        verified = {
            each.manifest for agent in records.agents for each in agent.games["corridor"].episodes if each.file
        }
        assert verified == {read_manifest(five).digest[:12], ""}
        assert all(each.manifest for each in records.agents[0].games["corridor"].episodes)

    def test_the_manifest_of_a_folder_is_that_of_all_in_it(self, three: Path, tmp_path: Path) -> None:
        shutil.copytree(three, tmp_path / "folder" / "three")
        assert audit(tmp_path / "folder").holds
        assert read_records([tmp_path / "folder"]).unverified == []

    def test_an_episode_that_was_changed_since_is_not_verified(self, copy: Path) -> None:
        changed = episodes_in(copy)[4]
        text = changed.read_text()
        changed.write_text(text.replace('"depth": [', '"depth":  [', 1))
        assert changed.read_text() != text
        records = read_records([copy])
        assert records.unverified == [str(copy)]
        unverified = [
            each.file for agent in records.agents for each in agent.games["corridor"].episodes if not each.manifest
        ]
        assert unverified == [changed]

    def test_a_score_that_was_changed_is_refused(self, copy: Path) -> None:
        changed = episodes_in(copy)[0]
        score = read_episode(changed).episode.score
        changed.write_text(changed.read_text().replace(f'"score": {score}', '"score": 99.5', 1))
        with pytest.raises(RecordError, match="its checksum does not fit"):
            read_records([copy])
        content = json.loads(changed.read_text())
        changed.write_text(json.dumps({**content, "checksum": checksum(content)}))
        with pytest.raises(RecordError) as caught:
            read_records([copy])
        assert str(caught.value) == f"{changed} has the score 99.5, not {score:g} as the result says."

    def test_an_episode_that_is_damaged_is_refused(self, copy: Path) -> None:
        damaged = episodes_in(copy)[0]
        damaged.write_text(damaged.read_text()[:100])
        with pytest.raises(RecordError, match="is not an episode of noveltree, or is truncated"):
            read_records([copy])

    def test_episodes_that_are_gone_leave_their_scores(self, copy: Path) -> None:
        before = read_records([copy])
        episodes_in(copy)[1].unlink()
        records = read_records([copy])
        assert records.without_files == [str(copy / "trials/corridor/riw-c/trial-0")]
        assert records.unverified == [str(copy)]
        episodes = records.agents[0].games["corridor"].episodes
        assert [each.file is None for each in episodes] == [False, True, False, False, False, False]
        assert records.agents[0].samples == before.agents[0].samples


def agent_of(name: str, games: dict[str, list[float]], **more: Any) -> AgentScores:
    """An agent with a score per trial."""
    scores = {game: GameScores(Sample.of(trials), tuple(trials)) for game, trials in games.items()}
    return AgentScores(name, scores, name, label=more.pop("label", name), **more)


class TestByHand:
    def test_ranks_share_ties_and_leave_out_what_is_missing(self) -> None:
        scores = np.array(
            [
                [9.0, 5.0, np.nan, 1.0],
                [7.0, 5.0, 2.0, 1.0],
                [8.0, 4.0, 3.0, 1.0],
                [np.nan, np.nan, np.nan, np.nan],
            ]
        )
        ranks = mean_ranks(scores)
        assert ranks[:3].tolist() == [(1 + 1.5 + 2) / 3, (3 + 1.5 + 2 + 2) / 4, (2 + 3 + 1 + 2) / 4]
        assert math.isnan(ranks[3])
        for game in (0, 1, 3):
            there = ~np.isnan(scores[:, game])
            column = scores[there, game]
            one_game = mean_ranks(column[:, None])
            assert one_game.tolist() == stats.rankdata(-column).tolist()

    def test_a_mean_curve_goes_on_as_long_as_any_trial(self) -> None:
        first = {0: (1.0, 10.0), 1: (2.0, 20.0), 2: (3.0, 30.0)}
        second = {0: (2.0, 14.0), 1: (3.0, 20.0)}
        points = mean_curve([first, second])
        assert [(point.interactions, point.trials, point.mean) for point in points] == [
            (1.5, 2, 12.0),
            (2.5, 2, 20.0),
            (3.0, 1, 30.0),
        ]
        # The standard error is 2; Student's distribution with one degree of freedom has its 95% quantile at 6.3138.
        assert points[0].interval == pytest.approx(6.313752 * 2)
        assert points[1].interval == 0.0
        assert math.isnan(points[2].interval)
        assert mean_curve([]) == ()

    def test_an_interval_that_one_trial_lacks_does_not_move_the_later_ones(self) -> None:
        """As when a line of its metrics is lost."""
        points = mean_curve([{0: (1.0, 10.0), 1: (2.0, 20.0), 2: (3.0, 30.0)}, {0: (1.0, 12.0), 2: (3.0, 40.0)}])
        assert [(point.trials, point.mean) for point in points] == [(2, 11.0), (1, 20.0), (2, 35.0)]

    def test_an_anytime_curve_has_the_budgets_in_their_order(self) -> None:
        def with_budget(budget: int, score: float, *differs_in: str, frame_skip: int = 15) -> AgentScores:
            protocol = make_protocol("pong", agent="riw-c", budget=budget, frame_skip=frame_skip)
            name = f"riw-c {in_words(protocol, differs_in)}"
            scores = {"corridor": [score], "pong": [score + 100]}
            return agent_of(name, scores, label="riw-c", differs=name, differs_in=differs_in, protocol=protocol)

        alone = agent_of("riw-d", {"corridor": [3.0]}, protocol=make_protocol("corridor", agent="riw-d", budget=5))
        curves = anytime_curves(
            [
                with_budget(100, 9.0),
                with_budget(5, 2.0, "budget"),
                with_budget(20, 4.0, "budget"),
                with_budget(5, 1.0, "budget", "frame_skip", frame_skip=4),
                alone,
                agent_of("of a table", {"corridor": [3.0]}),
            ]
        )
        curve, other = curves
        assert (curve.agent, curve.game, curve.unit) == ("riw-c", "corridor", "interactions")
        assert [(budget, sample.mean) for budget, sample in curve.points] == [(5, 2.0), (20, 4.0), (100, 9.0)]
        assert (other.agent, other.game) == ("riw-c", "pong")
        assert [sample.mean for _, sample in other.points] == [102.0, 104.0, 109.0]

    def test_a_summary_of_three_agents(self) -> None:
        pong, breakout = (normalisation()[game] for game in ("pong", "breakout"))
        good = agent_of("good", {"pong": [pong.human + 1] * 2, "breakout": [breakout.human] * 2, "corridor": [5.0]})
        even = agent_of("even", {"pong": [pong.random], "breakout": [breakout.human], "corridor": [5.0]})
        part = agent_of("part", {"corridor": [6.0]})
        games = ["pong", "breakout", "corridor"]
        rng = np.random.default_rng(0)
        first, second, third = summarise([good, even, part], games, rng=rng, resamples=50)
        assert [each.games for each in (first, second, third)] == [3, 3, 1]
        assert [(each.wins, each.comparisons) for each in (first, second, third)] == [(1, 4), (0, 4), (2, 2)]
        assert [each.win_share for each in (first, second, third)] == [0.25, 0.0, 1.0]
        assert [each.mean_rank for each in (first, second, third)] == [
            (1 + 1.5 + 2.5) / 3,
            (2 + 1.5 + 2.5) / 3,
            1.0,
        ]
        assert [each.times_best for each in (first, second, third)] == [2, 1, 1]
        assert [each.above_human for each in (first, second, third)] == [(1, 2), (0, 2), (0, 0)]
        normalised = (pong.human + 1 - pong.random) / (pong.human - pong.random)
        assert human_normalised(good, games) == pytest.approx(np.array([[normalised, 1.0]] * 2))
        assert first.interquartile_mean is not None
        assert first.interquartile_mean.value == pytest.approx((normalised + 1) / 2)
        assert first.interquartile_mean.low == first.interquartile_mean.high  # all trials are alike
        assert second.interquartile_mean is not None
        assert (second.interquartile_mean.value, math.isnan(second.interquartile_mean.low)) == (0.5, True)
        assert second.optimality_gap is not None
        assert second.optimality_gap.value == 0.5
        assert third.interquartile_mean is None
        assert third.optimality_gap is None

    def test_segments_are_those_of_the_paper(self) -> None:
        found = {segment.name: segment.games for segment in segments(sorted(PAPER_GAMES))}
        assert found["all"] == tuple(sorted(PAPER_GAMES))
        assert set(found["smrf"]) == set(SMRF_GAMES)
        assert set(found["not-smrf"]) == set(PAPER_GAMES) - set(SMRF_GAMES)
        assert set(found["large-branching"]) == {game for game in PAPER_GAMES if ACTION_COUNTS[game] >= 10}
        assert set(found["small-branching"]) == {game for game in PAPER_GAMES if ACTION_COUNTS[game] < 10}

    def test_what_is_no_atari_game_is_in_no_segment_but_that_of_all(self) -> None:
        found = {segment.name: segment.games for segment in segments(["corridor", "pong"])}
        assert found["all"] == ("corridor", "pong")
        assert {game for name, games in found.items() if name != "all" for game in games} == {"pong"}

    def test_the_significantly_best_is_at_most_one(self) -> None:
        high, low = Sample.of([10.0, 11.0, 12.0, 11.0]), Sample.of([1.0, 2.0, 3.0, 2.0])
        assert significantly_best([low, high, low]) == [False, True, False]
        assert significantly_best([high, high, low]) == [False, False, False]
        assert significantly_best([high, Sample.of([1.0])]) == [False, False]
        assert significantly_best([high]) == [True]

    def test_means_of_agents_without_a_common_game(self) -> None:
        agents = [agent_of("a", {"pong": [1.0, 3.0]}), agent_of("b", {"breakout": [5.0]})]
        assert common_games(agents) == []
        means = means_of(agents, Results("here", tuple(agents)).games)
        assert np.array_equal(means, np.array([[np.nan, 2.0], [5.0, np.nan]]), equal_nan=True)


class TestLooseEpisodes:
    """What `noveltree play` writes."""

    def play(self, cli: Cli, *more: object) -> None:
        assert cli("play", "corridor", "--agent", "riw-c", "--budget", 5, *more).code == 0

    def test_those_of_a_seed_are_a_trial(self, cli: Cli) -> None:
        for seed in (0, 1):
            self.play(cli, "--episodes", 3, "--seed", seed)
        (agent,) = read_records([Path("episodes")]).agents
        scores = agent.games["corridor"]
        assert (len(scores.trials), scores.sample.count) == (2, 6)
        assert all(each.file is not None and each.file.exists() for each in scores.episodes)

    def test_an_episode_that_was_stopped_is_no_score(self, cli: Cli) -> None:
        self.play(cli)
        self.play(cli, "--seed", 1, "--max-steps", 2)
        records = read_records([Path("episodes")])
        assert records.agents[0].games["corridor"].sample.count == 1
        (stopped,) = records.unfinished
        assert "seed1" in stopped

    def test_the_same_episode_twice_is_refused(self, cli: Cli) -> None:
        self.play(cli)
        (file,) = Path("episodes").iterdir()
        shutil.copy(file, "episodes/again.json")
        with pytest.raises(InputError, match="are the same episode"):
            read_records([Path("episodes")])


def test_rows_make_a_data_frame() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(read_results("published").rows())
    n_cpl = frame[(frame.agent == "n-cpl") & (frame.game == "alien")].iloc[0]
    assert (n_cpl["mean"], round(n_cpl.interval, 2), n_cpl.episodes, n_cpl.trials) == (6943.4, 507.28, 50, 5)
