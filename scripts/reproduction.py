"""Build docs/reproduction.md from recorded episodes and the paper's published scores.

    python scripts/reproduction.py results/planners --write docs/reproduction.md

Every episode is verified by replay first (`--no-verify` leaves that out). The published mean m and 90% interval c
of 50 episodes give their standard deviation by c = 1.645 s / sqrt(50), s with n in the denominator: that is how the
released episodes of the authors' learning agents yield the published intervals.
"""

from __future__ import annotations

import argparse
import csv
import math
import statistics
import sys
from collections import defaultdict
from pathlib import Path

from scipy import stats

from noveltree import EpisodeRecord, read_episode, verify_episode
from noveltree.simulators.games import game_title

PUBLISHED = Path(__file__).parent.parent / "results" / "published_scores_ci90.csv"
PUBLISHED_EPISODES = 50
COLUMNS = {"riw-c": "RIW_C", "riw-d": "RIW_D"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--no-verify", dest="verify", action="store_false")
    options = parser.parse_args()
    records = [read_episode(path) for path in sorted(options.directory.rglob("*.json"))]
    if options.verify:
        for number, record in enumerate(records, start=1):
            verification = verify_episode(record)
            if not verification.holds:
                sys.exit(f"{record.file_name()} does not hold: {verification.finding}")
            print(f"verified {number} of {len(records)}", file=sys.stderr, flush=True)
    table = build_table(records)
    if options.write is None:
        print(table)
    else:
        text = options.write.read_text()
        begin, end = "<!-- planners: begin -->", "<!-- planners: end -->"
        head, rest = text.split(begin)
        _, tail = rest.split(end)
        options.write.write_text(f"{head}{begin}\n\n{table}\n\n{end}{tail}")


def published_sd(interval: float) -> float:
    """The standard deviation (with n - 1) behind a published 90% interval."""
    n = PUBLISHED_EPISODES
    return interval / 1.6449 * math.sqrt(n) * math.sqrt(n / (n - 1))


def build_table(records: list[EpisodeRecord]) -> str:
    """One row per game and agent: our scores, the published ones, and Welch's test of their means."""
    published = {row["game"]: row for row in csv.DictReader(PUBLISHED.read_text().splitlines())}
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)
    for record in records:
        scores[game_title(record.protocol.game), record.protocol.agent].append(record.episode.score)
    lines = [
        "| game | agent | episodes | mean | standard error | published mean | standard error | Welch p |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    same = 0
    for (game, agent), ours in sorted(scores.items()):
        mean, error = statistics.mean(ours), statistics.stdev(ours) / math.sqrt(len(ours))
        row = published[game]
        theirs = float(row[COLUMNS[agent]])
        n = PUBLISHED_EPISODES
        their_sd = published_sd(float(row[f"{COLUMNS[agent]}_ci90"]))
        p = stats.ttest_ind_from_stats(
            mean, statistics.stdev(ours), len(ours), theirs, their_sd, n, equal_var=False
        ).pvalue
        same += p > 0.05
        lines.append(
            f"| {game} | {COLUMNS[agent]} | {len(ours)} | {mean:,.1f} | {error:,.1f} | {theirs:,.1f} "
            f"| {their_sd / math.sqrt(n):,.1f} | {p:.2f} |"
        )
    lines.append("")
    lines.append(f"Not different (p > 0.05) in {same} of {len(scores)} rows.")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
