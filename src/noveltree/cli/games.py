"""`noveltree games`: list the games."""

from __future__ import annotations

from typing import Annotated

import typer

from noveltree.cli.console import out, print_json, table
from noveltree.errors import UnknownNameError
from noveltree.simulators.action_counts import ACTION_COUNTS
from noveltree.simulators.entry_points import entry_points, package_of
from noveltree.simulators.games import SUITES, all_games, game_title


def games(
    suite: Annotated[str | None, typer.Option(help=f"Only the games of a suite: {', '.join(SUITES)}.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """List the Atari games, the size of their minimal action sets, and the suites they belong to.

    What installed packages ship besides stands below.

    [bold]Example[/]: noveltree games --suite paper
    """
    if suite is not None and suite not in SUITES:
        raise UnknownNameError("suite", suite, SUITES)
    names = all_games() if suite is None else SUITES[suite]
    shipped = entry_points() if suite is None else {}
    suites_of = {name: [suite for suite, members in SUITES.items() if name in members] for name in names}
    if json:
        rows = [
            {
                "game": name,
                "title": game_title(name),
                "actions": ACTION_COUNTS[name],
                "suites": suites_of[name],
            }
            for name in names
        ]
        others = [{"game": name, "package": package_of(point)} for name, point in shipped.items()]
        print_json({"games": rows, **({"shipped": others} if others else {})})
        return
    listing = table("game", "title", "actions", "suites", right=("actions",))
    for name in names:
        listing.add_row(name, game_title(name), str(ACTION_COUNTS[name]), ", ".join(suites_of[name]))
    out.print(listing)
    out.print(f"{len(names)} games")
    for name, point in shipped.items():
        out.print(f"{name}: a simulator that {package_of(point)} ships", soft_wrap=True)
