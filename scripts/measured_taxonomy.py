"""Build src/noveltree/analysis/taxonomy.csv from a benchmark of the suite smrf.

    python scripts/measured_taxonomy.py results/taxonomy

Games of which a trial is not finished are left out.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from noveltree.analysis.taxonomy import classify_rows, to_csv
from noveltree.benchmark import BenchmarkDirectory, collect

TABLE = Path(__file__).parent.parent / "src" / "noveltree" / "analysis" / "taxonomy.csv"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmark", type=Path, help="as `noveltree taxonomy --out` fills it")
    parser.add_argument("--write", type=Path, default=TABLE)
    options = parser.parse_args()
    options.write.write_text(build_table(options.benchmark))


def build_table(path: Path) -> str:
    """One row per game that is finished."""
    directory = BenchmarkDirectory.open(path)
    if directory.suite.name != "smrf":
        raise SystemExit(f"{path} is a benchmark of the suite {directory.suite.name}, not smrf.")
    return to_csv(classify_rows(collect([directory], relative_to=path).rows))


if __name__ == "__main__":
    main()
