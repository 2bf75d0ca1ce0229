"""Small benchmarks for tests, and what must be the same in two runs of the same one."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

from noveltree.benchmark import BenchmarkDirectory, plan_suite
from noveltree.benchmark.suite import parse_suite
from noveltree.records.run_directory import RunDirectory
from noveltree.results import collect
from noveltree.trial import play_trial, train
from tests.support.runs import small_protocol

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

#: One of them with another budget.
LESS_BUDGET = TINY.replace("budget: 5", "budget: 3").replace("[riw-c, riw-d]", "[riw-c]")

#: One of them in episodes that are cut short.
SHORTER = TINY.replace("max_frames: 200", "max_frames: 150").replace("[riw-c, riw-d]", "[riw-c]")


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


def played(path: Path, text: str = TINY) -> Path:
    """A benchmark whose trials were all played, in this process."""
    play_all(create(path, text))
    return path


def play_all(benchmark: BenchmarkDirectory) -> None:
    """Play all trials in this process, which need not start others and load everything there again."""
    for trial in benchmark.trials:
        if trial.protocol.learning is None:
            play_trial(benchmark.run_path(trial), trial.protocol, seed=trial.seed, episodes=trial.episodes)
        else:
            train(benchmark.run_path(trial), trial.protocol, seed=trial.seed)


def fail(benchmark: Path, trial: str, error: str) -> None:
    """Let a trial be one that failed even after its retries."""
    shutil.rmtree(benchmark / trial, ignore_errors=True)
    directory = BenchmarkDirectory.open(benchmark)
    (status,) = (each for each in directory.statuses() if each.trial.name == trial)
    for _ in range(3):
        directory.failed(status, 1.0, error)


def unfinished_run(path: Path, means: tuple[float, ...] = (3.0, 4.0), **choices: Any) -> Path:
    """A run of which some intervals are over."""
    protocol = small_protocol().model_copy(update=choices)
    run = RunDirectory.create(path, protocol, 0)
    for number, mean in enumerate(means, start=1):
        line = {"event": "interval", "interval": number, "episodes": 9, "interactions": 1_000 * number}
        run.add_metrics({**line, "mean_return": mean, "accepted": True, "tested": True, "p_value": 0.5})
    return path


def episodes_in(directory: Path) -> list[Path]:
    return sorted(directory.glob("trials/*/*/*/evaluation/*/*.json"))
