"""Videos with the tree beside the game: while the frames of an action are seen, the lookahead behind it grows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from noveltree.episodes import Choice
from noveltree.errors import InputError
from noveltree.replay import check_camera, check_video, write_video
from noveltree.replay.agreement import why_not_planned
from noveltree.replay.video import Progress, usual_scale
from noveltree.simulators import Filmed, Frame, Pictured
from noveltree.viewer.canvas import Canvas
from noveltree.viewer.columns import columns_of
from noveltree.viewer.drawn_tree import BACKGROUND, DrawnTree
from noveltree.viewer.screens import film
from noveltree.viewer.seat import Seat
from noveltree.viewer.watching import Watching

#: How wide the tree is, compared with its height.
_SHAPE = 1.5


def render_with_tree(
    watching: Watching,
    path: Path,
    *,
    steps: range | None = None,
    every: int | None = None,
    scale: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Film a recorded episode, or some steps of it, with its lookaheads, which are planned again."""
    if watching.record is None:
        raise InputError("Only recorded episodes are filmed: play one first.")
    check_video(path, scale)
    smooth = 1 if path.suffix.lower() == ".gif" else 2  # a GIF has few colours
    seats: list[Seat] = []

    def make_seat() -> Seat:
        seats.append(
            Seat(
                watching.protocol,
                lambda lookahead: None,
                seed=watching.seed,
                index=watching.index,
                interval=watching.interval,
                evaluation=watching.evaluation,
                run=watching.run,
            )
        )
        return seats[-1]

    try:
        seat = make_seat()
        if (problem := why_not_planned(watching.record, seat.weights)) is not None:
            raise InputError(problem)
        simulator = seat.simulator
        check_camera(simulator, watching.protocol.game)
        assert isinstance(simulator, Filmed | Pictured)
        actions = watching.record.episode.actions
        write_video(
            lambda told: _frames(make_seat(), actions, steps, scale, smooth, told),
            path,
            rate=simulator.frame_rate,
            every=every,
            scale=1,
            progress=progress,
        )
    finally:
        for seat in seats:
            seat.close()


def _frames(
    seat: Seat,
    actions: Sequence[int],
    steps: range | None,
    scale: int | None,
    smooth: int,
    progress: Progress | None,
) -> Iterator[Frame]:
    """Every frame, of the steps that are filmed."""
    last = len(actions) if steps is None else min(len(actions), steps.stop)
    beside = Beside(scale, smooth)
    for step, action in enumerate(actions[:last]):
        choice = seat.plan()
        root = seat.play.lookahead.root
        columns = columns_of(seat.play.lookahead) if steps is None or step in steps else None
        seat.play.execute(Choice(action, choice.values))
        if columns is not None:
            after = seat.play.lookahead.root.state
            frames = film(seat.simulator, root.state, action, after, seat.dice(step))
            yield from beside(frames, DrawnTree(columns, action, seat.protocol.discount or 1.0))
        if progress is not None:
            progress(step + 1, last)


class Beside:
    """Puts lookaheads beside what is seen of the game."""

    def __init__(self, scale: int | None = None, smooth: int = 2) -> None:
        """The game is enlarged `scale` times, or as usual; trees are drawn `smooth` times finer than seen."""
        self._scale, self._smooth = scale, smooth
        self._canvas: Canvas | None = None

    def __call__(self, frames: Sequence[Frame], tree: DrawnTree) -> Iterator[Frame]:
        """The game on the left; on the right a lookahead that grows while the frames are seen."""
        for number, frame in enumerate(frames):
            scale = self._scale or usual_scale(frame)
            game = np.repeat(np.repeat(frame, scale, axis=0), scale, axis=1)
            height = game.shape[0]
            width = int(height * _SHAPE) // 2 * 2
            self._canvas = self._canvas or Canvas(width, height, BACKGROUND, smooth=self._smooth)
            tree.draw(self._canvas, width, height, (number + 1) / len(frames))
            yield np.concatenate([game, self._canvas.picture()], axis=1)
