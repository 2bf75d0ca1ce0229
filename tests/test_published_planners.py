"""Planners of earlier articles: the numbers are those of their tables, and their conditions are told."""

from __future__ import annotations

import csv
import importlib.resources
import lzma
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from noveltree.published import published_planners
from noveltree.report.document import Document, Table
from noveltree.report.report import build_report
from noveltree.results import other_planners, read_records, read_results, table_of_planners
from noveltree.simulators.games import canonical_game
from tests.support.command_line import Cli

ROOT = Path(__file__).parent.parent
FILES = importlib.resources.files("noveltree.published")
#: From the article's Table 2 (game, planner, score).
TABLE_2 = [
    ("alien", "bandres-riw-0.5s", 4238.0),
    ("alien", "bandres-iw-32s", 14010.0),
    ("amidar", "bandres-ra-riw-0.5s", 1049.2),
    ("asterix", "bandres-ns-ra-riw-32s", 87600.0),
    ("zaxxon", "bandres-ns-ra-riw-0.5s", 18700.0),
    ("pitfall", "bandres-riw-0.5s", -81.4),
]


def rows(name: str) -> list[dict[str, str]]:
    data = FILES.joinpath(name).read_bytes()
    return list(csv.DictReader((lzma.decompress(data) if name.endswith("xz") else data).decode().splitlines()))


class TestNumbers:
    def test_every_row_of_bandres_et_al_with_b_prost_comes_out(self) -> None:
        published = read_results("published")
        names = {"RIW": "riw", "RA RIW": "ra-riw", "NS+RA RIW": "ns-ra-riw", "IW_bfs": "iw"}
        names |= {"NS+ IW_bfs": "ns-iw", "RA IW_bfs": "ra-iw", "NS+RA IW_bfs": "ns-ra-iw"}
        found = 0
        for row in rows("bandres.csv.xz"):
            if row["features"] != "B-PROST":
                continue
            agent = published.agent(f"bandres-{names[row['variant']]}-{float(row['time_budget_s']):g}s")
            sample = agent.samples[canonical_game(row["game"])]
            expected = (float(row["score_mean"]), float(row["score_sd"]), int(row["episodes"]))
            assert (sample.mean, sample.sd, sample.count) == expected
            found += 1
        assert found == 20 * 58 == sum(len(a.games) for a in other_planners() if a.name.startswith("bandres"))

    def test_every_row_of_lipovetzky_et_al_comes_out(self) -> None:
        published = read_results("published")
        for row in rows("lipovetzky.csv"):
            for column in ("IW1", "2BFS", "BrFS", "UCT"):
                sample = published.agent(f"lipovetzky-{column.lower()}").samples[canonical_game(row["game"])]
                assert (sample.mean, sample.count) == (float(row[column]), 1)
                assert math.isnan(sample.sd)
        assert {len(agent.games) for agent in other_planners() if agent.name.startswith("lipovetzky")} == {54}

    @pytest.mark.parametrize(("game", "planner", "score"), TABLE_2)
    def test_they_are_those_of_the_article(self, game: str, planner: str, score: float) -> None:
        assert read_results("published").agent(planner).samples[game].mean == score

    def test_deviations_have_n_minus_1_in_the_denominator(self) -> None:
        """Venture pays in hundreds: a mean of 80 over five episodes is one of 400 and four of nothing."""
        sample = read_results("published").agent("bandres-ns-ra-riw-0.5s").samples["venture"]
        assert (sample.mean, sample.sd) == (80.0, round(float(np.std([400, 0, 0, 0, 0], ddof=1)), 2))

    @pytest.mark.parametrize(
        ("planner", "interactions"),
        [
            ("bandres-riw-0.5s", 103),
            ("bandres-riw-32s", 4105),
            ("bandres-ra-riw-0.5s", 101),
            ("bandres-ra-riw-32s", 3327),
            ("bandres-ns-ra-riw-0.5s", 107),
            ("bandres-iw-0.5s", 66),
        ],
    )
    def test_interactions_per_decision_are_those_that_presets_are_named_after(
        self, planner: str, interactions: int
    ) -> None:
        found = published_planners()[planner].interactions
        assert found is not None
        assert round(found) == interactions

    def test_the_paper_comes_first_and_is_as_it_was(self) -> None:
        agents = read_results("published").agents
        assert [agent.name for agent in agents[:8]] == [
            *("n-cpl", "n-cpl-d", "cpl", "riw-c", "riw-d", "pi-iw", "pi-iw+", "pi-hiw"),
        ]
        assert agents[12:] == other_planners()


class TestConditions:
    def test_they_are_told_and_are_not_those_of_the_paper(self) -> None:
        by_name = {agent.name: agent for agent in other_planners()}
        riw = by_name["bandres-riw-0.5s"]
        for told in (
            *("Bandres et al. 2018", "frame skip 15", "0.5 seconds per decision", "all 18 actions"),
            *("on average 103 interactions per decision", "5 episodes per game", "0 to 29 no-op actions first"),
        ):
            assert told in riw.settings
        assert riw.differs == "action set full, budget 0.5, budget unit seconds, 0 to 29 no-op actions first"
        assert "risk averse parent" in by_name["bandres-ra-riw-32s"].settings
        iw = by_name["lipovetzky-iw1"]
        assert "deviations and numbers of episodes are not known" in iw.settings
        assert iw.differs_in == ("action_set", "frame_skip", "budget", "budget_unit")
        assert all(agent.differs and agent.published for agent in other_planners())

    def test_what_is_not_known_is_not_made_up(self) -> None:
        uct = next(agent for agent in other_planners() if agent.name == "lipovetzky-uct")
        assert uct.protocol is None
        assert uct.differs == "conditions that are not known"

    def test_compare_warns_of_what_differs_between_the_two(self, cli: Cli) -> None:
        ours = f"{ROOT / 'results' / 'paper-planners'}:riw-d"
        told = cli("compare", ours, "published:bandres-riw-0.5s", "--json").object
        assert told["conditions"]["differ"] == "action set full, budget 0.5, budget unit seconds"
        assert "on average 103 interactions per decision" in told["conditions"]["second"]
        (berzerk,) = [game for game in told["games"] if game["game"] == "berzerk"]
        expected = stats.ttest_ind_from_stats(
            *(berzerk["first"]["mean"], berzerk["first"]["sd"], 10, 644.0, 190.87, 5), equal_var=False
        ).pvalue
        assert berzerk["p_value"] == pytest.approx(expected)
        shown = cli("compare", "published:bandres-riw-32s", "published:bandres-riw-0.5s")
        assert "Warning: their conditions differ: budget 0.5. Compare with care." in shown.err


def table(document: Document, name: str) -> Table:
    (found,) = [block for block in document.blocks() if isinstance(block, Table) and block.name == name]
    return found


@pytest.fixture(scope="module")
def paper() -> Document:
    return build_report(None, published=True, base=Path(), title="", rng=np.random.default_rng(0))


class TestReport:
    def test_the_articles_tables_are_there_and_nothing_is_ranked(self, paper: Document) -> None:
        bandres, lipovetzky = table(paper, "planners-0"), table(paper, "planners-1")
        assert [column.title for column in bandres.columns[1:]] == [
            f"{planner}, {budget} s †"
            for planner in ("RIW", "RA RIW", "NS+RA RIW", "IW")
            for budget in ("0.5", "32")
        ]
        assert [column.title for column in lipovetzky.columns[1:]] == ["IW(1) †", "2BFS †", "BrFS †", "UCT †"]
        for shown, agents in ((bandres, table_of_planners()[:8]), (lipovetzky, table_of_planners()[8:])):
            games = sorted(agents[0].games)
            assert len(shown.rows) == len(games)
            for game, row in zip(games, shown.rows, strict=True):
                for agent, cell in zip(agents, row[1:], strict=True):
                    assert cell.numbers[0] == agent.samples[game].mean
                    assert not cell.best
            assert not shown.foot

    def test_they_are_in_none_of_the_papers_comparisons(self, paper: Document) -> None:
        for block in paper.blocks():
            if isinstance(block, Table) and block.name.startswith("paper"):
                titles = {column.title for column in block.columns} | {row[0].text for row in block.rows}
                assert not titles & {f"{agent.title} †" for agent in table_of_planners()}

    def test_records_of_the_same_algorithm_stand_beside_them(self) -> None:
        records = read_records([ROOT / "results" / "paper-planners"], beside_published=True)
        rng = np.random.default_rng(0)
        document = build_report(records, published=False, base=Path(), title="", rng=rng)
        beside = table(document, "own-planners")
        titles = [column.title for column in beside.columns]
        assert titles[:4] == ["game", "riw-c", "riw-d", "RIW, 0.5 s †"]
        assert "IW(1) †" not in titles, "no IW(1) was recorded"
        assert len(beside.rows) == 12
        assert not any(cell.best for row in beside.rows for cell in row)
        settings = {row[0].text for row in table(document, "settings").rows}
        assert {"RIW, 0.5 s †", "RA RIW, 32 s †"} < settings
        assert "IW, 32 s †" not in settings
        summary = {row[0].text for row in table(document, "own-summary").rows}
        assert not summary & {f"{agent.title} †" for agent in table_of_planners()}
