"""Agents that are compared with each other, and the games over which they are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from noveltree.report.document import Cell, Column
from noveltree.report.wording import counted, listed, title_of, with_mark
from noveltree.results.scores import AgentScores

#: Where scores come from.
PUBLISHED, RECORDED = "published", "recorded"


@dataclass(frozen=True, slots=True)
class Panel:
    """Agents that are compared with each other, and the games over which they are."""

    name: str
    """With which the names of its sections begin."""
    agents: tuple[AgentScores, ...]
    games: tuple[str, ...]
    rank_all: bool = False
    """Whether agents are ranked, too, that played under other conditions than the rest."""
    apart: bool = False
    """Whether the recorded agents all played alike but not as the published: they are ranked among themselves."""

    def takes_part(self, agent: AgentScores) -> bool:
        """Whether an agent takes part in ranks, wins and totals."""
        if self.rank_all:
            return True
        return not agent.published if self.apart else agent.published or not agent.differs

    def ranked(self) -> Panel:
        """The agents that are ranked, in the games of those of them that were recorded."""
        agents = tuple(filter(self.takes_part, self.agents))
        played = {game for agent in agents if not agent.published for game in (*agent.games, *agent.missing)}
        return replace(self, agents=agents, games=tuple(game for game in self.games if game in played))

    @property
    def columns(self) -> tuple[Column, ...]:
        """One per agent."""
        return tuple(
            Column(marked(agent), (PUBLISHED if agent.published else RECORDED) if self.mixed else "")
            for agent in self.agents
        )

    @property
    def mixed(self) -> bool:
        """Whether there are published and recorded agents."""
        return len({agent.published for agent in self.agents}) > 1

    def name_cell(self, agent: AgentScores) -> Cell:
        """The cell that begins an agent's row."""
        return agent_cell(agent, badge=self.mixed)

    def gaps(self) -> list[str]:
        """Sentences that say which agents have no scores in which games."""
        return [
            f"{agent.title}{' (published)' if agent.published else ''} has no scores in "
            f"{counted(len(missing), 'game')}: {listed(missing)}."
            for agent in self.agents
            if (missing := [title_of(game) for game in self.games if game not in agent.games])
        ]


def marked(agent: AgentScores) -> str:
    """An agent's title, with a mark if it played under other conditions."""
    return with_mark(agent.title, agent.differs)


def agent_cell(agent: AgentScores, *, badge: bool) -> Cell:
    """The name of an agent, and where its scores come from."""
    source = PUBLISHED if agent.published else RECORDED
    return Cell(marked(agent), badge=source if badge else "")
