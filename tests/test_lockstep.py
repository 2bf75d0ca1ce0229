"""The lockstep loop: lanes, rounds, networks that change in mid-episode, and all of it resumable."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noveltree.episodes import End
from noveltree.errors import InputError
from noveltree.learning import LearningSettings
from noveltree.learning.experience import Experience
from noveltree.learning.inputs import InputShape
from noveltree.learning.retention import KeepLatest
from noveltree.learning.settings import LockstepSettings, ScheduleSettings, ValueSettings
from noveltree.protocol import Protocol, make_protocol
from noveltree.records import read_episode
from noveltree.records.run_directory import RunDirectory
from noveltree.replay import verify_episode
from noveltree.trial import Watcher, train
from noveltree.trial.lockstep import Lockstep
from noveltree.trial.trial import Trial
from tests.support.cutting import train_in_pieces
from tests.support.runs import contents, small_protocol
from tests.support.workers import DyingWorkers


def protocol(*, lanes: int = 3, decisions: int = 4, **choices: Any) -> Protocol:
    loop = LockstepSettings(lanes=lanes, decisions=decisions)
    return small_protocol(**{"interactions": 3_000, "interval": 500, "loop": loop, **choices})


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lockstep") / "run"
    train(path, protocol())
    return path


def test_intervals_close_in_mid_episode_once_they_have_taken_their_interactions(directory: Path) -> None:
    run = RunDirectory.open(directory)
    intervals = run.read_metrics("interval")
    assert [line["interval"] for line in intervals] == [1, 2, 3, 4, 5, 6]
    ends = [line["interactions"] for line in intervals]
    most = 3 * 4 * 5  # of a round
    assert all(500 <= end - begin < 500 + most for begin, end in zip([0, *ends], ends, strict=False))
    assert len({line["weights"] for line in intervals}) == 6


def test_an_interval_says_what_a_decision_paid_also_if_no_episode_ended(directory: Path) -> None:
    run = RunDirectory.open(directory)
    intervals = run.read_metrics("interval")
    assert all(line["reward_per_decision"] >= 0.0 for line in intervals)
    # A decision takes five interactions, and what an episode paid that is over was paid in some interval.
    ends = [line["interactions"] for line in intervals]
    decisions = [(end - begin) / 5 for begin, end in zip([0, *ends], ends, strict=False)]
    paid = sum(line["reward_per_decision"] * count for line, count in zip(intervals, decisions, strict=True))
    over = sum(read_episode(path).episode.score for path in run.learnt_paths())
    assert over - 0.01 <= paid <= over + 3


def test_networks_change_in_mid_episode_and_the_record_says_when(directory: Path) -> None:
    run = RunDirectory.open(directory)
    weights = [None, *(line["weights"] for line in run.read_metrics("interval"))]
    records = [read_episode(path) for path in run.learnt_paths()]
    assert any(record.refreshed for record in records)
    for record in records:
        digests = [record.weights, *(digest for _, digest in record.refreshed)]
        first = weights.index(record.weights)
        assert digests == weights[first : first + len(digests)], "one after another, as they were deployed"
        assert record.interval == first + 1
        steps = [step for step, _ in record.refreshed]
        assert steps == sorted(set(steps))
        assert all(0 < step < record.episode.steps for step in steps)


def test_every_episode_verifies_and_stands_in_the_metrics(directory: Path) -> None:
    run = RunDirectory.open(directory)
    lines = run.read_metrics("episode")
    paths = run.learnt_paths()
    ended = [record for record in map(read_episode, paths) if record.episode.end is not End.STOPPED]
    assert {(line["interval"], line["index"]) for line in lines} == {
        (record.interval, record.index) for record in ended
    }
    assert len(lines) == len(ended) > 10
    assert all(verify_episode(read_episode(path)).holds for path in paths)
    assert [line["at"] for line in lines] == sorted(line["at"] for line in lines)


def test_what_lanes_were_playing_at_the_end_is_recorded_so_that_every_interaction_is(directory: Path) -> None:
    run = RunDirectory.open(directory)
    episodes = [read_episode(path).episode for path in run.learnt_paths()]
    assert 0 < sum(episode.end is End.STOPPED for episode in episodes) <= 3
    result = run.read_result()
    assert result is not None
    assert sum(episode.interactions for episode in episodes) == result["interactions"]


def test_lanes_play_episodes_of_their_own(directory: Path) -> None:
    indices = [line["index"] for line in RunDirectory.open(directory).read_metrics("episode")]
    assert len(set(indices)) == len(indices)
    for lane in range(3):
        own = [index for index in indices if index % 3 == lane]
        assert own == list(range(lane, lane + 3 * len(own), 3)), "one after another"


@pytest.mark.parametrize(("workers", "at_once"), [(1, 1), (2, 2), (3, 8)])
def test_the_result_does_not_depend_on_who_plays_the_lanes(
    workers: int, at_once: int, directory: Path, tmp_path: Path
) -> None:
    train(tmp_path / "run", protocol(), workers=workers, episodes_at_once=at_once)
    assert contents(tmp_path / "run") == contents(directory)


def test_the_number_of_lanes_is_part_of_the_protocol(directory: Path, tmp_path: Path) -> None:
    assert protocol(lanes=2).hash != protocol(lanes=3).hash != protocol(decisions=5).hash
    with pytest.raises(InputError, match=r"holds another run: its learning.loop.lanes is 3, not 2"):
        train(directory, protocol(lanes=2))


def test_a_worker_that_dies_is_replaced_and_its_lanes_go_on_where_they_were(
    directory: Path, tmp_path: Path
) -> None:
    run = RunDirectory.create(tmp_path / "run", protocol(), seed=0)
    with contextlib.closing(DyingWorkers(run.protocol, every=7)) as workers:
        trial = Trial(run, workers, Watcher())
        trial.complete(Lockstep(trial))
        assert workers.deaths == 4
    assert contents(tmp_path / "run") == contents(directory)


@pytest.mark.parametrize("retention", [None, KeepLatest(transitions=60)])
def test_a_trial_that_was_cut_off_after_any_round_goes_on_to_the_bit(
    retention: KeepLatest | None, tmp_path: Path
) -> None:
    """Every life makes three rounds; all that is held is recalled by replaying what the lanes played."""
    choices = {} if retention is None else {"retention": retention}
    train(tmp_path / "whole", protocol(**choices))
    assert train_in_pieces(tmp_path / "run", protocol(**choices)) > 10
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def test_with_convolutions_too(tmp_path: Path) -> None:
    learning = LearningSettings(
        schedule=ScheduleSettings(interactions=400, interval=200),
        value=ValueSettings(at_least=16, every=8, batch=16, refresh=20),
        loop=LockstepSettings(lanes=2, decisions=5),
        evaluation_episodes=1,
    )
    pong = make_protocol("pong", agent="n-cpl", budget=10, max_frames=150, learning=learning)
    train(tmp_path / "whole", pong)
    assert train_in_pieces(tmp_path / "run", pong, every=2, workers=(1, 2)) >= 2
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def test_a_simulator_whose_states_cannot_be_stored_is_refused(tmp_path: Path) -> None:
    learning = LearningSettings(
        schedule=ScheduleSettings(interactions=1_000, interval=500), loop=LockstepSettings()
    )
    with pytest.raises(InputError, match="its states cannot be stored"):
        train(tmp_path / "run", make_protocol("FrozenLake-v1", agent="n-cpl", budget=5, learning=learning))


def test_learning_cannot_go_on_during_the_evaluation(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="in the loop 'intervals' only"):
        train(tmp_path / "run", protocol(evaluation="continuing"))


def test_a_piece_that_begins_in_mid_episode_sees_the_screens_before_it() -> None:
    """The inputs of a path that is handed in piece by piece are those of the whole path."""
    from noveltree.learning.experience import CriticalPath

    screens = np.random.default_rng(0).integers(0, 256, (11, 84, 84)).astype(np.uint8)
    actions, rewards = np.arange(10), np.arange(10.0)
    whole, pieces = (Experience(InputShape.of(screens[0])) for _ in range(2))
    whole.add(CriticalPath(screens, actions, rewards, terminal=True))
    for first, end in ((0, 2), (2, 3), (3, 10)):
        before = min(first, 3)
        piece = slice(first, end)
        pieces.add(
            CriticalPath(
                screens[first - before : end + 1], actions[piece], rewards[piece], terminal=end == 10, before=before
            )
        )
    assert (whole.inputs(np.arange(10)) == pieces.inputs(np.arange(10))).all()
