"""Build the learners' section of docs/reproduction.md: curves, training tails and evaluations of recorded runs.

    python scripts/learners.py experiments/learners --write docs/reproduction.md --figure docs/learners.png

The training tail is the mean of all episodes that end in the last tenth of a run's interactions: the published
scores of pi-IW and its descendants are no means of 50 episodes, and that is the closest to what they may be.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noveltree.published import published_scores
from noveltree.records.run_directory import RunDirectory
from noveltree.simulators.games import game_title
from reproduction import print_or_write

FIFTHS = 5
TAIL = 0.9
#: Names of agents in the paper's table, where they are others than ours.
IN_THE_TABLE = {"pi-iw-plus": "pi-iw+"}
#: Episodes of the running mean in the figure.
WINDOW = 10


@dataclass(frozen=True, slots=True)
class Run:
    """What a run's metrics say."""

    game: str
    agent: str
    interactions: int
    """Spent on training."""
    episodes: Sequence[dict[str, Any]]
    """Of training, in the order in which they ended."""
    evaluations: Sequence[float]

    def between(self, first: float, last: float) -> list[float]:
        """The returns of episodes that ended between two shares of the training, the second included."""
        return [
            episode["return"]
            for episode in self.episodes
            if first * self.interactions < episode["at"] <= last * self.interactions
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, help="with finished runs somewhere below it")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    runs = read_runs(options.directory)
    if options.figure is not None:
        draw(runs, options.figure)
    print_or_write(build_table(runs), options.write, "learners")


def read_runs(directory: Path) -> list[Run]:
    """All runs that were evaluated, by game, then in the order of their agents and lengths."""
    runs = []
    for path in sorted(file.parent for file in directory.rglob("run.json")):
        directory_of_run = RunDirectory.open(path)
        metrics = list(directory_of_run.read_metrics())
        evaluations = [line["returns"] for line in metrics if line["event"] == "evaluation"]
        if evaluations:
            protocol = directory_of_run.protocol
            spent = max((line["interactions"] for line in metrics if line["event"] == "interval"), default=0)
            episodes = [line for line in metrics if line["event"] == "episode" and "at" in line]
            runs.append(Run(protocol.game, protocol.agent, spent, episodes, evaluations[-1]))
    return sorted(runs, key=lambda run: (run.game, run.agent, run.interactions))


def build_table(runs: Sequence[Run]) -> str:
    """One row per run: the mean return in each fifth of training, the tail, the evaluation, what was published."""
    fifths = " | ".join(f"{number}/{FIFTHS}" for number in range(1, FIFTHS + 1))
    lines = [
        f"| game | agent | interactions | {fifths} | tail | evaluation (episodes) | published |",
        "| --- | --- " + "| ---: " * (FIFTHS + 4) + "|",
    ]
    for run in runs:
        curve = [_mean(run.between((n - 1) / FIFTHS, n / FIFTHS)) for n in range(1, FIFTHS + 1)]
        lines.append(
            f"| {game_title(run.game)} | {run.agent} | {run.interactions:,} | {' | '.join(curve)} "
            f"| {_mean(run.between(TAIL, 1))} | {_mean(run.evaluations)} ({len(run.evaluations)}) "
            f"| {_published(run)} |"
        )
    return "\n".join(lines)


def draw(runs: Sequence[Run], path: Path) -> None:
    """A panel for each game: the running mean of the returns of each agent's longest training."""
    from matplotlib.figure import Figure

    runs = list({(run.game, run.agent): run for run in runs}.values())
    games = sorted({run.game for run in runs if run.episodes})
    figure = Figure(figsize=(5 * len(games), 3.4), layout="constrained")
    for panel, game in zip(figure.subplots(1, len(games), squeeze=False)[0], games, strict=True):
        for run in runs:
            if run.game == game and run.episodes:
                returns = [episode["return"] for episode in run.episodes]
                means = [statistics.fmean(returns[max(0, i - WINDOW + 1) : i + 1]) for i in range(len(returns))]
                ends = [episode["at"] for episode in run.episodes]
                panel.plot(ends, means, label=f"{run.agent}, {run.interactions:,}")
        panel.set(
            title=game_title(game), xlabel="interactions", ylabel=f"mean return of the last {WINDOW} episodes"
        )
        panel.legend(frameon=False, fontsize="small")
    figure.savefig(path, dpi=110)


def _mean(returns: Sequence[float]) -> str:
    return f"{statistics.fmean(returns):,.1f}" if returns else "-"


def _published(run: Run) -> str:
    agents = published_scores()
    scores = agents.get(IN_THE_TABLE.get(run.agent, run.agent), {})
    return f"{scores[run.game].mean:,.1f}" if run.game in scores else "-"


if __name__ == "__main__":
    main()
