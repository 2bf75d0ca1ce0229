"""From the published scores the paper's own tables come out, number for number."""

from __future__ import annotations

import csv
import importlib.resources
import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from noveltree.analysis.pairwise import compare_pairwise, share_above, times_best
from noveltree.analysis.statistics import significantly_best, welch_p_value
from noveltree.published import (
    PUBLISHED_AGENTS,
    PUBLISHED_EPISODES,
    authors_evaluations,
    human_comparison,
    published_scores,
    published_smrf,
)
from noveltree.results import Sample
from noveltree.simulators.action_counts import ACTION_COUNTS
from noveltree.simulators.games import PAPER_GAMES, SMRF_GAMES
from tests.support.paper import TABLE_1, TABLE_2, TABLE_3

#: The games in which the table of intervals marks an agent as the best by Welch's test; agents as in its columns.
MARKED: dict[str, set[str]] = {
    "riw-d": set(),
    "riw-c": set(),
    "cpl": {
        *("atlantis", "battle_zone", "beam_rider", "bowling", "chopper_command", "frostbite", "krull"),
        *("road_runner", "solaris", "venture", "wizard_of_wor"),
    },
    "n-cpl-d": {
        *("amidar", "bank_heist", "enduro", "gopher", "ice_hockey", "qbert", "robotank"),
        *("yars_revenge", "zaxxon"),
    },
    "n-cpl": {
        *("centipede", "double_dunk", "fishing_derby", "hero", "ms_pacman", "pong", "seaquest"),
        *("space_invaders", "tutankham"),
    },
}


def means(wanted: Callable[[str], bool] = lambda game: True) -> NDArray[np.float64]:
    """The published means of the games that all agents played, (agents, games)."""
    scores = published_scores()
    games = [game for game in PAPER_GAMES if all(game in scores[agent] for agent in scores) and wanted(game)]
    return np.array([[scores[agent][game].mean for game in games] for agent in PUBLISHED_AGENTS])


@pytest.mark.parametrize(
    ("table", "wanted", "games"),
    [
        (TABLE_1, lambda game: True, 53),
        (TABLE_2, lambda game: ACTION_COUNTS[game] >= 10, 33),
        (TABLE_3, lambda game: game in SMRF_GAMES, 12),
    ],
)
def test_the_pairwise_tables_are_the_papers(table: str, wanted: Callable[[str], bool], games: int) -> None:
    scores = means(wanted)
    assert scores.shape == (8, games)
    compared = compare_pairwise(scores)
    for row, line in enumerate(table.strip().splitlines()):
        *counts, total, share = line.split()
        for column, count in enumerate(counts):
            if column != row:
                assert compared.wins[row, column] == int(count)
                assert compared.games[row, column] == games
        assert compared.totals[row] == int(total)
        assert round(100 * float(compared.win_shares[row]), 1) == float(share)


def test_times_best_is_the_papers_row() -> None:
    row = dict(zip(PUBLISHED_AGENTS, times_best(means()).tolist(), strict=True))
    columns = ("riw-d", "riw-c", "cpl", "n-cpl-d", "n-cpl", "pi-iw", "pi-iw+", "pi-hiw")
    assert [row[agent] for agent in columns] == [1, 0, 7, 10, 8, 12, 5, 10]


def best_games(p_value: float) -> dict[str, set[str]]:
    """In which of the 54 games with intervals each agent is significantly the best."""
    games_of: dict[str, set[str]] = {agent: set() for agent in MARKED}
    for game in published_scores()["n-cpl"]:
        found = significantly_best([sample(agent, game) for agent in MARKED], p_value=p_value)
        for agent, is_best in zip(MARKED, found, strict=True):
            games_of[agent] |= {game} if is_best else set()
    return games_of


def sample(agent: str, game: str) -> Sample:
    """Of the authors' episodes if there are any, otherwise of the published interval."""
    if agent in authors_evaluations():
        return Sample.of([score for trial in authors_evaluations()[agent][game] for score in trial.scores])
    published = published_scores()[agent][game]
    assert published.interval is not None
    return Sample.published(published.mean, published.interval, PUBLISHED_EPISODES)


def test_an_agent_is_marked_if_it_is_significantly_above_all_others() -> None:
    assert best_games(p_value=0.1) == MARKED
    assert [len(games) for games in MARKED.values()] == [0, 0, 11, 9, 9]


def test_the_marks_are_of_two_sided_tests() -> None:
    one_sided = best_games(p_value=0.2)
    assert [len(games) for games in one_sided.values()] == [0, 0, 12, 14, 10]


@pytest.mark.parametrize(
    ("other", "best"),
    [("dqn", (10, 8, 31)), ("rainbow-human-starts", (7, 21, 18)), ("rainbow-noop-starts", (6, 31, 10))],
)
def test_games_best_are_the_papers_with_ties_for_all(other: str, best: tuple[int, int, int]) -> None:
    rows = human_comparison(other).values()
    assert times_best(np.array([[row.human, row.other, row.n_cpl] for row in rows]).T).tolist() == list(best)


def test_the_tables_disagree_about_the_human_player_of_qbert_only() -> None:
    dqn = human_comparison("dqn")
    for other in ("rainbow-human-starts", "rainbow-noop-starts"):
        differing = {
            game: row.human for game, row in human_comparison(other).items() if row.human != dqn[game].human
        }
        assert differing == {"qbert": 16455.0}
    assert dqn["qbert"].human == 13455.0


@pytest.mark.parametrize(
    ("other", "games", "above", "above_75"),
    [
        ("dqn", 49, (23, 37), (27, 40)),
        ("rainbow-human-starts", 46, (31, 34), (36, 37)),
        ("rainbow-noop-starts", 46, (37, 34), (38, 37)),
    ],
)
def test_counts_above_human_are_the_papers(
    other: str, games: int, above: tuple[int, int], above_75: tuple[int, int]
) -> None:
    rows = human_comparison(other).values()
    human = np.array([row.human for row in rows])
    theirs, n_cpl = np.array([row.other for row in rows]), np.array([row.n_cpl for row in rows])
    assert [share_above(scores, human) for scores in (theirs, n_cpl)] == [(count, games) for count in above]
    assert [share_above(scores, human, factor=0.75) for scores in (theirs, n_cpl)] == [
        (count, games) for count in above_75
    ]


def test_thirteen_of_55_games_are_smrf() -> None:
    smrf = published_smrf()
    assert set(smrf) == set(PAPER_GAMES)
    assert {game for game, test in smrf.items() if test.smrf} == set(SMRF_GAMES)


def test_smrf_games_are_those_of_two_sided_tests() -> None:
    def smrf_games(p_value: float) -> set[str]:
        found = set()
        for game, test in published_smrf().items():
            # Standard deviations with n, as in the intervals: Zaxxon's 20 and 60 are two scores of 200 and 18 of 0.
            rtdp, random = (
                Sample(mean, sd * math.sqrt(20 / 19), 20)
                for mean, sd in ((test.rtdp_mean, test.rtdp_sd), (test.random_mean, test.random_sd))
            )
            p = welch_p_value(rtdp, random)
            assert p is not None
            if rtdp.mean <= random.mean or p >= p_value:
                found.add(game)
        return found

    assert smrf_games(p_value=0.1) == set(SMRF_GAMES)
    assert set(SMRF_GAMES) - smrf_games(p_value=0.2) == {"jamesbond", "zaxxon"}


def test_the_two_tables_of_scores_agree() -> None:
    files = importlib.resources.files("noveltree.published")
    rows, with_intervals = (
        {row["game"]: row for row in csv.DictReader(files.joinpath(name).read_text().splitlines())}
        for name in ("scores.csv", "scores_ci90.csv")
    )
    assert with_intervals.keys() - rows.keys() == {"Freeway"}
    for game, row in rows.items():
        for agent in ("RIW_D", "RIW_C", "CPL", "N-CPL_D", "N-CPL"):
            assert float(row[agent]) == float(with_intervals[game][agent]), (game, agent)


class TestByHand:
    def test_ties_are_wins_of_nobody_and_missing_games_are_not_compared(self) -> None:
        scores = np.array([[1.0, 2.0, np.nan, 5.0], [1.0, 1.0, 7.0, 6.0], [np.nan, np.nan, np.nan, np.nan]])
        compared = compare_pairwise(scores)
        assert compared.wins.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
        assert compared.games.tolist() == [[3, 3, 0], [3, 4, 0], [0, 0, 0]]
        assert compared.win_shares[:2].tolist() == [1 / 3, 1 / 3]
        assert np.isnan(compared.win_shares[2])
        assert times_best(scores).tolist() == [2, 3, 0]

    def test_above_a_reference_is_strictly_above_it(self) -> None:
        assert share_above(np.array([1.0, 2.0, 3.0, np.nan]), np.array([1.0, 1.0, 4.0, 1.0])) == (1, 3)
        assert share_above(np.array([3.0, 3.1]), np.array([4.0, 4.0]), factor=0.75) == (1, 2)

    def test_nobody_is_significantly_best_beside_a_close_second(self) -> None:
        high, close, far = Sample(100.0, 10.0, 50), Sample(99.0, 10.0, 50), Sample(90.0, 10.0, 50)
        assert significantly_best([far, high, far]) == [False, True, False]
        assert significantly_best([high, close, far]) == [False, False, False]
        assert significantly_best([high, high]) == [False, False]
        assert significantly_best([high, Sample(0.0, math.nan, 1)]) == [False, False]
        assert significantly_best([]) == []
