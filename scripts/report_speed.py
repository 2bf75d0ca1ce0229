"""Measure how long a report of a paper-sized benchmark takes, and a bootstrap over it.

    python scripts/report_speed.py [--out DIRECTORY]

The benchmark has the files that a real one has: 54 games x 8 agents x 5 trials x 10 episodes of 300 decisions, and
the metrics of 20 intervals of 30 episodes in each trial of the five agents that learn. Its scores are made up. It
is deleted again unless DIRECTORY is given.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from noveltree.analysis import bootstrap, interquartile_mean
from noveltree.benchmark import BenchmarkDirectory, plan_suite
from noveltree.benchmark.plan import PlannedTrial
from noveltree.benchmark.suite import parse_suite
from noveltree.episodes import Decision, End, Episode
from noveltree.records import EpisodeRecord, encode_episode
from noveltree.records.run_directory import RunDirectory
from noveltree.report.html import to_html
from noveltree.report.report import build_report
from noveltree.results import read_records

SUITE = """
name: paper-sized
games: paper-scores
agents:
  - riw-c
  - riw-d
  - uct
  - n-cpl
  - n-cpl-d
  - cpl
  - {agent: n-cpl, name: n-cpl-ram, features: ram}
  - {agent: n-cpl-d, name: n-cpl-d-ram, features: ram}
trials: 5
training_interactions: 20000000
evaluation_episodes: 10
"""
DECISIONS, INTERVALS, EPISODES_PER_INTERVAL = 300, 20, 30
RESAMPLES = 50_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        path = options.out or Path(temporary) / "benchmark"
        if not (path / "plan.json").exists():
            make_benchmark(path)
        files = sum(1 for _ in path.rglob("*.json"))
        measure(path, files)


def measure(path: Path, files: int) -> None:
    start = time.process_time()
    records = read_records([path], beside_published=True)
    read = time.process_time()
    document = build_report(
        records, published=True, base=path.parent, title="Paper-sized", rng=np.random.default_rng(0)
    )
    built = time.process_time()
    page = to_html(document)
    written = time.process_time()
    print(f"{files:,} files read in {read - start:.1f} CPU s, analysed in {built - read:.1f}, ", end="")
    print(f"written in {written - built:.1f}: {written - start:.1f} in all, {len(page) / 1e6:.1f} MB")
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(8, 5, 54))
    start = time.process_time()
    for agent in scores:
        bootstrap(agent, interquartile_mean, rng=rng, resamples=RESAMPLES)
    print(f"bootstrap of {RESAMPLES:,} resamples over 8 x 5 x 54: {time.process_time() - start:.1f} CPU s")


def make_benchmark(path: Path) -> None:
    suite = parse_suite(SUITE)
    directory = BenchmarkDirectory.create(path, suite, plan_suite(suite))
    rng = np.random.default_rng(0)
    for trial in directory.trials:
        make_trial(directory.run_path(trial), trial, rng)


def make_trial(path: Path, trial: PlannedTrial, rng: np.random.Generator) -> None:
    run = RunDirectory.create(path, trial.protocol, trial.seed)
    learns = trial.protocol.learning is not None
    interval = INTERVALS + 1 if learns else 0
    scores = []
    for index in range(trial.episodes):
        episode = make_episode(rng)
        scores.append(episode.score)
        file = run.evaluation_path(interval, index)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encode_episode(EpisodeRecord(episode, trial.protocol, trial.seed, index, interval)))
    result = {"score": float(np.mean(scores)), "scores": scores}
    if learns:
        result |= {"evaluated_from": interval, "evaluation": "frozen"}
        for number in range(1, INTERVALS + 1):
            for index in range(EPISODES_PER_INTERVAL):
                run.add_metrics(
                    {"event": "episode", "interval": number, "index": index, "return": 1.0, "steps": 300}
                )
            run.add_metrics(
                {
                    "event": "interval",
                    "interval": number,
                    "interactions": number * 1_000_000,
                    "episodes": EPISODES_PER_INTERVAL,
                    "mean_return": float(rng.normal(number, 1)),
                    "accepted": True,
                }
            )
    run.write_result(result)


def make_episode(rng: np.random.Generator) -> Episode:
    rewards = rng.integers(0, 5, DECISIONS).tolist()
    decisions = tuple(
        Decision(
            action=0,
            reward=float(reward),
            interactions=97,
            cached=3,
            pruned=40,
            solved=False,
            depth=12,
            seconds=0.15,
        )
        for reward in rewards
    )
    return Episode(decisions, End.TRUNCATED, "0" * 64)


if __name__ == "__main__":
    main()
