"""What scores have to be read with: the taxonomy of the games, and the experimental settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from noveltree.analysis.taxonomy import Classification
from noveltree.report.document import Cell, Column, Section, Table
from noveltree.report.panel import agent_cell
from noveltree.report.wording import MISSING, counted, decimal, title_of
from noveltree.results.sample import Sample
from noveltree.results.scores import AgentScores


def taxonomy_section(measured: Mapping[str, Classification], published: Mapping[str, Classification]) -> Section:
    """Branching factor and SMRF of games, as measured and as published."""
    rows = []
    for game in sorted(measured.keys() | published.keys()):
        ours, theirs = measured.get(game), published.get(game)
        either = ours or theirs
        assert either is not None
        verdicts = {each.smrf for each in (ours, theirs) if each is not None and each.smrf is not None}
        rows.append(
            (
                Cell(title_of(game)),
                Cell(f"{either.actions}", (either.actions,)),
                *_test_cells(ours, differs=len(verdicts) > 1),
                *_test_cells(theirs, differs=False),
            )
        )
    counts = [sum(each.smrf is True for each in taxonomy.values()) for taxonomy in (measured, published)]
    same = sum(measured[game].smrf == published[game].smrf for game in measured.keys() & published.keys())
    both = len(measured.keys() & published.keys())
    group = ("measured by noveltree", "published")
    table = Table(
        "taxonomy",
        "The games by branching factor (size of the minimal action set) and by sparse meaningful reward feedback: "
        "SMRF are those in which RTDP is not better than random actions (20 episodes of 50 steps each, Welch's "
        "test, p < 0.1). "
        f"Measured: {counts[0]} of {counted(len(measured), 'game')} are SMRF; published: {counts[1]} of "
        f"{len(published)}. In {same} of the {counted(both, 'game')} that have both, they agree.",
        (
            Column("game", words=True),
            Column("actions"),
            *(
                Column(title, side, words=title == "SMRF", second="sd")
                for side in group
                for title in ("RTDP", "random", "p", "SMRF")
            ),
        ),
        tuple(rows),
    )
    return Section("taxonomy", "Taxonomy of the games", (table,))


def _test_cells(made: Classification | None, *, differs: bool) -> tuple[Cell, ...]:
    if made is None:
        return (Cell(MISSING),) * 4
    p = Cell(MISSING) if made.p_value is None else Cell(f"{made.p_value:.3f}", (made.p_value,))
    text = MISSING if made.smrf is None else "yes" if made.smrf else "no"
    verdict = Cell(f"{text} (differs)" if differs else text, best=made.smrf is True)
    return (*map(_scores_cell, (made.rtdp, made.random)), p, verdict)


def _scores_cell(sample: Sample) -> Cell:
    """Mean and standard deviation; the paper's have n in the denominator, and so have ours beside them."""
    sd = sample.population_sd
    return Cell(f"{decimal(sample.mean, 1)} (sd {decimal(sd, 1)})", (sample.mean, sd))


def settings_section(agents: Sequence[AgentScores]) -> Section:
    """Under which conditions the agents were played."""
    table = Table(
        "settings",
        "How the agents were played. † marks those whose conditions are not those of the others: compare them with "
        "care.",
        (
            *(Column("agent", words=True), Column("conditions", words=True)),
            Column("differs in", words=True),
        ),
        tuple(
            (
                agent_cell(agent, badge=True),
                Cell(agent.settings or MISSING),
                Cell(agent.differs or MISSING),
            )
            for agent in agents
        ),
    )
    return Section("settings", "Experimental settings", (table,))
