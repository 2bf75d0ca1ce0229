"""Comparing two agents: by hand, from tables, runs, benchmarks and the paper; and bad tables."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from scipy import stats

from noveltree.analysis.comparison import compare
from noveltree.errors import InputError, RecordError
from noveltree.results import Sample, read_results
from noveltree.results.tables import read_tables
from noveltree.trial import train
from tests.support.benchmarks import TINY, played
from tests.support.command_line import Cli
from tests.support.runs import small_protocol

ROOT = Path(__file__).parent.parent
TABLE = """agent,game,trial,episode,phase,score,protocol_hash,differs
good,pong,0,0,evaluation,10,aa,
good,pong,0,1,evaluation,12,aa,
good,pong,0,0,training,-5,aa,
good,Breakout,0,0,evaluation,3,ab,
good,Breakout,0,1,evaluation,5,ab,
bad,pong,0,0,evaluation,1,ba,
bad,pong,0,1,evaluation,3,ba,
"""


class TestByHand:
    def test_verdicts_are_those_of_welchs_test(self) -> None:
        first = {"a": Sample.of([10.0, 11.0, 12.0]), "b": Sample.of([1.0, 9.0]), "c": Sample.of([1.0])}
        second = {"a": Sample.of([1.0, 2.0, 3.0]), "b": Sample.of([2.0, 9.0]), "d": Sample.of([1.0])}
        made = compare(first, second)
        assert [(game.game, game.verdict) for game in made.games] == [("a", "first"), ("b", "even")]
        assert made.games[0].p_value == pytest.approx(
            stats.ttest_ind([10, 11, 12], [1, 2, 3], equal_var=False).pvalue
        )
        assert (made.only_first, made.only_second) == (("c",), ("d",))
        assert made.higher == (1, 1)

    @pytest.mark.parametrize(("wins", "losses"), [(5, 0), (9, 1), (3, 3), (0, 7), (0, 0)])
    def test_the_sign_test_is_the_binomial_one(self, wins: int, losses: int) -> None:
        signs = [1.0] * wins + [-1.0] * losses + [0.0]
        first = {str(number): Sample(sign, math.nan, 1) for number, sign in enumerate(signs)}
        second = {game: Sample(0.0, math.nan, 1) for game in first}
        expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
        assert compare(first, second).p_value == pytest.approx(expected)


class TestTables:
    def test_only_evaluation_episodes_count(self, tmp_path: Path) -> None:
        (tmp_path / "table.csv").write_text(TABLE)
        results = read_results(str(tmp_path / "table.csv"))
        assert results.agent("good").samples["pong"].mean == 11.0
        assert results.agent("good").games.keys() == {"pong", "breakout"}
        assert results.agent("bad").samples["pong"].count == 2

    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            (("agent,", "agnt,"), "it has no column agent"),
            ((",12,", ",nan,"), "line 3: the score 'nan' is not a number"),
            ((",12,", ",many,"), "line 3: the score 'many' is not a number"),
            ((",12,", ",1e300,"), "line 3: the score '1e300' is beyond 1e+15"),
            (("pong,0,1", "pong,0.0,0.0"), "line 3: the same episode as in line 2"),
            (("good,pong,0,1", "good,pong,0,0"), "line 3: the same episode as in line 2"),
            (("Breakout", "Brekout"), "line 5: Unknown game 'Brekout'. Did you mean 'breakout'?"),
            ((",12,aa", ",12,zz"), "line 3: another protocol than before of good in pong"),
            ((",12,aa,", ",12,aa,budget 5"), "line 3: not comparable with the others: budget 5"),
            ((",12,aa,\n", "\n"), "line 3: it has 5 values, not 8"),
        ],
    )
    def test_what_is_wrong_names_the_row(self, tmp_path: Path, change: tuple[str, str], complaint: str) -> None:
        path = tmp_path / "table.csv"
        path.write_text(TABLE.replace(*change, 1) if change[0] != "Breakout" else TABLE.replace(*change))
        with pytest.raises(RecordError) as caught:
            read_tables([path])
        assert complaint in str(caught.value)

    def test_what_is_no_table_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
        with pytest.raises(RecordError, match="not a table of episodes"):
            read_results(str(tmp_path / "binary.csv"))
        (tmp_path / "none.csv").write_text(TABLE.splitlines()[0])
        with pytest.raises(RecordError, match="no evaluation episodes"):
            read_results(str(tmp_path / "none.csv"))
        with pytest.raises(InputError, match="no table, benchmark or run"):
            read_results(str(tmp_path / "nowhere"))


def test_published_intervals_are_those_of_the_paper() -> None:
    sample = read_results("published").agent("n-cpl").samples["alien"]
    assert (sample.mean, round(sample.interval, 2), sample.count) == (6943.4, 507.28, 50)
    assert math.isnan(read_results("published").agent("pi-iw").samples["alien"].interval)


class TestCommandLine:
    def test_a_benchmark_against_the_paper(self, cli: Cli) -> None:
        ours = f"{ROOT / 'results' / 'paper-planners'}:riw-c"
        told = cli("compare", ours, "published:riw-c", "--json").object
        assert len(told["games"]) == 12
        assert len(told["only_second"]) == 42
        assert "no overall difference is shown" in told["verdict"]
        shown = cli("compare", ours, "published:riw-c").out
        assert "B: published:riw-c" in shown
        assert "A has no scores in 42 games" in shown

    def test_the_paper_against_itself(self, cli: Cli) -> None:
        shown = cli("compare", "published:n-cpl", "published:riw-c").out
        assert "A has the higher mean in 50 of 54 games, B in 3" in shown
        assert shown.endswith("overall A is better.\n")

    def test_what_cannot_be_tested_is_said(self, cli: Cli) -> None:
        shown = cli("compare", "published:n-cpl", "published:human").out
        assert "in 0 and 0, but 49 cannot be tested because one of them has a single score: overall A" in shown
        assert "cannot be tested" not in cli("compare", "published:n-cpl", "published:cpl").out

    def test_trials_can_be_counted_instead_of_episodes(self, cli: Cli) -> None:
        """Two trials of two episodes, by hand: within a trial the episodes are the same."""
        header, *_ = TABLE.splitlines()
        played = {"good": ((10, 10), (12, 12)), "bad": ((1, 1), (9, 9))}
        rows = [
            f"{agent},pong,{trial},{episode},evaluation,{score},aa,"
            for agent, trials in played.items()
            for trial, scores in enumerate(trials)
            for episode, score in enumerate(scores)
        ]
        Path("table.csv").write_text("\n".join([header, *rows]))
        names = ("table.csv:good", "table.csv:bad")
        episodes = cli("compare", *names, "--json").object
        trials = cli("compare", *names, "--by", "trials", "--json").object
        for told, by, good, bad in (
            (episodes, "episodes", [10, 10, 12, 12], [1, 1, 9, 9]),
            (trials, "trials", [10, 12], [1, 9]),
        ):
            expected = stats.ttest_ind(good, bad, equal_var=False).pvalue
            (game,) = told["games"]
            assert (told["by"], game["first"]["mean"], game["first"]["count"]) == (by, 11.0, len(good))
            assert game["p_value"] == pytest.approx(expected)
        assert (episodes["games"][0]["verdict"], trials["games"][0]["verdict"]) == ("first", "even")
        shown = cli("compare", *names, "--by", "trials").out
        # Student's 95% quantile with one degree of freedom, 6.314, times the standard errors 1 and 4.
        assert "6.314" in shown
        assert "25.26" in shown
        assert "by trials" in shown
        assert "Unknown unit 'trial'. Did you mean 'trials'?" in cli("compare", *names, "--by", "trial").sentence

    def test_a_run_against_a_benchmark(self, cli: Cli) -> None:
        played(Path("bench"))
        train(Path("run"), small_protocol())
        assert cli("compare", "run", "bench:riw-d", "--json").object["games"][0]["game"] == "corridor"

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            (["published", "published:riw-c"], "published has several agents; name one of them"),
            (["published:riw", "published:riw-c"], "Unknown agent in published 'riw'. Did you mean"),
            (["nowhere:x", "published:riw-c"], "There is no table, benchmark or run nowhere"),
        ],
    )
    def test_bad_input_gets_one_sentence(self, cli: Cli, arguments: list[str], complaint: str) -> None:
        assert complaint in cli("compare", *arguments).sentence


def test_other_conditions_are_warned_about(cli: Cli, tmp_path: Path) -> None:
    told = cli("compare", "published:n-cpl", "published:dqn", "--json").object
    assert told["conditions"]["differ"] == (
        "frame skip 4, no lookahead, 50 million training interactions, random no-op starts, loss-of-life signal"
    )
    assert "100 interactions per decision" in told["conditions"]["first"]
    for budget in (5, 6):
        played(tmp_path / str(budget), TINY.replace("budget: 5", f"budget: {budget}"))
    shown = cli("compare", tmp_path / "5:riw-c", tmp_path / "6:riw-c")
    assert "Warning: their conditions differ: budget 6. Compare with care." in shown.err
    assert cli("compare", tmp_path / "5:riw-c", tmp_path / "5:riw-d").err == ""
