"""Who is better: the summary, pairwise comparisons by segment, profiles, the probability of improvement."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from noveltree.analysis.aggregate import Estimate, performance_profile, probability_of_improvement
from noveltree.analysis.pairwise import compare_pairwise
from noveltree.analysis.segmentation import segments
from noveltree.analysis.summary import human_normalised, summarise
from noveltree.analysis.taxonomy import Classification
from noveltree.report.document import Block, Cell, Chart, Charts, Column, Paragraph, Section, Series, Table
from noveltree.report.panel import Panel, agent_cell
from noveltree.report.wording import MISSING, counted, decimal, number_cell, percent
from noveltree.results.scores import means_of, trials_of

#: The bootstrap draws so often, and its intervals hold so much.
_RESAMPLES, _CONFIDENCE = 5_000, 0.95
_THRESHOLDS = np.concatenate([np.linspace(0, 2, 41), np.linspace(2.1, 8, 60)])


def summary_section(panel: Panel, *, rng: np.random.Generator) -> Section:
    """Rank, wins and human-normalised scores, the most wins first."""
    summaries = summarise(panel.agents, panel.games, rng=rng, resamples=_RESAMPLES, confidence=_CONFIDENCE)
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
            _estimate_cell(each.interquartile_mean),
            _estimate_cell(each.optimality_gap),
            Cell("{} of {}".format(*each.above_human), tuple(map(float, each.above_human))),
        )
        for each in summaries
        for place in [1 + sum(other.win_share > each.win_share for other in summaries)]
    )
    columns = (
        *(Column("agent", words=True), Column("rank"), Column("games")),
        *(Column("wins", second="comparisons"), Column("win %"), Column("mean rank"), Column("times best")),
        *(Column("IQM"), Column("optimality gap"), Column("above human", second="games")),
    )
    table = Table(
        f"{panel.name}-summary",
        f"Agents over {counted(len(panel.games), 'game')}, by their share of wins. A win is a game in which an "
        "agent has a higher mean score than another. IQM and optimality gap are those of human-normalised scores "
        f"(0 is random, 1 is human), with {_CONFIDENCE:.0%} intervals from a bootstrap over trials where "
        "there are several. Above human: games in which the mean is above the human score of the "
        "normalisation (Wang et al. 2016).",
        columns,
        rows,
    )
    return Section(f"{panel.name}-summary", "Summary", (table, *_gaps(panel)))


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
    blocks: list[Block] = []
    shares: list[tuple[str, int, NDArray[np.float64]]] = []
    for segment in segments(panel.games, measured):
        if not segment.games:
            continue
        compared = compare_pairwise(means_of(panel.agents, segment.games))
        shares.append((segment.title, len(segment.games), compared.win_shares))
        if blocks and len(segment.games) == len(panel.games):
            continue  # the matrix of all games, once more
        others = ~np.eye(len(panel.agents), dtype=bool)
        uniform = len(set(compared.games[others].tolist())) <= 1
        rows = []
        for row, agent in enumerate(panel.agents):
            cells = [panel.name_cell(agent)]
            for column in range(len(panel.agents)):
                if row == column:
                    cells.append(Cell("", blank=True))
                    continue
                wins, losses = int(compared.wins[row, column]), int(compared.wins[column, row])
                cells.append(_wins_cell(wins, losses, int(compared.games[row, column]), uniform))
            total, share = int(compared.totals[row]), float(compared.win_shares[row])
            cells.append(Cell(f"{total} ({percent(share)})", (total, share), strong=True))
            rows.append(tuple(cells))
        blocks.append(
            Table(
                f"{panel.name}-pairwise-{segment.name}",
                "Number of games in which the row's agent has a higher mean score than the column's: "
                f"{segment.title} ({counted(len(segment.games), 'game')}).",
                (
                    Column("", words=True),
                    *(replace(column, second="games") for column in panel.columns),
                    Column("total (average win %)", second="share"),
                ),
                tuple(rows),
                matrix=True,
            )
        )
    blocks.insert(0, _segmentation(panel, shares))
    return Section(f"{panel.name}-pairwise", "Pairwise comparison and segments", tuple(blocks))


def _wins_cell(wins: int, losses: int, games: int, uniform: bool) -> Cell:
    if not games:
        return Cell(MISSING, note="no game in common")
    even = 0.5 + (wins - losses) / (2 * games)
    return Cell(f"{wins}" if uniform else f"{wins}/{games}", (wins, games), heat=even)


def _segmentation(panel: Panel, shares: Sequence[tuple[str, int, NDArray[np.float64]]]) -> Table:
    return Table(
        f"{panel.name}-segments",
        "Share of wins by segment of the games. The branching factor is the size of the game's minimal action set; "
        "SMRF is the paper's verdict, or else the measured one: see the taxonomy.",
        (
            Column("agent", words=True),
            *(Column(f"{title} ({counted(count, 'game')})") for title, count, _ in shares),
        ),
        tuple(
            (
                panel.name_cell(agent),
                *(
                    number_cell(float(row[number]), percent(row[number]), heat=float(row[number]))
                    for *_, row in shares
                ),
            )
            for number, agent in enumerate(panel.agents)
        ),
    )


def aggregate_section(panel: Panel) -> Section | None:
    """Performance profiles, and how probable an improvement is."""
    series = tuple(
        Series(
            f"{agent.title}, published" if panel.mixed and agent.published else agent.title,
            tuple(zip(_THRESHOLDS.tolist(), performance_profile(matrix, _THRESHOLDS).tolist(), strict=True)),
            behind=panel.mixed and agent.published,
        )
        for agent in panel.agents
        if (matrix := human_normalised(agent, panel.games)).size
    )
    if not series:
        return None
    profile = Charts(
        f"{panel.name}-profile",
        "Performance profiles: the share of games (each trial counting alike) with a human-normalised score above "
        "a threshold. Human is 1.",
        (Chart("Performance profiles", "human-normalised score", "share above", series, wide=True),),
    )
    rows = []
    for first in panel.agents:
        cells = [panel.name_cell(first)]
        for second in panel.agents:
            if first is second:
                cells.append(Cell("", blank=True))
                continue
            games = [game for game in panel.games if game in first.games and game in second.games]
            if not games:
                cells.append(Cell(MISSING, note="no game in common"))
                continue
            chance = probability_of_improvement(trials_of(first, games), trials_of(second, games))
            cells.append(Cell(f"{chance:.2f}", (chance,), heat=chance))
        rows.append(tuple(cells))
    improvement = Table(
        f"{panel.name}-improvement",
        "Probability of improvement: that a trial of the row's agent scores higher than one of the column's, in a "
        "game drawn at random. Where only means were published they count as one trial.",
        (Column("", words=True), *panel.columns),
        tuple(rows),
        matrix=True,
    )
    return Section(f"{panel.name}-aggregate", "Over all games", (profile, *_gaps(panel), improvement))
