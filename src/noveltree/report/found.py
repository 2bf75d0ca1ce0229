"""What was found: three sentences and one chart, with which a report begins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from noveltree.analysis.summary import Summary, summarise
from noveltree.report.curves import recorded_curves
from noveltree.report.document import Chart, Charts, Notice, Paragraph, Section, Series
from noveltree.report.panel import Panel
from noveltree.report.rankings import profiles
from noveltree.report.wording import counted, decimal, percent, title_of
from noveltree.results.recorded import Records
from noveltree.results.scores import AgentScores

_THRESHOLDS = np.linspace(0.0, 1.0, 51)


def found_section(
    records: Records, panel: Panel, recorded: Sequence[AgentScores], problems: Sequence[Notice]
) -> Section:
    """What was played, what came of it, and how far it can be trusted; and a chart of it."""
    sentences = (_played(records, recorded), _outcome(panel, recorded), _trust(records, problems))
    charts = _chart(panel, recorded, records)
    return Section("found", "What was found", (Paragraph(" ".join(sentences)), *charts))


def _played(records: Records, recorded: Sequence[AgentScores]) -> str:
    games = {game for agent in recorded for game in agent.games}
    scores = [scores for agent in recorded for scores in agent.games.values()]
    if not scores:
        return f"No trial is finished yet; {counted(len(records.unfinished), 'trial')} were begun or planned."
    trials = sum(len(each.trials) for each in scores)
    episodes = sum(each.sample.count for each in scores)
    played = f"{counted(len(recorded), 'recorded agent')} played {counted(episodes, 'episode')}"
    return f"{played} in {counted(trials, 'trial')} of {counted(len(games), 'game')}."


def _outcome(panel: Panel, recorded: Sequence[AgentScores]) -> str:
    """Who of the recorded agents does best, and how it does beside its published scores."""
    summaries = [each for each in _summaries(panel.ranked()) if not each.agent.published]
    if not summaries:
        if not recorded:
            return "There are no scores to compare."
        published = ", or of the published" if any(agent.published for agent in panel.agents) else ""
        return f"None of them played under the conditions of the others{published}, so that none is ranked."
    made = max(summaries, key=lambda each: (each.comparisons > 0 and each.win_share, each.games))
    best = made.agent
    if not made.comparisons:
        game = next(iter(best.games))
        return f"{best.title} scores {decimal(best.games[game].sample.mean)} on average in {title_of(game)}."
    if not made.wins:
        return "None of them has a higher mean score than another agent in any game."
    wins = f"{made.wins} of {counted(made.comparisons, 'comparison')} ({percent(made.win_share)})"
    others = "another of them" if panel.apart else "another agent's"
    return f"{best.title} has the most wins of them, {wins}: higher mean scores than {others} in a game."


def _summaries(panel: Panel) -> list[Summary]:
    return summarise(panel.agents, panel.games, rng=np.random.default_rng(0), resamples=1, confidence=0.95)


def _trust(records: Records, problems: Sequence[Notice]) -> str:
    """What manifests state, and how many problems there are."""
    episodes = [each for agent in records.agents for game in agent.games.values() for each in game.episodes]
    signed_off = sum(bool(each.manifest) for each in episodes)
    found = counted(len(problems), "problem")
    follow = f"{found} {'follows' if len(problems) == 1 else 'follow'}" if problems else "no problem was found"
    if not episodes or not signed_off:
        return f"No manifest has their episodes as they are, and {follow}."
    of = "all" if signed_off == len(episodes) else f"{signed_off:,} of {len(episodes):,}"
    return f"Manifests state that {of} of their episodes were replayed, and {follow}."


def _chart(panel: Panel, recorded: Sequence[AgentScores], records: Records) -> Iterator[Charts]:
    """Scores over all games: beside humans where there are human scores, or else beside each other."""
    ranked = panel.ranked()
    if any(not agent.published for agent in ranked.agents) and (series := profiles(ranked)):
        caption = "The share of games (each trial counting alike) with a human-normalised score above a threshold."
        chart = Chart("Scores over all games", "human-normalised score", "share above", series, wide=True)
        yield Charts("found-chart", caption, (chart,))
    elif series := tuple(_distributions(recorded)):
        caption = (
            "The share of episodes that score more than so much of the way from a game's lowest to its highest."
        )
        chart = Chart("Scores over all games", "score, from lowest to highest", "share above", series, wide=True)
        yield Charts("found-chart", caption, (chart,))
    elif (learning := recorded_curves(records.curves)) is not None:
        for block in learning.blocks:
            if isinstance(block, Charts):
                yield Charts("found-chart", block.caption, block.charts[:1])
                return


def _distributions(agents: Sequence[AgentScores]) -> Iterator[Series]:
    """How the episodes of agents are distributed between the lowest and the highest score of each game."""
    scores: dict[str, dict[str, list[float]]] = {}
    for agent in agents:
        for game, played in agent.games.items():
            scores.setdefault(game, {})[agent.name] = [each.score for each in played.episodes]
    for agent in agents:
        scaled: list[float] = []
        for by_agent in scores.values():
            every = [score for each in by_agent.values() for score in each]
            low, high = min(every, default=0.0), max(every, default=0.0)
            own = by_agent.get(agent.name, ())
            scaled += ((score - low) / (high - low) if high > low else 1.0 for score in own)
        if scaled:
            shares = [sum(score >= threshold for score in scaled) / len(scaled) for threshold in _THRESHOLDS]
            yield Series(agent.title, tuple(zip(_THRESHOLDS.tolist(), shares, strict=True)))
