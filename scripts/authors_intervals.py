"""Aggregate the first intervals of the authors' released trials into results/authors_intervals.csv.

    python scripts/authors_intervals.py authors_episodes.csv.xz

The authors trained after the episodes that are marked in the column `trained`; the episodes up to and including
such a one are an interval. The second interval was played with the first networks that were deployed.
"""

from __future__ import annotations

import argparse
import csv
import io
import lzma
import statistics
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from noveltree.agents import get_agent
from noveltree.simulators.games import canonical_game

TABLE = Path(__file__).parent.parent / "results" / "authors_intervals.csv"
INTERVALS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("episodes", type=Path)
    options = parser.parse_args()
    with lzma.open(options.episodes, "rt", newline="") as file:
        TABLE.write_text(aggregate(csv.DictReader(file)))


def aggregate(episodes: Iterable[dict[str, str]]) -> str:
    """A row per agent, game, trial and interval, for the first intervals of every trial."""
    interval: dict[tuple[str, str, int], int] = defaultdict(lambda: 1)
    returns: dict[tuple[str, str, int, int], list[float]] = defaultdict(list)
    for episode in episodes:
        trial = (get_agent(episode["algorithm"]).name, canonical_game(episode["game"]), int(episode["trial"]))
        returns[*trial, interval[trial]].append(float(episode["reward"]))
        interval[trial] += episode["trained"] != ""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(("agent", "game", "trial", "interval", "episodes", "mean_return"))
    writer.writerows(
        (*place, len(scores), f"{statistics.fmean(scores):.6g}")
        for place, scores in sorted(returns.items())
        if place[-1] <= INTERVALS
    )
    return table.getvalue()


if __name__ == "__main__":
    main()
