"""Videos with the tree beside the game: while the frames of an action are seen, the next lookahead grows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from noveltree.episodes import Choice
from noveltree.errors import InputError
from noveltree.replay import check_video, write_video
from noveltree.replay.video import LARGEST_SCALE, Frame, Progress
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
    scale: int = 3,
    progress: Progress | None = None,
) -> None:
    """Film a recorded episode, or some steps of it, with its lookaheads, which are planned again."""
    if watching.record is None:
        raise InputError("Only recorded episodes are filmed: play one first.")
    check_video(path, watching.protocol)
    if not 1 <= scale <= LARGEST_SCALE:
        raise InputError(f"A video can be enlarged 1 to {LARGEST_SCALE} times, not {scale}.")
    smooth = 1 if path.suffix.lower() == ".gif" else 2  # a GIF has few colours
    write_video(lambda: _frames(watching, steps, scale, smooth, progress), path, every=every)


def _frames(
    watching: Watching, steps: range | None, scale: int, smooth: int, progress: Progress | None
) -> Iterator[Frame]:
    """Every frame: the game on the left, the lookahead on the right."""
    assert watching.record is not None
    actions = watching.record.episode.actions
    last = len(actions) if steps is None else min(len(actions), steps.stop)
    seat = Seat(
        watching.protocol,
        lambda lookahead: None,
        seed=watching.seed,
        index=watching.index,
        interval=watching.interval,
        run=watching.run,
    )
    canvas: Canvas | None = None
    try:
        for step, action in enumerate(actions[:last]):
            choice = seat.plan()
            root, lookahead = seat.play.lookahead.root, seat.play.lookahead
            shown = steps is None or step in steps
            drawn = _Drawn(lookahead) if shown else None
            child = root.children[action]
            before, after = root.state, root.state if child is None else child.state
            if drawn is not None:
                frames = film(seat.simulator, before, action, after)
                for number, frame in enumerate(frames):
                    game = np.repeat(np.repeat(frame, scale, axis=0), scale, axis=1)
                    height = game.shape[0]
                    canvas = canvas or Canvas(int(height * _SHAPE) // 2 * 2, height, _BACKGROUND, smooth=smooth)
                    drawn.draw(canvas, height, (number + 1) / len(frames))
                    yield np.concatenate([game, canvas.picture()], axis=1)
            seat.play.execute(Choice(action, choice.values))
            if progress is not None:
                progress(step + 1, last)
    finally:
        seat.close()


class _Drawn:
    """A lookahead as it is drawn: it fits the picture, and can be seen as far as it had grown."""

    def __init__(self, lookahead: Lookahead) -> None:
        self._places: dict[Node, Place] = lay_out(lookahead)
        self._root = lookahead.root
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
            if node is not self._root and node.parent is not None:
                canvas.line(*at[node.parent], *at[node], 1.2, _COLOURS["edge"])
        if share > 0.85:
            for parent, node in zip(self._best, self._best[1:], strict=False):
                canvas.line(*at[parent], *at[node], 3.0, _COLOURS["best"])
        radius = max(2.4, min(5.0, 0.32 * sy * 14, 0.2 * sx * 34))
        for node in seen:
            kind = status(node)
            canvas.mark(kind, *at[node], radius, _COLOURS[kind])
            if node.reward and node is not self._root and node.parent is not None:
                (px, py), (x, y) = at[node.parent], at[node]
                mark = "reward" if node.reward > 0 else "loss"
                canvas.mark(mark, (px + x) / 2, (py + y) / 2 - 2 * radius, radius, _COLOURS[mark])
