r"""What agents score on the way, beside the authors' N-CPL after ten times as much: a table of faster-learning.md.

    python scripts/whole_way.py experiments/faster-learning/short-3 --write docs/faster-learning.md:whole-way \
        --figure docs/whole-way.png --planners experiments/faster-learning/planners-20 --planner patient

A cell has the mean over trials of their evaluations, how many trials, and in brackets the authors' mean return in
the million that it is compared with. The last columns are the authors' mean return in their last million, and the
share of their way from the first to the last as far as ours were trained. The figure has the authors' curves, these
evaluations, and what the planner alone scored.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from noveltree.analysis import authors_way, mean_curve
from noveltree.analysis.curves import points_of_trial
from noveltree.published import authors_curve
from noveltree.records.run_directory import RunDirectory
from noveltree.results import read_milestones, read_records
from noveltree.simulators.games import game_title
from reproduction import print_or_write

#: Interactions of ours, and the authors' million that they are compared with.
STAGES = {200_000: 2, 1_000_000: 5, 2_000_000: 20}
_LAST = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", type=Path, nargs="+", help="runs, or benchmarks of one agent")
    parser.add_argument("--write", help="DOCUMENT:SECTION")
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--planners", type=Path, nargs="*", default=[], help="benchmarks with the planner alone")
    parser.add_argument("--planner", help="what these call it")
    options = parser.parse_args()
    runs = [
        RunDirectory.open(file.parent) for each in options.directories for file in sorted(each.rglob("run.json"))
    ]
    by_game: dict[str, list[Mapping[int, float]]] = {}
    for run in runs:
        if scores := evaluations(run):
            by_game.setdefault(run.protocol.game, []).append(scores)
    if options.figure is not None:
        draw(by_game, planner_scores(options.planners, options.planner), options.figure)
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
    stages = [stage for stage in STAGES if any(stage in each for runs in by_game.values() for each in runs)]
    heads = [f"after {stage:,} (their million {STAGES[stage]})" for stage in stages]
    lines = [
        f"| game | {' | '.join(heads)} | their million {_LAST} | share of their way |",
        f"| --- |{' ---: |' * (len(stages) + 2)}",
    ]
    above, at_the_end, shares = dict.fromkeys(stages, 0), 0, []
    for game in sorted(by_game, key=game_title):
        cells, mean = [], math.nan
        for stage in stages:
            scores = [each[stage] for each in by_game[game] if stage in each]
            theirs = _authors(game, STAGES[stage])
            if scores:
                mean = statistics.fmean(scores)
                above[stage] += mean >= theirs
                bold = "**" if mean >= theirs else ""
                cells.append(f"{bold}{mean:,.0f}{bold} of {len(scores)} ({theirs:,.0f})")
            else:
                cells.append(f"- ({theirs:,.0f})")
        way, last = authors_way(game), _authors(game, _LAST)
        assert way is not None, "the authors trained in all development games"
        at_the_end += mean >= last
        shares.append(way.share(mean))
        lines.append(f"| {game_title(game)} | {' | '.join(cells)} | {last:,.0f} | {shares[-1]:.0%} |")
    counts = " | ".join(f"{above[stage]} games" for stage in stages)
    lines.append(
        f"| at least theirs | {counts} | {at_the_end} games | {statistics.median(shares):.0%} in the median |"
    )
    return "\n".join(lines)


def planner_scores(directories: Sequence[Path], label: str | None) -> dict[str, float]:
    """The mean score of a planner by game."""
    if not directories:
        return {}
    (agent,) = (agent for agent in read_records(directories).agents if agent.label == label)
    return {game: sample.mean for game, sample in agent.samples.items()}


def draw(by_game: Mapping[str, Sequence[Mapping[int, float]]], planners: Mapping[str, float], path: Path) -> None:
    """A panel per game: interactions on a logarithmic axis, so that a tenth is always as far."""
    import matplotlib
    from matplotlib.figure import Figure

    games = sorted({*by_game, *planners}, key=game_title)
    with matplotlib.rc_context({"font.size": 7, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(layout="constrained", figsize=(7.1, 1.9 * math.ceil(len(games) / 4) + 0.3))
        panels = figure.subplots(math.ceil(len(games) / 4), 4, squeeze=False).flat
        for axes, game in zip(panels, games, strict=False):
            axes.set_title(game_title(game), fontsize=8)
            axes.set_xscale("log")
            theirs = [
                (point.interactions, point.mean)
                for point in mean_curve(list(map(points_of_trial, authors_curve(game, "n-cpl"))))
                if point.interactions <= 20_000_000
            ]
            axes.plot(*zip(*theirs, strict=True), color="#808080", label="authors' N-CPL, mean of 5 trials")
            if game in planners:
                axes.axhline(
                    planners[game], color="#D55E00", linestyle="--", linewidth=0.9, label="riw-plus, no network"
                )
            scores = by_game.get(game, ())
            for each in scores:
                axes.plot(each.keys(), each.values(), ".", color="#0072B2", markersize=3)
            stages = [stage for stage in STAGES if any(stage in each for each in scores)]
            means = [statistics.fmean(each[stage] for each in scores if stage in each) for stage in stages]
            axes.plot(stages, means, "o-", color="#0072B2", markersize=4, label="n-cpl-plus, evaluated")
            axes.set_ylim(bottom=0)
            axes.yaxis.set_major_formatter("{x:,.0f}")
            axes.set_xticks([200_000, 1_000_000, 5_000_000, 20_000_000], ["0.2M", "1M", "5M", "20M"])
            axes.minorticks_off()
        for axes in panels:
            axes.set_axis_off()
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        figure.savefig(path, dpi=200, metadata={"Software": None})


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
