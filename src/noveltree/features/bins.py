"""Bins: values of continuous variables that count as one.

The range of a variable is divided into as many bins of the same width as the precision says; beyond the range bins
of that width go on, so that nothing is cut off. Ranges are those that an environment declares, or are learnt on
random walks; a protocol records them, and whoever plays under it uses the same.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noveltree.errors import InputError
from noveltree.simulators import DeclaresBounds, Simulator
from noveltree.simulators.patience import Patience, warn_of_slowness

#: Bins of a variable unless said otherwise.
PRECISION = 32
#: The most variables of which ranges are learnt: protocols hold them all.
MOST_VARIABLES = 1_000
#: A variable whose values are told apart exactly: whole numbers, and what never changed.
_EXACT = "="
_WALKS, _LENGTH = 10, 30
# Bounds that are more than so many times wider than what is met say little of where values are.
_NARROW = 4.0

#: The least and the greatest of a variable, None if its values are told apart exactly.
Range = tuple[float, float] | None


class Bins:
    """Bins of the variables of a vector, `precision` of them to a range."""

    def __init__(self, precision: int, ranges: str) -> None:
        parsed = parse_ranges(ranges)
        self.variables = len(parsed)
        self._places = [place for place, each in enumerate(parsed) if each is not None]
        binned = np.array([each for each in parsed if each is not None]).reshape(-1, 2)
        self._low = binned[:, 0]
        self._width = (binned[:, 1] - binned[:, 0]) / precision

    def __call__(self, vector: NDArray[Any]) -> NDArray[Any]:
        """The vector with numbers of bins, counted from the low end of the range, instead of continuous values."""
        if vector.size != self.variables:
            raise InputError(f"There are ranges of {self.variables} variables, but a vector has {vector.size}.")
        numbers = vector.astype(np.float64)
        numbers[self._places] = np.floor((numbers[self._places] - self._low) / self._width)
        return numbers


def parse_ranges(text: str) -> tuple[Range, ...]:
    """Ranges from how they are written: `low:high` or `=` for each variable, with commas between them."""
    return tuple(_parse(part.strip()) for part in text.split(","))


def _parse(part: str) -> Range:
    if part == _EXACT:
        return None
    low, _, high = part.partition(":")
    try:
        found = float(low), float(high)
    except ValueError:
        found = math.nan, math.nan
    if not (math.isfinite(found[1] - found[0]) and found[0] < found[1]):
        raise InputError(
            f"A range is written as low:high, or as = for values that are told apart exactly, not as {part!r}."
        )
    return found


def learn_ranges(simulator: Simulator) -> str | None:
    """Ranges of the variables of a simulator; None if none of them is continuous, or if there are too many.

    Ten random walks of at most 30 actions, always the same ones, show which variables are continuous and what
    they span. Declared bounds are taken instead unless they are infinite or more than four times as wide:
    values that take many steps to change would fall into one bin. If steps take so long that there is no time for
    all of these actions, the first of them count: as many as a power of two says. What is learnt is recorded, so
    that nothing that is played depends on the clock.
    """
    start = simulator.start().observation
    if start.dtype.kind != "f" or start.size > MOST_VARIABLES:
        return None
    seen = np.array(_walked(simulator)).reshape(-1, start.size)
    ranges = [_range(values) for values in seen.T]
    if isinstance(simulator, DeclaresBounds):
        ranges = [_narrow(found, *bounds) for found, *bounds in zip(ranges, *simulator.bounds, strict=True)]
    if not any(ranges):
        return None
    return ",".join(map(_written, ranges))


def _written(found: Range) -> str:
    if found is None:
        return _EXACT
    low, high = (float(f"{end:.6g}") for end in found)
    return f"{low!r}:{high!r}" if low < high else f"{found[0]!r}:{found[1]!r}"


def _walked(simulator: Simulator) -> list[NDArray[Any]]:
    rng = np.random.default_rng(0)
    patience = Patience(_WALKS * _LENGTH)
    observations = []
    for _ in range(_WALKS):
        state, terminal, left = simulator.start(), False, _LENGTH
        start = state.observation.ravel()
        while not terminal and left and patience.more():
            state, _, terminal = simulator.step(state, int(rng.integers(len(simulator.actions))))
            observations.append(state.observation.ravel())
            left -= 1
    if patience.cut_short:
        warn_of_slowness("the simulator", f"ranges of what is observed were learnt on {patience.count} of them")
    return [start, *observations[: patience.count]]


def _range(values: NDArray[Any]) -> Range:
    values = values[np.isfinite(values)]
    if not values.size or (values == np.rint(values)).all() or values.min() == values.max():
        return None
    return float(values.min()), float(values.max())


def _narrow(found: Range, low: float, high: float) -> Range:
    if found is None or not high - low <= _NARROW * (found[1] - found[0]):
        return found
    return float(low), float(high)
