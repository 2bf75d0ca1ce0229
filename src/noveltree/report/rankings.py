"""Who is better: the summary, pairwise comparisons by segment, profiles, the probability of improvement."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from noveltree.analysis.aggregate import Estimate, performance_profile, probability_of_improvement
from noveltree.analysis.pairwise import Pairwise, compare_pairwise
from noveltree.analysis.segmentation import Segment, segments
from noveltree.analysis.summary import Summary, human_normalised, summarise
from noveltree.analysis.taxonomy import Classification
from noveltree.report.document import Cell, Chart, Charts, Column, Paragraph, Section, Series, Table
from noveltree.report.panel import Panel, agent_cell
from noveltree.report.wording import MISSING, counted, decimal, number_cell, percent
from noveltree.results.scores import means_of, trials_of

#: Resamples of the bootstrap, and the confidence of its intervals.
_RESAMPLES, _CONFIDENCE = 5_000, 0.95
_THRESHOLDS = np.concatenate([np.linspace(0, 2, 41), np.linspace(2.1, 8, 60)])


def summary_section(panel: Panel, *, rng: np.random.Generator) -> Section:
    """Rank, wins and human-normalised scores, the most wins first."""
    summaries = summarise(panel.agents, panel.games, rng=rng, resamples=_RESAMPLES, confidence=_CONFIDENCE)
    beside_humans = any(each.above_human[1] for each in summaries)
    summaries.sort(key=lambda each: -each.win_share if not math.isnan(each.win_share) else 1.0)
    rows = tuple(
        (
            agent_cell(each.agent, badge=True),
            Cell(f"{place}", (place,)) if each.comparisons else Cell(MISSING),
            Cell(f"{each.games}", (each.games,)),
            Cell(f"{each.wins} of {each.comparisons}", (each.wins, each.comparisons)),
            number_cell(each.win_share, percent(each.win_share), heat=each.win_share),
            number_cell(each.mean_rank),
            Cell(f"{each.times_best}", (each.times_best,)),
            *(_human_cells(each) if beside_humans else ()),
        )
        for each in summaries
        for place in [1 + sum(other.win_share > each.win_share for other in summaries)]
    )
    columns: tuple[Column, ...] = (
        *(Column("agent", words=True), Column("rank"), Column("games")),
        *(Column("wins", second="comparisons"), Column("win %"), Column("mean rank"), Column("times best")),
    )
    normalised = (
        f" IQM and optimality gap are those of human-normalised scores (0 is random, 1 is human), with "
        f"{_CONFIDENCE:.0%} intervals from a bootstrap over trials where there are several. Above human: games in "
        "which the mean is above the human score of the normalisation (Wang et al. 2016)."
    )
    if beside_humans:
        columns += (Column("IQM"), Column("optimality gap"), Column("above human", second="games"))
    table = Table(
        f"{panel.name}-summary",
        f"Agents over {counted(len(panel.games), 'game')}, by their share of wins. A win is a game in which an "
        f"agent has a higher mean score than another.{normalised if beside_humans else ''}",
        columns,
        rows,
    )
    return Section(f"{panel.name}-summary", "Summary", (table, *_gaps(panel)))


def _human_cells(summary: Summary) -> tuple[Cell, ...]:
    """An agent beside humans, in the games that they have played."""
    return (
        _estimate_cell(summary.interquartile_mean),
        _estimate_cell(summary.optimality_gap),
        Cell("{} of {}".format(*summary.above_human), tuple(map(float, summary.above_human))),
    )


def _gaps(panel: Panel) -> list[Paragraph]:
    """What has to be said where agents with different games stand side by side."""
    return [Paragraph(" ".join(gaps))] if (gaps := panel.gaps()) else []


def _estimate_cell(estimate: Estimate | None) -> Cell:
    if estimate is None:
        return Cell(MISSING)
    if math.isnan(estimate.low):
        return Cell(decimal(estimate.value), (estimate.value,), note="no interval: a game has a single trial")
    text = f"{decimal(estimate.value)} [{decimal(estimate.low)}, {decimal(estimate.high)}]"
    return Cell(text, (estimate.value, estimate.low, estimate.high))


def pairwise_section(panel: Panel, measured: Mapping[str, Classification]) -> Section:
    """The paper's Tables 1 to 3: in how many games one agent has a higher mean than another, by segment."""
    there = [segment for segment in segments(panel.games, measured) if segment.games]
    compared = [compare_pairwise(means_of(panel.agents, segment.games)) for segment in there]
    tables = [
        _pairwise_table(panel, segment, wins)
        for number, (segment, wins) in enumerate(zip(there, compared, strict=True))
        if not number or len(segment.games) < len(panel.games)  # not that of all games once more
    ]
    if len(there) == 1:
        return Section(f"{panel.name}-pairwise", "Pairwise comparison", tuple(tables))
    blocks = (_segmentation(panel, there, [wins.win_shares for wins in compared]), *tables)
    return Section(f"{panel.name}-pairwise", "Pairwise comparison and segments", blocks)


def _pairwise_table(panel: Panel, segment: Segment, compared: Pairwise) -> Table:
    uniform = len(set(compared.games[~np.eye(len(panel.agents), dtype=bool)].tolist())) <= 1

    def wins_cell(row: int, column: int) -> Cell:
        pairs = (compared.wins[row, column], compared.wins[column, row], compared.games[row, column])
        wins, losses, games = map(int, pairs)
        if not games:
            return Cell(MISSING, note="no game in common")
        text = f"{wins}" if uniform else f"{wins}/{games}"
        return Cell(text, (wins, games), heat=0.5 + (wins - losses) / (2 * games))

    totals = [
        Cell(f"{total} ({percent(share)})", (total, share), strong=True)
        for total, share in zip(compared.totals.tolist(), compared.win_shares.tolist(), strict=True)
    ]
    return Table(
        f"{panel.name}-pairwise-{segment.name}",
        "Number of games in which the row's agent has a higher mean score than the column's: "
        f"{segment.title} ({counted(len(segment.games), 'game')}).",
        (
            Column("", words=True),
            *(replace(column, second="games") for column in panel.columns),
            Column("total (average win %)", second="share"),
        ),
        tuple((*row, total) for row, total in zip(_matrix(panel, wins_cell), totals, strict=True)),
        matrix=True,
    )


def _matrix(panel: Panel, cell: Callable[[int, int], Cell]) -> tuple[tuple[Cell, ...], ...]:
    """A row per agent, with a cell for each of the others."""
    numbers = range(len(panel.agents))
    return tuple(
        (
            panel.name_cell(panel.agents[row]),
            *(Cell("", blank=True) if row == column else cell(row, column) for column in numbers),
        )
        for row in numbers
    )


def _segmentation(panel: Panel, there: Sequence[Segment], shares: Sequence[NDArray[np.float64]]) -> Table:
    titles = [f"{segment.title} ({counted(len(segment.games), 'game')})" for segment in there]
    return Table(
        f"{panel.name}-segments",
        "Share of wins by segment of the games. The branching factor is the size of the game's minimal action set; "
        "SMRF is the paper's verdict, or else the measured one: see the taxonomy.",
        (Column("agent", words=True), *map(Column, titles)),
        tuple(
            (panel.name_cell(agent), *(number_cell(share, percent(share), heat=share) for share in row))
            for agent, row in zip(panel.agents, np.transpose(shares).tolist(), strict=True)
        ),
    )


def profiles(panel: Panel) -> tuple[Series, ...]:
    """The performance profiles of agents, in games with human scores."""
    return tuple(
        Series(
            f"{agent.title}, published" if panel.mixed and agent.published else agent.title,
            tuple(zip(_THRESHOLDS.tolist(), performance_profile(matrix, _THRESHOLDS).tolist(), strict=True)),
            behind=panel.mixed and agent.published,
        )
        for agent in panel.agents
        if (matrix := human_normalised(agent, panel.games)).size
    )


def aggregate_section(panel: Panel) -> Section | None:
    """Performance profiles, and how probable an improvement is."""
    if not (series := profiles(panel)):
        return None
    profile = Charts(
        f"{panel.name}-profile",
        "Performance profiles: the share of games (each trial counting alike) with a human-normalised score above "
        "a threshold. Human is 1.",
        (Chart("Performance profiles", "human-normalised score", "share above", series, wide=True),),
    )

    def chance_cell(row: int, column: int) -> Cell:
        first, second = panel.agents[row], panel.agents[column]
        games = [game for game in panel.games if game in first.games and game in second.games]
        if not games:
            return Cell(MISSING, note="no game in common")
        chance = probability_of_improvement(trials_of(first, games), trials_of(second, games))
        return Cell(f"{chance:.2f}", (chance,), heat=chance)

    improvement = Table(
        f"{panel.name}-improvement",
        "Probability of improvement: that a trial of the row's agent scores higher than one of the column's, in a "
        "game drawn at random. Where only means were published they count as one trial.",
        (Column("", words=True), *panel.columns),
        _matrix(panel, chance_cell),
        matrix=True,
    )
    return Section(f"{panel.name}-aggregate", "Over all games", (profile, *_gaps(panel), improvement))
