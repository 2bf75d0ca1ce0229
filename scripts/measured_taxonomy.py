"""Build src/noveltree/results/taxonomy.csv from a benchmark of the suite smrf.

    python scripts/measured_taxonomy.py results/taxonomy

Games of which a trial is not finished are left out.
"""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Mapping
from pathlib import Path

from noveltree.analysis.taxonomy import Classification, classify_agents
from noveltree.benchmark import BenchmarkDirectory
from noveltree.results import read_records

TABLE = Path(__file__).parent.parent / "src" / "noveltree" / "results" / "taxonomy.csv"
COLUMNS = (
    *("game", "actions", "episodes"),
    *("rtdp_mean", "rtdp_sd", "random_mean", "random_sd"),
    *("p_value", "smrf"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmark", type=Path, help="as `noveltree taxonomy --out` fills it")
    parser.add_argument("--write", type=Path, default=TABLE)
    options = parser.parse_args()
    options.write.write_text(build_table(options.benchmark))


def build_table(path: Path) -> str:
    """One row per game that is finished."""
    suite = BenchmarkDirectory.open(path).suite
    if suite.name != "smrf":
        raise SystemExit(f"{path} is a benchmark of the suite {suite.name}, not smrf.")
    return to_csv(classify_agents(read_records([path]).agents))


def to_csv(classifications: Mapping[str, Classification]) -> str:
    """Classifications as the table that comes with noveltree; standard deviations have n - 1."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for game, made in sorted(classifications.items()):
        if made.rtdp.count != made.random.count:
            raise SystemExit(f"{game} has {made.rtdp.count} episodes of RTDP, but {made.random.count} at random.")
        numbers = (made.rtdp.mean, made.rtdp.sd, made.random.mean, made.random.sd)
        p = "" if made.p_value is None else f"{made.p_value:.4g}"
        rounded = (round(number, 6) for number in numbers)
        writer.writerow((game, made.actions, made.rtdp.count, *rounded, p, int(made.smrf is True)))
    return text.getvalue()


if __name__ == "__main__":
    main()
