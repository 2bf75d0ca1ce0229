"""Which agents there are to test."""

from __future__ import annotations

from noveltree.agents import AGENTS

#: Those that can play before there are networks.
PLAYABLE_AT_ONCE = [name for name, agent in AGENTS.items() if not agent.needs_networks]
