"""Reports: what stands in the document, and how it is written down as HTML, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest

from noveltree.protocol import make_protocol
from noveltree.records import read_episode
from noveltree.records.journal import Journal
from noveltree.report.comma_separated import to_csv_files
from noveltree.report.document import Charts, Document, EpisodeList, Notice, Paragraph, Section, Table
from noveltree.report.html import to_html
from noveltree.report.latex import to_latex
from noveltree.report.markdown import to_markdown
from noveltree.results import AgentScores, read_records, read_results, results_of_arrays
from noveltree.results.recorded import Records
from noveltree.simulators.games import PAPER_GAMES, SMRF_GAMES, game_title
from noveltree.trial import play_trial
from tests.support.benchmarks import SMALL, TINY, create, episodes_in, fail, played, unfinished_run
from tests.support.command_line import Cli
from tests.support.paper import TABLE_1, TABLE_2, TABLE_3
from tests.support.reports import (
    ATARI,
    NASTY,
    SCRIPT,
    Page,
    cell,
    charts,
    first_paragraph,
    notice,
    notices,
    report_of,
    row,
    section,
    table,
    tables_of,
    titles,
)

DASH = "—"


@pytest.fixture(scope="module")
def paper() -> Document:
    return report_of(published=True)


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three trials of a planner and three of one that learns."""
    return played(tmp_path_factory.mktemp("learnt") / "learnt", SMALL)


@pytest.fixture(scope="module")
def atari(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("atari") / "atari.csv"
    path.write_text(ATARI)
    return path


@pytest.fixture(scope="module")
def troubled(five: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of three trials of each agent, one that failed, one that waits, and one whose episodes are gone."""
    path = tmp_path_factory.mktemp("troubled") / "troubled"
    shutil.copytree(five, path)
    (path / "manifest.json").unlink()
    create(path, TINY.replace("trials: 2", "trials: 3"))
    fail(path, "trials/corridor/riw-d/trial-2", SCRIPT)
    shutil.rmtree(path / "trials/corridor/riw-c/trial-0/evaluation")
    return path


class TestPaper:
    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("paper-pairwise-all", TABLE_1),
            ("paper-pairwise-large-branching", TABLE_2),
            ("paper-pairwise-smrf", TABLE_3),
        ],
    )
    def test_the_pairwise_tables_are_the_papers(self, paper: Document, name: str, expected: str) -> None:
        made = table(paper, name)
        agents = ["N-CPL", "N-CPL_D", "CPL", "RIW_C", "RIW_D", "pi-IW", "pi-IW+", "pi-HIW"]
        assert titles(made) == ["", *agents, "total (average win %)"]
        assert [cells[0].text for cells in made.rows] == agents
        for number, (cells, line) in enumerate(zip(made.rows, expected.strip().splitlines(), strict=True)):
            *counts, total, share = line.split()
            assert cells[1 + number].blank
            wins = [each.text or "-" for each in cells[1:-1]]
            assert wins == counts
            assert cells[-1].text == f"{total} ({share}%)"

    def test_times_marked_are_the_papers_times_best(self, paper: Document) -> None:
        made = table(paper, "paper-scores")
        assert len(made.rows) == 53
        marked = dict(zip(titles(made), (each.text for each in row(made, "times marked")), strict=True))
        columns = ["RIW_D", "RIW_C", "CPL", "N-CPL_D", "N-CPL", "pi-IW", "pi-IW+", "pi-HIW"]
        assert [marked[agent] for agent in columns] == ["1", "0", "7", "10", "8", "12", "5", "10"]

    def test_the_table_of_intervals_marks_what_the_papers_does(self, paper: Document) -> None:
        made = table(paper, "paper-intervals")
        assert titles(made) == ["game", "RIW_D", "RIW_C", "CPL", "N-CPL_D", "N-CPL"]
        assert len(made.rows) == 54
        assert [each.text for each in row(made, "times marked")[1:]] == ["0", "0", "11", "9", "9"]
        for column, count in enumerate([0, 0, 11, 9, 9], start=1):
            assert sum(cells[column].best for cells in made.rows) == count
        assert cell(made, "Alien", "N-CPL").text == "6,943.40 ± 507.28"
        texts = [block.text for block in section(paper, "paper-scores").blocks if isinstance(block, Paragraph)]
        assert "no score in Freeway" in texts[0]

    @pytest.mark.parametrize(
        ("other", "games", "above", "above_75", "best"),
        [
            ("dqn", 49, (23, 37), (27, 40), (10, 8, 31)),
            ("rainbow-human-starts", 46, (31, 34), (36, 37), (7, 21, 18)),
            ("rainbow-noop-starts", 46, (37, 34), (38, 37), (6, 31, 10)),
        ],
    )
    def test_counts_above_human_are_the_papers(
        self,
        paper: Document,
        other: str,
        games: int,
        above: tuple[int, int],
        above_75: tuple[int, int],
        best: tuple[int, int, int],
    ) -> None:
        made = table(paper, f"paper-{other}")
        assert len(made.rows) == games
        assert titles(made)[1] == "Human"
        assert titles(made)[3] == "N-CPL"
        for what, counts in (("games above human", above), ("games above 75% of human", above_75)):
            assert [each.numbers for each in row(made, what)[2:]] == [(count, games) for count in counts]
        assert [each.numbers for each in row(made, "games best")[1:]] == [(count, games) for count in best]

    def test_there_are_curves_of_three_agents_in_54_games(self, paper: Document) -> None:
        made = charts(paper, "paper-curves")
        assert len({chart.title for chart in made}) == 54
        for chart in made:
            assert [series.name for series in chart.series] == ["N-CPL", "N-CPL_D", "CPL"]
            for series in chart.series:
                assert len(series.points) == len(series.intervals) > 1
                assert any(math.isfinite(half) for half in series.intervals)

    def test_the_taxonomy_has_all_55_games(self, paper: Document) -> None:
        made = table(paper, "taxonomy")
        assert len(made.rows) == 55
        smrf = {cells[0].text for cells in made.rows if cells[-1].text == "yes"}
        assert smrf == {game_title(game) for game in SMRF_GAMES}
        assert {cells[0].text for cells in made.rows} == {game_title(game) for game in PAPER_GAMES}

    def test_without_records_there_is_nothing_but_the_paper(self, paper: Document) -> None:
        assert [each.name for each in paper.sections] == [
            "paper-summary",
            "paper-pairwise",
            "paper-aggregate",
            "paper-scores",
            "paper-human",
            "paper-curves",
            "planners",
            "taxonomy",
            "settings",
        ]

    def test_it_stands_behind_what_was_recorded(self, five: Path) -> None:
        document = report_of(five, published=True)
        names = [each.name for each in document.sections]
        assert names[:2] == ["found", "problems"]
        assert names.index("own-episodes") < names.index("paper-summary")
        assert section(document, "paper-scores").title == "Paper: Scores"
        assert table(document, "paper-pairwise-all") == table(report_of(published=True), "paper-pairwise-all")


class TestFound:
    def test_a_report_begins_with_three_sentences_and_a_chart(self, five: Path) -> None:
        found, problems, *_ = report_of(five).sections
        assert (found.name, problems.name) == ("found", "problems")
        text, charts = found.blocks
        assert isinstance(text, Paragraph)
        assert text.text == (
            "2 recorded agents played 12 episodes in 4 trials of 1 game. None of them has a higher mean score than "
            "another agent in any game. Manifests state that all of their episodes were replayed, and no problem "
            "was found."
        )
        assert isinstance(charts, Charts)
        assert [series.name for series in charts.charts[0].series] == ["riw-c", "riw-d"]

    def test_beside_the_published_scores_the_chart_is_that_of_human_normalised_scores(self, atari: Path) -> None:
        document = report_of(atari)
        assert " has the most wins of them, 5 of 9 comparisons (55.6%): higher mean" in first_paragraph(document)
        assert "No manifest has their episodes as they are, and 1 problem follows." in first_paragraph(document)
        (chart,) = charts(document, "found")
        assert chart.x_label == "human-normalised score"

    def test_what_is_not_finished_is_said_and_its_curve_is_the_chart(self, tmp_path: Path) -> None:
        document = report_of(unfinished_run(tmp_path / "run"))
        assert first_paragraph(document).startswith("No trial is finished yet; 1 trial ")
        assert charts(document, "found") == charts(document, "own-curves")

    def test_sections_of_atari_are_left_out_where_there_is_none_of_it(self, tmp_path: Path) -> None:
        document = report_of(unfinished_run(tmp_path / "run"))
        assert [each.name for each in document.sections] == ["found", "problems", "own-curves"]


class TestProblems:
    def test_they_come_right_after_what_was_found(self, troubled: Path) -> None:
        assert [each.name for each in report_of(troubled).sections[:2]] == ["found", "problems"]

    def test_nothing_is_wrong_with_what_is_whole_and_verified(self, five: Path) -> None:
        (only,) = section(report_of(five), "problems").blocks
        assert isinstance(only, Notice)
        assert only.kind == "good"
        assert "manifests state that all were replayed" in only.title

    def test_all_of_them_are_said(self, troubled: Path) -> None:
        document = report_of(troubled)
        blocks = section(document, "problems").blocks
        assert {block.kind for block in blocks if isinstance(block, Notice)} == {"problem"}
        failed = str(troubled / "trials/corridor/riw-d/trial-2")
        assert notice(document, "1 trial failed") == f"{failed}: {SCRIPT}"
        assert notice(document, "1 trial not finished") == str(troubled / "trials/corridor/riw-c/trial-2")
        assert notice(document, "missing from scores").splitlines() == [
            "riw-c: corridor (1)",
            "riw-d: corridor (1)",
        ]
        assert notice(document, "not there any more") == str(troubled / "trials/corridor/riw-c/trial-0")
        assert notice(document, "run noveltree verify on") == str(troubled)

    def test_other_conditions_are_said_and_marked(self, five: Path, shorter: Path) -> None:
        document = report_of(five, shorter)
        (other,) = (agent for agent in read_records([five, shorter]).agents if agent.differs)
        assert notice(document, "other conditions") == other.title
        assert titles(table(document, "own-scores")) == ["game", "riw-c", "riw-d", f"{other.title} †"]
        assert cell(table(document, "settings"), f"{other.title} †", "differs in").text == other.differs
        assert cell(table(document, "settings"), "riw-c", "differs in").text == DASH

    def test_other_conditions_take_no_part_in_ranks_wins_and_totals_unless_asked(
        self, five: Path, shorter: Path
    ) -> None:
        other = "riw-c (at most 150 frames) †"
        document = report_of(five, shorter)
        for name in ("own-pairwise-all", "own-summary"):
            assert {cells[0].text for cells in table(document, name).rows} == {"riw-c", "riw-d"}
        assert cell(table(document, "own-scores"), "times marked", other).text == DASH
        asked = report_of(five, shorter, rank_all=True)
        for name in ("own-pairwise-all", "own-summary"):
            assert {cells[0].text for cells in table(asked, name).rows} == {"riw-c", "riw-d", other}
        assert cell(table(asked, "own-scores"), "times marked", other).text != DASH

    def test_recorded_agents_under_conditions_of_their_own_are_ranked_among_themselves(
        self, tmp_path: Path
    ) -> None:
        for agent in ("riw-c", "bfs"):
            play_trial(tmp_path / agent, make_protocol("pong", agent=agent, budget=2, max_frames=45), episodes=1)
        document = report_of(tmp_path)
        ours = {f"{agent} (at most 45 frames, budget 2) †" for agent in ("riw-c", "bfs")}
        for name in ("own-pairwise-all", "own-summary"):
            assert {cells[0].text for cells in table(document, name).rows} == ours
        assert cell(table(document, "own-scores"), "times marked", "N-CPL", "published").text == DASH
        assert notice(document, "ranked among themselves").count("\n") == 1
        assert "none is ranked" not in first_paragraph(document)

    def test_under_several_conditions_of_their_own_they_are_not(self, tmp_path: Path) -> None:
        for agent, budget in (("riw-c", 2), ("bfs", 3)):
            protocol = make_protocol("pong", agent=agent, budget=budget, max_frames=45)
            play_trial(tmp_path / agent, protocol, episodes=1)
        document = report_of(tmp_path)
        assert "own-summary" not in {each.name for each in document.sections}
        assert "none is ranked" in first_paragraph(document)

    @pytest.mark.parametrize("game", ["tetris", "CliffWalking-v1"])
    def test_where_nothing_was_published_the_conditions_of_most_are_the_rule(
        self, game: str, tmp_path: Path
    ) -> None:
        for agent in ("riw-c", "bfs"):
            play_trial(tmp_path / agent, make_protocol(game, agent=agent, budget=2, max_frames=45), episodes=1)
        document = report_of(tmp_path)
        assert {cells[0].text for cells in table(document, "own-summary").rows} == {"riw-c", "bfs"}
        assert not any("conditions" in title for title in notices(document))

    def test_all_who_foresee_chance_are_marked_and_ranked_among_themselves(self, tmp_path: Path) -> None:
        for agent in ("riw-c", "bfs"):
            protocol = make_protocol("FrozenLake-v1", agent=agent, budget=2, max_frames=5, chance="foreseen")
            play_trial(tmp_path / agent, protocol, episodes=1)
        document = report_of(tmp_path)
        ours = {"riw-c (chance foreseen) †", "bfs (chance foreseen) †"}
        assert {cells[0].text for cells in table(document, "own-summary").rows} == ours

    def test_a_training_of_which_a_part_is_over_is_not_ranked_with_the_published(self) -> None:
        (short,) = results_of_arrays({"n-cpl (200,000 training interactions)": [[21.0]]}, ["pong"]).agents
        short = replace(short, label="n-cpl", differs="200,000 training interactions", differs_in=("learning",))
        document = report_of(records=Records((short,)))
        names = {each.name for each in document.sections}
        assert {"own-summary", "own-pairwise", "own-aggregate"}.isdisjoint(names)
        scores = table(document, "own-scores")
        assert not cell(scores, "Pong", "n-cpl (200,000 training interactions) †").best
        assert any(each.best for each in row(scores, "Pong"))
        assert "none is ranked" in first_paragraph(document)

    def test_another_budget_is_no_problem_and_in_no_comparison(self, five: Path, three: Path) -> None:
        """It is in the section of budgets, among the costs, the episodes and the settings."""
        document = report_of(five, three)
        assert not any("other conditions" in title for title in notices(document))
        assert document.lead.startswith("2 recorded agents in 1 game")
        assert titles(table(document, "own-scores")) == ["game", "riw-c", "riw-d"]
        assert [cells[0].text for cells in table(document, "own-summary").rows] == ["riw-c", "riw-d"]
        assert [cells[0].text for cells in table(document, "own-cost").rows] == [
            *("riw-c", "riw-d", "riw-c (budget 3) †"),
        ]
        assert cell(table(document, "settings"), "riw-c (budget 3) †", "differs in").text == "budget 3"

    def test_another_budget_of_an_agent_that_is_not_there_is_compared(self, five: Path, three: Path) -> None:
        agents = {agent.name: agent for agent in read_records([five, three]).agents}
        document = report_of(records=Records((agents["riw-d"], agents["riw-c (budget 3)"])))
        assert titles(table(document, "own-scores")) == ["game", "riw-d", "riw-c (budget 3) †"]
        assert notice(document, "other conditions") == "riw-c (budget 3)"

    def test_another_budget_in_a_game_of_its_own_is_compared(self) -> None:
        """Otherwise its scores in that game would be in no table of scores."""
        (main,) = results_of_arrays({"riw-c": [[1.0]]}, ["pong"]).agents
        (other,) = results_of_arrays({"riw-c (budget 3)": [[2.0, 3.0]]}, ["pong", "breakout"]).agents
        other = replace(other, label="riw-c", differs="budget 3", differs_in=("budget",))
        made = table(report_of(records=Records((main, other))), "own-scores")
        assert cell(made, "Breakout", "riw-c (budget 3) †").numbers == (3.0,)

    def test_what_was_changed_since_it_was_verified_is_said(self, five: Path, tmp_path: Path) -> None:
        shutil.copytree(five, tmp_path / "copy")
        path = episodes_in(tmp_path / "copy")[0]
        path.write_text(path.read_text() + "\n")
        document = report_of(tmp_path / "copy")
        assert notice(document, "Not verified, or changed since") == str(tmp_path / "copy")
        lists = [block for block in section(document, "own-episodes").blocks if isinstance(block, EpisodeList)]
        assert [bool(each.manifest) for block in lists for each in block.episodes] == [False, *[True] * 11]

    def test_verifying_makes_the_complaint_go_away(self, three: Path, tmp_path: Path, cli: Cli) -> None:
        shutil.copytree(three, tmp_path / "copy")
        assert "Not verified" in cli("report", "copy").err
        assert cli("verify", "copy", "--workers", 1).code == 0
        assert cli("report", "copy").err == ""
        assert "manifests state that all were replayed" in Path("report.html").read_text()


class TestMissing:
    def test_a_trial_that_is_missing_is_in_the_note_of_the_score(self, troubled: Path) -> None:
        made = table(report_of(troubled), "own-scores")
        assert cell(made, "corridor", "riw-c").note == "6 episodes of 2 of 3 trials"
        assert cell(made, "corridor", "riw-d").note == "6 episodes of 2 of 3 trials"

    def test_a_game_that_is_missing_is_a_dash_and_a_sentence(self, atari: Path) -> None:
        document = report_of(atari)
        made = table(document, "own-scores")
        assert [cells[0].text for cells in made.rows] == ["Breakout", "Pong", "Solaris"]
        dash = cell(made, "Breakout", NASTY)
        assert (dash.text, dash.numbers, dash.note, dash.best) == (DASH, (), "not played", False)
        (gaps,) = (block for block in section(document, "own-summary").blocks if isinstance(block, Paragraph))
        assert f"{NASTY} has no scores in 2 games: Breakout, Solaris." in gaps.text
        assert "mine has no scores in 1 game: Solaris." in gaps.text

    def test_agents_without_a_common_game_are_not_compared(self, atari: Path) -> None:
        document = report_of(atari)
        made = table(document, "own-pairwise-all")
        assert cell(made, "loner", "mine").text == DASH
        assert cell(made, "loner", "mine").note == "no game in common"
        assert cell(made, "mine", NASTY).text == "1/1"
        assert cell(made, "mine", "N-CPL").text.endswith("/2")
        assert cell(table(document, "own-improvement"), "loner", "mine").text == DASH
        assert cell(table(document, "own-improvement"), "mine", NASTY).text == "1.00"

    def test_two_agents_without_a_common_game_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "table.csv"
        path.write_text(
            "agent,game,trial,episode,phase,score\na,corridor,0,0,evaluation,1\nb,CartPole-v1,0,0,evaluation,2\n"
        )
        document = report_of(path)
        made = table(document, "own-summary")
        assert {cells[0].text for cells in made.rows} == {"a", "b"}
        assert cell(made, "a", "rank").text == DASH
        assert cell(made, "a", "wins").text == "0 of 0"
        assert cell(made, "a", "win %").text == DASH
        assert cell(table(document, "own-scores"), "corridor", "b").text == DASH
        for write in (to_html, to_markdown, to_latex):
            assert "CartPole-v1" in write(document)

    def test_a_game_that_nobody_has_finished_is_a_row_of_dashes(self, five: Path, tmp_path: Path) -> None:
        """Of two games that were planned, nothing was played in one."""
        shutil.copytree(five, tmp_path / "bench")
        (tmp_path / "bench" / "manifest.json").unlink()
        create(tmp_path / "bench", TINY.replace("[corridor]", "[corridor, breakout]"))
        records = read_records([tmp_path / "bench"])
        assert all(agent.missing == {"breakout": 2} for agent in records.agents)
        made = table(report_of(records=records), "own-scores")
        assert cell(made, "Breakout", "riw-c").text == DASH
        assert cell(made, "Breakout", "riw-c").note == "2 trials not finished"


class TestOwnScores:
    def test_published_agents_stand_beside_them(self, atari: Path) -> None:
        document = report_of(atari)
        made = table(document, "own-scores")
        published = {agent.title: agent for agent in read_results("published").agents}
        groups = {column.title: column.group for column in made.columns[1:]}
        assert [name for name, group in groups.items() if group == "recorded"] == ["mine", NASTY, "loner"]
        width_based = {"N-CPL", "N-CPL_D", "CPL", "RIW_C", "RIW_D", "pi-IW", "pi-IW+", "pi-HIW"}
        assert {name for name, group in groups.items() if group == "published"} == width_based
        for title in width_based:
            assert cell(made, "Pong", title).numbers[0] == published[title].samples["pong"].mean
        humans = table(document, "own-human")
        human = published["Human"].samples["breakout"].mean
        assert cell(humans, "Breakout", "Human †", "published").numbers == (human,)
        assert cell(humans, "Breakout", "mine").numbers == (42.8125,)
        assert cell(humans, "games above human", "mine").text == "2 of 2 (100%)"

    def test_the_foot_counts_the_marks(self, atari: Path) -> None:
        made = table(report_of(atari), "own-scores")
        assert not cell(made, "Pong", NASTY).best
        assert cell(made, "Pong", "mine").text.startswith("13.00 ± ")
        marks = [sum(cells[number].best for cells in made.rows) for number in range(1, len(made.columns))]
        assert [each.text for each in made.foot[0][1:]] == [str(count) for count in marks]

    def test_agents_are_ranked_by_their_share_of_wins(self, atari: Path) -> None:
        made = table(report_of(atari), "own-summary")
        shares = [each.numbers[0] for cells in made.rows for each in [cells[titles(made).index("win %")]]]
        assert shares == sorted(shares, reverse=True)
        ranks = [cells[1].numbers[0] for cells in made.rows]
        assert ranks == [1 + sum(other > share for other in shares) for share in shares]

    def test_in_games_of_others_nobody_published_stands_beside_them(self, five: Path) -> None:
        document = report_of(five)
        assert titles(table(document, "own-scores")) == ["game", "riw-c", "riw-d"]
        assert {column.group for column in table(document, "own-scores").columns} == {""}
        assert "own-aggregate" not in {each.name for each in document.sections}

    def test_atari_scores_under_other_conditions_are_marked_beside_the_published_ones(self, tmp_path: Path) -> None:
        protocol = make_protocol("breakout", agent="riw-c", budget=5, max_frames=200)
        play_trial(tmp_path / "run", protocol, seed=0, episodes=2)
        document = report_of(tmp_path / "run")
        made = table(document, "own-scores")
        assert titles(made)[1].startswith("riw-c (")
        assert titles(made)[1].endswith(" †")
        assert "at most 200 frames" in notice(document, "other conditions")
        assert cell(made, "Breakout", "RIW_C").numbers[0] > 0

    def test_the_test_for_smrf_is_taxonomy_and_no_score(self) -> None:
        document = report_of(records=Records((smrf_half("rtdp", -20.75), smrf_half("random", -20.0))))
        assert "own-scores" not in {each.name for each in document.sections}
        assert row(table(document, "taxonomy"), "Pong")[2].text.startswith("-20.8 (sd ")
        assert row(table(document, "taxonomy"), "Pong")[3].text.startswith("-20.0 (sd ")

    def test_a_test_for_smrf_under_other_conditions_is_said_and_does_not_count(self) -> None:
        other = replace(
            smrf_half("rtdp", 99.0),
            name="rtdp (budget 3)",
            title="rtdp (budget 3)",
            differs="budget 3",
            differs_in=("budget",),
        )
        document = report_of(records=Records((smrf_half("rtdp", -20.75), smrf_half("random", -20.0), other)))
        assert row(table(document, "taxonomy"), "Pong")[2].text.startswith("-20.8 (sd ")
        assert notice(document, "other conditions") == "rtdp (budget 3)"

    def test_a_test_for_smrf_in_a_game_of_others_is_no_error(self) -> None:
        document = report_of(
            records=Records((smrf_half("rtdp", 5.0, "corridor"), smrf_half("random", 1.0, "corridor")))
        )
        assert "taxonomy" not in {each.name for each in document.sections}


def smrf_half(agent: str, mean: float, game: str = "pong") -> AgentScores:
    """A half of the test for SMRF: episodes of 50 decisions."""
    (made,) = results_of_arrays({agent: [[mean - 0.5], [mean + 0.5]] * 10}, [game]).agents
    frames = 50 * make_protocol(game, agent=agent).frame_skip
    return replace(made, protocol=make_protocol(game, agent=agent, max_frames=frames))


class TestCurves:
    def test_intervals_that_are_lost_are_said(self, tmp_path: Path) -> None:
        path = unfinished_run(tmp_path / "run", (3.0, 4.0, 5.0, 6.0))
        metrics = path / "metrics.jsonl"
        lines = [json.dumps(line) for line in Journal(metrics).read()]  # as from before lines had checksums
        metrics.write_text("\n".join([lines[0], "garbage", *lines[2:]]) + "\n")
        document = report_of(path)
        assert notice(document, "learning curves that lack intervals") == f"{path} (2)"
        (chart,) = charts(document, "own-curves")
        assert chart.series[0].points == ((0.001, 3.0), (0.003, 5.0), (0.004, 6.0))

    def test_the_conditions_of_a_curve_without_scores_are_said(self, tmp_path: Path) -> None:
        unfinished_run(tmp_path / "five", (3.0, 4.0))
        unfinished_run(tmp_path / "three", (100.0, 200.0), budget=3.0)
        document = report_of(tmp_path)
        assert notice(document, "other conditions") == "n-cpl (budget 3)"
        (chart,) = charts(document, "own-curves")
        assert sorted(series.name for series in chart.series) == ["n-cpl", "n-cpl (budget 3) †"]

    def test_an_agent_with_several_budgets_has_an_anytime_curve(self, five: Path, three: Path) -> None:
        document = report_of(five, three)
        (chart,) = charts(document, "own-anytime")
        assert (chart.title, chart.x_label, chart.logarithmic) == ("corridor", "interactions per decision", True)
        (series,) = chart.series
        agents = {agent.name: agent for agent in read_records([five, three]).agents}
        other = next(agent for agent in agents.values() if agent.differs)
        expected = [(3, other.samples["corridor"].mean), (5, agents["riw-c"].samples["corridor"].mean)]
        assert list(series.points) == expected
        assert series.intervals[0] == other.samples["corridor"].interval
        made = table(document, "own-budgets-interactions")
        assert titles(made) == ["game", "agent", "3", "5"]
        assert [cell.text for cell in made.rows[0][:2]] == ["corridor", "riw-c"]
        assert [cell.numbers[0] for cell in made.rows[0][2:]] == [mean for _, mean in expected]
        named = {block.name: block.title for block in document.blocks() if isinstance(block, EpisodeList)}
        assert [named[cell.link.removeprefix("#")] for cell in made.rows[0][2:]] == [
            *("corridor, riw-c (budget 3)", "corridor, riw-c"),
        ]
        assert "own-anytime" not in {each.name for each in report_of(five).sections}

    def test_trials_that_learn_have_a_mean_curve_with_intervals(self, learnt: Path) -> None:
        (chart,) = charts(report_of(learnt), "own-curves")
        (series,) = chart.series
        assert (chart.title, series.name) == ("corridor", "n-cpl")
        (curves,) = read_records([learnt]).curves
        runs = curves.runs
        assert len(runs) == 3
        firsts = [run.points[0] for run in runs]
        x, y = series.points[0]
        assert x == pytest.approx(sum(each.interactions for each in firsts) / 3 / 1e6)
        assert y == pytest.approx(sum(each.mean_return for each in firsts) / 3)
        assert len(series.points) == len(series.intervals) == max(len(run.points) for run in runs)
        assert math.isfinite(series.intervals[0])

    def test_a_run_that_is_not_over_has_its_curve(self, tmp_path: Path) -> None:
        document = report_of(unfinished_run(tmp_path / "run"))
        (chart,) = charts(document, "own-curves")
        assert chart.series[0].points == ((0.001, 3.0), (0.002, 4.0))
        assert all(math.isnan(half) for half in chart.series[0].intervals)
        assert notice(document, "1 trial not finished") == str(tmp_path / "run")
        assert {"own-scores", "own-summary"}.isdisjoint(each.name for each in document.sections)
        for write in (to_html, to_markdown, to_latex):
            assert "not finished" in write(document)

    def test_curves_under_other_conditions_are_not_averaged(self, tmp_path: Path) -> None:
        unfinished_run(tmp_path / "five", (3.0, 4.0))
        unfinished_run(tmp_path / "three", (100.0, 200.0), budget=3.0)
        (chart,) = charts(report_of(tmp_path), "own-curves")
        assert sorted(tuple(y for _, y in series.points) for series in chart.series) == [(3, 4), (100, 200)]


class TestCostAndEpisodes:
    def test_the_cost_is_the_sum_over_the_episode_files(self, five: Path) -> None:
        made = table(report_of(five), "own-cost")
        assert [cells[0].text for cells in made.rows] == ["riw-c", "riw-d"]
        for name in ("riw-c", "riw-d"):
            recorded = [read_episode(path).episode for path in episodes_in(five) if f"/{name}/" in str(path)]
            steps, interactions = (
                sum(episode.steps for episode in recorded),
                sum(episode.interactions for episode in recorded),
            )
            seconds = sum(round(sum(map(float, episode.column("seconds"))), 6) for episode in recorded)
            numbers = [each.numbers[0] for each in row(made, name)[1:]]
            per = (interactions / steps, interactions / seconds, seconds / steps, seconds / 3600)
            assert numbers == pytest.approx([6, steps, interactions, *per])

    def test_a_table_with_the_same_columns_has_its_cost_too(self, atari: Path) -> None:
        made = table(report_of(atari), "own-cost")
        assert [cells[0].text for cells in made.rows] == ["mine", NASTY]
        assert cell(made, "mine", "interactions").numbers == (23_500,)
        assert cell(made, "mine", "interactions per second").numbers[0] == pytest.approx(23_500 / 11.25)

    def test_scores_lead_to_their_episodes(self, five: Path) -> None:
        document = report_of(five)
        lists = {block.name: block for block in section(document, "own-episodes").blocks if hasattr(block, "name")}
        for agent in read_records([five]).agents:
            link = cell(table(document, "own-scores"), "corridor", agent.name).link
            block = lists[link.removeprefix("#")]
            assert isinstance(block, EpisodeList)
            assert block.title == f"corridor, {agent.name}"
            assert [each.score for each in block.episodes] == [
                f"{each.score:g}" for each in agent.games["corridor"].episodes
            ]
            assert all(each.manifest for each in block.episodes)

    @pytest.mark.parametrize("out", ["report.html", "deep/er/report.html", "with #1 50%/r.html"])
    def test_links_lead_to_the_files_from_where_the_report_is(self, out: str, five: Path, cli: Cli) -> None:
        shutil.copytree(five, "five")
        video = episodes_in(Path("five"))[2].with_suffix(".mp4")
        video.touch()
        assert cli("report", "five", "--out", out).code == 0
        links = [link for link in Page(Path(out).read_text()).links if not link.startswith("#")]
        places = [(Path(out).parent / unquote(link)).resolve() for link in links]
        assert sorted(places) == sorted(path.resolve() for path in [*episodes_in(Path("five")), video])

    def test_a_name_that_browsers_read_in_another_way_is_quoted(self, five: Path, tmp_path: Path) -> None:
        shutil.copytree(five, tmp_path / "a #1 50%?")
        document = report_of(tmp_path / "a #1 50%?", base=tmp_path)
        links = [link for link in Page(to_html(document)).links if not link.startswith("#")]
        assert len(links) == 12
        for link in links:
            assert not set("#? ") & set(link)
            assert (tmp_path / unquote(link)).is_file()

    def test_a_video_beside_an_episode_is_linked(self, five: Path, tmp_path: Path) -> None:
        shutil.copytree(five, tmp_path / "five")
        episode = episodes_in(tmp_path / "five")[0]
        episode.with_suffix(".mp4").touch()
        document = report_of(tmp_path / "five", base=tmp_path)
        lists = [block for block in section(document, "own-episodes").blocks if isinstance(block, EpisodeList)]
        videos = [each.video for block in lists for each in block.episodes]
        assert videos == [episode.with_suffix(".mp4").relative_to(tmp_path).as_posix(), *[""] * 11]
        assert f'<a href="{videos[0]}">video</a>' in to_html(document)
        assert f"[video]({videos[0]})" in to_markdown(document)


class TestSameBytes:
    def test_the_same_records_give_the_same_bytes(self, five: Path, three: Path, atari: Path, learnt: Path) -> None:
        for paths in ([five, three], [learnt], [atari]):
            first, second = (report_of(*paths, published=True) for _ in range(2))
            for write in (to_html, to_markdown, to_latex, to_csv_files):
                assert write(first) == write(second)


@pytest.fixture(scope="module")
def everything(troubled: Path, three: Path, shorter: Path, atari: Path) -> Document:
    """All kinds of sections but learning curves, and the paper's."""
    return report_of(troubled, three, shorter, atari, published=True, title=NASTY)


class TestHtml:
    @pytest.fixture(params=["paper", "everything", "learnt"])
    def document(self, request: pytest.FixtureRequest) -> Document:
        made = request.getfixturevalue(request.param)
        return report_of(made) if isinstance(made, Path) else made

    def test_tags_are_balanced_and_names_are_unique(self, document: Document) -> None:
        page = Page(to_html(document))
        assert len(page.ids) == len(set(page.ids))
        assert {"html", "head", "body", "nav", "main", "table", "svg"} <= set(page.tags)

    def test_links_within_the_page_lead_somewhere(self, document: Document) -> None:
        page = Page(to_html(document))
        inner = [link.removeprefix("#") for link in page.links if link.startswith("#")]
        assert len(inner) >= len(document.sections)
        assert set(inner) <= set(page.ids)

    def test_nothing_outside_is_referred_to(self, document: Document) -> None:
        text = to_html(document)
        for reference in ("http://", "https://", "//cdn", " src=", "@import", "url(", "<link", "<iframe", "<img"):
            assert reference not in text, reference
        assert text.count("<script>") == 1

    def test_every_section_and_table_is_there(self, document: Document) -> None:
        text = to_html(document)
        for each in document.sections:
            assert f'<section id="{each.name}">' in text
        for made in tables_of(document):
            assert f'<figure id="{made.name}-table">' in text
        assert text.count("<svg") == sum(
            len(block.charts) for each in document.sections for block in each.blocks if isinstance(block, Charts)
        )

    def test_text_of_records_is_escaped(self, everything: Document) -> None:
        text = to_html(everything)
        assert "<script>alert" not in text
        assert "<b>&" not in text
        page = Page(text)
        assert SCRIPT in page.text
        assert NASTY in page.text

    def test_numbers_are_at_hand_for_sorting(self, everything: Document) -> None:
        text = to_html(everything)
        assert 'data-value="42.8125"' in text
        assert 'data-value="nan"' not in text


def cells_of(line: str) -> int:
    """Of a row of a table in Markdown, in which a pipe may be escaped."""
    unescaped = re.sub(r"\\.", "", line)
    assert unescaped.startswith("|")
    assert unescaped.endswith("|")
    return unescaped.count("|") - 1


class TestMarkdown:
    def test_rows_have_as_many_cells_as_their_heading(self, paper: Document, everything: Document) -> None:
        for document in (paper, everything):
            tables = 0
            width, lines = 0, to_markdown(document).splitlines()
            for before, line in zip(["", *lines], lines, strict=False):
                if not line.startswith("|"):
                    continue
                if not before.startswith("|"):
                    width, tables = cells_of(line), tables + 1
                assert cells_of(line) == width, line
            assert tables == len(tables_of(document))

    def test_a_pipe_in_a_name_is_escaped(self, tmp_path: Path) -> None:
        path = tmp_path / "table.csv"
        path.write_text("agent,game,trial,episode,phase,score\na|b\\|c,pong,0,0,evaluation,1\n")
        text = to_markdown(report_of(path))
        assert "a\\|b\\\\\\|c" in text
        for line in text.splitlines():
            if line.startswith("|"):
                assert cells_of(line) > 1

    def test_text_of_records_is_escaped(self, everything: Document) -> None:
        text = to_markdown(everything)
        assert "\\<script>" in text
        assert not re.search(r"(?<!\\)<(script|b)>", text)

    def test_problems_come_first_and_the_best_are_bold(self, everything: Document) -> None:
        text = to_markdown(everything)
        assert re.findall("^## (.*)", text, re.MULTILINE)[:2] == ["What was found", "Problems"]
        assert "**1 trial failed**" in text
        assert re.search(r"\| Alien \|.*\*\*[\d,.]+( ± [\d.]+)?\*\*", text)


class TestLatex:
    def test_wide_tables_have_their_intervals_below_the_means(self, paper: Document) -> None:
        text = to_latex(paper)
        assert r"Alien & \lines{c}{6,943.40 \\ $\pm$ 507.28} &" in text
        assert r"\textbf{\lines[b]{c}{branching \\ factor of 10 \\ or more (33 \\ games)}}" in text

    def test_names_in_other_scripts_can_be_told_apart(self) -> None:
        agents = results_of_arrays({"\u4e2d": [[1.0]], "\u6587": [[2.0]], "café": [[3.0]]}, ["pong"]).agents
        text = to_latex(report_of(records=Records(agents)))
        for name in ("[U+4E2D]", "[U+6587]", "café"):
            assert name in text

    def test_special_characters_are_escaped(self, everything: Document) -> None:
        text = to_latex(everything)
        assert "\\textless{}b\\textgreater{}\\&''x\\_1" in text
        assert "100\\% \\textbackslash{}of\\_\\allowbreak{}it \\& more" in text
        assert re.search(r"(?<!\\)%", text.partition("\\begin{document}")[2]) is None

    def test_the_papers_names_are_set_as_in_the_paper(self, paper: Document) -> None:
        text = to_latex(paper)
        assert r"RIW$_C$" in text
        assert r"N-CPL$_D$" in text
        assert r"$\pi$-HIW" in text

    def test_every_table_is_there_and_long_ones_are_cut(self, paper: Document) -> None:
        text = to_latex(paper)
        for made in tables_of(paper):
            assert f"\\label{{tab:{made.name}}}" in text
        long = replace(table(paper, "taxonomy"), rows=table(paper, "taxonomy").rows * 3)
        cut = to_latex(Document("T", "", (Section("s", "S", (long,)),)))
        assert "(Part 3 of 3.)" in cut
        assert cut.count(r"Alien &") == 3

    def test_the_total_of_the_pairwise_table_is_the_papers(self, paper: Document) -> None:
        assert r"\textbf{260 (70.1\%)}" in to_latex(paper)


class TestCsv:
    def test_there_is_a_file_per_table_and_group_of_charts(self, everything: Document) -> None:
        names = {made.name for made in tables_of(everything)} | {
            block.name for each in everything.sections for block in each.blocks if isinstance(block, Charts)
        }
        assert set(to_csv_files(everything)) == {
            f"{name}.csv" for name in (*names, "problems", "episodes", "contents")
        }
        contents = list(csv.DictReader(io.StringIO(to_csv_files(everything)["contents.csv"])))
        assert {row["file"] for row in contents} == {*to_csv_files(everything)} - {"contents.csv"}
        assert all(text.endswith(".") for row in contents for name, text in row.items() if name != "file")

    def test_every_row_has_all_columns(self, everything: Document) -> None:
        for text in to_csv_files(everything).values():
            rows = list(csv.reader(io.StringIO(text)))
            assert len(rows) > 1
            assert {len(line) for line in rows} == {len(rows[0])}
            assert len(set(rows[0])) == len(rows[0])

    def test_the_means_are_those_of_the_results_to_ten_digits(self, atari: Path) -> None:
        rows = {
            line["game"]: line
            for line in csv.DictReader(io.StringIO(to_csv_files(report_of(atari))["own-scores.csv"]))
        }
        recorded, published = read_results(str(atari)), read_results("published")
        compared = 0
        for kind, results in (("recorded", recorded), ("published", published)):
            for agent in results.agents:
                for game in ("pong", "breakout", "solaris"):
                    column = f"{agent.title} ({kind})"
                    if game in agent.games and column in rows["Pong"]:
                        sample = agent.samples[game]
                        line = rows[game_title(game)]
                        assert line[column] == f"{sample.mean:.10g}"
                        if math.isfinite(sample.interval):
                            assert line[f"{column}: interval"] == f"{sample.interval:.10g}"
                        compared += 1
        assert compared == 4 + 3 * 8
        assert rows["Breakout"][f"{NASTY} (recorded)"] == ""

    def test_charts_are_points(self, learnt: Path) -> None:
        rows = list(csv.DictReader(io.StringIO(to_csv_files(report_of(learnt))["own-curves.csv"])))
        (chart,) = charts(report_of(learnt), "own-curves")
        (series,) = chart.series
        assert [(line["chart"], line["series"]) for line in rows] == [("corridor", "n-cpl")] * len(series.points)
        assert [(float(line["x"]), float(line["y"])) for line in rows] == [
            pytest.approx(point, rel=1e-9) for point in series.points
        ]


class TestCommandLine:
    @pytest.fixture(autouse=True)
    def place(self, cli: Cli, atari: Path) -> None:
        shutil.copy(atari, "atari.csv")

    @pytest.mark.parametrize(
        ("arguments", "file", "beginning"),
        [
            ([], "report.html", "<!doctype html>"),
            (["--format", "html"], "report.html", "<!doctype html>"),
            (["--format", "md"], "report.md", "# noveltree report"),
            (["--format", "Markdown"], "report.md", "# noveltree report"),
            (["--format", "latex"], "report.tex", "\\documentclass"),
            (["--format", "tex", "-o", "mine.txt"], "mine.txt", "\\documentclass"),
            (["--out", "mine.htm"], "mine.htm", "<!doctype html>"),
            (["--out", "deep/er/mine.md"], "deep/er/mine.md", "# noveltree report"),
            (["--out", "mine.tex"], "mine.tex", "\\documentclass"),
            (["--out", "mine"], "mine", "<!doctype html>"),
        ],
    )
    def test_the_format_is_named_or_told_by_the_file(
        self, cli: Cli, arguments: list[str], file: str, beginning: str
    ) -> None:
        result = cli("report", "atari.csv", *arguments)
        assert (result.code, result.out) == (0, f"Report: {file}\n")
        assert result.err.endswith("is not known: atari.csv\n")
        assert Path(file).read_text().startswith(beginning)

    def test_csv_is_a_directory_of_tables(self, cli: Cli) -> None:
        result = cli("report", "atari.csv", "--format", "csv")
        files = sorted(path.name for path in Path("report-csv").iterdir())
        assert "own-scores.csv" in files
        assert result.out == f"Report: {len(files)} files in report-csv\n"
        told = cli("report", "atari.csv", "--format", "csv", "--out", "tables", "--json").object
        assert sorted(Path(name).name for name in told["files"]) == files
        assert all(Path(name).is_file() for name in told["files"])

    def test_json_says_what_was_written_and_what_is_wrong(self, cli: Cli, troubled: Path, three: Path) -> None:
        told = cli("report", troubled, three, "atari.csv", "--json").object
        assert told["report"] == "report.html"
        assert told["format"] == "html"
        assert told["files"] == ["report.html"]
        assert told["failed"] == [str(troubled / "trials/corridor/riw-d/trial-2")]
        assert told["unfinished"] == [str(troubled / "trials/corridor/riw-c/trial-2")]
        assert told["unverified"] == [str(troubled), str(three)]
        assert told["differs"] == {"riw-c (budget 3)": "budget 3"}
        assert told["agents"] == ["riw-c", "riw-d", "riw-c (budget 3)", "mine", NASTY, "loner"]
        assert any("failed" in title for title in told["problems"])

    def test_what_is_wrong_is_said_but_is_no_error(self, cli: Cli, troubled: Path, shorter: Path) -> None:
        result = cli("report", troubled, shorter)
        assert (result.code, result.out) == (0, "Report: report.html\n")
        assert "Warning: 1 trial failed: " in result.err
        assert "Warning: 1 trial not finished" in result.err
        assert "not ranked unless that is asked for: riw-c (at most 150 frames)\n" in result.err
        places = f"{troubled}, {shorter}"
        assert f"Warning: Not verified, or changed since: run noveltree verify on: {places}\n" in result.err

    def test_the_published_results_alone(self, cli: Cli) -> None:
        assert cli("report", "--published", "--out", "paper.md").code == 0
        text = Path("paper.md").read_text()
        assert text.startswith("# Width-based planning and learning on the Atari-2600: the published results\n")
        assert "260 (70.1%)" in text
        told = cli("report", "--published", "--json").object
        assert (told["agents"], told["failed"], told["differs"]) == ([], [], {})

    @pytest.mark.parametrize("ending", ["html", "md", "tex"])
    def test_a_title_is_the_title(self, cli: Cli, ending: str) -> None:
        assert cli("report", "atari.csv", "--title", "A & B", "--out", f"r.{ending}").code == 0
        expected = {"html": "<title>A &amp; B</title>", "md": "# A & B\n", "tex": r"\title{A \& B}"}
        assert expected[ending] in Path(f"r.{ending}").read_text()

    def test_a_report_replaces_the_one_that_is_there(self, cli: Cli) -> None:
        Path("report.html").write_text("old")
        assert cli("report", "atari.csv").code == 0
        first = Path("report.html").read_bytes()
        assert cli("report", "atari.csv").code == 0
        assert Path("report.html").read_bytes() == first

    def test_a_benchmark_at_work_is_reported_as_far_as_it_is(self, cli: Cli, five: Path) -> None:
        shutil.copytree(five, "bench")
        Path("bench/manifest.json").unlink()
        benchmark = create(Path("bench"), TINY.replace("trials: 2", "trials: 3"))
        with benchmark.locked():
            assert cli("report", "bench", "--json").object["unfinished"] == [
                "bench/trials/corridor/riw-c/trial-2",
                "bench/trials/corridor/riw-d/trial-2",
            ]

    @pytest.mark.parametrize(
        ("arguments", "code", "complaint"),
        [
            (
                [],
                2,
                "Nothing to report: give directories or tables, or --published for the paper's results.",
            ),
            (["nowhere"], 2, "There is no table, benchmark or run nowhere."),
            (["empty"], 2, "There is no benchmark, run or episode in empty."),
            (["--published", "-o", "-", "--json"], 2, "Only an HTML, Markdown or LaTeX document can be printed"),
            (["atari.csv", "--format", "htlm"], 2, "Unknown format 'htlm'. Did you mean 'html'?"),
            (["atari.csv", "--out", "report.docx"], 2, "report.docx has no known format; give --format html"),
            (["atari.csv", "--out", "report.csv"], 2, "give --format csv and a directory as --out"),
            (["atari.csv", "--out", "empty"], 2, "empty is a directory; name a file, such as empty/report.html."),
            (
                ["atari.csv", "--format", "csv", "--out", "file"],
                2,
                "file is a file; a report as CSV is a directory",
            ),
            (["atari.csv", "--out", "file/report.html"], 1, "Cannot write to file: Not a directory."),
            (["atari.csv", "--out", "/proc/x/report.html"], 1, "Cannot write to /proc/x"),
            (["atari.csv", "--format", "csv", "--out", "/proc/x"], 1, "Cannot write to /proc/x"),
            (["broken.csv"], 1, "broken.csv, line 2: the score 'many' is not a number."),
            (["file"], 1, "file is not a table of episodes: it has no column agent."),
        ],
    )
    def test_bad_input_gets_one_sentence(self, cli: Cli, arguments: list[str], code: int, complaint: str) -> None:
        Path("file").touch()
        Path("empty").mkdir()
        Path("broken.csv").write_text("agent,game,trial,episode,phase,score\na,pong,0,0,evaluation,many\n")
        result = cli("report", *arguments)
        assert complaint in result.sentence
        assert result.code == code
        assert not Path("report.html").exists()

    def test_a_score_that_was_changed_is_one_sentence(self, cli: Cli, five: Path) -> None:
        shutil.copytree(five, "five")
        path = episodes_in(Path("five"))[0]
        score = read_episode(path).episode.score
        path.write_text(path.read_text().replace(f'"score": {score}', '"score": 99.5', 1))
        result = cli("report", "five")
        assert result.sentence == f"{path} was changed after it was written: its checksum does not fit."
        assert result.code == 1


@pytest.mark.parametrize("write", [to_html, to_markdown, to_latex])
def test_a_document_with_nothing_in_it_can_be_written(write: Callable[[Document], str]) -> None:
    empty = Table("t", "Nothing.", (), ())
    assert "Nothing." in write(Document("Title", "", (Section("s", "S", (empty,)),)))
