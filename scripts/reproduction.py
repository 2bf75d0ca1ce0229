"""Build the planners' section of docs/reproduction.md from a benchmark's table and the paper's published scores.

    python scripts/reproduction.py results/paper-planners/results.csv --write docs/reproduction.md

The published mean m and 90% interval c of 50 episodes give their standard deviation by c = 1.645 s / sqrt(50), s
with n in the denominator: that is how the released episodes of the authors' learning agents yield the published
intervals.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections import defaultdict
from pathlib import Path

from noveltree.analysis.statistics import welch_p_value
from noveltree.published import PUBLISHED_AGENTS, PUBLISHED_EPISODES, published_scores
from noveltree.results import Sample
from noveltree.simulators.games import game_title


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, help="as `noveltree benchmark collect` writes it")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    print_or_write(build_table(read_scores(options.table)), options.write, "planners")


def read_scores(path: Path) -> dict[tuple[str, str], list[float]]:
    """The scores that count, by game and agent; those under other conditions are refused."""
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["differs"]:
                raise SystemExit(f"{row['episode_file']} is not comparable: {row['differs']}.")
            if row["phase"] == "evaluation":
                scores[row["game"], row["agent"]].append(float(row["score"]))
    return scores


def print_or_write(table: str, document: Path | None, section: str) -> None:
    """Put a table between the marks of a section of a document, or print it if none is given."""
    if document is None:
        print(table)
        return
    begin, end = f"<!-- {section}: begin -->", f"<!-- {section}: end -->"
    head, rest = document.read_text().split(begin)
    _, tail = rest.split(end)
    document.write_text(f"{head}{begin}\n\n{table}\n\n{end}{tail}")


def published_sd(interval: float) -> float:
    """The standard deviation (with n - 1) behind a published 90% interval."""
    n = PUBLISHED_EPISODES
    return interval / 1.6449 * math.sqrt(n) * math.sqrt(n / (n - 1))


def build_table(scores: dict[tuple[str, str], list[float]]) -> str:
    """One row per game and agent: our scores, the published ones, and Welch's test of their means."""
    lines = [
        "| game | agent | episodes | mean | standard error | published mean | standard error | Welch p |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    same = 0
    for (name, agent), ours in sorted(scores.items()):
        sample = Sample.of(ours)
        theirs = published_scores()[agent][name]
        if theirs.interval is None:
            raise SystemExit(f"The paper has no interval of {agent} in {name}.")
        their_sample = Sample(theirs.mean, published_sd(theirs.interval), PUBLISHED_EPISODES)
        p = welch_p_value(sample, their_sample)
        if p is None:
            raise SystemExit(f"One episode of {agent} in {name} is too few.")
        same += p > 0.05
        lines.append(
            f"| {game_title(name)} | {PUBLISHED_AGENTS[agent]} | {len(ours)} "
            f"| {sample.mean:,.1f} | {sample.standard_error:,.1f} "
            f"| {theirs.mean:,.1f} | {their_sample.standard_error:,.1f} | {p:.2f} |"
        )
    lines.append("")
    lines.append(f"Not different (p > 0.05) in {same} of {len(scores)} rows.")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
