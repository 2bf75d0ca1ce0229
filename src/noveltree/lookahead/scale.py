"""Scales: what values are divided by before a bound that knows no scores is added to them."""

from __future__ import annotations

import math
from typing import Protocol


class Scale(Protocol):
    """A width that the values of a time step have."""

    def include(self, value: float) -> None:
        """A value was seen."""
        ...

    def width(self) -> float:
        """What values are divided by."""
        ...


class Spread:
    """The range of the values seen so far, 1 while they are all alike: scores of games have any scale."""

    __slots__ = ("_highest", "_lowest")

    def __init__(self) -> None:
        self._lowest = math.inf
        self._highest = -math.inf

    def include(self, value: float) -> None:
        self._lowest = min(self._lowest, value)
        self._highest = max(self._highest, value)

    def width(self) -> float:
        width = self._highest - self._lowest
        return width if width > 0.0 else 1.0


class Raw:
    """Values as they are."""

    def include(self, value: float) -> None:
        pass

    def width(self) -> float:
        return 1.0


SCALES: dict[str, type[Scale]] = {"spread": Spread, "raw": Raw}
