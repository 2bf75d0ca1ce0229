"""Take the evaluation episodes out of those of the authors' released trials, as noveltree ships them.

    python scripts/authors_evaluations.py authors_episodes.csv.xz

The argument is that of `authors_curves.py`. A trial is evaluated by the first ten episodes that begin when it has
spent its training budget of 20,000,000 simulator interactions: those after the one that crosses it. One trial of
the authors stopped at 11 million (N-CPL_D in Name This Game); the paper counts its last ten episodes, and so does
this.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict, deque
from collections.abc import Iterable
from pathlib import Path

import noveltree.published
from authors_curves import Trial, by_trial, write_table

PACKAGED = Path(noveltree.published.__file__).parent / "authors_evaluations.csv.xz"
COLUMNS = ("agent", "game", "trial", "episode", "score", "steps")
BUDGET = 20_000_000
EPISODES = 10


def main() -> None:
    write_table(select, PACKAGED, __doc__)


def select(episodes: Iterable[dict[str, str]]) -> str:
    """A row per evaluation episode, sorted by agent, game and trial."""
    training: dict[Trial, deque[tuple[int, str, int]]] = defaultdict(lambda: deque(maxlen=EPISODES))
    evaluation: dict[Trial, list[tuple[int, str, int]]] = {}
    for trial, interactions, episode in by_trial(episodes):
        row = (int(episode["episode"]), episode["reward"].removesuffix(".0"), int(episode["steps"]))
        if trial not in evaluation:
            training[trial].append(row)
            if interactions >= BUDGET:
                evaluation[trial] = []
        elif len(evaluation[trial]) < EPISODES:
            evaluation[trial].append(row)
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    for trial in sorted(training):
        writer.writerows((*trial, *row) for row in evaluation.get(trial, training[trial]))
    return table.getvalue()


if __name__ == "__main__":
    main()
