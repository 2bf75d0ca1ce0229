"""Two agents game by game: who is better where, by Welch's test, and all in all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from noveltree.analysis.statistics import welch_p_value
from noveltree.results.sample import Sample

Verdict = Literal["first", "second", "even"]


@dataclass(frozen=True, slots=True)
class GameComparison:
    """Two agents in one game."""

    game: str
    first: Sample
    second: Sample
    p_value: float | None
    """Of Welch's test that both means are equal; None if it cannot be said."""
    verdict: Verdict
    """Whose mean is higher, if the test says so."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two agents in the games that both have played."""

    games: tuple[GameComparison, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    significance: float

    def better(self, verdict: Verdict) -> int:
        """Games with this verdict."""
        return sum(game.verdict == verdict for game in self.games)

    @property
    def higher(self) -> tuple[int, int]:
        """Games in which the first, and in which the second, has the higher mean, significantly or not."""
        return (
            sum(game.first.mean > game.second.mean for game in self.games),
            sum(game.first.mean < game.second.mean for game in self.games),
        )

    @property
    def p_value(self) -> float:
        """Of the sign test over games: that either has the higher mean as often as the other."""
        from scipy import special

        return min(1.0, 2.0 * float(special.bdtr(min(self.higher), sum(self.higher), 0.5)))


def compare(first: Mapping[str, Sample], second: Mapping[str, Sample], *, p_value: float = 0.1) -> Comparison:
    """Compare the samples of two agents in every game of which both have one."""
    games = tuple(
        _compare(game, first[game], second[game], p_value) for game in sorted(first.keys() & second.keys())
    )
    return Comparison(
        games,
        tuple(sorted(first.keys() - second.keys())),
        tuple(sorted(second.keys() - first.keys())),
        p_value,
    )


def _compare(game: str, first: Sample, second: Sample, significance: float) -> GameComparison:
    p = welch_p_value(first, second)
    verdict: Verdict = "even"
    if p is not None and p < significance:
        verdict = "first" if first.mean > second.mean else "second"
    return GameComparison(game, first, second, p, verdict)
