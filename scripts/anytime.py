"""Build the section on budgets of docs/reproduction.md: what planners score with more and with fewer interactions.

python scripts/anytime.py results/anytime results/paper-planners --write docs/reproduction.md
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from noveltree.analysis.anytime import anytime_curves
from noveltree.results import read_records
from noveltree.simulators.games import game_title
from reproduction import print_or_write


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", type=Path, nargs="+", help="benchmarks, or folders of them")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    print_or_write(build_table(options.directories), options.write, "budgets")


def build_table(directories: Sequence[Path]) -> str:
    """One row per game and agent, one column per budget: mean scores with their 90% intervals."""
    curves = anytime_curves(read_records(directories).agents)
    budgets = sorted({budget for curve in curves for budget in curve.by_budget})
    lines = [
        f"| game | agent | {' | '.join(f'{budget:g}' for budget in budgets)} |",
        f"| --- | --- |{' ---: |' * len(budgets)}",
    ]
    for curve in sorted(curves, key=lambda curve: (curve.game, curve.agent)):
        samples = dict(curve.points)
        cells = [
            f"{samples[budget].mean:,.0f} ± {samples[budget].interval:,.0f}" if budget in samples else ""
            for budget in budgets
        ]
        lines.append(f"| {game_title(curve.game)} | {curve.agent} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
