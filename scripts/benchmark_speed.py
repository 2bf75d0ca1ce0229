"""Measure what running benchmarks costs on this machine: launching, two workers against one, and 10,000 trials.

    python scripts/benchmark_speed.py [--game breakout] [--trials 4] [--episodes 1]

Trials of RIW_C are run with one worker and with two, in turns, on an otherwise idle machine with two cores. What a
trial's process takes beyond the decisions in its episodes is the cost of launching it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from noveltree.benchmark import BenchmarkDirectory, plan_suite, read_suite
from noveltree.benchmark.estimate import estimate
from noveltree.benchmark.suite import Suite, parse_suite
from noveltree.results import collect

NOVELTREE = [sys.executable, "-m", "noveltree"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="breakout")
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument("--episodes", type=int, default=1)
    parser.add_argument("--max-frames", type=int, default=2250, help="150 decisions, for equal trials")
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    suite = parse_suite(
        f"{{name: speed, games: [{options.game}], agents: [riw-c], trials: {options.trials}, "
        f"evaluation_episodes: {options.episodes}, conditions: {{max_frames: {options.max_frames}}}}}"
    )
    seconds: dict[int, list[float]] = {1: [], 2: []}
    launching: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(options.repeats):
            for workers, times in seconds.items():
                directory = Path(folder) / f"{repeat}-{workers}"
                times.append(run(suite, directory, workers))
                if workers == 1:
                    launching += launch_seconds(directory)
                print(f"{workers} workers: {times[-1]:.1f} s", file=sys.stderr, flush=True)
        many = plan_and_status(Path(folder))
    # As long as ten episodes of the paper take here: of the length that the authors' had, at the measured rate.
    (trial,) = plan_suite(read_suite("paper-planners").part(games=[options.game], agents=["riw-c"], trials=1))
    paper_trial = estimate([trial])[0].seconds
    print(
        json.dumps(
            {
                "two_workers_ratio": round(statistics.fmean(seconds[2]) / statistics.fmean(seconds[1]), 3),
                "seconds": {workers: [round(each, 1) for each in times] for workers, times in seconds.items()},
                "launch_seconds": round(statistics.median(launching), 2),
                "launch_share_of_paper_trial": round(statistics.median(launching) / paper_trial, 5),
                **many,
            }
        )
    )


def run(suite: Suite, directory: Path, workers: int) -> float:
    """Wall-clock seconds of running a suite, from the command to its end."""
    file = directory.with_suffix(".yaml")
    file.write_text(suite.to_yaml())
    began = time.monotonic()
    subprocess.run(
        [*NOVELTREE, "benchmark", "run", str(file), "--out", str(directory), "--workers", str(workers), "--json"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.monotonic() - began


def launch_seconds(directory: Path) -> list[float]:
    """Of every trial: the time of its process less that of the decisions it made."""
    benchmark = BenchmarkDirectory.open(directory)
    deciding: dict[int | str, float] = {}
    for each in collect([benchmark], relative_to=directory).scores:
        deciding[each.trial] = deciding.get(each.trial, 0.0) + (each.seconds or 0.0)
    return [status.seconds - deciding[status.trial.trial] for status in benchmark.statuses()]


def plan_and_status(folder: Path) -> dict[str, float]:
    """Wall-clock seconds of planning 10,890 trials and of looking how far they are, half of them being finished."""
    agents = ", ".join(f"{{agent: riw-c, name: a{number}, horizon: {80 + number}}}" for number in range(18))
    file = folder / "many.yaml"
    file.write_text(f"{{name: many, games: paper, agents: [{agents}], trials: 11}}")
    suite = read_suite(str(file))
    directory = BenchmarkDirectory.create(folder / "many", suite, plan_suite(suite))
    statuses = directory.statuses()
    for status in statuses[::2]:
        path = directory.run_path(status.trial)
        path.mkdir(parents=True)
        (path / "result.json").write_text("{}")
    lines = (
        json.dumps({"event": event, "trial": status.trial.name, "time": 0.0, "seconds": 1.0})
        for status in statuses[::2]
        for event in ("began", "finished")
    )
    directory.journal.path.write_text("\n".join(lines) + "\n")
    commands = {"plan_seconds": ["plan", str(file)], "status_seconds": ["status", str(directory.path)]}
    return {name: round(min(timed(arguments) for _ in range(3)), 2) for name, arguments in commands.items()}


def timed(arguments: list[str]) -> float:
    began = time.monotonic()
    subprocess.run([*NOVELTREE, "benchmark", *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


if __name__ == "__main__":
    main()
