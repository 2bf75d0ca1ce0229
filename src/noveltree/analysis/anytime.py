"""Anytime curves: the score of an agent against its budget per decision."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from noveltree.analysis.results import AgentScores
from noveltree.analysis.statistics import Sample


@dataclass(frozen=True, slots=True)
class AnytimeCurve:
    """An agent in a game under several budgets."""

    agent: str
    game: str
    unit: str
    points: tuple[tuple[float, Sample], ...]
    """Budget and scores, by budget."""


def anytime_curves(agents: Iterable[AgentScores]) -> list[AnytimeCurve]:
    """A curve per agent and game that was played with two budgets or more and is otherwise the same."""
    played: dict[tuple[str, str, str], dict[float, Sample]] = {}
    for agent in agents:
        if agent.protocol is None:
            continue
        others = [part for part in agent.differs.split(", ") if part and not part.startswith("budget ")]
        name = f"{agent.label} ({', '.join(others)})" if others else agent.label
        for game, scores in agent.games.items():
            place = (name, game, agent.protocol.budget_unit)
            played.setdefault(place, {})[agent.protocol.budget] = scores.sample
    return [
        AnytimeCurve(name, game, unit, tuple(sorted(budgets.items())))
        for (name, game, unit), budgets in sorted(played.items(), key=lambda item: item[0])
        if len(budgets) > 1
    ]
