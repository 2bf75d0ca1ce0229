"""Curves: what agents score as they learn, and as they may look ahead for longer."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from noveltree.analysis.anytime import AnytimeCurve
from noveltree.analysis.curves import Trial, authors_way, mean_curve, points_of_run, points_of_trial, up_to
from noveltree.published import PUBLISHED_AGENTS, TrialCurve, authors_curve, nearest_agent
from noveltree.report.document import Cell, Chart, Charts, Column, Point, Section, Series, Table
from noveltree.report.panel import Panel
from noveltree.report.scores import score_of
from noveltree.report.wording import MISSING, rounded, title_of, with_mark
from noveltree.results.curves import EpochCurve, Evaluations, PayCurve, RunCurve
from noveltree.results.recorded import LearningCurves

_MILLION = 1_000_000
_TITLE = "Learning curves"


def recorded_curves(curves: Sequence[LearningCurves]) -> Section | None:
    """The learning curves of recorded trials, in front of those that the authors released."""
    by_game: dict[str, list[Series]] = {}
    for each in curves:
        if not each.runs:
            continue
        name = with_mark(each.name, each.differs)
        series = by_game.setdefault(each.game, [])
        series.append(
            _run_series(name, each.runs[0])
            if len(each.runs) == 1
            else _mean_series(name, [points_of_run(run) for run in each.runs])
        )
        end = max(run.points[-1].interactions for run in each.runs)
        theirs = nearest_agent(each.agent)
        authors = up_to(end, authors_curve(each.game, theirs))
        behind = _mean_series(
            f"authors' {PUBLISHED_AGENTS[theirs]}", list(map(points_of_trial, authors)), behind=True
        )
        if authors and behind not in series:
            series.append(behind)
    caption = (
        "Mean return per interval of the recorded trials, with the 90% interval over trials where there are "
        "several; behind them the authors' released trials, per million interactions. Of a single trial, crosses "
        "are intervals that Welch's test rejected, diamonds evaluations on the way, and a dashed line is the "
        "evaluation."
    )
    section = _curves_section("own-curves", caption, by_game)
    table = _way_table(curves)
    if table is None:
        return section
    return Section("own-curves", _TITLE, (*(section.blocks if section is not None else ()), table))


def _way_table(curves: Sequence[LearningCurves]) -> Table | None:
    """How much of the authors' way recorded trials have come, by their evaluations."""
    rows = []
    for each in sorted(curves, key=lambda curves: (curves.game, curves.name)):
        way = authors_way(each.game)
        if way is None:
            continue
        for interactions, scores in _evaluations(each.evaluations):
            mean = statistics.fmean(scores)
            rows.append(
                (
                    Cell(title_of(each.game)),
                    Cell(with_mark(each.name, each.differs)),
                    *(Cell(text) for text in (str(len(scores)), f"{interactions:,.0f}", rounded(mean))),
                    *(Cell(rounded(theirs)) for theirs in (way.first, way.last)),
                    Cell(f"{way.share(mean):.0%}"),
                )
            )
    if not rows:
        return None
    columns = (
        *(Column(name, words=True) for name in ("game", "agent")),
        *map(Column, ("trials", "interactions", "evaluation")),
        *(Column(name, "authors' N-CPL") for name in ("1st million", "20th million")),
        Column("share of their way"),
    )
    caption = (
        "Share of the authors' way: how far the mean evaluation, on the way or at the end, is from what the "
        "authors' N-CPL had in its first million of interactions, in units of what it gained until its 20th."
    )
    return Table("own-way", caption, columns, tuple(rows))


def _evaluations(runs: Sequence[Evaluations]) -> list[tuple[float, list[float]]]:
    """By stage, on the way and at the end: after how many interactions runs came to it, and what each scored."""
    stages = [
        [run.on_the_way[stage] for run in runs if stage < len(run.on_the_way)]
        for stage in range(max((len(run.on_the_way) for run in runs), default=0))
    ]
    stages.append([run.at_the_end for run in runs if run.at_the_end is not None])
    return [
        (statistics.fmean(reached for reached, _ in stage), [score for _, score in stage])
        for stage in stages
        if stage
    ]


def released_curves(agents: Sequence[str], games: Sequence[str]) -> Section | None:
    """The learning curves of the authors' released trials."""
    by_game = {
        game: [
            _mean_series(PUBLISHED_AGENTS[agent], list(map(points_of_trial, trials)))
            for agent in agents
            if (trials := authors_curve(game, agent))
        ]
        for game in games
    }
    caption = (
        "Mean return per million simulator interactions over the authors' five released trials of each agent, with "
        "the 90% interval of their mean, as far as these go: one stopped after 11 million, some go on beyond 20."
    )
    return _curves_section("paper-curves", caption, by_game)


def runs_chart(game: str, agent: str, runs: Sequence[RunCurve], authors: Sequence[TrialCurve]) -> Chart:
    """Runs of one agent in a game, each by itself, in front of the authors' trials and their mean."""
    title, theirs = PUBLISHED_AGENTS.get(agent, agent), PUBLISHED_AGENTS[nearest_agent(agent)]
    series = [_run_series(run.label, run) for run in runs]
    if authors:
        trials = list(map(points_of_trial, authors))
        mean = _mean_series(f"authors' {theirs}, {len(trials)} trials", trials, behind=True)
        series.insert(0, replace(mean, trials=tuple(_points(trial.values()) for trial in trials)))
    return _learning_chart(f"{title_of(game)}, {title}", series)


def pay_chart(game: str, agent: str, runs: Sequence[PayCurve]) -> Chart:
    """Before enough episodes have ended for a curve: what policies foresee, or else what decisions paid."""
    title = f"{title_of(game)}, {PUBLISHED_AGENTS.get(agent, agent)}"
    if all(run.foresight for run in runs):
        series = tuple(Series(run.label, _points(run.foresight)) for run in runs)
        return Chart(f"{title}: the policy", "million interactions", "foresees what is chosen with", series)
    series = tuple(Series(run.label, _points(run.points)) for run in runs)
    return Chart(f"{title}: what decisions pay", "million interactions", "reward per decision", series)


def epochs_chart(game: str, agent: str, runs: Sequence[EpochCurve]) -> Chart:
    """How well encoders let screens be drawn again that they were not trained on."""
    title = f"{title_of(game)}, {PUBLISHED_AGENTS.get(agent, agent)}: the encoder"
    series = tuple(Series(run.label, run.points) for run in runs)
    return Chart(title, "epoch", "loss of screens held out", series)


def _curves_section(name: str, caption: str, by_game: Mapping[str, Sequence[Series]]) -> Section | None:
    charts = tuple(_learning_chart(title_of(game), series) for game, series in sorted(by_game.items()) if series)
    return Section(name, _TITLE, (Charts(name, caption, charts),)) if charts else None


def _learning_chart(title: str, series: Sequence[Series]) -> Chart:
    return Chart(title, "million interactions", "mean return", tuple(series))


def _mean_series(name: str, trials: Sequence[Trial], *, behind: bool = False) -> Series:
    """The mean over trials, with its 90% interval."""
    points = mean_curve(trials)
    return Series(
        name,
        _points((point.interactions, point.mean) for point in points),
        tuple(point.interval for point in points),
        behind=behind,
    )


def _run_series(name: str, run: RunCurve) -> Series:
    """A run with its evaluations, and crosses where Welch's test rejected networks."""
    rejected = ((each.interactions, each.mean_return) for each in run.points if not each.accepted)
    points = _points(points_of_run(run).values())
    return Series(name, points, level=run.evaluation, crosses=_points(rejected), diamonds=_points(run.milestones))


def _points(points: Iterable[Point]) -> tuple[Point, ...]:
    return tuple((interactions / _MILLION, mean) for interactions, mean in points)


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
