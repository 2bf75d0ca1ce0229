"""Videos of recorded episodes, of every simulator that has pictures: MP4 with every frame, or GIF."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import imageio_ffmpeg
import numpy as np

from noveltree.errors import InputError, OutputError
from noveltree.records.episode_file import EpisodeRecord
from noveltree.records.files import make_directory
from noveltree.replay.actions import replay_actions
from noveltree.simulators import Filmed, Frame, Pictured, Simulator

#: Pictures a second above which a GIF shows only one in three.
_GIF_RATE, _GIF_EVERY = 30.0, 3
FORMATS = (".mp4", ".gif")
LARGEST_SCALE = 16
#: Pictures are enlarged as often as they fit into this height, unless it is said how often.
_HEIGHT = 650

#: Called after each time step: how many of how many are filmed.
Progress = Callable[[int, int], None]


def check_video(path: Path, scale: int | None = None) -> None:
    """Raise InputError if a video cannot have the format of `path`, or be enlarged so much."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"A video is an .mp4 or a .gif, not {path.suffix or path.name!r}.")
    if scale is not None and not 1 <= scale <= LARGEST_SCALE:
        raise InputError(f"A video can be enlarged 1 to {LARGEST_SCALE} times, not {scale}.")


def check_camera(simulator: Simulator, game: str) -> None:
    """Raise an error that says why episodes of a game cannot be filmed, if they cannot."""
    if isinstance(simulator, Filmed):
        return
    if not isinstance(simulator, Pictured):
        raise InputError(
            f"There is nothing to film in {game}: its simulator has no pictures, which the methods `picture` or "
            "`film` would give."
        )
    simulator.picture(simulator.start())


def render_episode(
    record: EpisodeRecord,
    path: Path,
    *,
    steps: range | None = None,
    every: int | None = None,
    scale: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Film a recorded episode, or some `steps` of it, by replaying its actions.

    Every Nth frame is kept (by default all of them in an MP4, one in three in a GIF of a console), enlarged `scale`
    times (by default to about 600 lines). The video runs at the speed of the console, or of the environment.
    """
    check_video(path, scale)
    with contextlib.closing(record.protocol.make_simulator()) as simulator:
        check_camera(simulator, record.protocol.game)
        assert isinstance(simulator, Filmed | Pictured)
        write_video(
            lambda progress: _film(simulator, record, steps, progress),
            path,
            rate=simulator.frame_rate,
            every=every,
            scale=scale,
            progress=progress,
        )


def write_video(
    film: Callable[[Progress | None], Iterator[Frame]],
    path: Path,
    *,
    rate: float,
    every: int | None = None,
    scale: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Write a video of frames that come so many a second, of which every Nth is kept.

    `film` makes them, and is told whom to tell how far it is.
    """
    if every is not None and every < 1:
        raise InputError(f"Keep every Nth frame with N at least 1, not {every}.")
    gif = path.suffix.lower() == ".gif"
    every = every or (_GIF_EVERY if gif and rate > _GIF_RATE else 1)
    # Filmed twice: an encoder that finds the colors itself would hold all frames in memory.
    palette = _palette(itertools.islice(film(None), 0, None, every)) if gif else None
    frames = itertools.islice(film(progress), 0, None, every)
    try:
        first = next(frames)
    except StopIteration:
        raise InputError("There is nothing to film: the episode has no such steps.") from None
    scale = scale or usual_scale(first)
    _encode(first, frames, path, rate=rate / every, scale=scale, palette=palette)


def usual_scale(frame: Frame) -> int:
    """How often a picture is enlarged unless it is said."""
    return max(1, min(LARGEST_SCALE, _HEIGHT // int(frame.shape[0])))


def _film(
    simulator: Simulator, record: EpisodeRecord, steps: range | None, progress: Progress | None
) -> Iterator[Frame]:
    return itertools.chain.from_iterable(_shots(simulator, record, steps, progress))


def _shots(
    simulator: Simulator, record: EpisodeRecord, steps: range | None, progress: Progress | None
) -> Iterator[Iterable[Frame]]:
    """What is seen of each time step."""
    actions = record.episode.actions
    replayed = replay_actions(simulator, record.episode, record.chance)
    for step, (before, after) in enumerate(itertools.pairwise(replayed)):
        if steps is None or step in steps:
            if isinstance(simulator, Filmed):
                yield simulator.film(before.state, actions[step], record.chance.dice(step))
            elif isinstance(simulator, Pictured):
                first = step == 0 or (steps is not None and step == steps[0])
                yield map(simulator.picture, [before.state, after.state] if first else [after.state])
        if progress is not None:
            progress(step + 1, len(actions))


def _palette(frames: Iterator[Frame]) -> bytes:
    """The colors of the frames as an RGBA image of 16 x 16, whose rest is transparent.

    Consoles have few enough; of more than 255 the most frequent are taken.
    """
    seen = np.zeros(2**24, dtype=np.uint32)
    for frame in frames:
        red, green, blue = (frame[:, :, channel].astype(np.uint32) for channel in range(3))
        found, counts = np.unique(red << 16 | green << 8 | blue, return_counts=True)
        seen[found] += counts.astype(np.uint32)
    colors = np.flatnonzero(seen)
    colors = np.sort(colors[np.argsort(-seen[colors].astype(np.int64), kind="stable")[:255]])
    palette = np.zeros((256, 4), dtype=np.uint8)
    palette[: len(colors), :3] = np.stack([colors >> 16, colors >> 8 & 255, colors & 255], axis=1)
    palette[: len(colors), 3] = 255
    return palette.tobytes()


def _encode(
    first: Frame, rest: Iterator[Frame], path: Path, *, rate: float, scale: int, palette: bytes | None
) -> None:
    height, width, _ = first.shape
    enlarge = f"scale={2 * (width * scale // 2)}:{2 * (height * scale // 2)}:flags=neighbor"
    inputs = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{rate:g}", "-i", "-"]
    try:
        make_directory(path.parent)
        with tempfile.TemporaryDirectory(prefix=".video-", dir=path.parent) as directory:
            if palette is None:
                mp4 = "-c:v libx264 -preset veryfast -crf 18 -pix_fmt yuv420p"
                output = ["-vf", enlarge, *mp4.split()]
            else:
                colors = Path(directory) / "palette"
                colors.write_bytes(palette)
                inputs += ["-f", "rawvideo", "-pix_fmt", "rgba", "-s", "16x16", "-i", str(colors)]
                output = ["-filter_complex", f"[0]{enlarge}[large];[large][1]paletteuse=dither=none"]
            video = Path(directory) / f"video{path.suffix.lower()}"
            encoder = [imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", *inputs, *output, str(video)]
            if problem := _feed(encoder, itertools.chain([first], rest)):
                raise OutputError(f"Cannot write {path}: {problem}.")
            video.replace(path)
    except OSError as error:
        raise OutputError(f"Cannot write {path}: {error.strerror or error}.") from error


def _feed(command: list[str], frames: Iterator[Frame]) -> str:
    """Run an encoder on the frames; its error message, if it fails."""
    with tempfile.TemporaryFile() as messages:
        encoder = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=messages)
        assert encoder.stdin is not None
        try:
            with contextlib.suppress(BrokenPipeError), encoder.stdin:  # an encoder that gave up says why
                for frame in frames:
                    encoder.stdin.write(frame.tobytes())
            if encoder.wait() == 0:
                return ""
        finally:
            encoder.kill()  # nothing happens if it has ended
            encoder.wait()
        messages.seek(0)
        lines = messages.read().decode(errors="replace").strip().splitlines()
        full = os.strerror(errno.ENOSPC)
        if any(full in line for line in lines):  # and others say what followed from it
            return full
        return lines[-1].rstrip(".") if lines else f"the encoder ended with {encoder.returncode}"
