"""Agents that are compared with each other, and the games over which they are."""

from __future__ import annotations

from dataclasses import dataclass

from noveltree.analysis.results import AgentScores
from noveltree.report.document import Column
from noveltree.report.wording import listed, several, title_of

#: Where scores come from.
PUBLISHED, RECORDED = "published", "recorded"


@dataclass(frozen=True, slots=True)
class Panel:
    """Agents that are compared with each other, and the games over which they are."""

    name: str
    """With which the names of its sections begin."""
    agents: tuple[AgentScores, ...]
    games: tuple[str, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """One per agent."""
        both = len({agent.published for agent in self.agents}) > 1
        return tuple(
            Column(marked(agent), (PUBLISHED if agent.published else RECORDED) if both else "")
            for agent in self.agents
        )

    def gaps(self) -> list[str]:
        """Sentences that say which agents have no scores in which games."""
        return [
            f"{agent.title}{' (published)' if agent.published else ''} has no scores in "
            f"{several(len(missing), 'game')}: {listed(missing)}."
            for agent in self.agents
            if (missing := [title_of(game) for game in self.games if game not in agent.games])
        ]


def marked(agent: AgentScores) -> str:
    """An agent's title, with a mark if it played under other conditions."""
    return f"{agent.title} †" if agent.differs else agent.title
