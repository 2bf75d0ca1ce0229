"""The benchmark measures what it says. How fast anything is, is never tested."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest

from noveltree.errors import InputError
from noveltree.speed import PlanningCost, measure_planning
from noveltree.speed.planning import quartiles


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
    with pytest.raises(InputError, match="corridor is no Atari game"):
        measure_planning(["corridor"], steps=1)


def test_nothing_cannot_be_measured() -> None:
    with pytest.raises(InputError, match="At least 1 planning step"):
        measure_planning(["pong"], steps=0)
