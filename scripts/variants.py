r"""Variants of a planner beside one of them, game by game: tables of reproduction.md and faster-learning.md.

    python scripts/variants.py experiments/action-sets/results --against riw-c \
        --write docs/reproduction.md:action-sets
    python scripts/variants.py experiments/faster-learning/planners experiments/faster-learning/planners-8 \
        --against riw-c --agents depth-larger-life --write docs/faster-learning.md:riw-plus

A cell has the mean, its 95% interval by Student's distribution, the number of episodes, and p of Welch's test
against the first column.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from pathlib import Path

from scipy import stats

from noveltree.analysis import welch_p_value
from noveltree.results import AgentScores, Sample, read_records
from noveltree.simulators.games import game_title
from reproduction import print_or_write


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", type=Path, nargs="+", help="benchmarks")
    parser.add_argument("--against", required=True, help="the agent that the others are compared with")
    parser.add_argument("--agents", nargs="+", help="which others; all by default")
    parser.add_argument("--write", help="DOCUMENT:SECTION")
    options = parser.parse_args()
    found = {agent.label: agent for agent in read_records(options.directories).agents}
    others = options.agents or [label for label in found if label != options.against]
    if missing := [label for label in (options.against, *others) if label not in found]:
        parser.error(f"There is no {missing[0]}; there are {', '.join(found)}.")
    table = build_table(found[options.against], [found[label] for label in others])
    document, _, section = (options.write or "").partition(":")
    print_or_write(table, Path(document) if document else None, section)


def build_table(first: AgentScores, others: Sequence[AgentScores]) -> str:
    """One row per game, one column per agent."""
    lines = [
        "| game | " + " | ".join(agent.label for agent in (first, *others)) + " |",
        "| --- |" + " ---: |" * (1 + len(others)),
    ]
    for game in sorted(first.samples, key=game_title):
        sample = first.samples[game]
        cells = [_shown(sample)]
        for agent in others:
            other = agent.samples.get(game)
            cells.append("-" if other is None else f"{_shown(other)}{_p(other, sample)}")
        lines.append(f"| {game_title(game)} | " + " | ".join(cells) + " |")
    means = " | ".join(_mean_ratio(agent, first) for agent in others)
    lines.append(f"| geometric mean of the ratio to {first.label} | 1 | {means} |")
    return "\n".join(lines)


def _shown(sample: Sample) -> str:
    if sample.count < 2:
        return f"{sample.mean:,.0f} ({sample.count})"
    half = float(stats.t.ppf(0.975, sample.count - 1)) * sample.standard_error
    return f"{sample.mean:,.0f} ± {half:,.0f} ({sample.count})"


def _p(sample: Sample, other: Sample) -> str:
    p = welch_p_value(sample, other)
    return "" if p is None else f", p = {p:.3f}" if p < 0.1 else f", p = {p:.2f}"


def _mean_ratio(agent: AgentScores, first: AgentScores) -> str:
    """Over the games in which both scored."""
    ratios = [
        sample.mean / first.samples[game].mean
        for game, sample in agent.samples.items()
        if game in first.samples and sample.mean > 0 and first.samples[game].mean > 0
    ]
    return f"{statistics.geometric_mean(ratios):.2f} ({len(ratios)} games)" if ratios else "-"


if __name__ == "__main__":
    main()
