"""Learning again: every network and the whole curve come out of the recorded episodes, in every loop."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from noveltree.audit import Depth, audit
from noveltree.protocol import Protocol
from noveltree.records import read_episode
from noveltree.records.run_directory import RunDirectory
from noveltree.trial import train
from noveltree.trial.intervals import Intervals
from noveltree.trial.lockstep import Lockstep
from noveltree.trial.relearning import relearn
from tests.support.forging import forge_lines
from tests.support.runs import small_protocol
from tests.test_lockstep import protocol as lockstep
from tests.test_pi import CORRIDOR
from tests.test_pi import protocol as pi
from tests.test_pretraining import PROTOCOL as PRETRAINING

LOOPS: dict[str, Protocol] = {
    "intervals": small_protocol(interactions=3_000),
    "continuing": small_protocol(interactions=3_000, evaluation="continuing"),
    "lockstep": lockstep(),
    "every round": pi("corridor", "pi-iw-plus", **CORRIDOR),
    "pretraining": PRETRAINING,
}


class _Cut(Exception):
    pass


def cut_off(directory: Path, protocol: Protocol, loop: type[Intervals] | type[Lockstep], after: int) -> None:
    """Train until so many checkpoints were written."""
    write, written = loop._write_checkpoint, 0

    def cut(self: object) -> None:
        nonlocal written
        write(self)  # type: ignore[arg-type]
        written += 1
        if written == after:
            raise _Cut

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "_write_checkpoint", cut)
        with pytest.raises(_Cut):
            train(directory, protocol)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("runs")
    for name, protocol in LOOPS.items():
        train(place / name, protocol)
    return {name: place / name for name in LOOPS}


@pytest.mark.parametrize("name", LOOPS)
def test_a_run_learns_again_what_it_has_learnt(name: str, runs: dict[str, Path]) -> None:
    run = RunDirectory.open(runs[name])
    made = relearn(run)
    assert made.difference == ""
    assert made.intervals == len(run.read_metrics("interval")) > 0
    planned = {} if name != "pretraining" else dict.fromkeys(made.planned, "")
    assert made.planned == planned, "nothing is planned, unless screens of lookaheads were sampled"


@pytest.mark.parametrize("name", LOOPS)
def test_everything_holds_at_every_depth(name: str, runs: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(runs[name], tmp_path / "run")
    made = audit(tmp_path / "run", depth=Depth(replan=10**9, relearn=True))
    assert made.findings == []
    assert (made.checked.replanned, made.checked.relearnt) == (made.episodes, 1)


def test_training_episodes_are_planned_again_with_the_networks_of_their_interval(runs: dict[str, Path]) -> None:
    places = frozenset([(1, 0), (2, 1)])
    made = relearn(RunDirectory.open(runs["intervals"]), planned=places)
    assert (made.difference, made.planned) == ("", dict.fromkeys(sorted(places), ""))


def test_in_lockstep_they_are_planned_with_networks_that_change_in_mid_episode(runs: dict[str, Path]) -> None:
    run = RunDirectory.open(runs["lockstep"])
    changed = [record for path in run.learnt_paths() if (record := read_episode(path)).refreshed]
    places = frozenset((record.interval, record.index) for record in changed)
    assert len(places) > 3
    made = relearn(run, planned=places)
    assert (made.difference, made.planned) == ("", dict.fromkeys(sorted(places), ""))


def test_what_a_run_in_lockstep_has_no_record_of_is_planned_again(runs: dict[str, Path], tmp_path: Path) -> None:
    """Earlier versions did not record what lanes were playing when training was over."""
    shutil.copytree(runs["lockstep"], tmp_path / "run")
    run = RunDirectory.open(tmp_path / "run")
    stopped = [path for path in run.learnt_paths() if read_episode(path).episode.end == "stopped"]
    for path in stopped:
        path.unlink()
    shutil.rmtree(run.path / "checkpoints")
    assert not audit(run.path).holds
    partial = audit(run.path, depth=Depth(partial=True))
    assert partial.holds
    assert partial.checked.lacking == {
        ".": "what its lanes played last is not there; its checkpoints, with its networks, are not there"
    }
    made = audit(run.path, depth=Depth(relearn=True))
    assert made.holds
    assert (made.checked.relearnt, made.checked.lacking) == (1, {})
    assert len(relearn(run).planned) == len(stopped)


def test_networks_that_are_wanted_are_handed_out(runs: dict[str, Path]) -> None:
    run = RunDirectory.open(runs["intervals"])
    digests = [line["weights"] for line in run.read_metrics("interval")]
    made = relearn(run, wanted=frozenset([digests[0], digests[-1]]))
    assert made.networks.keys() == {digests[0], digests[-1]}
    assert all(deployment.digest == digest for digest, deployment in made.networks.items())


@pytest.mark.parametrize(("name", "loop"), [("intervals", Intervals), ("lockstep", Lockstep)])
def test_a_run_that_is_not_over_holds_as_far_as_it_goes(
    name: str, loop: type[Intervals] | type[Lockstep], tmp_path: Path
) -> None:
    cut_off(tmp_path / "run", LOOPS[name], loop, after=2 if loop is Intervals else 25)
    made = audit(tmp_path / "run", depth=Depth(relearn=True))
    assert [finding.sentence for finding in made.findings if not finding.holds] == []
    assert made.checked.relearnt == 1
    assert relearn(RunDirectory.open(tmp_path / "run")).intervals >= 1


def test_a_run_that_was_killed_between_metrics_and_checkpoint_holds(tmp_path: Path) -> None:
    def killed(self: object) -> None:
        raise _Cut

    cut_off(tmp_path / "run", LOOPS["intervals"], Intervals, after=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Intervals, "_write_checkpoint", killed)
        with pytest.raises(_Cut):
            train(tmp_path / "run", LOOPS["intervals"])
    made = audit(tmp_path / "run", depth=Depth(relearn=True))
    assert [finding.sentence for finding in made.findings if not finding.holds] == []


def test_a_difference_is_said_with_its_place(runs: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(runs["intervals"], tmp_path / "run")
    digest = RunDirectory.open(tmp_path / "run").read_metrics("interval")[1]["weights"]

    def forge(lines: list[dict[str, Any]]) -> None:
        for line in lines:
            if line.get("weights") == digest:
                line["weights"] = "0123456789abcdef"

    forge_lines(tmp_path / "run", forge)
    made = relearn(RunDirectory.open(tmp_path / "run"))
    assert made.difference == (
        f"learnt again, weights of interval (interval 2) is {digest}, not 0123456789abcdef as in its metrics"
    )
    assert made.intervals == 1
