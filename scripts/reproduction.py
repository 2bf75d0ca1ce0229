"""Build the planners' section of docs/reproduction.md from a benchmark's table and the paper's published scores.

    python scripts/reproduction.py results/paper-planners/results.csv --write docs/reproduction.md

The published mean m and 90% interval c of 50 episodes give their standard deviation by c = 1.645 s / sqrt(50), s
with n in the denominator: that is how the released episodes of the authors' learning agents yield the published
intervals.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from noveltree.analysis import welch_p_value
from noveltree.published import PUBLISHED_AGENTS
from noveltree.results import read_results
from noveltree.simulators.games import game_title


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, help="as `noveltree benchmark collect` writes it")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    print_or_write(build_table(options.table), options.write, "planners")


def print_or_write(table: str, document: Path | None, section: str) -> None:
    """Put a table between the marks of a section of a document, or print it if none is given."""
    if document is None:
        print(table)
        return
    begin, end = f"<!-- {section}: begin -->", f"<!-- {section}: end -->"
    head, rest = document.read_text().split(begin)
    _, tail = rest.split(end)
    document.write_text(f"{head}{begin}\n\n{table}\n\n{end}{tail}")


def build_table(path: Path) -> str:
    """One row per game and agent: our scores, the published ones, and Welch's test of their means."""
    lines = [
        "| game | agent | episodes | mean | standard error | published mean | standard error | Welch p |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    published = read_results("published")
    same = 0
    rows = [
        (game, agent.name, ours, published.agent(agent.name).samples[game])
        for agent in read_results(str(path)).agents
        for game, ours in agent.samples.items()
    ]
    for game, agent, ours, theirs in sorted(rows, key=lambda row: row[:2]):
        p = welch_p_value(ours, theirs)
        if p is None:
            raise SystemExit(f"{agent} in {game} cannot be tested: there is one episode, or no published interval.")
        same += p > 0.05
        lines.append(
            f"| {game_title(game)} | {PUBLISHED_AGENTS[agent]} | {ours.count} "
            f"| {ours.mean:,.1f} | {ours.standard_error:,.1f} "
            f"| {theirs.mean:,.1f} | {theirs.standard_error:,.1f} | {p:.2f} |"
        )
    lines.append("")
    lines.append(f"Not different (p > 0.05) in {same} of {len(rows)} rows.")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
