"""Curves: what agents score as they learn, and as they may look ahead for longer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from noveltree.analysis.anytime import AnytimeCurve
from noveltree.analysis.curves import CurvePoint, mean_curve, points_of_run, points_of_trial
from noveltree.published import PUBLISHED_AGENTS, authors_curve
from noveltree.report.document import Cell, Chart, Charts, Column, Section, Series, Table
from noveltree.report.panel import Panel
from noveltree.report.scores import score_of
from noveltree.report.wording import MISSING, title_of, with_mark
from noveltree.results.recorded import LearningCurves

_MILLION = 1_000_000


def recorded_curves(curves: Sequence[LearningCurves]) -> Section | None:
    """The learning curves of recorded trials, in front of those that the authors released."""
    by_game: dict[str, list[Series]] = {}
    for each in curves:
        points = mean_curve([points_of_run(run) for run in each.runs])
        series = by_game.setdefault(each.game, [])
        series.append(_series(with_mark(each.name, each.differs), points))
        end = max(run.points[-1].interactions for run in each.runs)
        name = f"authors' {PUBLISHED_AGENTS.get(each.agent)}"
        behind = _released(each.game, each.agent, name, at_most=end, behind=True)
        if behind is not None and behind not in series:
            series.append(behind)
    caption = (
        "Mean return per interval of the recorded trials, with the 90% interval over trials where there are "
        "several; behind them the authors' released trials, per million interactions."
    )
    return _curves_section("own-curves", caption, by_game)


def released_curves(agents: Sequence[str], games: Sequence[str]) -> Section | None:
    """The learning curves of the authors' released trials."""
    by_game = {
        game: [series for agent in agents if (series := _released(game, agent, PUBLISHED_AGENTS[agent]))]
        for game in games
    }
    caption = (
        "Mean return per million simulator interactions over the authors' five released trials of each agent, with "
        "the 90% interval of their mean, as far as these go: one stopped after 11 million, some go on beyond 20."
    )
    return _curves_section("paper-curves", caption, by_game)


def _curves_section(name: str, caption: str, by_game: Mapping[str, Sequence[Series]]) -> Section | None:
    charts = tuple(
        Chart(title_of(game), "million interactions", "mean return", tuple(series))
        for game, series in sorted(by_game.items())
        if series
    )
    return Section(name, "Learning curves", (Charts(name, caption, charts),)) if charts else None


def _released(
    game: str, agent: str, name: str, *, at_most: float = math.inf, behind: bool = False
) -> Series | None:
    """The released curve of an agent in a game, to the end of the million that `at_most` is in."""
    trials = [points_of_trial(trial) for trial in authors_curve(game, agent)]
    points = [point for point in mean_curve(trials) if point.interactions < at_most + _MILLION]
    return _series(name, points, behind=behind) if points else None


def _series(name: str, points: Sequence[CurvePoint], *, behind: bool = False) -> Series:
    return Series(
        name,
        tuple((point.interactions / _MILLION, point.mean) for point in points),
        tuple(point.interval for point in points),
        behind=behind,
    )


def anytime_section(panel: Panel, curves: Sequence[AnytimeCurve]) -> Section | None:
    """Score against budget per decision, where agents of the panel were played with several."""
    if not curves:
        return None
    by_game: dict[tuple[str, str], list[AnytimeCurve]] = {}
    for curve in curves:
        by_game.setdefault((curve.game, curve.unit), []).append(curve)
    charts = tuple(
        Chart(
            title_of(game),
            f"{unit} per decision",
            "mean score",
            tuple(_anytime_series(curve) for curve in there),
            logarithmic=True,
        )
        for (game, unit), there in by_game.items()
    )
    caption = "Anytime curves: mean score, with its 90% interval, against the budget per decision."
    tables = [_anytime_table(panel, unit, curves) for unit in sorted({curve.unit for curve in curves})]
    return Section("own-anytime", "Score against budget", (Charts("own-anytime", caption, charts), *tables))


def _anytime_series(curve: AnytimeCurve) -> Series:
    return Series(
        curve.agent,
        tuple((budget, sample.mean) for budget, sample in curve.points),
        tuple(sample.interval for _, sample in curve.points),
    )


def _anytime_table(panel: Panel, unit: str, curves: Sequence[AnytimeCurve]) -> Table:
    """The scores of all curves whose budgets have the same unit."""
    there = sorted((curve for curve in curves if curve.unit == unit), key=lambda curve: (curve.game, curve.agent))
    budgets = sorted({budget for curve in there for budget in curve.by_budget})
    rows = tuple(
        (
            Cell(title_of(curve.game)),
            Cell(curve.agent),
            *(
                score_of(panel, curve.by_budget[budget], curve.game) if budget in curve.by_budget else Cell(MISSING)
                for budget in budgets
            ),
        )
        for curve in there
    )
    group = f"{unit} per decision"
    columns = (
        Column("game", words=True),
        Column("agent", words=True),
        *(Column(f"{budget:,g}", group) for budget in budgets),
    )
    return Table(f"own-budgets-{unit}", f"Mean scores with 90% intervals, by {group}.", columns, rows)
