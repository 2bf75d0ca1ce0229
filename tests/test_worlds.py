"""Real environments of other packages: MinAtar and MiniGrid, whose images stay images."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from noveltree.episodes import drive
from noveltree.errors import SimulatorError
from noveltree.features import PixelFeatures, make_features
from noveltree.protocol import make_protocol
from noveltree.records import EpisodeRecord
from noveltree.replay import render_episode, verify_episode
from noveltree.simulators import GymnasiumSimulator, check_simulator
from noveltree.simulators.environment_observation import EnvironmentObserver
from noveltree.simulators.simulator import State
from tests.support.worlds import node_of


@pytest.mark.parametrize("game", ["Asterix", "Breakout", "Freeway", "Seaquest", "SpaceInvaders"])
def test_minatar_is_played_recorded_and_verified(game: str) -> None:
    pytest.importorskip("minatar")
    protocol = make_protocol(f"MinAtar/{game}-v1", budget=20)
    assert protocol.features == "pixels"
    assert "minatar 1." in protocol.simulator_version
    simulator = protocol.make_simulator()
    start = simulator.start().observation
    assert (start.dtype, start.shape[:2]) == (np.uint8, (10, 10))
    assert {*np.unique(start).tolist()} <= {0, 1}
    play = protocol.make_play(simulator, seed=0, index=0)
    drive([play], decisions=4)
    assert verify_episode(EpisodeRecord(play.episode(), protocol, seed=0, index=0)).holds


def test_minatar_shows_what_the_environment_shows(tmp_path: Path) -> None:
    pytest.importorskip("minatar")
    simulator = GymnasiumSimulator("MinAtar/Breakout-v1")
    env = gymnasium.make("MinAtar/Breakout-v1", render_mode="rgb_array", disable_env_checker=True)
    first, _ = env.reset(seed=0)
    assert np.array_equal(simulator.start().observation, np.asarray(first, dtype=np.uint8))
    picture = simulator.picture(simulator.start())
    assert (picture.shape, picture.dtype) == ((10, 10, 3), np.uint8)
    assert np.array_equal(picture, np.rint(np.asarray(env.render()) * 255))
    protocol = make_protocol("MinAtar/Breakout-v1", agent="random")
    play = protocol.make_play(simulator, seed=0, index=0)
    drive([play], decisions=2)
    render_episode(EpisodeRecord(play.episode(), protocol, seed=0, index=0), tmp_path / "a.gif")
    assert (tmp_path / "a.gif").exists()


def test_a_missing_minatar_is_named_with_the_way_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "minatar", None)
    with pytest.raises(SimulatorError, match=r'pip install "noveltree\[minatar\]"'):
        GymnasiumSimulator("MinAtar/Breakout-v1")


def test_minigrid_is_played_recorded_and_verified() -> None:
    pytest.importorskip("minigrid")
    protocol = make_protocol("MiniGrid-DoorKey-5x5-v0", agent="iw1", budget=50)
    simulator = protocol.make_simulator()
    play = protocol.make_play(simulator, seed=0, index=0)
    drive([play], decisions=3)
    assert verify_episode(EpisodeRecord(play.episode(), protocol, seed=0, index=0)).holds


@pytest.mark.parametrize("wrappers", [("RGBImgObsWrapper",), ("RGBImgPartialObsWrapper", "ImgObsWrapper")])
def test_minigrid_as_rgb_is_an_image(wrappers: tuple[str, ...]) -> None:
    """With or without the wrapper that drops what is beside the image, which is then named."""
    minigrid: Any = pytest.importorskip("minigrid.wrappers")
    env = gymnasium.make("MiniGrid-Empty-5x5-v0")
    for wrapper in wrappers:
        env = getattr(minigrid, wrapper)(env)
    simulator = GymnasiumSimulator(env)
    start = simulator.start()
    assert (start.observation.ndim, start.observation.shape[2], start.observation.dtype) == (3, 3, np.uint8)
    assert simulator.left_out == (("direction", "mission") if len(wrappers) == 1 else ())
    assert isinstance(make_features("pixels", start), PixelFeatures)
    assert check_simulator(simulator, walks=1, length=8).transitions > 0


# What is observed.


def test_planes_of_booleans_are_an_image_of_zeros_and_ones() -> None:
    planes = np.array([[[True, False], [False, True]]])
    observed = EnvironmentObserver(spaces.Box(0, 1, (1, 2, 2), np.bool_))(planes)
    assert observed.dtype == np.uint8
    assert observed.tolist() == [[[1, 0], [0, 1]]]


@pytest.mark.parametrize(
    ("side", "shape", "left_out"), [(32, (32, 32, 3), ("speed",)), (31, (31 * 31 * 3 + 1,), ())]
)
def test_a_picture_among_other_things_is_what_is_observed(
    side: int, shape: tuple[int, ...], left_out: tuple[str, ...]
) -> None:
    image = spaces.Box(0, 255, (side, side, 3), np.uint8)
    observer = EnvironmentObserver(spaces.Dict({"picture": image, "speed": spaces.Discrete(3)}))
    observed = observer({"picture": np.zeros((side, side, 3), dtype=np.uint8), "speed": 2})
    assert observed.shape == shape
    assert observer.left_out == left_out
    with pytest.raises(SimulatorError, match="not of its observation space"):
        observer({"speed": 2})


def test_every_plane_of_an_image_has_pixels_of_its_own() -> None:
    """Two pixels in two planes: four features of 4 x 256 are true; a value in another plane is another feature."""
    features = PixelFeatures((1, 2, 2))
    assert features.size == 4 * 256

    def of(*values: int) -> set[int]:
        image = np.array(values, dtype=np.uint8).reshape(1, 2, 2)
        return {int(index) for index in features(node_of(State(image)))}

    assert len(of(0, 0, 0, 0)) == 4
    assert len(of(1, 0, 0, 0) - of(0, 0, 0, 0)) == 1
    assert of(1, 0, 0, 0) & of(0, 1, 0, 0) & of(0, 0, 1, 1) == set()
    assert len(of(1, 0, 0, 0) & of(1, 1, 0, 0)) == 3
