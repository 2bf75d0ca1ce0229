"""Episodes that are planned again from their records come out as they were recorded, whoever planned them."""

from __future__ import annotations

from pathlib import Path

import pytest

from noveltree.protocol import make_protocol
from noveltree.records import read_episode
from noveltree.replay import verify_episode
from noveltree.replay.planned_again import plan_again
from tests.support.agents import PLAYABLE_AT_ONCE
from tests.support.episodes import recorded

#: In one chance decides.
WORLDS = ("corridor", "gymnasium:FrozenLake-v1")


@pytest.mark.parametrize("game", WORLDS)
@pytest.mark.parametrize("agent", PLAYABLE_AT_ONCE)
def test_what_was_recorded_comes_out(agent: str, game: str, tmp_path: Path) -> None:
    record = read_episode(recorded(tmp_path, make_protocol(game, agent=agent, budget=6, max_frames=12)))
    assert plan_again(record) == ""
    assert verify_episode(record).holds


@pytest.mark.parametrize("agent", ["random", "riw-c"])
def test_what_was_not_planned_does_not(agent: str, tmp_path: Path) -> None:
    protocol = make_protocol("corridor", agent=agent, budget=6, max_frames=12)
    assert plan_again(read_episode(recorded(tmp_path, protocol, wrong=1))).startswith("step 1: The record has ")
