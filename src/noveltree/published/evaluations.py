"""The evaluation episodes of the authors' released trials: what their published means and intervals are made of.

A trial is evaluated by the first ten episodes that begin when it has spent its training budget of 20,000,000
simulator interactions; the authors' agents went on learning meanwhile. Trial 4 of N-CPL_D in Name This Game stopped
at 11 million: its episodes are the last ten it played, as in the paper.
"""

from __future__ import annotations

import csv
import functools
import importlib.resources
import itertools
import lzma
from dataclasses import dataclass


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
    packed = importlib.resources.files(__package__).joinpath("authors_evaluations.csv.xz").read_bytes()
    rows = csv.reader(lzma.decompress(packed).decode().splitlines()[1:])
    evaluations: dict[str, dict[str, tuple[TrialScores, ...]]] = {}
    for (agent, game, trial), group in itertools.groupby(rows, key=lambda row: row[:3]):
        episodes = [(float(score), int(steps)) for *_, score, steps in group]
        scores, steps = zip(*episodes, strict=True)
        games = evaluations.setdefault(agent, {})
        games[game] = (*games.get(game, ()), TrialScores(int(trial), scores, steps))
    return evaluations
