"""Named algorithms, each a short assembly of parts."""

from __future__ import annotations

from noveltree.agents.agent import PAPER_BUDGET as PAPER_BUDGET
from noveltree.agents.agent import Agent as Agent
from noveltree.agents.bfs import BFS as BFS
from noveltree.agents.cpl import CPL as CPL
from noveltree.agents.iw1 import IW1 as IW1
from noveltree.agents.n_cpl import N_CPL as N_CPL
from noveltree.agents.n_cpl_d import N_CPL_D as N_CPL_D
from noveltree.agents.random_agent import RANDOM as RANDOM
from noveltree.agents.riw_c import RIW_C as RIW_C
from noveltree.agents.riw_d import RIW_D as RIW_D
from noveltree.agents.rtdp import RTDP as RTDP
from noveltree.agents.settings import Settings as Settings
from noveltree.agents.uct import UCT as UCT
from noveltree.agents.unpruned import UNPRUNED as UNPRUNED
from noveltree.errors import UnknownNameError

AGENTS: dict[str, Agent] = {
    agent.name: agent for agent in (RIW_C, RIW_D, IW1, BFS, UCT, RTDP, UNPRUNED, RANDOM, N_CPL, N_CPL_D, CPL)
}


def get_agent(name: str) -> Agent:
    """The agent called `name`; `RIW_C` and `riw-c` are the same."""
    try:
        return AGENTS[name.strip().lower().replace("_", "-").replace("(", "").replace(")", "")]
    except KeyError:
        raise UnknownNameError("agent", name, AGENTS) from None
