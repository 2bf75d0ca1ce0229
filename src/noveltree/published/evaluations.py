"""The evaluation episodes of the authors' released trials: what their published means and intervals are made of.

A trial is evaluated by the first ten episodes that begin when it has spent its training budget of 20,000,000
simulator interactions; the authors' agents went on learning meanwhile. Trial 4 of N-CPL_D in Name This Game stopped
at 11 million: its episodes are the last ten it played, as in the paper.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

from noveltree.published.files import rows_of


@dataclass(frozen=True, slots=True)
class TrialScores:
    """The evaluation of one trial of the authors, episode by episode."""

    trial: int
    scores: tuple[float, ...]
    steps: tuple[int, ...]
    """Time steps of the episodes."""


@functools.cache
def authors_evaluations() -> dict[str, dict[str, tuple[TrialScores, ...]]]:
    """The authors' evaluations of their learning agents in 55 games, by agent and game, both by canonical names."""
    evaluations: dict[str, dict[str, tuple[TrialScores, ...]]] = {}
    for (agent, game, trial), group in itertools.groupby(
        rows_of("authors_evaluations.csv.xz"), key=lambda row: (row["agent"], row["game"], int(row["trial"]))
    ):
        scores, steps = zip(*((float(row["score"]), int(row["steps"])) for row in group), strict=True)
        games = evaluations.setdefault(agent, {})
        games[game] = (*games.get(game, ()), TrialScores(trial, scores, steps))
    return evaluations
