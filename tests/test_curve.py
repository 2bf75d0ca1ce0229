"""Learning curves: those of the authors as data, those of runs from their metrics, and the figure of both."""

from __future__ import annotations

import importlib.util
import io
import json
import math
import statistics
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import typer
from matplotlib.image import imread
from typer.testing import CliRunner

from noveltree.analysis import AuthorsWay, authors_way, mean_curve, up_to
from noveltree.analysis.curves import points_of_trial
from noveltree.cli import common
from noveltree.cli.curve import curve
from noveltree.errors import InputError, OutputError, RecordError
from noveltree.learning import LearningSettings
from noveltree.learning.settings import JointSettings
from noveltree.protocol import make_protocol
from noveltree.published import Million, TrialCurve, authors_curve, nearest_agent
from noveltree.records.run_directory import RunDirectory
from noveltree.report.curves import recorded_curves, runs_chart
from noveltree.report.document import Table
from noveltree.report.figure import FigureFormat, draw_figure
from noveltree.results import Evaluations, RunCurve, RunPoint, read_curve
from noveltree.results.curves import points_of_intervals
from noveltree.results.recorded import LearningCurves
from noveltree.simulators.games import PAPER_GAMES
from tests.support.command_line import Cli

ROOT = Path(__file__).parent.parent
BLUE = (0x00, 0x72, 0xB2)


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("authors_curves", ROOT / "scripts" / "authors_curves.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def episode(algorithm: str, game: str, trial: int, reward: float, sim_calls: int) -> dict[str, str]:
    texts = {"algorithm": algorithm, "game": game, "trial": str(trial)}
    return {**texts, "reward": str(reward), "sim_calls": str(sim_calls)}


def add_interval(run: RunDirectory, number: int, interactions: int, mean: float, *, accepted: bool = True) -> None:
    line = {"event": "interval", "interval": number, "episodes": 9, "interactions": interactions}
    run.add_metrics({**line, "mean_return": mean, "accepted": accepted, "tested": True, "p_value": 0.5})


def make_run(path: Path, game: str = "qbert", *, agent: str = "n-cpl", seed: int = 0) -> RunDirectory:
    """A run of two million interactions, one and a half of which were played in two intervals."""
    settings = LearningSettings.model_validate({"schedule": {"interactions": 2_000_000, "interval": 750_000}})
    run = RunDirectory.create(path, make_protocol(game, agent=agent, learning=settings), seed)
    run.add_metrics({"event": "episode", "interval": 1, "index": 0, "return": 5000.0, "interactions": 40_000})
    add_interval(run, 1, 760_000, 5000.0)
    add_interval(run, 2, 1_520_000, 4000.0, accepted=False)
    run.add_metrics({"event": "episode", "interval": 3, "index": 0, "return": 7000.0, "interactions": 40_000})
    return run


def pixels(png: bytes) -> Any:
    """Red, green and blue, 0 to 255."""
    return np.rint(imread(io.BytesIO(png), format="png")[..., :3] * 255).astype(int)


def count(image: Any, colour: tuple[int, int, int]) -> int:
    return int((image == colour).all(axis=2).sum())


class TestAggregation:
    def test_by_hand(self) -> None:
        episodes = [
            episode("N-CPL_D", "MsPacman", 1, 10, 400_000),
            episode("N-CPL_D", "MsPacman", 1, 20, 1_000_000),  # ends with the first million, so in it
            episode("N-CPL_D", "MsPacman", 1, 5, 1_000_001),  # begins with the second, and is all that ends in it
            episode("N-CPL_D", "MsPacman", 1, 1, 2_500_000),
            episode("N-CPL_D", "MsPacman", 1, 0, 2_600_000),
            episode("N-CPL_D", "MsPacman", 1, 0, 3_100_000),  # the fourth million was not finished
            episode("CPL", "Pong", 0, 2 / 3, 1_000_000),
        ]
        assert load_script().aggregate(episodes).splitlines() == [
            "agent,game,trial,million,episodes,mean_return",
            "cpl,pong,0,1,1,0.666667",
            "n-cpl-d,ms_pacman,1,1,2,15",
            "n-cpl-d,ms_pacman,1,2,1,5",
            "n-cpl-d,ms_pacman,1,3,2,0.5",
        ]

    def test_interactions_that_do_not_add_up_are_refused(self) -> None:
        episodes = [episode("CPL", "Pong", 0, 1, 900_000), episode("CPL", "Pong", 0, 1, 800_000)]
        with pytest.raises(ValueError, match="fall from 900000 to 800000"):
            load_script().aggregate(episodes)


class TestAuthorsCurves:
    @pytest.mark.parametrize("agent", ["n-cpl", "n-cpl-d", "cpl"])
    def test_every_game_of_the_paper_has_five_trials_of_22_millions(self, agent: str) -> None:
        for game in PAPER_GAMES:
            trials = authors_curve(game, agent)
            assert [trial.trial for trial in trials] == [0, 1, 2, 3, 4]
            for trial in trials:
                stopped_early = (game, agent, trial.trial) == ("name_this_game", "n-cpl-d", 4)
                numbers = [million.number for million in trial.millions]
                assert numbers == list(range(1, (11 if stopped_early else 22) + 1))
                assert all(million.episodes >= 1 for million in trial.millions)
                assert all(math.isfinite(million.mean_return) for million in trial.millions)

    @pytest.mark.parametrize(
        ("game", "episodes", "means"),
        [
            ("qbert", [9, 9, 9, 9, 11], [20411.1, 21486.1, 20383.3, 23486.1, 20943.2]),
            ("breakout", [41, 41, 39, 40, 43], [54.5854, 65.6585, 57.3333, 70.85, 51.8372]),
            ("pong", [14, 12, 12, 13, 13], [7.5, 7.16667, 9.16667, 6.69231, 8.76923]),
        ],
    )
    def test_second_million_of_n_cpl(self, game: str, episodes: list[int], means: list[float]) -> None:
        second = [trial.millions[1] for trial in authors_curve(game, "n-cpl")]
        assert [million.episodes for million in second] == episodes
        assert [million.mean_return for million in second] == means
        mean = mean_curve([points_of_trial(trial) for trial in authors_curve(game, "n-cpl")])[1].mean
        assert mean == pytest.approx(statistics.fmean(means))

    def test_what_the_authors_did_not_play_is_empty(self) -> None:
        assert authors_curve("CartPole-v1", "n-cpl") == ()
        assert authors_curve("qbert", "riw-c") == ()


class TestAnalysis:
    TRIALS = (
        TrialCurve(0, (Million(1, 3, 10.0), Million(2, 3, 40.0))),
        TrialCurve(1, (Million(1, 9, 20.0),)),
    )

    def test_only_intervals_that_are_over_are_points(self, tmp_path: Path) -> None:
        made = read_curve(make_run(tmp_path / "run"), "run", None)
        assert made is not None
        assert made.points == (
            RunPoint(1, 760_000, 9, 5000.0, True),
            RunPoint(2, 1_520_000, 9, 4000.0, False),
        )

    def test_a_damaged_line_is_refused(self) -> None:
        with pytest.raises(RecordError, match="'interactions'"):
            points_of_intervals([{"event": "interval", "interval": 1}])

    def test_trials_count_alike_however_many_episodes_they_have(self) -> None:
        points = mean_curve([points_of_trial(trial) for trial in self.TRIALS])
        assert [(point.interactions, point.trials, point.mean) for point in points] == [
            (1_000_000, 2, 15.0),
            (2_000_000, 1, 40.0),
        ]

    @pytest.mark.parametrize(
        ("interactions", "millions"), [(4_000, 1), (1_080_000, 1), (1_950_000, 2), (20_000_000, 2)]
    )
    def test_trials_are_cut_at_the_nearest_million(self, interactions: int, millions: int) -> None:
        assert len(up_to(interactions, self.TRIALS)[0].millions) == millions


class TestEpisodesThatSayWhenTheyEnded:
    """As those of a run have to that learns while they go on."""

    def run(self, path: Path, *ends: tuple[int, float]) -> RunDirectory:
        settings = LearningSettings.model_validate({"schedule": {"interactions": 4_000, "interval": 1_000}})
        run = RunDirectory.create(path, make_protocol("corridor", agent="n-cpl", learning=settings), 0)
        for index, (at, score) in enumerate(ends):
            line = {"event": "episode", "interval": 1, "index": index, "return": score, "steps": 3}
            run.add_metrics({**line, "interactions": 300, "at": at})
        return run

    def test_an_episode_counts_where_it_ended_if_the_run_has_gone_beyond(self, tmp_path: Path) -> None:
        run = self.run(tmp_path, (400, 1.0), (1_000, 3.0), (1_001, 5.0), (2_900, 7.0), (3_000, 8.0), (3_100, 9.0))
        made = read_curve(run, "mine", None)
        assert made is not None
        assert made.points == (
            RunPoint(1, 1_000, 2, 2.0),
            RunPoint(2, 2_000, 1, 5.0),
            RunPoint(3, 3_000, 2, 7.5),
        )

    def test_a_step_in_which_none_ended_is_neither_a_point_nor_lost(self, tmp_path: Path) -> None:
        made = read_curve(self.run(tmp_path, (900, 1.0), (3_000, 2.0)), "mine", None)
        assert made is not None
        assert [(point.interactions, point.mean_return) for point in made.points] == [(1_000, 1.0), (3_000, 2.0)]
        assert made.lost == ()

    def test_lines_of_intervals_add_nothing(self, tmp_path: Path) -> None:
        run = self.run(tmp_path, (900, 1.0), (2_000, 2.0))
        before = read_curve(run, "mine", None)
        add_interval(run, 1, 1_100, 50.0)
        assert read_curve(run, "mine", None) == before

    def test_before_the_end_of_the_first_step_there_is_no_curve(self, tmp_path: Path) -> None:
        assert read_curve(self.run(tmp_path, (999, 1.0)), "mine", None) is None

    def test_what_is_not_a_number_is_refused(self, tmp_path: Path) -> None:
        run = self.run(tmp_path)
        run.add_metrics({"event": "episode", "interval": 1, "return": "much", "at": 2_000})
        with pytest.raises(RecordError, match="'much' is not a number"):
            read_curve(run, "mine", None)


def test_an_interval_in_which_no_episode_ended_is_no_point(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    line = {"event": "interval", "interval": 3, "episodes": 0, "interactions": 2_000_000, "mean_return": None}
    run.add_metrics({**line, "accepted": True})
    add_interval(run, 4, 2_500_000, 6000.0)
    made = read_curve(run, "mine", None)
    assert made is not None
    assert [point.interval for point in made.points] == [1, 2, 4]
    assert made.lost == ()


class TestFigure:
    def draw(
        self,
        *,
        evaluation: float | None = None,
        rejected: bool = False,
        format: FigureFormat = "png",
        **changes: Any,
    ) -> bytes:
        intervals = (
            RunPoint(1, 1_010_000, 30, 5000.0, True),
            RunPoint(2, 2_050_000, 12, 21_000.0, not rejected),
        )
        choices: dict[str, Any] = {
            "runs": [RunCurve("noveltree, seed 0", intervals, evaluation)],
            "authors": up_to(2_000_000, authors_curve("qbert", "n-cpl")),
        }
        chart = runs_chart("qbert", "n-cpl-d", **{**choices, **changes})
        return draw_figure(chart, format=format)

    def test_png_shows_the_run_and_the_authors_with_a_white_margin(self) -> None:
        png = self.draw()
        assert png.startswith(b"\x89PNG\r\n\x1a\n")
        image = pixels(png)
        assert image.shape[1] == pytest.approx(80 / 25.4 * 300, rel=0.05)
        assert count(image, BLUE) > 1000
        assert count(image, (0x60, 0x60, 0x60)) > 1000
        for edge in (image[0], image[-1], image[:, 0], image[:, -1]):
            assert (edge == 255).all()

    def test_without_the_authors_nothing_is_grey(self) -> None:
        image = pixels(self.draw(authors=()))
        assert count(image, BLUE) > 1000
        assert count(image, (0x60, 0x60, 0x60)) < 100

    def test_an_evaluation_and_a_rejection_add_a_line_and_a_cross(self) -> None:
        plain, evaluated, rejected = self.draw(), self.draw(evaluation=15_000.0), self.draw(rejected=True)
        assert count(pixels(evaluated), BLUE) > count(pixels(plain), BLUE) + 500
        high, low = (
            (pixels(self.draw(evaluation=score)) == BLUE).all(axis=2).sum(axis=1).argmax() for score in (20e3, 6e3)
        )
        assert high < low  # rows of the picture, counted from its top
        svg = self.draw(format="svg", evaluation=15_000.0, rejected=True).decode()
        assert "<!-- rejected -->" in svg
        assert "<!-- evaluation -->" in svg
        assert "<!-- rejected -->" not in self.draw(format="svg").decode()
        assert rejected != plain

    def test_many_runs_with_long_names_are_not_cut(self) -> None:
        interval = RunPoint(1, 1_000_000, 30, 5000.0, True)
        image = pixels(self.draw(runs=[RunCurve(f"{number}" * 60, (interval,), None) for number in range(20)]))
        for edge in (image[0], image[-1], image[:, 0], image[:, -1]):
            assert (edge == 255).all()

    @pytest.mark.parametrize("format", ["png", "svg"])
    def test_the_same_curves_give_the_same_bytes(self, format: FigureFormat) -> None:
        assert self.draw(format=format) == self.draw(format=format)


class TestCommand:
    def test_the_figure_is_in_the_first_run(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        make_run(tmp_path / "run")
        curve([tmp_path / "run"])
        assert (tmp_path / "run" / "curve.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        figure, way = capsys.readouterr().out.splitlines()
        assert figure == f"Figure: {tmp_path / 'run' / 'curve.png'}"
        # (4,000 - 4,891.556) / (31,101.92 - 4,891.556), by the authors' five trials.
        assert way == (
            "noveltree, seed 0, after 1,520,000 interactions: 4,000, -3% of the way of N-CPL's authors from "
            "4,892 in the 1st to 31,102 in the 20th million"
        )

    def test_json_is_the_numbers_and_nothing_else(self, tmp_path: Path) -> None:
        first = make_run(tmp_path / "first")
        first.write_result({"score": 6500.0, "scores": [6500.0]})
        make_run(tmp_path / "second", seed=1)
        app = typer.Typer()
        app.command()(curve)
        figure = tmp_path / "figures" / "qbert.SVG"
        paths = [str(tmp_path / name) for name in ("first", "second")]
        result = CliRunner().invoke(app, [*paths, "--out", str(figure), "--json"], catch_exceptions=False)
        assert figure.read_text().startswith("<?xml")
        assert result.stdout.count("\n") == 1
        printed = json.loads(result.stdout)
        assert printed["figure"] == str(figure)
        assert (printed["game"], printed["agent"]) == ("qbert", "n-cpl")
        assert [run["run"] for run in printed["runs"]] == paths
        assert [run["seed"] for run in printed["runs"]] == [0, 1]
        assert [run["evaluation"] for run in printed["runs"]] == [6500.0, None]
        assert printed["runs"][0]["protocol_hash"] == first.protocol.hash
        assert printed["runs"][1]["intervals"][1] == {
            "interval": 2,
            "interactions": 1_520_000,
            "episodes": 9,
            "mean_return": 4000.0,
            "accepted": False,
        }
        assert len(printed["authors"]) == 5
        assert printed["authors"][0]["millions"][1] == {"number": 2, "episodes": 9, "mean_return": 20411.1}
        assert len(printed["authors"][0]["millions"]) == 2

    def test_runs_with_one_seed_are_told_apart_by_their_directories(self, tmp_path: Path) -> None:
        for name in ("slow/run", "fast/run"):
            make_run(tmp_path / name)
        curve([tmp_path / "slow/run", tmp_path / "fast/run"], tmp_path / "both.svg")
        svg = (tmp_path / "both.svg").read_text()
        assert "<!-- slow/run -->" in svg
        assert "<!-- fast/run -->" in svg

    def test_a_game_that_the_authors_did_not_play(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        make_run(tmp_path / "run", "corridor")
        curve([tmp_path / "run"], json=True)
        assert json.loads(capsys.readouterr().out)["authors"] == []

    @pytest.mark.parametrize(("game", "agent"), [("pong", "n-cpl"), ("qbert", "cpl")])
    def test_different_games_or_agents_are_refused(self, game: str, agent: str, tmp_path: Path) -> None:
        make_run(tmp_path / "run")
        make_run(tmp_path / "other", game, agent=agent)
        with pytest.raises(InputError) as refusal:
            curve([tmp_path / "run", tmp_path / "other"])
        assert str(refusal.value) == (
            f"A figure shows one agent in one game, but {tmp_path / 'run'} is n-cpl in qbert "
            f"and {tmp_path / 'other'} is {agent} in {game}."
        )

    def test_a_run_without_a_finished_interval_is_refused(self, tmp_path: Path) -> None:
        run = make_run(tmp_path / "run")
        run.cut_metrics({})
        with pytest.raises(
            InputError,
            match=r"No episode has ended in a finished interval of .*run yet: there is nothing to draw\.",
        ):
            curve([tmp_path / "run"])

    def test_before_an_episode_has_ended_it_shows_what_decisions_pay(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Steps are 100,000 interactions long: the first two intervals are the first point."""
        learning = JointSettings.model_validate({"schedule": {"interactions": 2_000_000, "interval": 50_000}})
        run = RunDirectory.create(
            tmp_path / "run", make_protocol("qbert", agent="n-cpl-plus", learning=learning), 0
        )
        for number, reward in ((1, 2.0), (2, 4.0), (3, 9.0)):
            line = {"event": "interval", "interval": number, "episodes": 0, "interactions": number * 50_000}
            run.add_metrics({**line, "mean_return": None, "accepted": True, "reward_per_decision": reward})
        curve([tmp_path / "run"], json=True)
        (told,) = json.loads(capsys.readouterr().out)["runs"]
        assert told["intervals"] == []
        assert told["reward_per_decision"] == [[100_000, 3.0], [150_000, 9.0]]
        assert told["share_of_authors_way"] is None
        curve([tmp_path / "run"], tmp_path / "pay.svg")
        assert "<!-- reward per decision -->" in (tmp_path / "pay.svg").read_text()
        assert capsys.readouterr().out.splitlines()[1] == (
            "noveltree, seed 0, after 150,000 interactions: a decision pays 9, in the beginning 3; too few "
            "episodes have ended for a curve"
        )
        run.write_result({"score": 31_101.92, "scores": [31_101.92], "interactions": 150_777})
        curve([tmp_path / "run"])
        told = capsys.readouterr().out
        assert "a decision pays 9, in the beginning 3" in told
        assert "after 150,777 interactions: 31,102, 100% of the way of N-CPL's authors" in told

    def test_it_also_shows_what_the_policy_foresees(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A quarter and a half are 0.35 in the geometric mean; in the fourth interval all actions were tied."""
        learning = JointSettings.model_validate({"schedule": {"interactions": 2_000_000, "interval": 50_000}})
        run = RunDirectory.create(
            tmp_path / "run", make_protocol("qbert", agent="n-cpl-plus", learning=learning), 0
        )
        for number, foreseen in ((1, [0.25]), (2, [0.5]), (3, [0.5]), (4, [])):
            line = {"event": "interval", "interval": number, "episodes": 0, "interactions": number * 50_000}
            losses = [-math.log(each) for each in foreseen]
            run.add_metrics({**line, "mean_return": None, "reward_per_decision": 1.0, "foresight_losses": losses})
        curve([tmp_path / "run"], json=True)
        (told,) = json.loads(capsys.readouterr().out)["runs"]
        assert told["foresight"] == [[100_000, pytest.approx(0.125**0.5)], [150_000, pytest.approx(0.5)]]
        curve([tmp_path / "run"], tmp_path / "foresight.svg")
        assert "<!-- foresees what is chosen with -->" in (tmp_path / "foresight.svg").read_text()
        assert capsys.readouterr().out.splitlines()[1] == (
            "noveltree, seed 0, after 200,000 interactions: the policy foresees 50% of what is chosen, in the "
            "beginning 35%; a decision pays 1, in the beginning 1; too few episodes have ended for a curve"
        )

    def test_one_step_of_episodes_that_ended_early_does_not_hide_what_decisions_pay(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        learning = JointSettings.model_validate({"schedule": {"interactions": 2_000_000, "interval": 50_000}})
        run = RunDirectory.create(
            tmp_path / "run", make_protocol("qbert", agent="n-cpl-plus", learning=learning), 0
        )
        for number, reward in ((1, 2.0), (2, 4.0), (3, 9.0), (4, 9.0)):
            run.add_metrics({"event": "episode", "at": 60_000 * number, "return": 50.0} if number < 3 else {})
            line = {"event": "interval", "interval": number, "episodes": 0, "interactions": number * 50_000}
            run.add_metrics({**line, "mean_return": None, "accepted": True, "reward_per_decision": reward})
            curve([tmp_path / "run"], tmp_path / "pay.svg")
            assert ("a decision pays" in capsys.readouterr().out) == (number < 4)

    def test_of_an_encoder_it_shows_how_its_epochs_went(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        run = RunDirectory.create(tmp_path / "run", make_protocol("qbert", agent="vae-iw"), 0)
        run.add_metrics({"event": "episode", "interval": 1, "at": 90_000, "return": 5_000.0})
        with pytest.raises(InputError, match="No epoch is over"):
            curve([tmp_path / "run"])
        for epoch, loss in ((1, 300.0), (2, 200.0)):
            run.add_metrics({"event": "epoch", "epoch": epoch, "held_out_reconstruction": loss})
        curve([tmp_path / "run"], tmp_path / "epochs.svg")
        assert "<!-- loss of screens held out -->" in (tmp_path / "epochs.svg").read_text()
        assert capsys.readouterr().out.splitlines()[1] == (
            "noveltree, seed 0, after 2 epochs: screens held out lose 200, after the first 300"
        )
        curve([tmp_path / "run"], json=True)
        (told,) = json.loads(capsys.readouterr().out)["runs"]
        assert told["held_out_reconstruction"] == [[1, 300.0], [2, 200.0]]
        assert told["intervals"] == []

    def test_another_format_is_refused(self, tmp_path: Path) -> None:
        make_run(tmp_path / "run")
        with pytest.raises(InputError, match=r"A figure is a \.png or an \.svg, not '\.pdf'\."):
            curve([tmp_path / "run"], tmp_path / "curve.pdf")

    def test_a_directory_that_holds_no_run_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(RecordError, match="There is no run in"):
            curve([tmp_path])

    def test_a_place_where_nothing_can_be_written_is_refused(self, tmp_path: Path) -> None:
        make_run(tmp_path / "run")
        with pytest.raises(OutputError, match="Cannot write"):
            curve([tmp_path / "run"], tmp_path / "run" / "run.json" / "curve.png")

    def test_without_matplotlib_it_says_how_to_get_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(common.importlib.util, "find_spec", lambda package: None)
        with pytest.raises(InputError, match=r'Drawing needs matplotlib.*"noveltree\[plot\]"'):
            curve([tmp_path])


def test_the_way_of_the_authors_by_hand() -> None:
    way = AuthorsWay(first=100.0, last=300.0)
    assert (way.share(100.0), way.share(150.0), way.share(400.0)) == (0.0, 0.25, 1.5)
    qbert = authors_way("qbert")
    assert qbert is not None
    assert (round(qbert.first), round(qbert.last)) == (4892, 31102)
    assert authors_way("corridor") is None


def test_behind_an_agent_that_the_authors_do_not_have_stands_n_cpl() -> None:
    assert [nearest_agent(agent) for agent in ("cpl", "n-cpl-d", "n-cpl-plus")] == ["cpl", "n-cpl-d", "n-cpl"]


def test_a_report_says_how_much_of_the_authors_way_was_come() -> None:
    """Also of runs in which no episode has ended, so that they have no curve, as after a short training."""
    runs = (
        Evaluations(((100_000, 12_000.0),), (200_100, 17_000.0)),
        Evaluations(((100_200, 14_000.0),), (200_500, 19_000.0)),
        Evaluations(((100_100, 13_000.0),)),
    )
    section = recorded_curves([LearningCurves("n-cpl-plus", "n-cpl-plus", "", "qbert", (), runs)])
    assert section is not None
    (table,) = section.blocks
    assert isinstance(table, Table)
    # (13,000 - 4,891.556) / 26,210.364 and (18,000 - 4,891.556) / 26,210.364
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["Qbert", "n-cpl-plus", "3", "100,100", "13,000", "4,892", "31,102", "31%"],
        ["Qbert", "n-cpl-plus", "2", "200,300", "18,000", "4,892", "31,102", "50%"],
    ]


def test_a_report_of_runs_without_ended_episodes_says_how_far_they_have_come(tmp_path: Path, cli: Cli) -> None:
    """Only one of seven runs has episodes that ended while it was trained for 200,000 interactions."""
    suite = Path(__file__).parent.parent / "experiments/faster-learning/short-2"
    result = cli("report", suite, "--out", tmp_path / "report.md")
    assert result.code == 0, result
    text = (tmp_path / "report.md").read_text()
    way = text[text.index("Share of the authors' way") :]
    assert "| Assault " in way
    assert "4,663" in way
