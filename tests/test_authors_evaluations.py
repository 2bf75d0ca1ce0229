"""The authors' evaluation episodes, and the published means and intervals that come out of them."""

from __future__ import annotations

import csv
import importlib.resources
import lzma
import math
from collections import defaultdict

import pytest

from authors_evaluations import select
from noveltree.published import (
    TrialScores,
    authors_curve,
    authors_evaluations,
    human_comparison,
    published_scores,
)
from noveltree.results import Sample
from noveltree.simulators.games import PAPER_GAMES

AGENTS = ("n-cpl", "n-cpl-d", "cpl")
#: The one trial that stopped before its training budget was spent. The paper counts its last ten episodes.
STOPPED = ("n-cpl-d", "name_this_game", 4)
#: The means of RIW that no 50 scores of the game have, to the two decimals printed.
NOT_OF_50 = {
    "riw-c": [
        *("crazy_climber", "gopher", "name_this_game", "robotank", "solaris", "star_gunner", "tennis"),
        *("time_pilot", "video_pinball", "wizard_of_wor"),
    ],
    "riw-d": ["beam_rider", "demon_attack", "gopher", "name_this_game", "robotank", "time_pilot", "wizard_of_wor"],
}


def scores_of(agent: str, game: str) -> list[float]:
    return [score for trial in authors_evaluations()[agent][game] for score in trial.scores]


def episode(trial: int, number: int, reward: str, steps: int, sim_calls: int) -> dict[str, str]:
    place = {"algorithm": "N-CPL_D", "game": "MsPacman", "trial": str(trial), "episode": str(number)}
    return {**place, "reward": reward, "steps": str(steps), "sim_calls": str(sim_calls)}


class TestPublished:
    @pytest.mark.parametrize("agent", AGENTS)
    def test_every_mean_and_interval_to_the_printed_precision(self, agent: str) -> None:
        published = published_scores()[agent]
        assert set(PAPER_GAMES) - set(published) == {"riverraid"}
        for game, score in published.items():
            sample = Sample.of(scores_of(agent, game))
            assert (sample.count, round(sample.mean, 2)) == (50, score.mean), game
            assert round(sample.interval, 2) == score.interval, game

    def test_without_the_trial_that_stopped_its_mean_does_not_come_out(self) -> None:
        agent, game, stopped = STOPPED
        trials = [trial.scores for trial in authors_evaluations()[agent][game] if trial.trial != stopped]
        sample = Sample.of([score for scores in trials for score in scores])
        assert (sample.count, sample.mean, round(sample.interval, 2)) == (40, 8165.5, 125.07)
        published = published_scores()[agent][game]
        assert (published.mean, published.interval) == (8017.2, 129.51)

    def test_riverraid_is_published_in_the_comparison_with_dqn_only(self) -> None:
        assert Sample.of(scores_of("n-cpl", "riverraid")).mean == human_comparison("dqn")["riverraid"].n_cpl

    def test_some_means_of_riw_are_not_of_50_episodes(self) -> None:
        """Scores of a game are multiples of a unit, which those of the learning agents show."""
        for agent, games in NOT_OF_50.items():
            found = []
            for game, published in published_scores()[agent].items():
                unit = math.gcd(*(int(score) for learner in AGENTS for score in scores_of(learner, game))) or 1
                nearest = round(published.mean * 50 / unit) * unit / 50
                if abs(nearest - published.mean) > 0.005 + 1e-9:
                    found.append(game)
            assert sorted(found) == games


class TestData:
    @pytest.mark.parametrize("agent", AGENTS)
    def test_every_game_has_ten_episodes_of_the_trials_that_have_curves(self, agent: str) -> None:
        evaluations = authors_evaluations()[agent]
        assert set(evaluations) == set(PAPER_GAMES)
        for game, trials in evaluations.items():
            assert [trial.trial for trial in trials] == [curve.trial for curve in authors_curve(game, agent)]
            for trial in trials:
                assert len(trial.scores) == len(trial.steps) == 10
                assert all(1 <= steps <= 1200 for steps in trial.steps)

    def test_episodes_are_those_after_the_one_that_crosses_the_budget(self) -> None:
        """As many as ended in the first twenty millions come before it: the curves have counted them."""
        packed = (
            importlib.resources.files("noveltree.published").joinpath("authors_evaluations.csv.xz").read_bytes()
        )
        numbers = defaultdict(list)
        for row in csv.DictReader(lzma.decompress(packed).decode().splitlines()):
            numbers[row["agent"], row["game"], int(row["trial"])].append(int(row["episode"]))
        assert len(numbers) == 825
        # 91 of its 93 episodes, counted from 0, ended in the eleven millions that it finished.
        assert numbers.pop(STOPPED) == list(range(83, 93))
        for (agent, game, trial), found in numbers.items():
            millions = authors_curve(game, agent)[trial].millions[:20]
            crossing = sum(million.episodes for million in millions)
            assert found == list(range(crossing + 1, crossing + 11)), (agent, game, trial)

    def test_one_trial(self) -> None:
        assert authors_evaluations()["n-cpl"]["pong"][0] == TrialScores(
            0,
            (13.0, 13.0, 13.0, 13.0, 12.0, 5.0, 16.0, 13.0, 1.0, 11.0),
            (738, 717, 758, 702, 618, 825, 589, 690, 962, 759),
        )


class TestScript:
    def test_by_hand(self) -> None:
        before = [episode(0, 0, "7.0", 5, 400), episode(0, 1, "8.0", 5, 19_999_999)]
        crossing = [episode(0, 2, "9.0", 5, 20_000_500)]
        after = [episode(0, 3 + n, f"{100 * n}.0", 20 + n, 20_001_000 + n) for n in range(12)]
        stopped = [episode(1, n, "-1.5", n + 1, 1_000_000 * (n + 1)) for n in range(11)]
        exactly = [episode(2, 0, "1.0", 5, 20_000_000), episode(2, 1, "1234567.0", 6, 20_000_600)]
        assert select([*exactly, *before, *crossing, *after, *stopped]).splitlines() == [
            "agent,game,trial,episode,score,steps",
            *("n-cpl-d,ms_pacman,0,3,0,20", "n-cpl-d,ms_pacman,0,4,100,21", "n-cpl-d,ms_pacman,0,5,200,22"),
            *("n-cpl-d,ms_pacman,0,6,300,23", "n-cpl-d,ms_pacman,0,7,400,24", "n-cpl-d,ms_pacman,0,8,500,25"),
            *("n-cpl-d,ms_pacman,0,9,600,26", "n-cpl-d,ms_pacman,0,10,700,27", "n-cpl-d,ms_pacman,0,11,800,28"),
            "n-cpl-d,ms_pacman,0,12,900,29",
            # It stopped before the budget: the last ten of its eleven.
            *(f"n-cpl-d,ms_pacman,1,{number},-1.5,{number + 1}" for number in range(1, 11)),
            # The budget is spent by its first episode, and there is one more.
            "n-cpl-d,ms_pacman,2,1,1234567,6",
        ]

    def test_interactions_that_do_not_add_up_are_refused(self) -> None:
        with pytest.raises(ValueError, match="fall from 900000 to 800000"):
            select([episode(0, 0, "1.0", 5, 900_000), episode(0, 1, "1.0", 5, 800_000)])
