"""All episodes of benchmarks as one tidy table: a row per episode."""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from noveltree.benchmark.conditions import differences, in_words
from noveltree.benchmark.directory import BenchmarkDirectory
from noveltree.benchmark.plan import PlannedTrial
from noveltree.errors import InputError, RecordError
from noveltree.protocol import Protocol
from noveltree.records import read_episode
from noveltree.records.run_directory import RunDirectory

Phase = Literal["training", "evaluation"]


@dataclass(frozen=True, slots=True)
class Row:
    """An episode in the table."""

    agent: str
    """What the suite calls it."""
    game: str
    trial: int
    seed: int
    phase: Phase
    interval: int
    """Of a trial that learns; 0 otherwise."""
    episode: int
    """Which of the trial's in its phase."""
    score: float
    steps: int
    interactions: int
    seconds: float
    protocol_hash: str
    differs: str
    """Why the score is not to be compared with the others; empty if it is."""
    episode_file: str
    """Relative to the table."""


COLUMNS = tuple(field.name for field in fields(Row))


@dataclass(frozen=True, slots=True)
class Table:
    """The tidy table, and what has to be said of it."""

    rows: list[Row]
    finished: int
    missing: list[str]
    """Trials that are planned but not finished; they are not in the table."""
    warnings: list[str]

    def to_csv(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(astuple(row) for row in self.rows)
        return text.getvalue()

    def to_parquet(self) -> bytes:
        """Needs pyarrow."""
        import pyarrow
        import pyarrow.parquet

        columns = {name: [getattr(row, name) for row in self.rows] for name in COLUMNS}
        buffer = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.table(columns), buffer)
        return buffer.getvalue()


def collect(directories: Sequence[BenchmarkDirectory], *, relative_to: Path) -> Table:
    """The episodes of all finished trials; files are named relative to `relative_to`."""
    rows: list[Row] = []
    protocols: dict[str, Protocol] = {}
    missing: list[str] = []
    finished = 0
    for directory in directories:
        for trial in directory.trials:
            if not directory.is_finished(trial):
                missing.append(trial.name)
                continue
            finished += 1
            for row, protocol in _rows(directory, trial, relative_to):
                rows.append(row)
                protocols[protocol.hash] = protocol
    _check_unique(rows)
    labelled, warnings = _label(rows, protocols)
    return Table(labelled, finished, missing, warnings)


def _rows(directory: BenchmarkDirectory, trial: PlannedTrial, base: Path) -> Iterator[tuple[Row, Protocol]]:
    run = RunDirectory.open(directory.run_path(trial))
    result = run.read_result()
    if result is None:
        raise RecordError(f"{run.path} has no result any more.")
    if len(result["scores"]) != trial.episodes:
        raise RecordError(f"{run.path} has {len(result['scores'])} scores, not {trial.episodes} as planned.")
    evaluation = run.evaluation_paths(result)
    evaluated = set(evaluation)
    training = [path for path in run.learnt_paths() if path not in evaluated]
    phases: dict[Phase, list[Path]] = {"training": training, "evaluation": evaluation}
    for phase, paths in phases.items():
        for number, path in enumerate(paths):
            record = read_episode(path)
            episode = record.episode
            row = Row(
                agent=trial.label,
                game=trial.game,
                trial=trial.trial,
                seed=record.seed,
                phase=phase,
                interval=record.interval,
                episode=number,
                score=episode.score,
                steps=episode.steps,
                interactions=episode.interactions,
                seconds=round(episode.seconds, 3),
                protocol_hash=record.protocol.hash,
                differs="",
                episode_file=Path(os.path.relpath(path, base)).as_posix(),
            )
            yield row, record.protocol


def _check_unique(rows: Sequence[Row]) -> None:
    """Complain if an episode would count twice."""
    places: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        place = (row.agent, row.game, row.seed, row.phase, row.episode, row.protocol_hash)
        if other := places.get(place):
            raise InputError(f"{row.episode_file} and {other.episode_file} are the same episode of the same trial.")
        places[place] = row


def _label(rows: Sequence[Row], protocols: dict[str, Protocol]) -> tuple[list[Row], list[str]]:
    """Say with every row in what it is not comparable with the others, and warn."""
    settings = differences(Counter((row.agent, row.protocol_hash) for row in rows), protocols)
    found = {(agent, name): in_words(protocols[name], those) for (agent, name), those in settings.items()}
    warnings: dict[str, None] = {}  # each once, in order
    for row in rows:
        if what := found[row.agent, row.protocol_hash]:
            warnings[f"Not comparable with the others: {row.agent} in {row.game}, played with {what}."] = None
    return [replace(row, differs=found[row.agent, row.protocol_hash]) for row in rows], list(warnings)
