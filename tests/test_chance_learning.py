"""Learning where chance decides: resumed to the bit, with every episode verified."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from noveltree.learning import LearningSettings
from noveltree.learning.settings import LockstepSettings, ScheduleSettings, ValueSettings
from noveltree.protocol import Protocol, make_protocol
from noveltree.records import read_episode
from noveltree.records.run_directory import RunDirectory
from noveltree.replay import verify_episode
from noveltree.simulators import SIMULATOR_KINDS, Simulator, SimulatorKind, register_simulator
from noveltree.trial import train
from tests.support.chance_worlds import coin
from tests.support.cutting import train_in_pieces
from tests.support.runs import contents


class CoinKind(SimulatorKind):
    name = "coin"
    title = "Coin"

    def make(self, *game: Any) -> Simulator:
        return coin()


@pytest.fixture
def protocol() -> Iterator[Protocol]:
    register_simulator(CoinKind())
    learning = LearningSettings(
        schedule=ScheduleSettings(interactions=1_500, interval=500),
        value=ValueSettings(at_least=16, every=8, batch=16, refresh=100),
        loop=LockstepSettings(lanes=3, decisions=4),
        evaluation_episodes=2,
    )
    yield make_protocol("coin", agent="n-cpl", budget=12, max_frames=40, learning=learning)
    del SIMULATOR_KINDS["coin"]


def test_a_trial_in_lockstep_that_is_cut_off_goes_on_to_the_bit(protocol: Protocol, tmp_path: Path) -> None:
    assert protocol.chance == "sampled"
    train(tmp_path / "whole", protocol)
    assert train_in_pieces(tmp_path / "pieces", protocol) > 2
    assert contents(tmp_path / "pieces") == contents(tmp_path / "whole")
    paths = RunDirectory.open(tmp_path / "whole").learnt_paths()
    assert len(paths) >= 3
    assert all(verify_episode(read_episode(path)).holds for path in paths)
