"""Videos of recorded Atari episodes: MP4 with every frame, or GIF."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import imageio_ffmpeg
import numpy as np
from numpy.typing import NDArray

from noveltree.errors import InputError, OutputError
from noveltree.records.episode_file import EpisodeRecord
from noveltree.simulators import Atari, AtariState

#: The console shows sixty frames a second.
CONSOLE_RATE = 60
_GIF_EVERY = 3
FORMATS = (".mp4", ".gif")

Frame = NDArray[np.uint8]
#: Told after each time step: how many of how many are filmed.
Progress = Callable[[int, int], None]


def check_video_path(path: Path) -> None:
    """Complain if a video cannot be written in the format that `path` asks for."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"A video is an .mp4 or a .gif, not {path.suffix or path.name!r}.")


def render_episode(
    record: EpisodeRecord,
    path: Path,
    *,
    steps: range | None = None,
    every: int | None = None,
    scale: int = 3,
    progress: Progress | None = None,
) -> None:
    """Film a recorded episode, or some `steps` of it, by replaying its actions.

    Every `every`-th frame is kept (all of them in an MP4, one in three in a GIF), enlarged `scale` times.
    The video runs at the speed of the console.
    """
    check_video_path(path)
    if scale < 1 or (every is not None and every < 1):
        raise InputError("The scale of a video, and how many frames it skips, must be at least 1.")
    if record.protocol.simulator != "atari":
        raise InputError(f"Only Atari episodes can be filmed, and {record.protocol.game} is none.")
    gif = path.suffix.lower() == ".gif"
    every = every or (_GIF_EVERY if gif else 1)
    frames = _film(record, steps, every, progress)
    try:
        first = next(frames)
    except StopIteration:
        raise InputError("There is nothing to film: the episode has no such steps.") from None
    _encode(first, frames, path, rate=CONSOLE_RATE / every, scale=scale, gif=gif)


def _film(record: EpisodeRecord, steps: range | None, every: int, progress: Progress | None) -> Iterator[Frame]:
    simulator = record.protocol.make_simulator()
    assert isinstance(simulator, Atari)
    state = simulator.start()
    actions = [decision.action for decision in record.episode.decisions]
    count = 0
    for step, action in enumerate(actions):
        if steps is None or step in steps:
            for frame in simulator.film(state, action):
                if count % every == 0:
                    yield frame
                count += 1
        following = simulator.step(state, action).state
        assert isinstance(following, AtariState)
        state = following
        if progress is not None:
            progress(step + 1, len(actions))
    simulator.close()


def _encode(first: Frame, rest: Iterator[Frame], path: Path, *, rate: float, scale: int, gif: bool) -> None:
    height, width, _ = first.shape
    enlarge = f"scale={2 * (width * scale // 2)}:{2 * (height * scale // 2)}:flags=neighbor"
    if gif:
        # The console has 128 colors: one palette for the whole video is exact.
        output = ["-vf", f"{enlarge},split[a][b];[a]palettegen=max_colors=128[p];[b][p]paletteuse=dither=none"]
    else:
        output = ["-vf", enlarge, "-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-pix_fmt", "yuv420p"]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".video-", suffix=path.suffix.lower(), dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise OutputError(f"Cannot write {path}: {error.strerror or error}.") from error
    temporary = Path(name)
    command = [
        *(imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-loglevel", "error"),
        *("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{rate:g}", "-i", "-"),
        *output,
        str(temporary),
    ]
    try:
        with tempfile.TemporaryFile() as complaints:
            encoder = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=complaints)
            assert encoder.stdin is not None
            try:
                encoder.stdin.write(first.tobytes())
                for frame in rest:
                    encoder.stdin.write(frame.tobytes())
                encoder.stdin.close()
            except BrokenPipeError:
                pass  # the encoder has given up; its exit code and its last line say why
            if encoder.wait() != 0:
                complaints.seek(0)
                lines = complaints.read().decode(errors="replace").strip().splitlines()
                raise OutputError(f"Cannot write {path}: {lines[-1] if lines else 'the encoder failed'}")
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
