"""Anytime curves: the score of an agent against its budget per decision."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from noveltree.benchmark.conditions import in_words
from noveltree.results.sample import Sample
from noveltree.results.scores import AgentScores

_BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class AnytimeCurve:
    """An agent in a game under several budgets."""

    agent: str
    game: str
    unit: str
    by_budget: dict[float, AgentScores]
    """The agent as it played with each budget, by budget."""

    @property
    def points(self) -> tuple[tuple[float, Sample], ...]:
        """Budgets and scores, by budget."""
        return tuple((budget, agent.games[self.game].sample) for budget, agent in self.by_budget.items())


def anytime_curves(agents: Iterable[AgentScores]) -> list[AnytimeCurve]:
    """A curve per agent and game that was played with two budgets or more and is otherwise the same."""
    played: dict[tuple[str, str, str], dict[float, AgentScores]] = {}
    for agent in agents:
        if agent.protocol is None:
            continue
        others = [name for name in agent.differs_in if name != _BUDGET]
        name = f"{agent.label} ({in_words(agent.protocol, others)})" if others else agent.label
        for game in agent.games:
            place = (name, game, agent.protocol.budget_unit)
            played.setdefault(place, {})[agent.protocol.budget] = agent
    return [
        AnytimeCurve(name, game, unit, dict(sorted(budgets.items())))
        for (name, game, unit), budgets in sorted(played.items(), key=lambda item: item[0])
        if len(budgets) > 1
    ]


def is_another_budget(agent: AgentScores, agents: Sequence[AgentScores]) -> bool:
    """Whether an agent is one of others with another budget and nothing else, in games that it has played."""
    return agent.differs_in == (_BUDGET,) and any(
        not other.differs and other.label == agent.label and agent.games.keys() <= other.games.keys()
        for other in agents
    )
