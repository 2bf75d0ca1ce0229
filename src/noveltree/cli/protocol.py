"""`noveltree protocol`: show what a score depends on, and whether two are comparable."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from noveltree.agents import RetiredSettings
from noveltree.cli.common import Import
from noveltree.cli.console import out, print_json, table
from noveltree.cli.options import protocol_options, takes
from noveltree.errors import InputError
from noveltree.protocol import (
    PRESETS,
    Difference,
    Protocol,
    compare_protocols,
    describe_setting,
    flat_settings,
    make_protocol,
)
from noveltree.records import read_episode
from noveltree.simulators import check_import

app = typer.Typer(help="Show what a score depends on, and whether two scores are comparable.", no_args_is_help=True)

_WHAT = "A preset (of --game), PRESET:GAME, or an episode file."


@app.command()
@takes(protocol_options(("options", "game_levels", "evaluation_levels")))
def show(
    what: Annotated[str | None, typer.Argument(help=_WHAT + " Without it: the presets.")] = None,
    game: Annotated[str, typer.Option(help="The game to fill in for a preset.")] = "breakout",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    **choices: Any,
) -> None:
    """List the presets, or show all settings of one, or those of a recorded episode.

    [bold]Example[/]: noveltree protocol show bandres-2018 --game pong
    """
    if what is None:
        if json:
            print_json({"presets": {name: preset.summary for name, preset in PRESETS.items()}})
            return
        listing = table("preset", "what it is")
        for name, preset in PRESETS.items():
            listing.add_row(name, preset.summary)
        out.print(listing)
        return
    protocol = _find(what, game, **choices)
    if json:
        print_json({"protocol_hash": protocol.hash, "protocol": protocol.model_dump(mode="json")})
        return
    listing = table("setting", "value", "meaning")
    for name, value in flat_settings(protocol).items():
        if name in RetiredSettings.model_fields and value is None:
            continue
        listing.add_row(name, _text(value), describe_setting(protocol, name))
    out.print(listing)
    out.print(f"hash {protocol.hash}")


@app.command()
def diff(
    first: Annotated[str, typer.Argument(help=_WHAT)],
    second: Annotated[str, typer.Argument(help=_WHAT)],
    game: Annotated[
        str | None,
        typer.Option(help="The game to fill in for presets.", show_default="that of an episode, or breakout"),
    ] = None,
    imports: Import = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Say whether scores under two protocols are comparable, and why.

    Exits with 1 if they are not.

    [bold]Example[/]: noveltree protocol diff otoole-2021 bandres-2018
    """
    if game is None:
        recorded = [protocol.game for what in (first, second) if (protocol := _recorded(what)) is not None]
        game = recorded[0] if recorded else "breakout"
        if any(what.partition(":")[0] in PRESETS for what in (first, second)):
            check_import(game)
    a, b = _find(first, game), _find(second, game)
    differences = compare_protocols(a, b)
    comparable = all(difference.comparable for difference in differences)
    if json:
        rows = [asdict(difference) for difference in differences]
        print_json({"comparable": comparable, "differences": rows, "hashes": [a.hash, b.hash]})
    else:
        _report(first, second, differences)
    if not comparable:
        raise typer.Exit(1)


def _report(first: str, second: str, differences: list[Difference]) -> None:
    if not differences:
        out.print("The same protocol: scores are comparable.")
        return
    listing = table("setting", first, second, "comparable", "why")
    for d in differences:
        mark = Text("yes") if d.comparable else Text("no", "bold red")
        listing.add_row(d.setting, _text(d.first), _text(d.second), mark, d.reason)
    out.print(listing)
    reasons = ", ".join(d.setting for d in differences if not d.comparable)
    verdict = f"not comparable, because of: {reasons}" if reasons else "comparable"
    out.print(f"Scores are {verdict}.", style="bold", soft_wrap=True)


def _find(what: str, game: str, **choices: Any) -> Protocol:
    preset, colon, its_game = what.partition(":")
    if preset in PRESETS:
        return make_protocol(its_game if colon else game, preset=preset, **choices)
    if (protocol := _recorded(what)) is not None:
        if chosen := [name for name, value in choices.items() if value is not None]:
            raise InputError(f"{what} has its {chosen[0].replace('_', ' ')} already.")
        return protocol
    if what.endswith(".json") or "/" in what:
        raise InputError(f"There is no file {what}.")
    return make_protocol(game, preset=what)  # complains that there is no such preset


def _recorded(what: str) -> Protocol | None:
    """The protocol of an episode file, if `what` is one and no preset."""
    if what.partition(":")[0] in PRESETS or not Path(what).exists():
        return None
    return read_episode(Path(what)).protocol


def _text(value: object) -> str:
    return "-" if value is None else f"{value:.10g}" if isinstance(value, float) else str(value)
