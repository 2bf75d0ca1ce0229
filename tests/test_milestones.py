"""Evaluations on the way: at milestones, with fixed networks, while training goes on as without them."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import pytest

from noveltree.audit.runs import check_run
from noveltree.errors import InputError
from noveltree.learning.settings import LockstepSettings
from noveltree.protocol import Protocol
from noveltree.records import read_episode
from noveltree.records.run_directory import RunDirectory
from noveltree.report.curves import runs_chart
from noveltree.results import read_curve
from noveltree.trial import train
from noveltree.trial.relearning import relearn
from tests.support.command_line import Cli, in_a_process
from tests.support.cutting import train_in_pieces
from tests.support.runs import contents, small_protocol


def protocol(milestones: str = "700,2000", **choices: Any) -> Protocol:
    loop = LockstepSettings(lanes=3, decisions=4, milestones=milestones)
    return small_protocol(interactions=3_000, interval=500, loop=loop, evaluation_episodes=2, **choices)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("milestones") / "run"
    train(path, protocol())
    return path


def lines_on_the_way(run: RunDirectory) -> list[dict[str, Any]]:
    return run.read_metrics("evaluation", having="interactions")


def test_the_agent_is_evaluated_in_the_first_interval_that_reaches_a_milestone(directory: Path) -> None:
    run = RunDirectory.open(directory)
    intervals = run.read_metrics("interval")
    ends = [line["interactions"] for line in intervals]
    first = {milestone: next(end for end in ends if end >= milestone) for milestone in (700, 2_000)}
    assert [line["interactions"] for line in lines_on_the_way(run)] == list(first.values())
    for line in lines_on_the_way(run):
        before = next(each for each in intervals if each["interactions"] == line["interactions"])
        records = [read_episode(run.evaluation_path(line["interval"], index)) for index in range(2)]
        assert {record.weights for record in records} == {before["weights"]}, "what was deployed then"
        assert [record.episode.score for record in records] == line["returns"]
        assert statistics.fmean(line["returns"]) == line["mean_return"]


def test_training_is_the_same_without_milestones(directory: Path, tmp_path: Path) -> None:
    train(tmp_path / "run", protocol(""))
    with_them, without = contents(directory), contents(tmp_path / "run")
    assert with_them["arrays"] == without["arrays"]
    assert with_them["result"]["scores"] == without["result"]["scores"]
    assert with_them["result"]["tail"] == without["result"]["tail"]


@pytest.mark.parametrize("workers", [(1,), (1, 2)])
def test_a_run_that_is_cut_off_again_and_again_ends_the_same(
    workers: tuple[int, ...], directory: Path, tmp_path: Path
) -> None:
    assert train_in_pieces(tmp_path / "run", protocol(), workers=workers) > 3
    assert contents(tmp_path / "run") == contents(directory)


def test_an_evaluation_that_was_made_is_not_made_again(tmp_path: Path, directory: Path) -> None:
    run = RunDirectory.open(directory)
    line = lines_on_the_way(run)[0]
    path = tmp_path / "run" / run.evaluation_path(line["interval"], 0).relative_to(directory)
    path.parent.mkdir(parents=True)
    made = run.evaluation_path(line["interval"], 0)
    (tmp_path / "run" / "run.json").write_bytes((directory / "run.json").read_bytes())
    path.write_bytes(made.read_bytes())
    before = path.stat().st_mtime_ns
    train(tmp_path / "run", protocol())
    assert path.stat().st_mtime_ns == before
    assert contents(tmp_path / "run") == contents(directory)


def test_everything_holds_and_is_learnt_again(directory: Path) -> None:
    assert list(check_run(directory.parent, directory)) == []
    assert relearn(RunDirectory.open(directory)).difference == ""


@pytest.mark.parametrize("change", ["dropped", "changed"])
def test_evaluations_on_the_way_that_do_not_fit_are_found(change: str, directory: Path, tmp_path: Path) -> None:
    train(tmp_path / "run", protocol("700"))
    run = RunDirectory.open(tmp_path / "run")
    lines = [json.loads(line) for line in run.metrics_path.read_text().splitlines()]
    way = next(line for line in lines if line["event"] == "evaluation")
    lines = [line for line in lines if line is not way] if change == "dropped" else lines
    way["returns"], way["mean_return"] = [9.0, 9.0], 9.0
    run.metrics_path.unlink()
    forged = RunDirectory.open(tmp_path / "run")
    for line in lines:
        line.pop("checksum", None)
        forged.add_metrics(line)
    found = [finding.sentence for finding in check_run(tmp_path, tmp_path / "run")]
    assert any("evaluations on the way" in sentence for sentence in found), found


def test_curves_have_them(directory: Path, tmp_path: Path) -> None:
    run = RunDirectory.open(directory)
    ways = [(line["interactions"], line["mean_return"]) for line in lines_on_the_way(run)]
    curve = read_curve(run, "run", None)
    assert curve is not None
    assert list(curve.milestones) == ways
    series = runs_chart("corridor", "n-cpl", [curve], ()).series[-1]
    assert [y for _, y in series.diamonds] == [mean for _, mean in ways]
    told = in_a_process("curve", str(directory), "--out", str(tmp_path / "curve.svg"))
    assert f"evaluated after {ways[0][0]:,} interactions" in told.stdout
    made = json.loads(in_a_process("curve", str(directory), "--out", str(tmp_path / "curve.svg"), "--json").stdout)
    assert made["runs"][0]["milestones"] == [list(way) for way in ways]


@pytest.mark.parametrize("milestones", ["soon", "0", "-5", "100,", "1.5", "1e6"])
def test_milestones_are_whole_numbers_of_interactions(milestones: str) -> None:
    with pytest.raises(InputError, match=r"whole numbers of interactions"):
        protocol(milestones)


def test_a_milestone_is_on_the_way(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"3,000 interactions is not on the way"):
        train(tmp_path / "run", protocol("700,3000"))
    assert not (tmp_path / "run").exists()


def test_the_command_line_takes_milestones_where_they_make_a_difference(cli: Cli, tmp_path: Path) -> None:
    trained = cli(
        *("train", "corridor", "--agent", "n-cpl-plus", "--budget", "5", "--out", tmp_path / "run", "--json"),
        *("--interactions", "2000", "--interval", "500", "--milestones", "900", "--evaluation-episodes", "1"),
    )
    assert trained.code == 0, trained.err
    assert len(lines_on_the_way(RunDirectory.open(tmp_path / "run"))) == 1
    refused = cli("train", "corridor", "--agent", "n-cpl", "--milestones", "900")
    assert refused.code == 2
    assert "milestones" in refused.sentence
    assert "intervals" in refused.sentence


def test_protocols_without_milestones_keep_their_hash() -> None:
    assert (
        protocol("").hash
        == small_protocol(
            interactions=3_000, interval=500, loop=LockstepSettings(lanes=3, decisions=4), evaluation_episodes=2
        ).hash
    )
    assert protocol("700").hash != protocol("").hash
