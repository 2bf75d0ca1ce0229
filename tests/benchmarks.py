"""Small benchmarks for tests, and what must be the same in two runs of the same one."""

from __future__ import annotations

import csv
from pathlib import Path

from noveltree.benchmark import BenchmarkDirectory, collect, plan_suite
from noveltree.benchmark.suite import parse_suite

#: Six trials of a second or so each, in which something is planned and something is learnt.
SMALL = """
name: small
games: [corridor]
agents:
  - riw-c
  - agent: n-cpl
    learning:
      schedule: {interval: 1000, wave: 4}
      value: {at_least: 16, every: 8, batch: 16, refresh: 100}
trials: 3
training_interactions: 3000
evaluation_episodes: 4
conditions: {budget: 5, max_frames: 200}
"""

#: Planners alone: trials that take as good as nothing.
TINY = """
name: tiny
games: [corridor]
agents: [riw-c, riw-d]
trials: 2
evaluation_episodes: 3
conditions: {budget: 5, max_frames: 200}
"""


def create(path: Path, text: str = TINY) -> BenchmarkDirectory:
    suite = parse_suite(text)
    return BenchmarkDirectory.create(path, suite, plan_suite(suite))


def table(directory: Path) -> list[dict[str, str]]:
    """The collected table, but for times of the clock."""
    made = collect([BenchmarkDirectory.open(directory)], relative_to=directory)
    assert made.missing == []
    assert made.warnings == []
    return [
        {name: value for name, value in row.items() if name != "seconds"}
        for row in csv.DictReader(made.to_csv().splitlines())
    ]
