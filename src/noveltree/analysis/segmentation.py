"""Segments of the games: by branching factor, and by sparse meaningful reward feedback (SMRF)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from noveltree.analysis.taxonomy import Classification, measured_taxonomy, published_taxonomy
from noveltree.simulators.action_counts import ACTION_COUNTS

#: The smallest number of actions that the paper calls a large branching factor.
LARGE_BRANCHING_FACTOR = 10


@dataclass(frozen=True, slots=True)
class Segment:
    """Some of the games, which have something in common."""

    name: str
    title: str
    games: tuple[str, ...]


def segments(games: Sequence[str], measured: Mapping[str, Classification] | None = None) -> list[Segment]:
    """All games, and the paper's segments of them.

    Whether a game is SMRF is the paper's verdict; of games that it does not have, that of `measured`, or else of
    the measurement that comes with noveltree.
    """
    smrf = {
        game: each.smrf
        for taxonomy in (measured_taxonomy() if measured is None else measured, published_taxonomy())
        for game, each in taxonomy.items()
    }
    large = [game for game in games if ACTION_COUNTS.get(game, 0) >= LARGE_BRANCHING_FACTOR]
    small = [game for game in games if 0 < ACTION_COUNTS.get(game, 0) < LARGE_BRANCHING_FACTOR]
    return [
        Segment("all", "all games", tuple(games)),
        Segment("large-branching", f"branching factor of {LARGE_BRANCHING_FACTOR} or more", tuple(large)),
        Segment("small-branching", f"branching factor below {LARGE_BRANCHING_FACTOR}", tuple(small)),
        Segment(
            "smrf", "sparse meaningful rewards (SMRF)", tuple(game for game in games if smrf.get(game) is True)
        ),
        Segment("not-smrf", "no SMRF", tuple(game for game in games if smrf.get(game) is False)),
    ]
