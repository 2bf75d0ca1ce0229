"""What RTDP and random actions scored in the games that were measured for noveltree."""

from __future__ import annotations

import csv
import functools
import importlib.resources

from noveltree.results.sample import Sample


@functools.cache
def measured_samples() -> dict[str, dict[str, Sample]]:
    """The samples of `results/taxonomy`, by agent and game; `scripts/measured_taxonomy.py` writes the table."""
    text = importlib.resources.files(__package__).joinpath("taxonomy.csv").read_text()
    rows = list(csv.DictReader(text.splitlines()))
    return {
        agent: {
            row["game"]: Sample(float(row[f"{agent}_mean"]), float(row[f"{agent}_sd"]), int(row["episodes"]))
            for row in rows
        }
        for agent in ("rtdp", "random")
    }
