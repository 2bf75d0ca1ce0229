"""`noveltree compare`: two agents, game by game."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from noveltree.analysis.comparison import Comparison
from noveltree.analysis.comparison import compare as compare_samples
from noveltree.benchmark.conditions import differences, in_words
from noveltree.cli.console import completion, counted, err, out, print_json, table
from noveltree.errors import InputError, UnknownNameError
from noveltree.protocol import Protocol
from noveltree.results import PUBLISHED, read_results
from noveltree.results.sample import Sample
from noveltree.results.scores import AgentScores

#: What the tests count.
_UNITS = ("episodes", "trials")
#: In fewer games the sign test finds no difference, however large.
_FEWEST_GAMES = 5


def compare(
    first: Annotated[str, typer.Argument(help="A table, benchmark or run, or 'published', followed by :AGENT.")],
    second: Annotated[str, typer.Argument(help="What to compare it with.")],
    p_value: Annotated[float, typer.Option(help="Significance level of Welch's test.", min=0.0, max=1.0)] = 0.1,
    by: Annotated[
        str,
        typer.Option(
            help="What the tests count: episodes, as in the paper, or trials, as suits agents that learn.",
            autocompletion=completion(_UNITS),
        ),
    ] = "episodes",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Compare two agents game by game with Welch's test, and say in a sentence which is better.

    [bold]Examples[/]

      noveltree compare results/paper-planners:riw-c results/paper-planners:riw-d

      noveltree compare results/paper-planners:riw-c published:riw-c

      noveltree compare published:n-cpl published:cpl --by trials
    """
    if by not in _UNITS:
        raise UnknownNameError("unit", by, _UNITS)
    with_published = any(_split(name)[0] == PUBLISHED for name in (first, second))
    one, other = (_find(name, beside_published=with_published) for name in (first, second))
    samples = [agent.trial_samples if by == "trials" else agent.samples for agent in (one, other)]
    made = compare_samples(*samples, p_value=p_value)
    if not made.games:
        raise InputError(f"{first} and {second} have no game in common.")
    conditions = _conditions(one, other)
    if json:
        print_json(
            {
                "first": first,
                "second": second,
                "conditions": {"first": one.settings, "second": other.settings, "differ": conditions},
                "by": by,
                "games": [asdict(game) for game in made.games],
                "not_finished": {"first": dict(one.missing), "second": dict(other.missing)},
                "only_first": made.only_first,
                "only_second": made.only_second,
                "first_better": made.better("first"),
                "second_better": made.better("second"),
                "sign_test_p_value": made.p_value,
                "verdict": _sentence(first, second, made, by),
            }
        )
        return
    for letter, name, agent in (("A", first, one), ("B", second, other)):
        out.print(f"{letter}: {name} ({agent.settings or 'conditions not known'})", soft_wrap=True)
    for letter, agent in (("A", one), ("B", other)):
        if agent.missing:
            games = ", ".join(f"{game} ({count})" for game, count in sorted(agent.missing.items()))
            err.print(f"Warning: trials of {letter} that are missing, by game: {games}.", soft_wrap=True)
    if conditions:
        err.print(f"Warning: their conditions differ: {conditions}. Compare with care.", soft_wrap=True)
    listing = table("game", "A", "+- A", "B", "+- B", "p", "better", right=("A", "+- A", "B", "+- B", "p"))
    for game in made.games:
        sides = [number for each in (game.first, game.second) for number in (each.mean, _interval(each, by))]
        p = "" if game.p_value is None else f"{game.p_value:.3f}"
        listing.add_row(game.game, *map(_number, sides), p, {"first": "A", "second": "B", "even": ""}[game.verdict])
    out.print(listing)
    for name, missing in (("A", made.only_second), ("B", made.only_first)):
        if missing:
            out.print(
                f"{name} has no scores in {counted(len(missing), 'game')}: {', '.join(missing)}", soft_wrap=True
            )
    out.print(_sentence("A", "B", made, by), soft_wrap=True)


def _split(name: str) -> tuple[str, str | None]:
    """The source in a name, and the agent."""
    source, colon, agent = name.rpartition(":")
    if Path(name).exists():
        return name, None
    return (source or PUBLISHED, agent) if colon else (name, None)


def _find(name: str, *, beside_published: bool) -> AgentScores:
    source, agent = _split(name)
    return read_results(source, beside_published=beside_published).agent(agent)


def _conditions(one: AgentScores, other: AgentScores) -> str:
    """How the conditions differ under which they played; empty if that does not matter or is not known."""
    if one.protocol is None or other.protocol is None:
        return ", ".join(dict.fromkeys(each.differs for each in (one, other) if each.differs))
    common = [game for game in one.protocols if game in other.protocols]
    if not common:  # of published agents one protocol stands for all games
        return _differ(one.protocol, other.protocol, other.name)
    found: dict[str, list[str]] = {}
    for game in common:
        if words := _differ(one.protocols[game], other.protocols[game], other.name):
            found.setdefault(words, []).append(game)
    return ", ".join(
        words if len(where) == len(common) else f"{words} in {' and '.join(where)}"
        for words, where in found.items()
    )


def _differ(ours: Protocol, theirs: Protocol, agent: str) -> str:
    found = differences({(agent, theirs.hash): 1}, {theirs.hash: theirs}, rule=lambda protocol: ours)
    return in_words(theirs, found[agent, theirs.hash])


def _interval(sample: Sample, by: str) -> float:
    return sample.student_interval if by == "trials" else sample.interval


def _number(value: float) -> str:
    """Large numbers without decimals, small ones with some; empty for NaN."""
    if math.isnan(value):
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,.4g}"


def _sentence(first: str, second: str, made: Comparison, by: str) -> str:
    ours, theirs = made.higher
    games = counted(len(made.games), "game")
    counts = (
        f"{first} has the higher mean in {ours} of {games}, {second} in {theirs} "
        f"(sign test p = {made.p_value:.2g}); "
        f"significantly (p < {made.significance:g}, by {by}) in {made.better('first')} and {made.better('second')}"
    )
    if untested := sum(game.p_value is None for game in made.games):
        counts += f", but {untested} cannot be tested because one of them has a single score"
    if made.p_value < made.significance:
        return f"{counts}: overall {first if ours > theirs else second} is better."
    if len(made.games) < _FEWEST_GAMES and (made.better("first") > 0) != (made.better("second") > 0):
        winner = first if made.better("first") else second
        where = ", ".join(game.game for game in made.games if game.verdict != "even")
        return f"{counts}: {winner} is better in {where}; the games are too few to say more."
    return f"{counts}: no overall difference is shown."
