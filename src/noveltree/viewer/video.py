"""Videos with the tree beside the game: while the frames of an action are seen, the next lookahead grows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from noveltree.episodes import Choice
from noveltree.errors import InputError
from noveltree.replay import check_camera, check_video, write_video
from noveltree.replay.video import Progress
from noveltree.simulators import Filmed, Frame, Pictured
from noveltree.tree import Lookahead, Node
from noveltree.tree.drawing import Place, best_path, lay_out, status
from noveltree.viewer.canvas import Canvas
from noveltree.viewer.screens import film
from noveltree.viewer.seat import Seat
from noveltree.viewer.watching import Watching

_BACKGROUND = "#0f1318"
_COLOURS = {
    "novel": "#56b4e9",
    "solved": "#2fbf95",
    "kept": "#8593a3",
    "pruned": "#e2703a",
    "terminal": "#f5e960",
    "edge": "#4c5a68",
    "best": "#f0b43c",
    "reward": "#f0b43c",
    "loss": "#ff7a5c",
}
_MARGIN = 24
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
    enlarged = 3 if scale is None else scale
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
        simulator = make_seat().simulator
        check_camera(simulator, watching.protocol.game)
        assert isinstance(simulator, Filmed | Pictured)
        actions = watching.record.episode.actions
        write_video(
            lambda told: _frames(make_seat(), actions, steps, enlarged, smooth, told),
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
    seat: Seat, actions: Sequence[int], steps: range | None, scale: int, smooth: int, progress: Progress | None
) -> Iterator[Frame]:
    """Every frame: the game on the left, the lookahead on the right."""
    last = len(actions) if steps is None else min(len(actions), steps.stop)
    canvas: Canvas | None = None
    for step, action in enumerate(actions[:last]):
        choice = seat.plan()
        root = seat.play.lookahead.root
        drawn = _Drawn(seat.play.lookahead) if steps is None or step in steps else None
        seat.play.execute(Choice(action, choice.values))
        if drawn is not None:
            after = seat.play.lookahead.root.state
            frames = film(seat.simulator, root.state, action, after, seat.dice(step))
            for number, frame in enumerate(frames):
                game = np.repeat(np.repeat(frame, scale, axis=0), scale, axis=1)
                height = game.shape[0]
                canvas = canvas or Canvas(int(height * _SHAPE) // 2 * 2, height, _BACKGROUND, smooth=smooth)
                drawn.draw(canvas, height, (number + 1) / len(frames))
                yield np.concatenate([game, canvas.picture()], axis=1)
        if progress is not None:
            progress(step + 1, last)


class _Drawn:
    """A lookahead as it is drawn: it fits the picture, and can be seen as far as it had grown."""

    def __init__(self, lookahead: Lookahead) -> None:
        self._places: dict[Node, Place] = lay_out(lookahead)
        self._parents = {node: None if node is lookahead.root else node.parent for node in self._places}
        self._nodes = sorted(self._places, key=lambda node: node.number)
        self._kept = sum(node.cached for node in self._nodes)
        self._best = best_path(lookahead)
        self._wide = max(place.x for place in self._places.values()) or 1.0
        self._high = max(place.y for place in self._places.values()) or 1.0

    def draw(self, canvas: Canvas, height: int, share: float) -> None:
        """Draw what was there after a share of the planning; at the end with the best path."""
        width = int(height * _SHAPE)
        sx, sy = (width - 2 * _MARGIN) / self._wide, (height - 2 * _MARGIN) / self._high
        sx, sy = min(sx, 1.6), min(sy, 2.4)
        top = (height - sy * self._high) / 2
        at = {node: (_MARGIN + sx * place.x, top + sy * place.y) for node, place in self._places.items()}
        count = self._kept + round((len(self._nodes) - self._kept) * min(1.0, share / 0.85))
        seen = [node for node in self._nodes if node.cached] + [node for node in self._nodes if not node.cached]
        seen = seen[: max(1, count)]
        canvas.clear()
        for node in seen:
            if (parent := self._parents[node]) is not None:
                canvas.line(*at[parent], *at[node], 1.2, _COLOURS["edge"])
        if share > 0.85:
            for above, node in pairwise(self._best):
                canvas.line(*at[above], *at[node], 3.0, _COLOURS["best"])
        radius = max(2.4, min(5.0, 0.32 * sy * 14, 0.2 * sx * 34))
        for node in seen:
            kind = status(node)
            canvas.mark(kind, *at[node], radius, _COLOURS[kind])
            if node.reward and (parent := self._parents[node]) is not None:
                (px, py), (x, y) = at[parent], at[node]
                mark = "reward" if node.reward > 0 else "loss"
                canvas.mark(mark, (px + x) / 2, (py + y) / 2 - 2 * radius, radius, _COLOURS[mark])
