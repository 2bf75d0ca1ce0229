"""The learning curves of the authors' released trials.

An episode is counted in the million of simulator interactions in which it ends. The authors trained between two
episodes, about a million interactions after they had last trained, so the first episodes of a million were played
with the networks of the one before: a curve by millions lags behind one by intervals a little.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

from noveltree.published.files import rows_of


@dataclass(frozen=True, slots=True)
class Million:
    """The episodes of a trial that ended in one million of its simulator interactions."""

    number: int
    """From 1: the first million."""
    episodes: int
    mean_return: float


@dataclass(frozen=True, slots=True)
class TrialCurve:
    """One trial of the authors, for as many millions as it finished."""

    trial: int
    millions: tuple[Million, ...]


def authors_curve(game: str, agent: str) -> tuple[TrialCurve, ...]:
    """The authors' trials of an agent in a game, both by their canonical names; empty if they did not play it."""
    return _all_curves().get((agent, game), ())


def nearest_agent(agent: str) -> str:
    """Whose curve stands behind that of an agent: its own, or N-CPL's if the authors do not have it."""
    return agent if any(agent == theirs for theirs, _ in _all_curves()) else "n-cpl"


@functools.cache
def _all_curves() -> dict[tuple[str, str], tuple[TrialCurve, ...]]:
    curves: dict[tuple[str, str], tuple[TrialCurve, ...]] = {}
    for (agent, game, trial), group in itertools.groupby(
        rows_of("authors_curves.csv.xz"), key=lambda row: (row["agent"], row["game"], int(row["trial"]))
    ):
        millions = tuple(
            Million(int(row["million"]), int(row["episodes"]), float(row["mean_return"])) for row in group
        )
        curves[agent, game] = (*curves.get((agent, game), ()), TrialCurve(trial, millions))
    return curves
