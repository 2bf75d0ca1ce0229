"""A lookahead as videos show it: laid out once to fit the picture, and drawn as far as it had grown."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from noveltree.viewer.canvas import Canvas
from noveltree.viewer.columns import CACHED, NOVEL, SOLVED, TERMINAL, Columns

BACKGROUND = "#0f1318"
_COLOURS = {
    "novel": "#56b4e9",
    "solved": "#2fbf95",
    "kept": "#8593a3",
    "pruned": "#e2703a",
    "terminal": "#f5e960",
    "edge": "#5b6b7c",
    "edge kept": "#3a4653",
    "best": "#f0b43c",
    "newest": "#f5ee9e",
    "reward": "#f0b43c",
    "loss": "#ff7a5c",
}
_MARGIN = 24
#: Pixels between time steps and between neighbours, at most.
_STEP, _LANE = 54.0, 34.0
#: The share of a time step in which the lookahead grows; then the best path is seen.
_GROWING = 0.85


class DrawnTree:
    """The nodes of a decision with their places: a lane for each leaf, and inner nodes in the middle."""

    def __init__(self, columns: Columns, chosen: int | None, discount: float = 1.0) -> None:
        rows = {name: array.tolist() for name, array in columns.arrays.items()}
        self._parents: list[int] = rows["parent"]
        self._rewards: list[float] = rows["reward"]
        self._kept = [bool(label & CACHED) for label in rows["label"]]
        self._statuses = [_status(label) for label in rows["label"]]
        children: list[list[int]] = [[] for _ in self._parents]
        self._depths = [0] * len(self._parents)
        for i, parent in enumerate(self._parents):
            if parent >= 0:
                children[parent].append(i)
                self._depths[i] = self._depths[parent] + 1
        for below in children:
            below.sort(key=lambda i: (rows["action"][i], i))
        self._lanes, self._high = _lanes(children)
        self._order = sorted(range(len(self._parents)), key=lambda i: (not self._kept[i], i))
        first = next((i for i in children[0] if rows["action"][i] == chosen), None)
        self._best = _best(children, first, lambda i: self._rewards[i] + discount * rows["value"][i])

    def draw(self, canvas: Canvas, width: int, height: int, share: float) -> None:
        """Draw what was there after a share of the time step; at its end with the best path."""
        deepest = max(self._depths) or 1
        sx = min(_STEP, (width - 2 * _MARGIN) / deepest)
        sy = min(_LANE, (height - 2 * _MARGIN) / (self._high or 1))
        top = (height - sy * self._high) / 2
        at = [(_MARGIN + sx * x, top + sy * y) for x, y in zip(self._depths, self._lanes, strict=True)]
        kept = sum(self._kept)
        grown = kept + round((len(at) - kept) * min(1.0, share / _GROWING))
        seen = self._order[: max(1, grown)]
        canvas.clear()
        for i in seen:
            if self._parents[i] >= 0:
                colour = _COLOURS["edge kept" if self._kept[i] else "edge"]
                canvas.line(*at[self._parents[i]], *at[i], 1.2, colour)
        path, colour, wide = (
            (self._best, _COLOURS["best"], 3.4)
            if share > _GROWING
            else (self._rollout(seen), _COLOURS["newest"], 1.8)
        )
        for above, i in pairwise(path):
            canvas.line(*at[above], *at[i], wide, colour)
        radius = max(2.4, min(6.0, 0.36 * sy, 0.17 * sx))
        for i in seen:
            canvas.mark(self._statuses[i], *at[i], radius, _COLOURS[self._statuses[i]])
        for i in seen:
            if self._rewards[i] and self._parents[i] >= 0:
                (px, py), (x, y) = at[self._parents[i]], at[i]
                mark = "reward" if self._rewards[i] > 0 else "loss"
                canvas.mark(mark, (px + x) / 2, (py + 3 * y) / 4 - 2 * radius, radius, _COLOURS[mark])

    def _rollout(self, seen: list[int]) -> list[int]:
        """The path to the node that was added last."""
        if self._kept[seen[-1]]:
            return []
        path = [seen[-1]]
        while self._parents[path[-1]] >= 0:
            path.append(self._parents[path[-1]])
        return path[::-1]


def _status(label: int) -> str:
    if label & TERMINAL:
        return "terminal"
    if not label & NOVEL:
        return "pruned"
    if label & CACHED:
        return "kept"
    return "solved" if label & SOLVED else "novel"


def _lanes(children: list[list[int]]) -> tuple[list[float], int]:
    """The lane of every node, and the last lane."""
    lanes = [0.0] * len(children)
    count = 0
    stack = [(0, False)]
    while stack:
        i, ready = stack.pop()
        if not children[i]:
            lanes[i] = count
            count += 1
        elif ready:
            lanes[i] = (lanes[children[i][0]] + lanes[children[i][-1]]) / 2
        else:
            stack.append((i, True))
            stack.extend((below, False) for below in reversed(children[i]))
    return lanes, count - 1


def _best(children: list[list[int]], first: int | None, worth: Callable[[int], float]) -> list[int]:
    """The path of greatest values below the action that was chosen."""
    path = [0]
    while first is not None:
        path.append(first)
        first = max(children[first], key=worth, default=None)
    return path
