r"""What agents score on the way, beside the authors' N-CPL after ten times as much: a table of faster-learning.md.

    python scripts/whole_way.py experiments/faster-learning/long-3 --write docs/faster-learning.md:whole-way

A cell has the mean over trials of their evaluations, how many trials, and in brackets the authors' mean return in
the million that it is compared with. The last column is the share of the authors' way at the end.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from noveltree.analysis import authors_way
from noveltree.published import authors_curve
from noveltree.records.run_directory import RunDirectory
from noveltree.results import read_milestones
from noveltree.simulators.games import game_title
from reproduction import print_or_write

#: Interactions of ours, and the authors' million that they are compared with.
STAGES = {200_000: 2, 1_000_000: 5, 2_000_000: 20}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", type=Path, nargs="+", help="runs, or benchmarks of one agent")
    parser.add_argument("--write", help="DOCUMENT:SECTION")
    options = parser.parse_args()
    runs = [
        RunDirectory.open(file.parent) for each in options.directories for file in sorted(each.rglob("run.json"))
    ]
    by_game: dict[str, list[Mapping[int, float]]] = {}
    for run in runs:
        if scores := evaluations(run):
            by_game.setdefault(run.protocol.game, []).append(scores)
    document, _, section = (options.write or "").partition(":")
    print_or_write(build_table(by_game), Path(document) if document else None, section)


def evaluations(run: RunDirectory) -> dict[int, float]:
    """The mean evaluation of a run at each of the stages that it has come to."""
    scores = {}
    for interactions, mean in read_milestones(run):
        stage = max((each for each in STAGES if each <= interactions), default=None)
        if stage is not None:
            scores[stage] = mean
    result = run.read_result()
    if result is not None and (end := run.protocol.training_interactions) in STAGES:
        scores[end] = result["score"]
    return scores


def build_table(by_game: Mapping[str, Sequence[Mapping[int, float]]]) -> str:
    """One row per game, one column per stage."""
    heads = [f"{stage:,} (authors' million {number})" for stage, number in STAGES.items()]
    lines = [f"| game | {' | '.join(heads)} | share of the way |", f"| --- |{' ---: |' * (len(STAGES) + 1)}"]
    above = dict.fromkeys(STAGES, 0)
    for game in sorted(by_game, key=game_title):
        cells = []
        for stage, number in STAGES.items():
            scores = [each[stage] for each in by_game[game] if stage in each]
            theirs = _authors(game, number)
            if not scores:
                cells.append(f"- ({theirs:,.0f})")
                continue
            mean = statistics.fmean(scores)
            above[stage] += mean >= theirs
            cells.append(
                f"{'**' if mean >= theirs else ''}{mean:,.0f}{'**' if mean >= theirs else ''} "
                f"of {len(scores)} ({theirs:,.0f})"
            )
        last = [each[max(STAGES)] for each in by_game[game] if max(STAGES) in each]
        way = authors_way(game)
        share = "-" if way is None or not last else f"{way.share(statistics.fmean(last)):.0%}"
        lines.append(f"| {game_title(game)} | {' | '.join(cells)} | {share} |")
    counts = " | ".join(f"{above[stage]} games" for stage in STAGES)
    lines.append(f"| at least the authors' | {counts} | |")
    return "\n".join(lines)


def _authors(game: str, number: int) -> float:
    """The mean return of the authors' N-CPL in one of its millions."""
    means = [
        each.mean_return
        for trial in authors_curve(game, "n-cpl")
        for each in trial.millions
        if each.number == number
    ]
    return statistics.fmean(means)


if __name__ == "__main__":
    main()
