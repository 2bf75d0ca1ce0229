"""What a report claims is true: that scores were verified, are comparable, are the best, and what charts show."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from noveltree.analysis.aggregate import bootstrap, interquartile_mean
from noveltree.analysis.summary import human_normalised
from noveltree.errors import InputError, RecordError
from noveltree.protocol import make_protocol
from noveltree.published import OTHER_AGENTS
from noveltree.records.files import checksum
from noveltree.report.document import Chart, Charts, Document, Notice, Series, Table
from noveltree.report.html import to_html, to_svg
from noveltree.report.latex import to_latex
from noveltree.report.markdown import to_markdown
from noveltree.results import (
    AgentScores,
    LearningCurves,
    Records,
    RunCurve,
    RunPoint,
    common_games,
    published_agents,
    read_records,
    results_of_arrays,
    results_of_frame,
    table_of_planners,
)
from noveltree.results.comparable import settings_in_words
from tests.support.benchmarks import TINY, create, played
from tests.support.command_line import Cli
from tests.support.reports import report_of, table

ROOT = Path(__file__).parent.parent
HEAD = "agent,game,trial,episode,phase,score"
GOOD = "manifests state that all were replayed"


def report(records: Records | None = None, *, published: bool = False) -> Document:
    return report_of(records=records, published=published)


def problems(document: Document) -> str:
    return "\n".join(
        f"{block.title}: {' '.join(block.items)}" for block in document.blocks() if isinstance(block, Notice)
    )


@pytest.fixture
def copy(five: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(five, tmp_path / "copy"))


class TestVerified:
    def test_what_was_verified_is_said_to_be(self, copy: Path) -> None:
        assert GOOD in problems(report(read_records([copy])))

    def test_a_table_is_not(self, tmp_path: Path) -> None:
        (tmp_path / "table.csv").write_text(f"{HEAD}\nmine,pong,0,0,evaluation,3\n")
        told = problems(report(read_records([tmp_path / "table.csv"])))
        assert GOOD not in told
        assert f"is not known: {tmp_path / 'table.csv'}" in told

    @pytest.mark.parametrize("name", ["result.json", "run.json"])
    def test_it_is_not_any_more_if_a_run_was_changed(self, copy: Path, name: str) -> None:
        file = copy / "trials/corridor/riw-c/trial-0" / name
        file.write_bytes(file.read_bytes() + b" ")
        records = read_records([copy])
        assert records.unverified == [str(copy)]
        marks = [bool(each.manifest) for each in records.agents[0].games["corridor"].episodes]
        assert marks == [False] * 3 + [True] * 3

    def test_nor_if_the_plan_was(self, copy: Path) -> None:
        (copy / "plan.json").write_bytes((copy / "plan.json").read_bytes() + b" ")
        assert read_records([copy]).unverified == [str(copy)]

    def test_nor_behind_a_link(self, copy: Path, tmp_path: Path) -> None:
        trial = copy / "trials/corridor/riw-c/trial-0"
        shutil.move(trial, tmp_path / "elsewhere")
        trial.symlink_to(tmp_path / "elsewhere")
        assert read_records([copy]).unverified == [str(copy)]

    def test_a_run_that_was_not_planned_is_refused(self, copy: Path) -> None:
        file = copy / "trials/corridor/riw-c/trial-0/run.json"
        content = json.loads(file.read_text())
        content = {**content, "seed": 99}
        file.write_text(json.dumps({**content, "checksum": checksum(content)}))
        with pytest.raises(RecordError, match="is not the run that was planned"):
            read_records([copy])


class TestComparable:
    def test_tables_with_other_protocols_are_refused_across_files(self, tmp_path: Path) -> None:
        for number, name in enumerate(("aa", "bb")):
            (tmp_path / f"{name}.csv").write_text(f"{HEAD},protocol_hash\nx,pong,{number},0,evaluation,3,{name}\n")
        with pytest.raises(RecordError, match=r"bb\.csv, line 2: another protocol than before of x in pong"):
            read_records([tmp_path / "aa.csv", tmp_path / "bb.csv"])

    def test_what_has_no_scores_does_not_make_the_rule(self, five: Path, tmp_path: Path) -> None:
        """Nine planned trials with another budget, none of them played."""
        create(tmp_path / "planned", TINY.replace("budget: 5", "budget: 7").replace("trials: 2", "trials: 9"))
        agents = read_records([five, tmp_path / "planned"]).agents
        assert [(agent.name, agent.differs) for agent in agents] == [("riw-c", ""), ("riw-d", "")]

    def test_episodes_that_were_learnt_from_are_no_scores(self) -> None:
        interval = ROOT / "results/learning/qbert-n-cpl-seed0/episodes/interval-0001"
        with pytest.raises(InputError, match="an episode of a run that learns"):
            read_records([interval])

    def test_a_trial_counts_once_whatever_it_is_called(self, five: Path) -> None:
        with pytest.raises(InputError, match="are the same trial"):
            read_records([five, five / "trials/corridor/riw-d/trial-0"])

    def test_who_an_agent_is_and_what_is_unusual_about_it_is_said(self, tmp_path: Path) -> None:
        text = TINY.replace("[riw-c, riw-d]", "[{agent: rtdp, name: mine}]")
        (agent,) = read_records([played(tmp_path / "bench", text)]).agents
        assert agent.settings.startswith("the agent rtdp, ")

        unusual = make_protocol("pong", agent="riw-c", discount=0.5, horizon=3)
        assert settings_in_words(unusual, "riw-c").endswith("horizon 3, discount 0.5")


class TestSmrf:
    def half(self, agent: str, scores: list[float], label: str | None = None) -> AgentScores:
        (made,) = results_of_arrays({label or agent: [[score] for score in scores]}, ["pong"]).agents
        return replace(made, protocol=make_protocol("pong", agent=agent, max_frames=750))

    def test_other_names_are_no_obstacle(self) -> None:
        records = Records(
            (self.half("rtdp", [9.0, 8.0] * 10, "mine"), self.half("random", [1.0, 2.0] * 10, "dice"))
        )
        document = report(records)
        assert next(row for row in table(document, "taxonomy").rows if row[0].text == "Pong")[2].text.startswith(
            "8.5"
        )

    @pytest.mark.parametrize("halves", [["rtdp"], ["random"]])
    def test_half_of_a_test_stays_a_score(self, halves: list[str]) -> None:
        records = Records(tuple(self.half(agent, [1.0, 2.0] * 10) for agent in halves))
        assert table(report(records), "own-scores").rows[0][0].text == "Pong"

    def test_too_few_episodes_do_not_replace_a_measurement(self) -> None:
        records = Records((self.half("rtdp", [1000.0, 900.0]), self.half("random", [0.0, 1.0])))
        pong = next(row for row in table(report(records), "taxonomy").rows if row[0].text == "Pong")
        assert pong[2].text.startswith("-0.4")


class TestMarks:
    @pytest.fixture
    def own(self) -> Document:
        scores = {"high": [[10.0], [12.0], [14.0]], "even": [[9.0], [12.0], [14.0]], "low": [[1.0], [1.5], [1.0]]}
        return report(Records(results_of_arrays(scores, ["corridor"]).agents))

    def test_all_that_welchs_test_does_not_find_lower_are_marked(self, own: Document) -> None:
        _, high, even, low = table(own, "own-scores").rows[0]
        assert (high.best, even.best, low.best) == (True, True, False)

    def test_heat_is_hot_for_winners(self, own: Document) -> None:
        page = to_html(own)
        (matrix,) = re.findall(r'<figure id="own-pairwise-all-table">.*?</figure>', page, re.DOTALL)
        (high,) = re.findall(r'<th scope="row" class="words">high</th>(.*?)</tr>', matrix)
        (low,) = re.findall(r'<th scope="row" class="words">low</th>(.*?)</tr>', matrix)
        assert high.count("heat hot h10") == 2
        assert low.count("heat cold h10") == 2

    def test_published_agents_under_other_conditions_have_a_dagger(self) -> None:
        settings = table(report(published=True), "settings")
        marked = {row[0].text for row in settings.rows if "†" in row[0].text}
        assert marked == {agent.title + " †" for agent in (*published_agents()[8:], *table_of_planners())}

    def test_published_agents_are_called_so_in_rows_too(self) -> None:
        mine = results_of_arrays({"RIW_C": [[300.0], [310.0]]}, ["breakout"]).agents
        document = report(Records(mine))
        for name in ("own-summary", "own-segments", "own-pairwise-all", "own-improvement"):
            badges = {(row[0].text, row[0].badge) for row in table(document, name).rows}
            assert {("RIW_C", "recorded"), ("RIW_C", "published")} <= badges
        assert "RIW\\_C (published)" in to_markdown(document)

    def test_riverraid_has_the_only_published_score(self) -> None:
        mine = results_of_arrays({"mine": [[300.0]]}, ["riverraid"]).agents
        made = table(report(Records(mine)), "own-scores")
        assert [column.title for column in made.columns] == ["game", "mine", "N-CPL"]
        assert made.rows[0][2].text == "22,111.20"


class TestCharts:
    def test_points_stand_where_their_values_are(self) -> None:
        """From the left end at 46 to the right at 286, from the bottom at 160 up to 22."""
        chart = Chart("c", "x", "y", (Series("s", ((0.0, 0.0), (5.0, 50.0), (10.0, 100.0)), (10.0, 10.0, 10.0)),))
        (line,) = re.findall(r'class="line c0" d="([^"]*)"', to_svg(chart))
        places = [tuple(map(float, place.split())) for place in line[1:].split("L")]
        low, middle, high = places
        assert (low[0], middle[0], high[0]) == (46, 166, 286)
        assert low[1] > middle[1] > high[1]
        assert low[1] - middle[1] == pytest.approx(middle[1] - high[1], abs=0.11)
        assert 'class="band c0"' in to_svg(chart)

    def test_a_logarithmic_axis_gives_decades_the_same_room(self) -> None:
        chart = Chart("c", "x", "y", (Series("s", ((1.0, 0.0), (10.0, 1.0), (100.0, 2.0))),), logarithmic=True)
        (line,) = re.findall(r'class="line c0" d="([^"]*)"', to_svg(chart))
        first, second, third = (float(place.split()[0]) for place in line[1:].split("L"))
        assert second - first == pytest.approx(third - second, abs=0.11)

    def test_the_authors_curve_stands_behind_that_of_the_same_agent(self) -> None:
        interval = RunPoint(1, 1_000_000, 30, 5000.0, True)
        curves = [LearningCurves("n-cpl", "n-cpl", "", "qbert", (RunCurve("n-cpl, seed 0", (interval,), None),))]
        document = report(Records(curves=curves))
        _, charts = (block for block in document.blocks() if isinstance(block, Charts))
        ours, theirs = charts.charts[0].series
        assert (ours.name, ours.behind) == ("n-cpl", False)
        assert (theirs.name, theirs.behind) == ("authors' N-CPL", True)
        assert [x for x, _ in theirs.points] == [1.0]  # no further than ours goes

    def test_a_single_trial_shows_its_evaluation_and_what_was_rejected(self) -> None:
        points = (RunPoint(1, 1_000_000, 30, 5000.0), RunPoint(2, 2_000_000, 30, 4000.0, accepted=False))
        run = RunCurve("n-cpl, seed 0", points, 4500.0)
        document = report(Records(curves=[LearningCurves("n-cpl", "n-cpl", "", "qbert", (run,))]))
        _, charts = (block for block in document.blocks() if isinstance(block, Charts))
        ours = charts.charts[0].series[0]
        assert (ours.points, ours.level, ours.crosses) == (((1.0, 5000.0), (2.0, 4000.0)), 4500.0, ((2.0, 4000.0),))
        page = to_html(document)
        assert 'class="line level c0"' in page
        assert page.count('class="cross"') == 2, "also in the chart with which the report begins"

    def test_thin_lines_and_levels_have_room_in_a_chart(self) -> None:
        series = Series("s", ((0.0, 0.0), (1.0, 1.0)), trials=(((0.0, -50.0), (1.0, 0.0)),), level=100.0)
        drawn = to_svg(Chart("c", "x", "y", (series,)))
        (trial,) = re.findall(r'class="line trial c0" d="([^"]*)"', drawn)
        (level,) = re.findall(r'class="line level c0" d="M46 ([\d.]+)H286"', drawn)
        lowest = float(trial[1:].split("L")[0].split()[1])
        assert (float(level), lowest) == (22.0, 160.0)

    def test_profiles_are_those_of_the_scores(self) -> None:
        """Of two games, one with a human-normalised score of 1 and one of 3."""
        mine = results_of_arrays({"mine": [[30.5, -20.7 + 3 * 35.3]]}, ["breakout", "pong"]).agents
        document = report(Records(mine))
        profile = next(block for block in document.blocks() if isinstance(block, Charts))
        points = dict(next(s for s in profile.charts[0].series if s.name == "mine").points)
        assert (points[0.0], points[0.5], points[1.5], points[3.5]) == (1.0, 1.0, 0.5, 0.0)


class TestOddText:
    def test_a_name_cannot_become_an_attribute(self) -> None:
        bad = 'x" onmouseover="alert(1)" y="-v1'
        mine = results_of_arrays({"mine": [[1.0]]}, [bad]).agents
        episodes = tuple(replace(each, file=Path("e.json")) for each in mine[0].games[bad].episodes)
        scores = replace(mine[0].games[bad], episodes=episodes)
        page = to_html(report(Records((replace(mine[0], games={bad: scores}),))))
        assert "own-episodes-0-0" in page
        assert 'onmouseover="' not in page

    def test_colours_of_terminals_and_halves_of_characters_are_left_out(self) -> None:
        records = Records(failed={"t": "\x1b[31mred\x1b[0m \x01 \udce9"})
        for write in (to_html, to_markdown, to_latex):
            text = write(report(records))
            assert "red ? ?" in text
            text.encode()


class TestDamaged:
    @pytest.mark.parametrize("value", ["NaN", "null", '"x"', "1e400"])
    def test_metrics_that_are_no_numbers_are_named(self, tmp_path: Path, value: str) -> None:
        path = Path(shutil.copytree(ROOT / "results/learning/qbert-n-cpl-seed0", tmp_path / "run"))
        text = (path / "metrics.jsonl").read_text()
        (path / "metrics.jsonl").write_text(re.sub(r'"mean_return": [\d.]+', f'"mean_return": {value}', text))
        with pytest.raises(RecordError, match=f"The metrics of {path} are damaged"):
            read_records([path])

    def test_a_score_of_hundreds_of_digits_is_no_score(self, copy: Path) -> None:
        file = copy / "trials/corridor/riw-c/trial-0/result.json"
        content = json.loads(file.read_text())
        del content["checksum"]
        content["scores"] = [10**400] * 3
        file.write_text(json.dumps({**content, "checksum": checksum(content)}))
        with pytest.raises(RecordError, match="it has a number with 401 digits"):
            read_records([copy])


class TestTables:
    @pytest.mark.parametrize("text", ["\ufeff{}", "{}\n\n", "{}\r\n"])
    def test_what_spreadsheets_write_is_read(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "t.csv").write_text(text.format(f"{HEAD}\nmine,ALE/Pong-v5,0,0,evaluation,3"), newline="")
        assert read_records([tmp_path / "t.csv"]).agents[0].games.keys() == {"pong"}

    def test_two_columns_of_a_name_are_refused(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_text(f"{HEAD},score\nmine,pong,0,0,evaluation,3,4\n")
        with pytest.raises(RecordError, match="it has two columns score"):
            read_records([tmp_path / "t.csv"])

    def test_a_lazy_frame_is_collected(self) -> None:
        polars = pytest.importorskip("polars")

        values = ["mine", "pong", 0, 0, "evaluation", 3.0]
        frame = polars.DataFrame({name: [value] for name, value in zip(HEAD.split(","), values, strict=True)})
        assert results_of_frame(frame.lazy()).agent("mine").samples["pong"].mean == 3.0


class TestWhereTo:
    def test_a_report_does_not_go_into_what_it_is_about(self, cli: Cli, five: Path) -> None:
        shutil.copytree(five, "bench")
        for more in (["-o", "bench/report.html"], ["--format", "csv", "-o", "bench"]):
            assert "not where it belongs; choose another --out" in cli("report", "bench", *more).sentence
        Path("t.csv").write_text(f"{HEAD}\nmine,pong,0,0,evaluation,3\n")
        assert "choose another --out" in cli("report", "t.csv", "--format", "html", "-o", "t.csv").sentence
        assert Path("t.csv").read_text().startswith(HEAD)

    def test_only_files_are_replaced_and_links_are_followed(self, cli: Cli) -> None:
        import os

        os.mkfifo("pipe.html")
        assert "is not a file" in cli("report", "--published", "-o", "pipe.html").sentence
        Path("real.html").touch()
        Path("link.html").symlink_to("real.html")
        assert cli("report", "--published", "-o", "link.html").code == 0
        assert Path("link.html").is_symlink()
        assert Path("real.html").read_text().startswith("<!doctype html>")

    def test_tables_of_another_report_do_not_stay_beside_new_ones(self, cli: Cli) -> None:
        assert cli("report", "--published", "--format", "csv", "-o", "tables").code == 0
        assert cli("report", "--published", "--format", "csv", "-o", "tables").code == 0
        Path("t.csv").write_text(f"{HEAD}\nmine,pong,0,0,evaluation,3\n")
        assert cli("report", "t.csv", "--format", "csv", "-o", "tables").code == 0
        names = sorted(path.name for path in Path("tables").iterdir())
        assert not any(name.startswith("paper-") for name in names)
        assert {"contents.csv", "own-scores.csv"} <= set(names)

    def test_files_of_others_are_left_alone(self, cli: Cli) -> None:
        """Also those that a table of contents claims, outside of the directory."""
        Path("tables").mkdir()
        Path("tables/mine.csv").write_text("mine")
        told = cli("report", "--published", "--format", "csv", "-o", "tables")
        assert "tables has other files, such as mine.csv; choose an empty directory" in told.sentence
        Path("mine.csv").write_text("mine")
        Path("tables/mine.csv").unlink()
        assert cli("report", "--published", "--format", "csv", "-o", "tables").code == 0
        contents = Path("tables/contents.csv")
        contents.write_text(contents.read_text() + "../mine.csv,mine\n")
        assert cli("report", "--published", "--format", "csv", "-o", "tables").code == 0
        assert Path("mine.csv").read_text() == "mine"

    @pytest.mark.parametrize("contents", [b"", b"file,what\nmine.csv,mine\n", b"\xff\xfe", b'file,"'])
    def test_what_only_looks_like_a_report_is_left_alone(self, cli: Cli, contents: bytes) -> None:
        Path("tables").mkdir()
        Path("tables/mine.csv").write_text("mine")
        Path("tables/contents.csv").write_bytes(contents)
        told = cli("report", "--published", "--format", "csv", "-o", "tables")
        assert "tables has other files, such as contents.csv; choose an empty directory" in told.sentence
        assert Path("tables/mine.csv").read_text() == "mine"

    def test_a_report_can_be_printed(self, cli: Cli) -> None:
        shown = cli("report", "--published", "--format", "md", "-o", "-")
        cli("report", "--published", "-o", "paper.md")
        assert shown.out == Path("paper.md").read_text()
        assert not Path("-").exists()


class TestComparisons:
    """Of tables and charts over agents and games."""

    def test_trials_that_a_table_has_of_other_games_are_missing(self) -> None:
        scores = [[1.0, 5.0], [2.0, np.nan], [3.0, np.nan]]
        document = report(Records(results_of_arrays({"mine": scores}, ["pong", "qbert"]).agents))
        assert "Trials that are missing from scores, by game: mine: Qbert (2)" in problems(document)
        (row,) = (row for row in table(document, "own-scores").rows if row[0].text == "Qbert")
        assert row[1].note == "1 episode of 1 of 3 trials"
        (row,) = (row for row in table(document, "own-summary").rows if row[0].text == "mine")
        assert "no interval" in row[7].note

    def test_games_without_a_human_score_are_said(self) -> None:
        agents = results_of_arrays({"mine": [[1.0, 5.0]]}, ["pong", "berzerk"]).agents
        humans = table(report(Records(agents)), "own-human")
        assert [row[0].text for row in humans.rows] == ["Pong"]
        assert humans.caption.endswith("Without a human score, and not in the table: Berzerk.")
        titles = [column.title for column in humans.columns]
        assert titles[1:5] == ["Human †", "mine", "N-CPL", "DQN †"]

    def test_who_improves_is_blue_and_who_does_not_is_orange(self) -> None:
        agents = results_of_arrays({"good": [[10.0], [11.0]], "bad": [[1.0], [2.0]]}, ["pong"]).agents
        made = table(report(Records(agents)), "own-improvement")
        good, bad = made.rows[:2]
        assert (good[2].text, good[2].heat) == ("1.00", 1.0)
        assert (bad[1].text, bad[1].heat) == ("0.00", 0.0)

    def test_a_segment_that_is_all_games_has_no_matrix_of_its_own(self) -> None:
        agents = results_of_arrays({"mine": [[1.0, 2.0]]}, ["pong", "breakout"]).agents
        document = report(Records(agents))
        names = {block.name for block in document.blocks() if isinstance(block, Table)}
        assert [name for name in sorted(names) if name.startswith("own-pairwise")] == ["own-pairwise-all"]
        assert "branching factor below 10 (2 games)" in [
            column.title for column in table(document, "own-segments").columns
        ]

    def test_a_report_without_published_scores_does_not_claim_any(self) -> None:
        agents = results_of_arrays({"mine": [[1.0]]}, ["corridor"]).agents
        assert report(Records(agents)).lead == "1 recorded agent in 1 game."
        agents = results_of_arrays({"mine": [[1.0]]}, ["pong"]).agents
        assert "beside the paper's published scores" in report(Records(agents)).lead

    def test_intervals_of_the_summary_are_those_of_a_long_bootstrap(self) -> None:
        made = {row[0].text: row for row in table(report(published=True), "paper-summary").rows}
        agent = next(agent for agent in published_agents() if agent.name == "n-cpl")
        games = common_games([agent for agent in published_agents() if agent.name not in OTHER_AGENTS])
        scores, rng = human_normalised(agent, games), np.random.default_rng(7)
        expected = bootstrap(scores, interquartile_mean, rng=rng, resamples=20_000)
        value, low, high = made["N-CPL"][7].numbers
        width = expected.high - expected.low
        assert value == expected.value
        assert (low, high) == pytest.approx((expected.low, expected.high), abs=0.05 * width)


class TestCompare:
    def test_one_game_can_decide(self, cli: Cli) -> None:
        for name, scores in (("good", (300, 305, 310)), ("bad", (3, 4, 5))):
            lines = [f"{name},breakout,0,{number},evaluation,{score}" for number, score in enumerate(scores)]
            Path(f"{name}.csv").write_text("\n".join([HEAD, *lines]))
        told = cli("compare", "good.csv", "bad.csv", "--json").object
        assert told["verdict"].endswith("good.csv is better in breakout; the games are too few to say more.")

    def test_trials_that_are_missing_are_said_to_be(self, cli: Cli, copy: Path) -> None:
        (copy / "trials/corridor/riw-c/trial-1/result.json").unlink()
        shown = cli("compare", f"{copy}:riw-c", f"{copy}:riw-d")
        assert "Warning: trials of A that are missing, by game: corridor (1)." in shown.err

    def test_the_json_is_json(self, cli: Cli) -> None:
        text = cli("compare", "published:human", "published:dqn", "--json").out
        json.loads(text, parse_constant=lambda name: pytest.fail(name))

    def test_a_path_with_a_colon_is_a_path(self, cli: Cli) -> None:
        Path("a:b").write_text(f"{HEAD}\nmine,pong,0,0,evaluation,3\n")
        assert cli("compare", "a:b", "published:n-cpl").code == 0


def test_the_published_side_of_the_taxonomy_is_as_printed() -> None:
    """Alien: 379.5 with a standard deviation of 180.1 for RTDP, 135.0 and 39.4 for random actions."""
    (alien,) = (row for row in table(report(published=True), "taxonomy").rows if row[0].text == "Alien")
    assert [cell.text for cell in alien[6:8]] == ["379.5 (sd 180.1)", "135.0 (sd 39.4)"]
