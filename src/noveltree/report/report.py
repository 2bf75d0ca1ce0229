"""A whole report: what was found, problems, what was recorded beside what was published, the paper's results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from noveltree.analysis.anytime import anytime_curves, is_another_budget
from noveltree.analysis.taxonomy import (
    RANDOM,
    RTDP,
    SMRF_EPISODES,
    Classification,
    classify_samples,
    measured_taxonomy,
    published_taxonomy,
)
from noveltree.published import OTHER_AGENTS, published_planners
from noveltree.report.curves import anytime_section, recorded_curves, released_curves
from noveltree.report.document import Document, Notice, Paragraph, Section, Table
from noveltree.report.found import found_section
from noveltree.report.panel import Panel
from noveltree.report.problems import problems_section
from noveltree.report.rankings import aggregate_section, pairwise_section, summary_section
from noveltree.report.scores import (
    HIGHER_THAN_ALL,
    HIGHEST,
    NOT_LOWER,
    cost_section,
    episodes_section,
    human_table,
    scores_table,
    unranked_table,
)
from noveltree.report.taxonomy_and_settings import settings_section, taxonomy_section
from noveltree.report.verification import verification_section
from noveltree.report.wording import counted, listed, title_of
from noveltree.results.comparable import played_alike, published_rule
from noveltree.results.published_agents import published_agents, published_comparison
from noveltree.results.published_planners import table_of_planners
from noveltree.results.recorded import Records
from noveltree.results.scores import AgentScores, common_games
from noveltree.simulators.games import all_games

#: Decisions per episode of the test for SMRF.
_SMRF_STEPS = 50
#: What is said of scores that must not be ranked.
_UNRANKED = (
    "with 90% intervals where they are known. They were not played under the conditions of the paper's agents, nor "
    "all under the same: see the experimental settings."
)
#: Agents whose intervals the paper publishes, in the order of its table.
_WITH_INTERVALS = ("riw-d", "riw-c", "cpl", "n-cpl-d", "n-cpl")


def build_report(
    records: Records | None,
    *,
    published: bool,
    base: Path,
    title: str,
    rng: np.random.Generator,
    rank_all: bool = False,
) -> Document:
    """A report of records, of the paper's results, or of both; `base` is where the file will be, for its links.

    Scores under other conditions than the rest are ranked only if that is asked for. Where none is under the
    conditions of the published ones, but all are under the same, they are ranked among themselves.
    """
    theirs = published_agents()
    width_based = tuple(agent for agent in theirs if agent.name not in OTHER_AGENTS)
    others = {agent.name: agent for agent in theirs if agent.name in OTHER_AGENTS}
    sections: list[Section | None] = []
    measured = dict(measured_taxonomy())
    ours: tuple[AgentScores, ...] = ()
    compared: tuple[AgentScores, ...] = ()
    of_atari = published
    if records is not None:
        tests = _smrf_tests(records.agents)
        measured |= classify_samples({name: half.samples for name, half in tests.items()})
        recorded = [agent for agent in records.agents if all(agent is not half for half in tests.values())]
        # An agent is compared with others at one budget; its scores with others are a separate section.
        # Those come last, so that an agent has one number among `compared` and `ours`: by it scores find episodes.
        budgets = tuple(agent for agent in recorded if is_another_budget(agent, recorded))
        compared = tuple(agent for agent in recorded if not is_another_budget(agent, recorded))
        ours = (*compared, *budgets)
        games = tuple(sorted({game for agent in ours for game in (*agent.games, *agent.missing)}))
        apart = all(agent.differs for agent in compared) and played_alike(compared)
        panel = Panel("own", (*compared, *_with_scores(width_based, games)), games, rank_all, apart)
        problems = problems_section(records, ours, compared, apart=apart)
        complaints = [block for block in problems.blocks if isinstance(block, Notice) and block.kind == "problem"]
        sections += [found_section(records, panel, compared, complaints), problems]
        sections += _own_sections(panel, ours, compared, width_based, others, records, measured, base, rng)
        of_atari |= bool(tests) or _are_of_atari([*games, *(curve.game for curve in records.curves)])
        sections.append(verification_section(records.manifests))
    planners = [agent for agent in table_of_planners() if published or _kin([agent], ours)]
    if published:
        of_paper = _paper_sections(width_based, measured, rng)
        sections += of_paper if records is None else map(_renamed, of_paper)
        sections.append(_planners_section(planners))
    if of_atari:
        sections.append(taxonomy_section(measured, published_taxonomy()))
        sections.append(settings_section((*ours, *theirs, *planners)))
    elif ours:
        sections.append(settings_section(ours))
    return Document(
        title,
        _lead(records, compared, width_based, published=published),
        tuple(each for each in sections if each is not None),
    )


def _are_of_atari(games: Sequence[str]) -> bool:
    """Whether any of the games is one of Atari's, about which there is more to say."""
    return not {*all_games()}.isdisjoint(games)


def _smrf_tests(agents: Sequence[AgentScores]) -> dict[str, AgentScores]:
    """Both halves of the test for SMRF, by agent; none unless both are there, once and whole."""
    halves = {name: [agent for agent in agents if _is_smrf_half(agent, name)] for name in (RTDP, RANDOM)}
    if any(len(found) != 1 for found in halves.values()):
        return {}
    tests = {name: found[0] for name, found in halves.items()}
    if any(sample.count < SMRF_EPISODES for half in tests.values() for sample in half.samples.values()):
        return {}
    return tests


def _is_smrf_half(agent: AgentScores, name: str) -> bool:
    """Whether this is that half of the test for SMRF, which is no score to compare."""
    protocol = agent.protocol
    if protocol is None or protocol.agent != name or published_rule(protocol) is None:
        return False
    return protocol.max_steps == _SMRF_STEPS and agent.differs_in in ((), ("max_frames",))


def _own_sections(
    panel: Panel,
    ours: Sequence[AgentScores],
    compared: Sequence[AgentScores],
    width_based: Sequence[AgentScores],
    others: Mapping[str, AgentScores],
    records: Records,
    measured: Mapping[str, Classification],
    base: Path,
    rng: np.random.Generator,
) -> list[Section | None]:
    """What was recorded, beside the published agents that have scores in these games."""
    learning = recorded_curves(records.curves)
    if not ours:
        return [learning]
    games = panel.games
    everyone = Panel("own", tuple(ours), games)
    scores = [scores_table(panel, NOT_LOWER, name="own-scores")]
    human = others["human"]
    if any(game in human.games for game in games):
        n_cpl = [agent for agent in width_based if agent.name == "n-cpl"]
        without_model = [agent for agent in others.values() if agent is not human]
        beside = (*compared, *_with_scores([*n_cpl, *without_model], games))
        humans = Panel("own-human", beside, games, panel.rank_all)
        caption = (
            "Beside N-CPL, a human player and agents that learn without a model (Mnih et al. 2015, Hessel et al. "
            "2018), as the paper reports them. The conditions of the latter are others: see the experimental "
            "settings."
        )
        scores.append(human_table(humans, human, name="own-human", caption=caption))
    if kin := _with_scores(_kin(table_of_planners(), ours), games):
        scores.append(
            unranked_table(
                Panel("own", (*ours, *kin), games),
                name="own-planners",
                caption=f"Beside planners of earlier articles, {_UNRANKED}",
            )
        )
    ranked = panel.ranked()
    rankings: list[Section | None] = []
    if any(not agent.published for agent in ranked.agents):
        rankings = [summary_section(ranked, rng=rng), pairwise_section(ranked, measured), aggregate_section(ranked)]
    return [
        *rankings,
        Section("own-scores", "Scores", tuple(scores)),
        learning,
        anytime_section(everyone, anytime_curves(ours)),
        cost_section(everyone),
        episodes_section(everyone, base),
    ]


def _with_scores(agents: Sequence[AgentScores], games: Sequence[str]) -> list[AgentScores]:
    return [agent for agent in agents if any(game in agent.games for game in games)]


def _kin(agents: Sequence[AgentScores], ours: Sequence[AgentScores]) -> list[AgentScores]:
    """Those of published planners whose algorithm was recorded, too."""
    played = {agent.protocol.agent for agent in ours if agent.protocol is not None}
    return [agent for agent in agents if agent.protocol is not None and agent.protocol.agent in played]


def _planners_section(planners: Sequence[AgentScores]) -> Section:
    """The scores of earlier articles on planners, a table each."""
    articles: dict[str, list[AgentScores]] = {}
    for agent in planners:
        articles.setdefault(published_planners()[agent.name].article, []).append(agent)
    tables = []
    for number, (article, agents) in enumerate(articles.items()):
        panel = Panel("planners", tuple(agents), tuple(sorted({game for agent in agents for game in agent.games})))
        caption = f"The planners of {article}, {_UNRANKED}"
        tables.append(unranked_table(panel, name=f"planners-{number}", caption=caption))
    return Section("planners", "Earlier planners", tuple(tables))


def _paper_sections(
    width_based: Sequence[AgentScores], measured: Mapping[str, Classification], rng: np.random.Generator
) -> list[Section | None]:
    """The paper's results section, from its published scores and its authors' released episodes."""
    panel = Panel("paper", tuple(width_based), tuple(common_games(width_based)))
    by_name = {agent.name: agent for agent in width_based}
    with_intervals = tuple(by_name[name] for name in _WITH_INTERVALS)
    intervals = Panel("paper", with_intervals, tuple(common_games(with_intervals)))
    left_out = [title_of(game) for game in intervals.games if game not in panel.games]
    note = Paragraph(
        f"The agents of others have no score in {listed(left_out)}, which is therefore in the table of intervals "
        "alone."
    )
    return [
        summary_section(panel, rng=rng),
        pairwise_section(panel, measured),
        aggregate_section(panel),
        Section(
            "paper-scores",
            "Scores",
            (
                scores_table(panel, HIGHEST, name="paper-scores"),
                note,
                scores_table(intervals, HIGHER_THAN_ALL, name="paper-intervals"),
            ),
        ),
        Section(
            "paper-human",
            "Human players, DQN and Rainbow",
            tuple(_comparison(name) for name in OTHER_AGENTS if name != "human"),
        ),
        released_curves(("n-cpl", "n-cpl-d", "cpl"), intervals.games),
    ]


def _renamed(section: Section | None) -> Section | None:
    """A section of the paper's results where there are others."""
    return None if section is None else replace(section, title=f"Paper: {section.title}")


def _comparison(name: str) -> Table:
    """One of the paper's three comparisons of N-CPL with a human player and an agent without a model."""
    human, other, n_cpl = published_comparison(name)
    return human_table(
        Panel("paper", (other, n_cpl), tuple(human.games)),
        human,
        name=f"paper-{name}",
        caption=f"N-CPL, a human player and {other.title}. Their conditions differ: see the experimental settings.",
    )


def _lead(
    records: Records | None, compared: Sequence[AgentScores], width_based: Sequence[AgentScores], *, published: bool
) -> str:
    paper = (
        "the paper's published scores (O'Toole, Lipovetzky, Ramirez and Pearce 2021, Width-based Lookaheads with "
        "Learnt Base Policies and Heuristics Over the Atari-2600 Benchmark)"
    )
    if records is None:
        return f"From {paper} and its authors' released episodes, recomputed."
    games = sorted({game for agent in compared for game in agent.games})
    beside = f", beside {paper}" if _with_scores(width_based, games) else ""
    after = " After it the paper's own results, recomputed." if published else ""
    return f"{counted(len(compared), 'recorded agent')} in {counted(len(games), 'game')}{beside}.{after}"
