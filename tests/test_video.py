"""Videos: every frame of what was played, in color, in files that play."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import imageio_ffmpeg
import numpy as np
import pytest
from gymnasium.envs.classic_control.cartpole import CartPoleEnv

from noveltree.episodes import drive
from noveltree.errors import InputError, OutputError
from noveltree.protocol import make_protocol
from noveltree.records import EpisodeRecord
from noveltree.replay import check_camera, render_episode
from noveltree.simulators import Atari, AtariState, Corridor, Frame, GymnasiumSimulator, State
from noveltree.simulators.check import difference

STEPS = 4


def played(game: str, steps: int, **choices: object) -> EpisodeRecord:
    protocol = make_protocol(game, agent="random", **choices)
    play = protocol.make_play(protocol.make_simulator(), seed=1, index=0)
    drive([play], decisions=steps)
    return EpisodeRecord(play.episode(), protocol, seed=1, index=0)


@pytest.fixture(scope="module")
def record() -> EpisodeRecord:
    return played("breakout", STEPS)


@pytest.fixture(scope="module")
def screens(record: EpisodeRecord) -> list[np.ndarray]:
    """What the emulator shows after each step of the record."""
    simulator = record.protocol.make_simulator()
    assert isinstance(simulator, Atari)
    state, shown = simulator.start(), []
    for decision in record.episode.decisions:
        state = simulator.step(state, decision.action).state
        shown.append(screen(simulator))
    return shown


def screen(simulator: Atari) -> np.ndarray:
    return np.asarray(simulator._emulator.getScreenRGB())


def decode(path: Path) -> tuple[str, np.ndarray]:
    """What the decoder says of a video, and its frames (count, height, width, 3)."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(path), "-fps_mode", "passthrough"]
    decoded = subprocess.run(
        [*command, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], capture_output=True, check=True
    )
    about = next(line for line in decoded.stderr.decode().splitlines() if "Video:" in line)
    size = re.search(r" ([1-9]\d+)x(\d+)", about)
    assert size is not None
    width, height = map(int, size.groups())
    return about, np.frombuffer(decoded.stdout, dtype=np.uint8).reshape(-1, height, width, 3)


def enlarged(image: np.ndarray, scale: int) -> np.ndarray:
    return image.repeat(scale, axis=0).repeat(scale, axis=1)


def test_an_mp4_has_every_frame_and_ends_with_the_last_screen(
    tmp_path: Path, record: EpisodeRecord, screens: list[np.ndarray]
) -> None:
    path = tmp_path / "video.mp4"
    render_episode(record, path)
    about, frames = decode(path)
    assert "h264" in about
    assert " 60 fps" in about
    assert frames.shape == (STEPS * 15, 630, 480, 3)
    assert any((frame != frames[0]).any() for frame in frames)
    for step, shown in enumerate(screens):
        difference = np.abs(frames[15 * step + 14].astype(int) - enlarged(shown, 3))
        assert difference.mean() < 2.0


def test_a_gif_has_every_third_frame_in_exact_colors(
    tmp_path: Path, record: EpisodeRecord, screens: list[np.ndarray]
) -> None:
    path = tmp_path / "video.GIF"
    render_episode(record, path, scale=2)
    assert path.read_bytes().startswith(b"GIF89a")
    about, frames = decode(path)
    assert " 20 fps" in about
    assert frames.shape == (STEPS * 5, 420, 320, 3)
    simulator = record.protocol.make_simulator()
    assert isinstance(simulator, Atari)
    filmed = list(simulator.film(simulator.start(), record.episode.decisions[0].action))
    for third, frame in enumerate(frames[:5]):
        assert (frame == enlarged(filmed[3 * third], 2)).all()


def test_a_video_of_some_steps_shows_those_only(
    tmp_path: Path, record: EpisodeRecord, screens: list[np.ndarray]
) -> None:
    path = tmp_path / "video.gif"
    render_episode(record, path, steps=range(1, 3), every=1, scale=1)
    _, frames = decode(path)
    assert len(frames) == 2 * 15
    assert (frames[14] == screens[1]).all()
    assert (frames[29] == screens[2]).all()


def test_progress_is_told_after_each_step(tmp_path: Path, record: EpisodeRecord) -> None:
    told: list[tuple[int, int]] = []
    for name in ("video.mp4", "video.gif"):
        told.clear()
        render_episode(record, tmp_path / name, scale=1, progress=lambda done, total: told.append((done, total)))
        assert told == [(step, STEPS) for step in range(1, STEPS + 1)]


@pytest.mark.parametrize("game", ["breakout", "qbert", "yars_revenge", "freeway"])
def test_the_last_frame_of_a_film_is_the_screen_of_the_simulator(game: str) -> None:
    """The camera is another emulator, which skips no frames: it must not drift from the one that plays."""
    simulator = Atari(game)
    rng = np.random.default_rng(0)
    state = simulator.start()
    for action in rng.integers(len(simulator.actions), size=12).tolist():
        following = simulator.step(state, action).state
        assert isinstance(following, AtariState)
        shown = screen(simulator)
        *_, last = simulator.film(state, action)
        assert (last == shown).all()
        state = following


def test_a_video_replaces_an_older_one_and_leaves_nothing_beside_it(tmp_path: Path, record: EpisodeRecord) -> None:
    path = tmp_path / "new" / "video.mp4"
    path.parent.mkdir()
    path.write_bytes(b"old")
    render_episode(record, path, steps=range(1))
    assert [entry.name for entry in path.parent.iterdir()] == ["video.mp4"]
    assert len(decode(path)[1]) == 15


@pytest.mark.parametrize("name", ["video", "video.avi", "video.mp4.txt", ".mp4"])
def test_only_mp4_and_gif_are_written(tmp_path: Path, record: EpisodeRecord, name: str) -> None:
    with pytest.raises(InputError, match=r"A video is an \.mp4 or a \.gif, not"):
        render_episode(record, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_what_has_no_pictures_cannot_be_filmed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is nothing to film in corridor: its simulator has no pictures"):
        render_episode(played("corridor", 2), tmp_path / "video.mp4")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", ["mp4", "gif"])
def test_an_environment_that_renders_is_filmed_state_by_state(tmp_path: Path, suffix: str) -> None:
    """One picture of the start and one after each step, at the environment's own rate, enlarged twice."""
    path = tmp_path / f"video.{suffix}"
    record = played("FrozenLake-v1", 3)
    render_episode(record, path)
    about, frames = decode(path)
    assert frames.shape == (4, 512, 512, 3)
    assert "4 fps" in about
    env = gymnasium.make("FrozenLake-v1", render_mode="rgb_array")
    env.reset(seed=0)
    for frame, action in zip(frames, [None, *record.episode.actions], strict=True):
        if action is not None:
            env.step(action)
        assert np.abs(frame[::2, ::2].astype(int) - np.asarray(env.render())).mean() < 6


def test_rendering_leaves_states_as_they_are() -> None:
    simulator = GymnasiumSimulator("CartPole-v1")
    before = simulator.step(simulator.start(), 1)
    simulator.picture(simulator.start())
    simulator.picture(before.state)
    assert difference(before, simulator.step(simulator.start(), 1)) is None


def test_an_environment_with_hooks_is_rendered_where_it_is_restored_and_is_left_as_it_was() -> None:
    class Restored(CartPoleEnv):
        def get_state(self) -> Any:
            return self.state, self.steps_beyond_terminated

        def set_state(self, state: Any) -> None:
            self.state, self.steps_beyond_terminated = state

    env = Restored()
    simulator = GymnasiumSimulator(env)
    assert simulator.snapshots == "get_state and set_state"
    state = simulator.start()
    for _ in range(9):
        state = simulator.step(state, 1).state  # type: ignore[assignment]
    assert (simulator.picture(state) != simulator.picture(simulator.start())).any()
    assert env.render_mode is None


def test_an_environment_that_does_not_render_says_so(tmp_path: Path) -> None:
    class Blind(CartPoleEnv):
        metadata: ClassVar = {"render_modes": []}

    simulator = GymnasiumSimulator(Blind())
    with pytest.raises(InputError, match="renders no pictures: it has no render mode rgb_array"):
        check_camera(simulator, "Blind")


def test_a_simulator_of_ones_own_is_filmed_if_it_has_pictures() -> None:
    class Seen(Corridor):
        frame_rate = 5.0

        def picture(self, state: State) -> Frame:
            return np.zeros((2, 2, 3), dtype=np.uint8)

    check_camera(Seen(), "seen")
    with pytest.raises(InputError, match="There is nothing to film"):
        check_camera(Corridor(), "corridor")


@pytest.mark.parametrize("options", [{"scale": 0}, {"scale": 17}, {"scale": -1}, {"every": 0}])
def test_sizes_that_make_no_sense_are_refused(
    tmp_path: Path, record: EpisodeRecord, options: dict[str, int]
) -> None:
    with pytest.raises(InputError, match=r"enlarged 1 to 16 times|every Nth frame"):
        render_episode(record, tmp_path / "video.mp4", **options)


def test_an_episode_without_such_steps_cannot_be_filmed(tmp_path: Path, record: EpisodeRecord) -> None:
    with pytest.raises(InputError, match="There is nothing to film"):
        render_episode(record, tmp_path / "video.mp4", steps=range(STEPS, STEPS + 5))
    with pytest.raises(InputError, match="There is nothing to film"):
        render_episode(played("breakout", 0), tmp_path / "video.gif")
    assert not list(tmp_path.iterdir())


def test_a_path_that_cannot_be_written_is_named(tmp_path: Path, record: EpisodeRecord) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "video.mp4"
    with pytest.raises(OutputError, match=rf"Cannot write {path}: Not a directory\."):
        render_episode(record, path, steps=range(1))
    (tmp_path / "directory.mp4").mkdir()
    with pytest.raises(OutputError, match=r"Cannot write .*: Is a directory\."):
        render_episode(record, tmp_path / "directory.mp4", steps=range(1))


def test_an_encoder_that_gives_up_says_why_and_spoils_nothing(
    tmp_path: Path, record: EpisodeRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "video.mp4"
    path.write_bytes(b"old")
    encoder = tmp_path / "encoder"
    for script, reason in (
        ("echo first >&2; echo 'no space left.' >&2; exit 3", "no space left"),
        ("exit 3", "the encoder ended with 3"),
    ):
        encoder.write_text(f"#!/bin/sh\n{script}\n")
        encoder.chmod(0o755)
        monkeypatch.setattr(imageio_ffmpeg, "get_ffmpeg_exe", lambda: str(encoder))
        with pytest.raises(OutputError) as failure:
            render_episode(record, path)
        assert str(failure.value) == f"Cannot write {path}: {reason}."
        assert {entry.name for entry in tmp_path.iterdir()} == {"video.mp4", "encoder"}
        assert path.read_bytes() == b"old"


def test_an_interrupt_ends_the_encoder_and_leaves_nothing(
    tmp_path: Path, record: EpisodeRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = tmp_path / "encoder"
    encoder.write_text("#!/bin/sh\ncat > /dev/null\nexec sleep 20\n")
    encoder.chmod(0o755)
    monkeypatch.setattr(imageio_ffmpeg, "get_ffmpeg_exe", lambda: str(encoder))
    encoders: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def start(*args: object, **options: object) -> subprocess.Popen[bytes]:
        encoders.append(popen(*args, **options))  # type: ignore[call-overload]
        return encoders[-1]

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", start)
    with pytest.raises(KeyboardInterrupt):
        render_episode(record, tmp_path / "video.mp4", progress=interrupt)
    assert encoders[0].returncode == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == [encoder]
