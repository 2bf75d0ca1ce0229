"""Drawing from what is kept: the newest transitions most often, and no screen twice in the same place."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def recent(held: int, count: int, half_life: float, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw transitions with replacement: one that is `half_life` older than another is drawn half as often."""
    ratio = 0.5 ** (1.0 / half_life)
    ages = np.log1p(-rng.random(count) * (1.0 - ratio**held)) / math.log(ratio)
    drawn: NDArray[np.int64] = held - 1 - np.minimum(ages.astype(np.int64), held - 1)
    return drawn


def shifted(inputs: NDArray[np.generic], pixels: int, *, rng: np.random.Generator) -> NDArray[np.generic]:
    """Each stack of screens moved by up to so many pixels to any side; what comes in repeats the edge."""
    height, width = inputs.shape[2:]
    room = np.pad(inputs, ((0, 0), (0, 0), (pixels, pixels), (pixels, pixels)), mode="edge")
    moved = np.empty_like(inputs)
    for place, (y, x) in enumerate(rng.integers(2 * pixels + 1, size=(len(inputs), 2)).tolist()):
        moved[place] = room[place, :, y : y + height, x : x + width]
    return moved
