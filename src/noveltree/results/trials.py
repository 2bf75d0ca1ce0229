"""Trials on disk: those of benchmarks, runs, and episodes that were played one by one."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from noveltree.benchmark.directory import PLAN, BenchmarkDirectory, State
from noveltree.episodes import End, Episode
from noveltree.errors import InputError, RecordError
from noveltree.protocol import Protocol
from noveltree.records.episode_file import EpisodeRecord, EpisodeSummary, is_episode, read_episode, read_summary
from noveltree.records.run_directory import RESULT, RUN, RunDirectory, place_of_episode
from noveltree.results.scores import Phase, Score

#: The name of the manifest that has a file, whose digest may be known, as it is; empty if there is none.
Vouched = Callable[[Path, str | None], str]


@dataclass(slots=True)
class RecordedTrial:
    """A trial, finished or not."""

    label: str
    """What its suite calls the agent."""
    number: int
    """Which of the suite's; of one that is part of no benchmark, its seed."""
    run: RunDirectory
    state: State
    error: str = ""
    """Of the last failure."""
    scores: Sequence[float] | None = None
    """Of its evaluation, once it is finished."""
    paths: Sequence[Path] = ()
    """The records of these."""
    parts: tuple[str, ...] = (RUN, RESULT)
    """Files of the run that have to be verified with its episodes."""
    episodes: Sequence[Score] = ()
    """What its evaluation episodes scored, once they were read."""
    protocol_hash: str = field(init=False)

    def __post_init__(self) -> None:
        self.protocol_hash = self.protocol.hash

    @property
    def protocol(self) -> Protocol:
        return self.run.protocol

    @property
    def mean(self) -> float | None:
        return None if self.scores is None else statistics.fmean(self.scores)

    def evaluation(self, vouched: Vouched) -> Iterator[Score]:
        """What its evaluation episodes scored, including those whose records are not there any more."""
        whole = all(vouched(self.run.path / name, None) for name in self.parts)
        for number, score in enumerate(self.scores or ()):
            path = self.paths[number] if number < len(self.paths) else None
            if path is None or not path.exists():
                yield self._score("evaluation", number, score)
                continue
            summary = read_summary(path)
            if summary.score != score:
                raise RecordError(f"{path} has the score {summary.score:g}, not {score:g} as the result says.")
            made = _recorded(self._score("evaluation", number, score), path, summary)
            yield replace(made, manifest=vouched(path, summary.digest) if whole else "")

    def checked_episodes(self) -> Iterator[Score]:
        """What all its episodes scored, those that were learnt from first; every record is read whole."""
        evaluated = set(self.paths)
        learnt = [path for path in self.run.learnt_paths() if path not in evaluated]
        phases: dict[Phase, Sequence[Path]] = {"training": learnt, "evaluation": self.paths}
        for phase, paths in phases.items():
            for number, path in enumerate(paths):
                episode = read_episode(path).episode
                yield _recorded(self._score(phase, number, episode.score), path, episode)

    def _score(self, phase: Phase, number: int, score: float) -> Score:
        return Score(
            agent=self.label,
            game=self.protocol.game,
            trial=self.number,
            seed=self.run.seed,
            phase=phase,
            episode=number,
            score=score,
            protocol_hash=self.protocol_hash,
        )


def _recorded(score: Score, path: Path, record: Episode | EpisodeSummary) -> Score:
    interval, _ = place_of_episode(path) or (0, 0)
    costs = {name: getattr(record, name) for name in ("steps", "interactions", "seconds")}
    return replace(score, interval=interval, file=path, **costs)


def find_places(path: Path) -> Iterator[Path]:
    """The benchmarks, runs and folders of episodes in a directory and below, sorted."""
    if (path / PLAN).is_file() or (path / RUN).is_file():
        yield path
    elif path.is_dir():
        entries = sorted(path.iterdir())
        if any(map(is_episode, entries)):
            yield path
        for entry in entries:
            if entry.is_dir() and not entry.is_symlink():
                yield from find_places(entry)


def trials_in(place: Path) -> tuple[list[RecordedTrial], list[Path]]:
    """The trials of a benchmark, a run or a folder of episodes; and episodes that were stopped, without a score."""
    if (place / PLAN).is_file():
        return trials_of_benchmark(BenchmarkDirectory.open(place)), []
    if (place / RUN).is_file():
        run = RunDirectory.open(place)
        return [_with_result(RecordedTrial(run.protocol.agent, run.seed, run, "interrupted"))], []
    return _loose_trials(place)


def trials_of_benchmark(directory: BenchmarkDirectory) -> list[RecordedTrial]:
    """The trials of a benchmark; whether they are those that were planned is checked."""
    trials = []
    for status in directory.statuses():
        planned, where = status.trial, directory.run_path(status.trial)
        run = RunDirectory(where, planned.protocol, planned.seed)
        if (where / RUN).is_file():
            run = RunDirectory.open(where)
        trial = RecordedTrial(planned.label, planned.trial, run, status.state, status.error)
        if (trial.protocol_hash, run.seed) != (planned.protocol.hash, planned.seed):
            raise RecordError(f"{where} is not the run that was planned.")
        if status.state == "finished":
            if not (where / RUN).is_file():
                raise RecordError(f"{where} has a result, but no {RUN} that says what it is of.")
            _with_result(trial)
            if len(trial.scores or ()) != planned.episodes:
                raise RecordError(
                    f"{where} has {len(trial.scores or ())} scores, not {planned.episodes} as planned."
                )
        trials.append(trial)
    return trials


def _with_result(trial: RecordedTrial) -> RecordedTrial:
    if (result := trial.run.read_result()) is not None:
        trial.state = "finished"
        trial.scores, trial.paths = result["scores"], trial.run.evaluation_paths(result)
    return trial


def _loose_trials(path: Path) -> tuple[list[RecordedTrial], list[Path]]:
    """Episodes that were played one by one: those of one seed are a trial."""
    played: dict[tuple[str, int], dict[int, tuple[Path, EpisodeRecord]]] = {}
    stopped = []
    for file in filter(is_episode, sorted(path.iterdir())):
        record = read_episode(file)
        if record.interval:
            raise InputError(f"{file} is an episode of a run that learns; give the directory of the run.")
        if record.episode.end not in (End.TERMINAL, End.TRUNCATED):
            stopped.append(file)
            continue
        trial = played.setdefault((record.protocol.hash, record.seed), {})
        if record.index in trial:
            raise InputError(f"{file} and {trial[record.index][0]} are the same episode; leave one of them out.")
        trial[record.index] = (file, record)
    trials = []
    for found in played.values():
        files, records = zip(*(found[index] for index in sorted(found)), strict=True)
        run = RunDirectory(path, records[0].protocol, records[0].seed)
        scores = [record.episode.score for record in records]
        trials.append(
            RecordedTrial(run.protocol.agent, run.seed, run, "finished", scores=scores, paths=files, parts=())
        )
    return trials, stopped
