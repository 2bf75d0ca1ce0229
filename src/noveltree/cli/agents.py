"""`noveltree agents`: list the agents."""

from __future__ import annotations

from typing import Annotated

import typer

from noveltree.agents import AGENTS
from noveltree.cli.console import out, print_json, table


def agents(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """List the agents and the settings that make a difference to them.

    [bold]Example[/]: noveltree agents
    """
    if json:
        rows = [
            {"agent": a.name, "summary": a.summary, "novelty": a.novelty, "settings": list(a.uses)}
            for a in AGENTS.values()
        ]
        print_json({"agents": rows})
        return
    listing = table("agent", "novelty", "what it is", "settings")
    for agent in AGENTS.values():
        listing.add_row(agent.name, agent.novelty, agent.summary, ", ".join(agent.uses))
    out.print(listing)
