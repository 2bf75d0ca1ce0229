"""Results to analyse: scores by agent, game and trial, from a tidy table, a benchmark, a run, or the paper."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from noveltree.analysis.statistics import Sample
from noveltree.benchmark import BenchmarkDirectory, collect
from noveltree.benchmark.directory import PLAN
from noveltree.errors import InputError, NoveltreeError, RecordError, UnknownNameError
from noveltree.published import PUBLISHED_EPISODES, published_scores
from noveltree.records.run_directory import RUN, RunDirectory
from noveltree.simulators.games import canonical_game

#: What a table must have to be analysed; `noveltree benchmark collect` writes more.
_NEEDED = ("agent", "game", "trial", "episode", "phase", "score")
PUBLISHED = "published"


@dataclass(frozen=True, slots=True)
class Results:
    """What agents scored, and where that comes from."""

    source: str
    samples: Mapping[str, Mapping[str, Sample]]
    """By agent and game: all evaluation episodes of all trials. Of published means, what their intervals tell."""

    def of(self, agent: str | None) -> Mapping[str, Sample]:
        """The samples of one agent by game; of the only one, if none is named."""
        if agent is None:
            if len(self.samples) != 1:
                agents = ", ".join(self.samples)
                raise InputError(
                    f"{self.source} has several agents; name one of them, as {self.source}:AGENT: {agents}."
                )
            (agent,) = self.samples
        if agent not in self.samples:
            raise UnknownNameError(f"agent in {self.source}", agent, self.samples)
        return self.samples[agent]


def read_results(source: str) -> Results:
    """Results by the path of a table, a benchmark or a run, or those of the paper by the name `published`."""
    if source == PUBLISHED:
        return published_results()
    path = Path(source)
    if (path / PLAN).is_file():
        table = collect([BenchmarkDirectory.open(path)], relative_to=path)
        if not table.rows:
            raise InputError(f"No trial of {path} is finished yet.")
        rows = ((row.agent, row.game, row.score) for row in table.rows if row.phase == "evaluation")
        return _results(source, rows)
    if (path / RUN).is_file():
        run = RunDirectory.open(path)
        result = run.read_result()
        if result is None:
            raise InputError(f"The run in {path} is not over yet: it has no scores.")
        return _results(source, ((run.protocol.agent, run.protocol.game, score) for score in result["scores"]))
    if not path.is_file():
        raise InputError(f"There is no table, benchmark or run {source}.")
    return _results(source, read_table(path))


def published_results() -> Results:
    """The paper's scores, with what their 90% intervals tell; those of others have none, and count as one score."""
    samples = {
        agent: {
            game: Sample(score.mean, math.nan, 1)
            if score.interval is None
            else Sample.published(score.mean, score.interval, PUBLISHED_EPISODES)
            for game, score in games.items()
        }
        for agent, games in published_scores().items()
    }
    return Results(PUBLISHED, samples)


def read_table(path: Path) -> list[tuple[str, str, float]]:
    """Agent, game and score of the evaluation episodes of a tidy table; what is wrong with it names the row."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            missing = [name for name in _NEEDED if name not in (reader.fieldnames or ())]
            if missing:
                raise RecordError(f"{path} is no table of episodes: it has no column {missing[0]}.")
            rows = list(reader)
    except OSError as error:
        raise RecordError(f"Cannot read {path}: {error.strerror or error}.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise RecordError(f"{path} is no table of episodes: {error}.") from error
    seen: dict[tuple[str, ...], int] = {}
    hashes: dict[tuple[str, str], str] = {}
    scores = []
    for number, row in enumerate(rows, start=2):  # the first line has the names
        where = f"{path}, line {number}"
        if any(row[name] is None for name in _NEEDED):
            raise RecordError(f"{where}: it ends too early.")
        place = tuple(row[name] for name in ("agent", "game", "trial", "phase", "episode"))
        if place in seen:
            raise RecordError(f"{where}: the same episode as in line {seen[place]}.")
        seen[place] = number
        if row["phase"] != "evaluation":
            continue
        if row.get("differs"):
            raise RecordError(f"{where}: not comparable with the others: {row['differs']}.")
        agent, game = row["agent"], _game(row["game"], where)
        protocol = row.get("protocol_hash") or ""
        if hashes.setdefault((agent, game), protocol) != protocol:
            raise RecordError(f"{where}: another protocol than before of {agent} in {game}.")
        scores.append((agent, game, _score(row["score"], where)))
    if not scores:
        raise RecordError(f"{path} has no evaluation episodes.")
    return scores


def _game(name: str, where: str) -> str:
    if "-v" in name or name == "corridor":  # of Gymnasium, or the toy
        return name
    try:
        return canonical_game(name)
    except NoveltreeError as error:
        raise RecordError(f"{where}: {error}") from error


def _score(text: str, where: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise RecordError(f"{where}: the score {text!r} is no number.")
    return score


def _results(source: str, scores: Iterable[tuple[str, str, float]]) -> Results:
    grouped: dict[str, dict[str, list[float]]] = {}
    for agent, game, score in scores:
        grouped.setdefault(agent, {}).setdefault(game, []).append(score)
    samples = {
        agent: {game: Sample.of(values) for game, values in games.items()} for agent, games in grouped.items()
    }
    return Results(source, samples)
