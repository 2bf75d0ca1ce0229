"""Named algorithms, each a short assembly of parts."""

from __future__ import annotations

import re

from noveltree.agents.agent import PAPER_BUDGET as PAPER_BUDGET
from noveltree.agents.agent import Agent as Agent
from noveltree.agents.learners import ALPHAZERO, CPL, N_CPL, N_CPL_D, N_CPL_PLUS, PI_HIW, PI_IW, PI_IW_PLUS, VAE_IW
from noveltree.agents.models import GRAPH, R_MAX
from noveltree.agents.planners import BFS, IW1, P_IW, RANDOM, RIW_C, RIW_D, RIW_PLUS, RTDP, TWO_BFS, UCT, UNPRUNED
from noveltree.agents.retired import RetiredSettings as RetiredSettings
from noveltree.agents.retired import call_retired as call_retired
from noveltree.agents.retired import retired_among as retired_among
from noveltree.agents.settings import Settings as Settings
from noveltree.errors import UnknownNameError

AGENTS: dict[str, Agent] = {
    agent.name: agent
    for agent in (
        *(RIW_C, RIW_D, RIW_PLUS, IW1, P_IW, TWO_BFS, BFS, UCT, RTDP, UNPRUNED, RANDOM),
        *(GRAPH, R_MAX),
        *(N_CPL, N_CPL_D, CPL, N_CPL_PLUS),
        *(PI_IW, PI_IW_PLUS, PI_HIW, ALPHAZERO, VAE_IW),
    )
}


def get_agent(name: str) -> Agent:
    """The agent called `name`, in the papers' spelling, too: `RIW_C`, `IW(1)` and `pi-IW(1)+` are known."""
    spelt = name.strip().lower().replace("_", "-").replace("+", "-plus")
    for known in (re.sub(r"[()]", "", spelt), re.sub(r"\((n, ?)?1\)", "", spelt)):
        if known in AGENTS:
            return AGENTS[known]
    raise UnknownNameError("agent", name, AGENTS)
