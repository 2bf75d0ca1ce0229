"""Agents, by what they need to play."""

from __future__ import annotations

from noveltree.agents import AGENTS
from noveltree.lookahead import UNITS

#: Those that play without networks, even if they are made to learn.
ALONE = [name for name, agent in AGENTS.items() if UNITS not in agent.heads]
