"""The scores themselves: with the best marked, beside humans, what they cost, and the episodes behind them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from noveltree.analysis.pairwise import share_above, times_best
from noveltree.analysis.statistics import best, significantly_best
from noveltree.report.document import Cell, Column, EpisodeLink, EpisodeList, Paragraph, Section, Table
from noveltree.report.panel import PUBLISHED, Panel, marked
from noveltree.report.wording import MISSING, counted, decimal, listed, number_cell, percent, score_cell, title_of
from noveltree.results.sample import Sample
from noveltree.results.scores import AgentScores, means_of


@dataclass(frozen=True, slots=True)
class Marking:
    """Which scores of a game are marked."""

    explanation: str
    marks: Callable[[Sequence[Sample]], list[bool]]


def _highest(samples: Sequence[Sample]) -> list[bool]:
    highest = max((sample.mean for sample in samples), default=math.nan)
    return [sample.mean == highest for sample in samples]


HIGHEST = Marking("the highest mean is marked", _highest)
NOT_LOWER = Marking(
    "the highest of those that are ranked is marked, and all that Welch's test (p < 0.1) does not find lower; it "
    "cannot be asked about means without an interval. Episodes count as independent, as in the paper, also those "
    "of one trial",
    best,
)
#: As in the paper's table of intervals.
HIGHER_THAN_ALL = Marking(
    "the one that Welch's test (p < 0.1) finds higher than all others is marked", significantly_best
)


def scores_table(panel: Panel, marking: Marking, *, name: str) -> Table:
    """Mean scores with 90% intervals, some of each game marked."""
    rows, counts = [], [0] * len(panel.agents)
    for game in panel.games:
        there = [n for n, agent in enumerate(panel.agents) if game in agent.games and panel.takes_part(agent)]
        marks = marking.marks([panel.agents[number].games[game].sample for number in there])
        is_marked = dict(zip(there, marks, strict=True))
        cells = [Cell(title_of(game))]
        for number, agent in enumerate(panel.agents):
            counts[number] += is_marked.get(number, False)
            cells.append(score_of(panel, agent, game, best=is_marked.get(number, False)))
        rows.append(tuple(cells))

    def times(agent: AgentScores, count: int) -> Cell:
        return Cell(f"{count}", (count,), strong=True) if panel.takes_part(agent) else Cell(MISSING)

    return Table(
        name,
        f"Mean scores over {counted(len(panel.games), 'game')}, with 90% intervals where they are known; "
        f"{marking.explanation}.",
        (Column("game", words=True), *panel.columns),
        tuple(rows),
        ((Cell("times marked"), *map(times, panel.agents, counts)),),
    )


def unranked_table(panel: Panel, *, name: str, caption: str) -> Table:
    """Mean scores with 90% intervals of agents that did not play under the same conditions: none is marked."""
    rows = [
        (Cell(title_of(game)), *(score_of(panel, agent, game) for agent in panel.agents)) for game in panel.games
    ]
    return Table(name, caption, (Column("game", words=True), *panel.columns), tuple(rows))


def score_of(panel: Panel, agent: AgentScores, game: str, *, best: bool = False) -> Cell:
    """An agent's mean score in a game, with a link to its episodes where the panel's are listed."""
    missing = agent.missing.get(game, 0)
    if game not in agent.games:
        return Cell(MISSING, note=f"{counted(missing, 'trial')} not finished" if missing else "not played")
    scores = agent.games[game]
    trials = counted(len(scores.trials), "trial")
    if missing:
        trials = f"{len(scores.trials)} of {counted(len(scores.trials) + missing, 'trial')}"
    note = "" if agent.published else f"{counted(scores.sample.count, 'episode')} of {trials}"
    link = f"#{_episodes_name(panel, agent, game)}" if any(each.file for each in scores.episodes) else ""
    return score_cell(scores.sample, best=best, note=note, link=link)


def _episodes_name(panel: Panel, agent: AgentScores, game: str) -> str:
    number = panel.agents.index(agent)
    return f"{panel.name}-episodes-{number}-{panel.games.index(game)}"


def human_table(panel: Panel, human: AgentScores, *, name: str, caption: str) -> Table:
    """Agents beside a human player, with counts above human and above 75% of human."""
    agents = (human, *panel.agents)
    games = [game for game in panel.games if game in human.games]
    if left_out := [title_of(game) for game in panel.games if game not in human.games]:
        caption += f" Without a human score, and not in the table: {listed(left_out)}."
    means = means_of(agents, games)
    part = np.array([[panel.takes_part(agent)] for agent in agents])
    compared = np.where(part, means, np.nan)
    highest = np.nanmax(compared, axis=0)
    rows = tuple(
        (
            Cell(title_of(game)),
            *(
                number_cell(float(value), best=bool(own == highest[column]))
                for value, own in zip(means[:, column], compared[:, column], strict=True)
            ),
        )
        for column, game in enumerate(games)
    )
    foot = []
    for what, factor in (("games above human", 1.0), ("games above 75% of human", 0.75)):
        counts = [share_above(row, means[0], factor=factor) for row in means[1:]]
        foot.append((Cell(what), Cell(""), *(_share_cell(*count) for count in counts)))
    times = times_best(compared)
    foot.append((Cell("games best"), *(_share_cell(int(count), len(games)) for count in times)))
    agents_columns = (replace(column, second="games") for column in panel.columns)
    first = Column(marked(human), PUBLISHED if panel.mixed else "", second="games")
    columns = (Column("game", words=True), first, *agents_columns)
    return Table(name, caption, columns, rows, tuple(foot))


def _share_cell(count: int, games: int) -> Cell:
    if not games:
        return Cell(MISSING)
    return Cell(f"{count} of {games} ({percent(count / games, 0)})", (count, games), strong=True)


#: Columns of the table of costs after the agent, and how many digits they have after the point.
_COSTS = {
    **dict.fromkeys(("episodes", "decisions", "interactions"), 0),
    **{"interactions per decision": 1, "interactions per second": 0},
    **{"seconds per decision": 3, "hours in all": 1},
}


def cost_section(panel: Panel) -> Section | None:
    """What playing took: interactions per second, seconds per decision."""
    rows = []
    for agent in panel.agents:
        costs = [
            (each.steps, each.interactions, each.seconds)
            for scores in agent.games.values()
            for each in scores.episodes
            if each.steps and each.interactions is not None and each.seconds
        ]
        if costs:
            steps, interactions, seconds = map(sum, zip(*costs, strict=True))
            ratios = (interactions / steps, interactions / seconds, seconds / steps, seconds / 3600)
            numbers = zip((len(costs), steps, interactions, *ratios), _COSTS.values(), strict=True)
            cells = (Cell(decimal(number, digits), (number,)) for number, digits in numbers)
            rows.append((Cell(marked(agent)), *cells))
    if not rows:
        return None
    caption = "What the recorded evaluation episodes took, by the clocks of the machines that played them."
    table = Table(f"{panel.name}-cost", caption, (Column("agent", words=True), *map(Column, _COSTS)), tuple(rows))
    return Section(f"{panel.name}-cost", "Cost", (table,))


def episodes_section(panel: Panel, base: Path) -> Section | None:
    """The records behind the scores, as links from a file in `base`."""
    lists = []
    for game in panel.games:
        for agent in panel.agents:
            if game not in agent.games:
                continue
            links = [
                EpisodeLink(
                    f"{each.score:,.10g}",
                    _relative(each.file, base),
                    each.manifest,
                    _relative(video, base) if (video := _video(each.file)) else "",
                )
                for each in agent.games[game].episodes
                if each.file is not None
            ]
            if links:
                name = _episodes_name(panel, agent, game)
                lists.append(EpisodeList(name, f"{title_of(game)}, {agent.title}", tuple(links)))
    if not lists:
        return None
    text = (
        "Every score is that of an episode that anyone can replay: noveltree verify FILE. Behind it is the "
        "manifest that has the record as it is, by the beginning of its digest."
    )
    return Section(f"{panel.name}-episodes", "Episodes", (Paragraph(text), *lists))


def _video(file: Path) -> Path | None:
    """Where `noveltree render` puts the video of an episode, if it is there."""
    return next((path for end in (".mp4", ".gif") if (path := file.with_suffix(end)).exists()), None)


def _relative(path: Path, base: Path) -> str:
    return Path(os.path.relpath(path, base)).as_posix()
