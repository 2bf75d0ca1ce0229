"""The learner of N-CPL+: what it is trained towards by hand, and that it goes on to the bit."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noveltree.audit.runs import check_run
from noveltree.learning.experience import CriticalPath
from noveltree.learning.foresight import foreseen
from noveltree.learning.inference import make_inference
from noveltree.learning.inputs import InputShape
from noveltree.learning.joint import JOINT, JointLearner, initial_snapshot
from noveltree.learning.policy_targets import ExecutedAction, SoftActions
from noveltree.learning.retention import KeepLatest
from noveltree.learning.sampling import recent, shifted
from noveltree.learning.schedule import Verdict
from noveltree.learning.settings import JointSettings, LockstepSettings, ScheduleSettings
from noveltree.learning.trust import shrinkage, trust_in
from noveltree.learning.value_targets import LambdaReturns, MonteCarlo
from noveltree.protocol import Protocol, make_protocol
from noveltree.protocol.learners import DEFAULT_LEARNING
from noveltree.records import read_episode
from noveltree.records.run_directory import RunDirectory
from noveltree.replay import verify_episode
from noveltree.trial import train
from tests.support.cutting import train_in_pieces
from tests.support.killing import killed_protocol
from tests.support.runs import contents
from tests.test_kill_and_resume import assert_kills_leave_no_trace

VECTOR = InputShape.of(np.zeros(1, dtype=np.int64))
NAN = float("nan")


def path(
    rewards: list[float],
    action_values: Any,
    *,
    terminal: bool = False,
    episode: tuple[int, int] | None = None,
    first: int = 0,
) -> CriticalPath:
    """A path whose observation at time t is the vector (t)."""
    count = len(rewards)
    return CriticalPath(
        observations=np.arange(first, first + count + 1, dtype=np.int64)[:, None],
        actions=np.zeros(count, dtype=np.int64),
        rewards=np.array(rewards),
        terminal=terminal,
        first=first,
        episode=episode,
        action_values=np.array(action_values, dtype=np.float64),
    )


class TestPolicyTargets:
    PART = SoftActions(temperature=0.5, uniform=0.1)

    def rows(self, *values: list[float]) -> list[list[float]]:
        return self.PART.targets([path([0.0] * len(values), values)], len(values[0])).tolist()

    def test_a_softmax_in_units_of_the_spread_mixed_with_the_uniform_policy(self) -> None:
        # The spreads are 2 and 6, so 4 is typical. Differences of 2 at a temperature of 0.5: e^-1 and 1.
        row, _ = self.rows([1.0, 3.0], [0.0, 6.0])
        likely = 1.0 / (1.0 + math.exp(-1.0))
        entropy = -likely * math.log(likely) - (1 - likely) * math.log(1 - likely)
        certainty = 1 - entropy / math.log(2)
        assert row == pytest.approx([certainty * (0.9 * (1 - likely) + 0.05), certainty * (0.9 * likely + 0.05)])

    def test_where_all_are_tied_nothing_is_learnt(self) -> None:
        assert self.rows([2.0, 2.0, 2.0])[0] == pytest.approx([0.0] * 3, abs=1e-6)
        # Ties do not count for the typical spread.
        assert self.rows([1.0, 3.0], [5.0, 5.0])[0] == self.rows([1.0, 3.0])[0]

    def test_an_action_that_was_not_tried_has_its_uniform_share_only(self) -> None:
        assert self.rows([NAN, 5.0])[0] == pytest.approx([0.05, 0.95])

    def test_rows_follow_the_transitions_of_the_paths(self) -> None:
        paths = [path([0.0], [[0.0, 9.0]]), path([0.0, 0.0], [[9.0, 0.0], [0.0, 9.0]])]
        assert SoftActions().targets(paths, 2).argmax(axis=1).tolist() == [1, 0, 1]
        assert ExecutedAction().targets(paths, 2).tolist() == [[1.0, 0.0]] * 3

    def test_a_path_without_transitions_has_no_rows(self) -> None:
        empty = dataclasses.replace(path([], np.empty((0, 2))), action_values=None)
        assert SoftActions().targets([empty, path([0.0], [[0.0, 9.0]])], 2).shape == (1, 2)


class TestSampling:
    def test_what_is_a_half_life_older_is_drawn_half_as_often(self) -> None:
        drawn = recent(30, 200_000, 10.0, rng=np.random.default_rng(0))
        counts = np.bincount(drawn, minlength=30)
        assert counts.min() > 0
        assert counts[19] / counts[29] == pytest.approx(0.5, rel=0.05)
        assert counts[9] / counts[29] == pytest.approx(0.25, rel=0.05)

    def test_screens_are_moved_and_repeat_their_edge(self) -> None:
        screens = np.arange(2 * 4 * 36 * 36).reshape(2, 4, 36, 36).astype(np.uint8)
        places = {
            tuple(shifted(screens, 1, rng=np.random.default_rng(seed))[0, 0, 5, 5:7].tolist()) for seed in range(99)
        }
        rows = [tuple(screens[0, 0, y, x : x + 2].tolist()) for y in (4, 5, 6) for x in (4, 5, 6)]
        assert places == set(rows)
        moved = shifted(np.full((1, 4, 36, 36), 7, dtype=np.uint8), 4, rng=np.random.default_rng(0))
        assert (moved == 7).all()


class TestTrust:
    def test_predictions_that_are_twice_too_large_are_halved(self) -> None:
        predicted = np.array([2.0, -4.0] * 500)
        assert shrinkage(predicted, predicted / 2) == pytest.approx(0.5 * 1000 / 1050)

    def test_noise_is_not_trusted_and_nobody_is_trusted_more_than_fully(self) -> None:
        assert shrinkage(np.array([1.0, 1.0] * 50), np.array([1.0, -1.0] * 50)) == 0.0
        assert shrinkage(np.array([1.0] * 50), np.array([-3.0] * 50)) == 0.0
        assert shrinkage(np.array([1.0] * 50), np.array([3.0] * 50)) == 0.5, "they are few"
        assert shrinkage(np.zeros(5), np.ones(5)) == 0.0

    def test_differences_ten_steps_apart_are_judged(self) -> None:
        """Two pieces of six steps that pay 1 each and end: what follows is 12, ..., 1, without a discount."""
        pieces = [path([1.0] * 6, [[0.0, 1.0]] * 6), path([1.0] * 6, [[0.0, 1.0]] * 6, first=6, terminal=True)]

        def values_of(piece: CriticalPath) -> np.ndarray:
            return (12.0 - np.arange(piece.first, piece.first + 7)).astype(np.float32) * 4

        # Two differences, of -10 each, that are predicted to be four times as large.
        assert trust_in([pieces], values_of, MonteCarlo(discount=1.0)) == pytest.approx(0.25 * 2 / 52)
        assert trust_in([], values_of, MonteCarlo(discount=1.0)) == 0.0


class TestLearner:
    SETTINGS = JointSettings(batch=16, samples=64)

    def test_before_it_has_learnt_all_actions_are_alike_and_all_values_zero(self) -> None:
        snapshot = initial_snapshot(VECTOR, 3, self.SETTINGS, rng=np.random.default_rng(0))
        assert snapshot.deployment is None
        weights = snapshot.weights[JOINT]
        assert not weights["2.weight"].any()
        assert not weights["3.weight"].any()

    def test_it_learns_which_action_is_better_and_what_a_state_is_worth(self) -> None:
        learner = self.learner()
        rng = np.random.default_rng(1)
        for number in range(40):
            learner.take_in(path([100.0] * 20, [[0.0, 5.0]] * 20, terminal=True, episode=(1, number)), rng=rng)
            learner.close_interval(rng=rng)
        infer = make_inference(*(part[JOINT] for part in (learner.snapshot().networks, learner.snapshot().weights)))
        answers = infer(np.array([[0.0], [19.0]], dtype=np.float32), ("policy", "value"))
        assert answers["policy"][:, 1].min() > 0.75
        # The first state pays 100 twenty times, discounted, and the last one once. Five episodes were held out, in
        # which values can be compared at ten places each: so they are trusted 50 / (50 + 50), and not more.
        assert 0.4 < learner.trust <= 0.5
        assert answers["value"][0] / learner.trust == pytest.approx(100 * (1 - 0.99**20) / 0.01, rel=0.2)
        assert answers["value"][1] / learner.trust == pytest.approx(100.0, rel=0.9)

    def test_foresight_is_that_of_the_policy_before_it_is_trained_on_what_is_new(self) -> None:
        """At first both actions have a half; where they are tied there is nothing to foresee. Then the second one
        is foreseen, and when the first one is better all at once, that is not.
        """
        learner = self.learner()
        rng = np.random.default_rng(1)
        learner.take_in(path([0.0] * 3, [[0.0, 5.0], [5.0, 5.0], [0.0, 5.0]], episode=(1, 1)), rng=rng)
        assert learner.close_interval(rng=rng)["foresight"] == pytest.approx([math.log(2)])
        learner.take_in(path([0.0] * 2, [[5.0, 5.0]] * 2, episode=(1, 2)), rng=rng)
        assert learner.close_interval(rng=rng)["foresight"] == []
        for number in range(3, 40):
            learner.take_in(path([0.0] * 20, [[0.0, 5.0]] * 20, episode=(1, number)), rng=rng)
            (loss,) = learner.close_interval(rng=rng)["foresight"]
        assert foreseen([loss]) > 0.75
        learner.take_in(path([0.0] * 20, [[5.0, 0.0]] * 20, episode=(1, 41)), rng=rng)
        assert foreseen(learner.close_interval(rng=rng)["foresight"]) < 0.25

    def test_what_is_held_out_is_not_trained_on(self) -> None:
        learner = self.learner()
        rng = np.random.default_rng(1)
        learner.take_in(path([1.0] * 20, [[0.0, 5.0]] * 20, episode=(1, 8)), rng=rng)
        assert learner.close_interval(rng=rng) == {}
        learner.take_in(path([1.0] * 20, [[0.0, 5.0]] * 20, episode=(1, 9)), rng=rng)
        assert learner.close_interval(rng=rng).keys() == {"policy", "value", "foresight"}
        assert learner._trained_on().tolist() == list(range(20, 40))

    def test_returns_go_on_into_the_next_piece_of_an_episode(self) -> None:
        """Two pieces of two steps; the second pays 1 and 1 and then ends. All values are zero."""
        settings = JointSettings(batch=4, value_targets=LambdaReturns(discount=0.5, lambda_=1.0))
        learner = settings.make_learner(initial_snapshot(VECTOR, 2, settings, rng=np.random.default_rng(0)))
        first = path([0.0, 0.0], [[0.0, 1.0]] * 2, episode=(1, 1))
        second = path([1.0, 1.0], [[0.0, 1.0]] * 2, episode=(1, 1), first=2, terminal=True)
        other = path([8.0], [[0.0, 1.0]], episode=(1, 2), first=2)
        for each in (first, second, other):
            learner.take_in(each, rng=np.random.default_rng(0))
        learner._refresh()
        assert learner._targets_of(second).tolist() == [1.5, 1.0]
        assert learner._targets_of(first).tolist() == [0.375, 0.75]
        assert learner._targets_of(other).tolist() == [8.0]

    def test_until_targets_are_computed_anew_a_piece_that_comes_in_changes_nothing(self) -> None:
        settings = JointSettings(batch=4, value_targets=LambdaReturns(discount=0.5, lambda_=1.0))
        learner = settings.make_learner(initial_snapshot(VECTOR, 2, settings, rng=np.random.default_rng(0)))
        first = path([0.0, 0.0], [[0.0, 1.0]] * 2, episode=(1, 1))
        learner.take_in(first, rng=np.random.default_rng(0))
        learner._refresh()
        learner.take_in(path([1.0, 1.0], [[0.0, 1.0]] * 2, episode=(1, 1), first=2), rng=np.random.default_rng(0))
        assert learner._targets_of(first).tolist() == [0.0, 0.0]
        learner._targets.clear()  # as after a resumption
        assert learner._targets_of(first).tolist() == [0.0, 0.0]
        learner._refresh()
        assert learner._targets_of(first).tolist() == [0.375, 0.75]

    def learner(self) -> JointLearner:
        learner = self.SETTINGS.make_learner(
            initial_snapshot(VECTOR, 2, self.SETTINGS, rng=np.random.default_rng(0))
        )
        assert isinstance(learner, JointLearner)
        return learner

    def test_a_snapshot_brings_everything_back(self) -> None:
        def learnt(restore: bool) -> dict[str, bytes]:
            learner = self.SETTINGS.make_learner(
                initial_snapshot(VECTOR, 2, self.SETTINGS, rng=np.random.default_rng(0))
            )
            for number in range(4):
                rng = np.random.default_rng(number)
                learner.take_in(path([1.0] * 8, [[0.0, 5.0]] * 8), rng=rng)
                learner.close_interval(rng=rng)
                if restore:
                    paths, learner = learner.experience.paths, self.SETTINGS.make_learner(learner.snapshot())
                    for each in paths:
                        learner.experience.add(each)
            return {name: array.tobytes() for name, array in learner.snapshot().arrays().items()}

        assert learnt(restore=True) == learnt(restore=False)


def protocol(game: str, **conditions: Any) -> Protocol:
    learning = JointSettings(
        schedule=ScheduleSettings(interactions=conditions.pop("interactions"), interval=conditions.pop("interval")),
        loop=LockstepSettings(lanes=2, decisions=5),
        retention=KeepLatest(transitions=60),
        batch=16,
        evaluation_episodes=1,
    )
    return make_protocol(game, agent="n-cpl-plus", learning=learning, **conditions)


@pytest.mark.parametrize(
    "chosen",
    [
        protocol("corridor", interactions=2_000, interval=100, budget=10, max_frames=200),
        protocol("pong", interactions=800, interval=200, budget=10, max_frames=300),
    ],
    ids=["corridor", "pong"],
)
def test_training_that_is_cut_off_again_and_again_ends_with_the_same_networks(
    chosen: Protocol, tmp_path: Path
) -> None:
    train(tmp_path / "whole", chosen)
    assert train_in_pieces(tmp_path / "run", chosen, workers=(1, 2)) > 2
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def test_kill_minus_nine_leaves_no_trace(tmp_path: Path) -> None:
    train(tmp_path / "whole", killed_protocol("joint"))
    whole = contents(tmp_path / "whole")
    assert_kills_leave_no_trace(tmp_path, "joint", whole, kills=8, intervals=3, longest_life=1.5)


def test_its_episodes_verify_and_have_the_values_of_actions(tmp_path: Path) -> None:
    train(tmp_path / "run", protocol("corridor", interactions=2_000, interval=100, budget=10, max_frames=200))
    records = [read_episode(file) for file in RunDirectory.open(tmp_path / "run").learnt_paths()]
    assert records
    for record in records:
        assert verify_episode(record).holds
        assert all(decision.action_values for decision in record.episode.decisions)


def test_a_window_that_is_worse_brings_back_what_the_window_before_began_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four windows of three intervals; the third is found to be worse than the second."""
    chosen = protocol("corridor", interactions=1_200, interval=100, budget=10, max_frames=200)
    assert chosen.learning is not None
    schedule = chosen.learning.schedule.model_copy(update={"window": 300})
    chosen = chosen.model_copy(update={"learning": chosen.learning.model_copy(update={"schedule": schedule})})
    tests = iter([True, False, True])

    def judged(*returns: object, **choices: object) -> Verdict:
        return Verdict(next(tests), 0.05)

    monkeypatch.setattr("noveltree.learning.schedule.judge", judged)
    train(tmp_path / "run", chosen)
    lines = RunDirectory.open(tmp_path / "run").read_metrics("interval")
    assert [line["interval"] for line in lines if line["tested"]] == [6, 9]
    assert [line["interval"] for line in lines if not line["accepted"]] == [9]
    weights = {line["interval"]: line["weights"] for line in lines}
    # The second window began with what was learnt in interval 3.
    assert weights[9] == weights[3]
    assert len(set(weights.values())) == len(weights) - 1


def test_windows_are_as_long_as_it_takes_to_have_something_to_test(tmp_path: Path) -> None:
    """Three lanes, and episodes that take longer than a window."""
    chosen = protocol("corridor", interactions=4_000, interval=100, budget=10, max_frames=200)
    assert chosen.learning is not None
    schedule = chosen.learning.schedule.model_copy(update={"window": 100, "window_episodes": 4})
    chosen = chosen.model_copy(update={"learning": chosen.learning.model_copy(update={"schedule": schedule})})
    train(tmp_path / "run", chosen)
    run = RunDirectory.open(tmp_path / "run")
    ended, tests = 0, []
    for line in run.read_metrics("interval"):
        ended += line["episodes"]
        if line["tested"]:
            tests.append(line["p_value"])
        if ended >= 4:
            ended = 0
        else:
            assert not line["tested"]
    assert len(tests) > 2
    assert list(check_run(tmp_path, tmp_path / "run")) == []


def test_n_cpl_plus_tests_windows_in_which_every_lane_has_ended_an_episode() -> None:
    learning = DEFAULT_LEARNING["n-cpl-plus"]
    assert isinstance(learning.loop, LockstepSettings)
    assert learning.schedule.window_episodes >= learning.loop.lanes > 2
