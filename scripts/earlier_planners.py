"""Build tables of docs/reproduction.md: planners of earlier articles beside their published scores.

    python scripts/earlier_planners.py bandres experiments/bandres/results --write docs/reproduction.md
    python scripts/earlier_planners.py lipovetzky experiments/lipovetzky/results --write docs/reproduction.md

The agents of the benchmark are called as their published scores are: `bandres-riw-0.5s`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from noveltree.analysis import welch_p_value
from noveltree.published import published_planners
from noveltree.results import AgentScores, Sample, read_records, read_results
from noveltree.simulators.games import game_title
from reproduction import print_or_write


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("section", choices=("bandres", "lipovetzky"))
    parser.add_argument("directory", type=Path, help="a benchmark, finished")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    print_or_write(build_table(options.directory), options.write, options.section)


def build_table(directory: Path) -> str:
    """One row per game and planner: our scores, the published ones, and the test of their means."""
    lines = [
        "| game | planner | episodes | mean | standard error | interactions per decision "
        "| published mean | standard error | interactions per decision | p |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    published = read_results("published")
    rows = [
        (game_title(game), published.agent(agent.label), agent, game)
        for agent in read_records([directory]).agents
        for game in agent.games
    ]
    same = 0
    for title, theirs, ours, game in sorted(rows, key=lambda row: (row[0], row[1].title)):
        sample, other = ours.samples[game], theirs.samples[game]
        exact = other.count == 1
        p = welch_p_value(sample, Sample(other.mean, 0.0, 2) if exact else other)
        if p is None:
            raise SystemExit(f"{ours.label} in {game} cannot be tested: there is one episode.")
        same += p > 0.05
        spent = published_planners()[theirs.name].scores[game].interactions
        lines.append(
            f"| {title} | {theirs.title} | {sample.count} | {sample.mean:,.1f} | {sample.standard_error:,.1f} "
            f"| {_interactions(ours, game):,.0f} | {other.mean:,.1f} "
            f"| {'' if exact else f'{other.standard_error:,.1f}'} | {'' if spent is None else f'{spent:,.0f}'} "
            f"| {p:.2f} |"
        )
    lines.append("")
    lines.append(f"Not different (p > 0.05) in {same} of {len(rows)} rows.")
    return "\n".join(lines)


def _interactions(agent: AgentScores, game: str) -> float:
    """Interactions per decision, over all episodes."""
    episodes = agent.games[game].episodes
    return sum(each.interactions or 0 for each in episodes) / sum(each.steps or 0 for each in episodes)


if __name__ == "__main__":
    main()
