"""Aggregate the episodes of the authors' released trials into the learning curves that noveltree ships.

    python scripts/authors_curves.py authors_episodes.csv.xz

The argument has a row per episode: algorithm, game, trial, episode, reward, steps, trained, sim_calls, the last
being the simulator interactions of the trial up to the end of the episode. An episode is counted in the million in
which it ends: with 1,000,000 interactions in the first, with 1,000,001 in the second. The million in which a trial
stops is left out, because it is a fragment.
"""

from __future__ import annotations

import argparse
import csv
import io
import lzma
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import noveltree.published
from noveltree.agents import get_agent
from noveltree.simulators.games import canonical_game

PACKAGED = Path(noveltree.published.__file__).parent / "authors_curves.csv.xz"
COLUMNS = ("agent", "game", "trial", "million", "episodes", "mean_return")
MILLION = 1_000_000

#: Agent, game and number, the names being canonical.
Trial = tuple[str, str, int]


def main() -> None:
    write_table(aggregate, PACKAGED, __doc__)


def write_table(make: Callable[[Iterable[dict[str, str]]], str], packaged: Path, description: str | None) -> None:
    """Pack what is made of the episodes whose file is named on the command line."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("episodes", type=Path)
    parser.add_argument("--write", type=Path, default=packaged)
    options = parser.parse_args()
    with lzma.open(options.episodes, "rt", newline="") as file:
        table = make(csv.DictReader(file))
    options.write.write_bytes(lzma.compress(table.encode(), preset=9 | lzma.PRESET_EXTREME))


def by_trial(episodes: Iterable[dict[str, str]]) -> Iterator[tuple[Trial, int, dict[str, str]]]:
    """Every episode with its trial and with the trial's interactions up to its end, which must grow."""
    spent: dict[Trial, int] = defaultdict(int)
    for episode in episodes:
        trial = (get_agent(episode["algorithm"]).name, canonical_game(episode["game"]), int(episode["trial"]))
        interactions = int(episode["sim_calls"])
        if interactions <= spent[trial]:
            raise ValueError(f"{trial}: the interactions fall from {spent[trial]} to {interactions}.")
        spent[trial] = interactions
        yield trial, interactions, episode


def aggregate(episodes: Iterable[dict[str, str]]) -> str:
    """A row per agent, game, trial and million, sorted; means have six significant digits."""
    returns: dict[Trial, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    spent: dict[Trial, int] = {}
    for trial, interactions, episode in by_trial(episodes):
        spent[trial] = interactions
        returns[trial][-(-interactions // MILLION)].append(float(episode["reward"]))
    rows = [
        (*trial, million, len(scores), statistics.fmean(scores))
        for trial, millions in returns.items()
        for million, scores in millions.items()
        if million * MILLION <= spent[trial]
    ]
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((*row, f"{mean:.6g}") for *row, mean in sorted(rows))
    return table.getvalue()


if __name__ == "__main__":
    main()
