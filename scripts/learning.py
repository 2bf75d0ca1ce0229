"""Build the table of learning in docs/reproduction.md from recorded runs and the authors' released episodes.

python scripts/learning.py results/learning --write docs/reproduction.md
"""

from __future__ import annotations

import argparse
import csv
import statistics
from pathlib import Path

from noveltree.records.run_directory import RunDirectory
from noveltree.simulators.games import game_title
from reproduction import print_or_write

AUTHORS = Path(__file__).parent.parent / "results" / "authors_intervals.csv"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    print_or_write(build_table(options.directory), options.write, "learning")


def build_table(directory: Path) -> str:
    """One row per run and interval: our mean return, and the mean and the range of the authors' trials."""
    authors = list(csv.DictReader(AUTHORS.read_text().splitlines()))
    lines = [
        "| game | agent | seed | interval | interactions so far | episodes | mean return | authors' mean "
        "| authors' range |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for path in sorted(file.parent for file in directory.rglob("run.json")):
        run = RunDirectory.open(path)
        game, agent = run.protocol.game, run.protocol.agent
        for line in run.read_metrics():
            if line["event"] != "interval":
                continue
            place = (agent, game, str(line["interval"]))
            theirs = [
                float(row["mean_return"])
                for row in authors
                if (row["agent"], row["game"], row["interval"]) == place
            ]
            lines.append(
                f"| {game_title(game)} | {agent} | {run.seed} | {line['interval']} | {line['interactions']:,} "
                f"| {line['episodes']} | {line['mean_return']:,.1f} | {statistics.fmean(theirs):,.1f} "
                f"| {min(theirs):,.1f} to {max(theirs):,.1f} |"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
