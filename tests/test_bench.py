"""The benchmark measures what it says. How fast anything is, is never tested."""

from __future__ import annotations

import json
import math
from dataclasses import fields
from pathlib import Path

import pytest

from noveltree.errors import InputError
from noveltree.learning import LearningSettings
from noveltree.learning.settings import ScheduleSettings, ValueSettings
from noveltree.protocol import make_protocol
from noveltree.records.run_directory import RunDirectory
from noveltree.speed import PlanningCost, measure_planning
from noveltree.speed.planning import quartiles
from noveltree.trial import read_deployment, train
from tests.support.command_line import Cli


def test_costs_are_measured_for_every_game_and_budget() -> None:
    told: list[PlanningCost] = []
    result = measure_planning(["pong", "Breakout"], agent="riw-d", budgets=(5, 10), steps=2, on_cost=told.append)
    assert [(cost.game, cost.budget) for cost in told] == [
        *(("pong", 5), ("breakout", 5), ("pong", 10), ("breakout", 10)),
    ]
    assert result["median_ratio"].keys() == {"5", "10"}
    for cost, row in zip(told, result["games"], strict=True):
        assert row == {field.name: getattr(cost, field.name) for field in fields(PlanningCost)}
        assert (cost.agent, cost.features) == ("riw-d", "pixels")
        assert cost.steps >= 2
        assert 0 < cost.ratio_low <= cost.ratio <= cost.ratio_high
        assert cost.interaction_us > 0
        assert cost.raw_us > 0


def test_the_quartiles_of_a_few_steps_are_among_them() -> None:
    assert quartiles([42.3, 0.9]) == pytest.approx((0.9 + 41.4 / 4, 42.3 - 41.4 / 4))
    assert quartiles([1.0, 2.0, 3.0, 4.0, 5.0]) == (2.0, 4.0)
    assert quartiles([7.0]) == (7.0, 7.0)


def test_the_result_is_json() -> None:
    result = measure_planning(["pong"], features="ram", budgets=(5,), steps=1)
    assert json.loads(json.dumps(result)) == result
    assert result["games"][0]["features"] == "ram"


def test_only_the_emulator_can_be_the_yardstick() -> None:
    with pytest.raises(InputError, match="corridor is not an Atari game"):
        measure_planning(["corridor"], steps=1)


def test_nothing_cannot_be_measured() -> None:
    with pytest.raises(InputError, match="At least 1 planning step"):
        measure_planning(["pong"], steps=0)


def test_the_costs_of_learning_are_those_of_playing_with_networks_and_more(cli: Cli) -> None:
    few = ("--games", "Pong", "--episodes-at-once", 2, "--decisions", 2, "--lanes", 1, "--no-workers")
    result = cli("bench", "learning", *few, "--json").object
    assert result["agent"] == "n-cpl"
    assert result["peak_memory_mb"] > 0
    assert "two_workers" not in result
    (cost,) = result["games"]
    assert (cost["game"], cost["agent"], cost["episodes_at_once"]) == ("pong", "n-cpl", 2)
    for ratio in ("latency", "collecting", "learning", "lockstep"):
        # Nothing is said of 1: what the lookahead knows is not asked of the emulator again.
        assert 0 < cost[f"{ratio}_ratio"] < math.inf
        assert result[f"median_{ratio}_ratio"] == cost[f"{ratio}_ratio"]
    assert cost["learning_ratio"] > cost["collecting_ratio"]
    assert cost["decision_seconds"] > 0
    assert cost["raw_us"] > 0
    split = cost["split"]
    assert split.keys() == {
        *("emulator", "screens and snapshots", "novelty", "policy network", "value network"),
        *("tree and driver", "learning on the way", "learning at the end"),
    }
    assert sum(split.values()) == pytest.approx(cost["learning_ratio"], abs=0.001)
    learning = split["learning on the way"] + split["learning at the end"]
    assert cost["collecting_ratio"] + learning == pytest.approx(cost["learning_ratio"], abs=0.001)


@pytest.mark.parametrize("agent", ["n-cpl-plus", "pi-hiw", "alphazero"])
def test_what_other_learners_cost(agent: str, cli: Cli) -> None:
    few = ("--games", "Pong", "--episodes-at-once", 2, "--decisions", 2, "--lanes", 1, "--no-workers")
    result = cli("bench", "learning", "--agent", agent, *few, "--json").object
    assert result["agent"] == agent
    assert 0 < result["median_collecting_ratio"] < result["median_learning_ratio"] < math.inf
    assert 0 < result["median_lockstep_ratio"] < math.inf
    (cost,) = result["games"]
    split = cost["split"]
    assert split["learning on the way"] + split["learning at the end"] > 0
    if agent == "pi-hiw":
        assert split["novelty"] > 0
        assert split["abstract states"] > 0


def test_what_playing_with_a_run_costs(cli: Cli) -> None:
    learning = LearningSettings(
        schedule=ScheduleSettings(interactions=40, interval=40, wave=1),
        value=ValueSettings(at_least=1, every=2, batch=4),
        evaluation_episodes=1,
    )
    train(Path("run"), make_protocol("pong", agent="n-cpl", budget=10, max_frames=60, learning=learning))
    few = ("--episodes-at-once", 2, "--decisions", 1, "--warm-up", 1)
    result = cli("bench", "playing", "run", *few, "--json").object
    assert (result["game"], result["agent"], result["episodes_at_once"]) == ("pong", "n-cpl", 2)
    assert result["weights"] == read_deployment(RunDirectory.open(Path("run")))[0].digest
    assert 0 < result["collecting_ratio"] < math.inf
    assert sum(result["split"].values()) == pytest.approx(result["collecting_ratio"], abs=0.001)
    assert "pong, n-cpl: one episode " in cli("bench", "playing", "run", *few).out


def test_an_agent_that_is_trained_before_it_plays_is_measured_by_its_runs(cli: Cli) -> None:
    refused = cli("bench", "learning", "--agent", "vae-iw", "--games", "pong")
    assert refused.code == 2
    assert "measure a run of it with `noveltree bench playing`" in " ".join(refused.err.split())
