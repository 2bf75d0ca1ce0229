"""Which agents there are to test."""

from __future__ import annotations

from noveltree.agents import AGENTS

#: Those that play in every simulator; the others need the screens of Atari games.
EVERYWHERE = [name for name in AGENTS if name != "vae-iw"]
#: Those of them that can play before there are networks.
PLAYABLE_AT_ONCE = [name for name in EVERYWHERE if not AGENTS[name].needs_networks]
