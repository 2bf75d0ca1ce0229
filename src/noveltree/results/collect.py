"""All episodes of benchmarks as one tidy table: a row per episode."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from noveltree.benchmark.directory import BenchmarkDirectory
from noveltree.results.comparable import check_unique, group_trials
from noveltree.results.scores import Score
from noveltree.results.trials import RecordedTrial, trials_of_benchmark
from noveltree.results.vouching import Vouch
from noveltree.wording import spreadsheet_cell

COLUMNS = (*(each.name for each in fields(Score) if each.name not in ("file", "manifest")), "episode_file")


@dataclass(frozen=True, slots=True)
class Table:
    """The tidy table, and what has to be said of it."""

    scores: list[Score]
    base: Path
    """Where the table will be: files are named relative to it."""
    finished: int
    missing: list[str]
    """Trials that are planned but not finished; they are not in the table."""
    warnings: list[str]
    manifests: dict[str, str] = field(default_factory=dict)
    """What the manifest of each benchmark states of these episodes, or that there is none that fits."""

    def rows(self) -> list[dict[str, Any]]:
        """The rows, by the names of the columns."""
        return [self._row(score) for score in self.scores]

    def _row(self, score: Score) -> dict[str, Any]:
        file = Path(os.path.relpath(score.file, self.base)).as_posix() if score.file is not None else ""
        seconds = None if score.seconds is None else round(score.seconds, 3)
        return {name: getattr(score, name) for name in COLUMNS[:-1]} | {"seconds": seconds, COLUMNS[-1]: file}

    def to_csv(self) -> str:
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: spreadsheet_cell(cell) for name, cell in row.items()} for row in self.rows())
        return text.getvalue()

    def to_parquet(self) -> bytes:
        """Needs pyarrow."""
        import pyarrow
        import pyarrow.parquet

        rows = self.rows()
        columns = {name: [row[name] for row in rows] for name in COLUMNS}
        buffer = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.table(columns), buffer)
        return buffer.getvalue()


def collect(directories: Sequence[BenchmarkDirectory], *, relative_to: Path) -> Table:
    """The episodes of all finished trials, with what is not comparable about them; files relative to a path."""
    trials = [(directory, trial) for directory in directories for trial in trials_of_benchmark(directory)]
    finished = [trial for _, trial in trials if trial.scores is not None]
    check_unique(finished)
    groups = group_trials(finished)
    differs = {(of.label, trial.protocol_hash): of.differs for of, group in groups.items() for trial in group}
    missing = [
        trial.run.path.relative_to(directory.path).as_posix() for directory, trial in trials if trial.scores is None
    ]
    warnings: dict[str, None] = {}  # each once, in order
    scores = []
    for trial in finished:
        if what := differs[trial.label, trial.protocol_hash]:
            game = trial.protocol.game
            warnings[f"Not comparable with the others: {trial.label} in {game}, played with {what}."] = None
        scores += [replace(score, differs=what) for score in trial.checked_episodes()]
    manifests = {
        str(directory.path): _statement(directory, [trial for of, trial in trials if of is directory], scores)
        for directory in directories
    }
    return Table(scores, relative_to, len(finished), missing, list(warnings), manifests)


def _statement(directory: BenchmarkDirectory, trials: Sequence[RecordedTrial], scores: Sequence[Score]) -> str:
    """What the manifest of a benchmark states of its episodes, if it has all of them as they are."""
    vouch = Vouch.of(directory.path, directory.path)
    files = [each.file for each in scores if each.file is not None and each.file.is_relative_to(directory.path)]
    parts = [trial.run.path / name for trial in trials if trial.scores is not None for name in trial.parts]
    if vouch.manifest is None:
        return "not verified"
    if not all(vouch(path) for path in (directory.plan_path, *parts, *files)):
        return "changed since it was verified"
    return f"by its manifest {vouch.manifest.checked.level}, digest {vouch.manifest.digest}"
