"""What is recorded in benchmarks, runs and tables: scores, what is missing, what was verified, learning curves."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from noveltree.analysis.curves import RunCurve, finished_intervals
from noveltree.analysis.results import AgentScores, EpisodeScore, agents_of_episodes
from noveltree.analysis.tables import read_table
from noveltree.benchmark import BenchmarkDirectory
from noveltree.benchmark.conditions import differences, in_words
from noveltree.benchmark.directory import PLAN
from noveltree.episodes import End
from noveltree.errors import InputError, RecordError
from noveltree.protocol import Protocol, compare_protocols, make_protocol
from noveltree.records.episode_file import FORMAT, EpisodeRecord, read_episode, read_summary
from noveltree.records.files import file_digest
from noveltree.records.manifest import Manifest, read_manifest
from noveltree.records.run_directory import RESULT, RUN, RunDirectory

#: Settings of a planner that are worth a word if they are not the usual ones.
_METHOD = ("horizon", "discount", "tie_breaking", "rollout_depth", "exploration")


@dataclass(frozen=True, slots=True)
class FailedTrial:
    """A trial that failed, even after its retries."""

    trial: str
    error: str


@dataclass(frozen=True, slots=True)
class LearningCurves:
    """The trials of an agent that learns, in one game."""

    name: str
    """Of the agent among others."""
    agent: str
    """What it is: the authors' curve of that agent may stand behind."""
    differs: str
    """In what its conditions are not those of the others, in words; empty if they are."""
    game: str
    runs: tuple[RunCurve, ...]


@dataclass(slots=True)
class Records:
    """What was found in directories and tables."""

    agents: tuple[AgentScores, ...] = ()
    failed: list[FailedTrial] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    """Trials that were planned or begun but are not over."""
    unverified: list[str] = field(default_factory=list)
    """Directories with episodes that nobody has verified, or that were changed since."""
    tables: list[str] = field(default_factory=list)
    """Tables, of which neither the conditions are known nor whether their episodes were verified."""
    without_files: list[str] = field(default_factory=list)
    """Trials whose episodes are not there any more."""
    curves: list[LearningCurves] = field(default_factory=list)
    """Of trials that learn, finished or not."""
    lost_intervals: list[str] = field(default_factory=list)
    """Runs of whose learning curves points are missing, and which."""


def read_records(paths: Sequence[Path], *, beside_published: bool = False) -> Records:
    """All that is recorded in tables, benchmarks, runs, episodes, and folders of these.

    Scores that are not comparable with most others, or with the published ones if they are to stand beside these,
    are those of an agent of its own: `riw-c (budget 10)`.
    """
    records = Records()
    trials: list[_Trial] = []
    tables: list[EpisodeScore] = []
    for path in paths:
        if path.is_file():
            tables += read_table(path)
            records.tables.append(str(path))
            _check_tables(tables, path)
            continue
        found = list(_find(path))
        if not found:
            raise InputError(
                f"There is no benchmark, run or episode in {path}."
                if path.is_dir()
                else f"There is no table, benchmark or run {path}."
            )
        for place in found:
            here = list(_read_trials(place, records))
            _read_episodes(here, place, _manifest(place, path), records)
            trials += here
    _check_unique(trials)
    for trial in trials:
        if trial.curve is not None and (lost := trial.curve.lost):
            records.lost_intervals.append(f"{trial.run.path} ({', '.join(map(str, lost))})")
    groups = _groups(trials, beside_published)
    records.agents = (*_agents(groups), *agents_of_episodes(tables))
    records.curves = list(_curves(groups))
    names = Counter(agent.name for agent in records.agents)
    for name, count in names.items():
        if count > 1:
            raise InputError(f"{name} is an agent of several of these; give tables and directories apart.")
    return records


@dataclass(slots=True)
class _Trial:
    """A trial that was found: what it is, and its episodes once it is over."""

    label: str
    run: RunDirectory
    scores: list[float] | None
    curve: RunCurve | None = None
    paths: list[Path] = field(default_factory=list)
    parts: tuple[str, ...] = (RUN, RESULT)
    """Files of the run that have to be verified with its episodes."""
    episodes: list[EpisodeScore] = field(default_factory=list)


def _find(path: Path) -> Iterator[Path]:
    """The benchmarks, runs and folders of episodes in a directory and below, sorted."""
    if (path / PLAN).is_file() or (path / RUN).is_file():
        yield path
    elif path.is_dir():
        entries = sorted(path.iterdir())
        if any(map(_is_episode, entries)):
            yield path
        for entry in entries:
            if entry.is_dir() and not entry.is_symlink():
                yield from _find(entry)


def _is_episode(path: Path) -> bool:
    """Whether this looks like an episode that `noveltree play` has written."""
    if path.suffix != ".json" or not path.is_file():
        return False
    with path.open("rb") as file:
        return FORMAT.encode() in file.read(100)


def _read_trials(place: Path, records: Records) -> Iterator[_Trial]:
    if (place / PLAN).is_file():
        return _read_benchmark(place, records)
    if (place / RUN).is_file():
        return _read_run(place, records)
    return _read_loose(place, records)


def _read_loose(path: Path, records: Records) -> Iterator[_Trial]:
    """Episodes that were played one by one: those of one seed are a trial. What was stopped is no score."""
    trials: dict[tuple[str, int], dict[int, tuple[Path, EpisodeRecord]]] = {}
    for file in filter(_is_episode, sorted(path.iterdir())):
        record = read_episode(file)
        if record.interval:
            raise InputError(f"{file} is an episode of a run that learns; give the directory of the run.")
        if record.episode.end not in (End.TERMINAL, End.TRUNCATED):
            records.unfinished.append(str(file))
            continue
        trial = trials.setdefault((record.protocol.hash, record.seed), {})
        if record.index in trial:
            raise InputError(f"{file} and {trial[record.index][0]} are the same episode; leave one of them out.")
        trial[record.index] = (file, record)
    for found in trials.values():
        files, played = zip(*(found[index] for index in sorted(found)), strict=True)
        run = RunDirectory(path, played[0].protocol, played[0].seed)
        scores = [record.episode.score for record in played]
        yield _Trial(run.protocol.agent, run, scores, paths=list(files), parts=())


def _manifest(place: Path, top: Path) -> tuple[Path, Manifest] | None:
    """The manifest that vouches for what is in `place`: its own, or one of a folder it was given in."""
    for folder in (place, *place.parents):
        if (manifest := read_manifest(folder)) is not None:
            return folder, manifest
        if folder == top:
            break
    return None


def _read_benchmark(path: Path, records: Records) -> Iterator[_Trial]:
    directory = BenchmarkDirectory.open(path)
    for status in directory.statuses():
        trial = status.trial
        where = directory.run_path(trial)
        if status.state == "failed":
            records.failed.append(FailedTrial(str(where), status.error))
        elif status.state != "finished":
            records.unfinished.append(str(where))
        run = (
            RunDirectory.open(where) if (where / RUN).is_file() else RunDirectory(where, trial.protocol, trial.seed)
        )
        if (run.protocol.hash, run.seed) != (trial.protocol.hash, trial.seed):
            raise RecordError(f"{where} is not the run that was planned.")
        result = run.read_result() if status.state == "finished" else None
        if result is not None and len(result["scores"]) != trial.episodes:
            raise RecordError(f"{where} has {len(result['scores'])} scores, not {trial.episodes} as planned.")
        yield _trial(trial.label, run, result)


def _read_run(path: Path, records: Records) -> Iterator[_Trial]:
    run = RunDirectory.open(path)
    result = run.read_result()
    if result is None:
        records.unfinished.append(str(path))
    yield _trial(run.protocol.agent, run, result)


def _trial(label: str, run: RunDirectory, result: dict[str, Any] | None) -> _Trial:
    curve = None
    if run.protocol.learning is not None and (
        intervals := finished_intervals(run.read_metrics("interval"), str(run.path))
    ):
        curve = RunCurve(f"{label}, seed {run.seed}", intervals, None if result is None else result["score"])
    if result is None:
        return _Trial(label, run, None, curve)
    return _Trial(label, run, result["scores"], curve, run.evaluation_paths(result))


def _read_episodes(
    trials: Sequence[_Trial], place: Path, manifest: tuple[Path, Manifest] | None, records: Records
) -> None:
    """Find out what the records of episodes say at their top, and whether they are those that were verified."""
    all_verified = not (place / PLAN).exists() or _is_vouched(place / PLAN, manifest)
    for trial in trials:
        gone = False
        whole = all(_is_vouched(trial.run.path / name, manifest) for name in trial.parts)
        for number, (score, path) in enumerate(itertools.zip_longest(trial.scores or [], trial.paths)):
            episode = EpisodeScore(
                trial.label, trial.run.protocol.game, f"{trial.run.path}, seed {trial.run.seed}", str(number), score
            )
            if path is None or not path.exists():
                gone, all_verified = True, False
            else:
                summary = read_summary(path)
                if summary.score != score:
                    raise RecordError(f"{path} has the score {summary.score:g}, not {score:g} as the result says.")
                verified = whole and _is_vouched(path, manifest, summary.digest)
                all_verified &= verified
                episode = replace(
                    episode,
                    steps=summary.steps,
                    interactions=summary.interactions,
                    seconds=summary.seconds,
                    file=path,
                    verified=verified,
                )
            trial.episodes.append(episode)
        if gone:
            records.without_files.append(str(trial.run.path))
    if not all_verified:
        records.unverified.append(str(place))


def _is_vouched(path: Path, manifest: tuple[Path, Manifest] | None, digest: str | None = None) -> bool:
    """Whether a file is what it was when it was verified; nobody vouches for what a link leads to."""
    if manifest is None:
        return False
    folder, known = manifest
    if not path.exists() or path.resolve() != folder.resolve() / path.relative_to(folder):
        return False
    return known.files.get(path.relative_to(folder).as_posix()) == (digest or file_digest(path))


def _check_tables(episodes: Sequence[EpisodeScore], last: Path) -> None:
    """Complain if an episode would count twice because it is in several tables."""
    counts = Counter((each.agent, each.game, each.trial, each.episode) for each in episodes)
    for (agent, game, trial, number), count in counts.items():
        if count > 1:
            raise InputError(
                f"{last} has an episode that another table has, too: {agent} in {game}, trial {trial}, "
                f"episode {number}."
            )
    protocols: dict[tuple[str, str], str] = {}
    for each in episodes:
        if protocols.setdefault((each.agent, each.game), each.protocol) != each.protocol:
            raise InputError(f"{last} has another protocol than another table of {each.agent} in {each.game}.")


def _check_unique(trials: Sequence[_Trial]) -> None:
    """Complain if a trial would count twice."""
    seen: dict[object, _Trial] = {}
    for trial in trials:
        run = trial.run
        for key in ((trial.label, run.protocol.hash, run.seed), (run.path.resolve(), run.protocol.hash, run.seed)):
            if other := seen.get(key):
                raise InputError(f"{run.path} and {other.run.path} are the same trial; leave one of them out.")
            seen[key] = trial


class _Group(NamedTuple):
    """Trials of one agent under the same conditions."""

    label: str
    differs: str
    settings: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.label} ({self.differs})" if self.differs else self.label


def _groups(trials: Sequence[_Trial], beside_published: bool) -> dict[_Group, list[_Trial]]:
    """The trials of every agent: one per label and difference, the comparable ones first."""
    protocols = {trial.run.protocol.hash: trial.run.protocol for trial in trials}
    played: Counter[tuple[str, str]] = Counter()
    for trial in trials:  # those without scores are labelled, but do not count
        played[trial.label, trial.run.protocol.hash] += trial.scores is not None
    differs = differences(played, protocols, rule=published_rule if beside_published else lambda protocol: None)
    groups: dict[_Group, list[_Trial]] = {}
    for trial in trials:
        protocol = trial.run.protocol
        settings = differs[trial.label, protocol.hash]
        groups.setdefault(_Group(trial.label, in_words(protocol, settings), settings), []).append(trial)
    return dict(sorted(groups.items(), key=lambda item: item[0].differs != ""))


def _agents(groups: Mapping[_Group, Sequence[_Trial]]) -> Iterator[AgentScores]:
    for of, group in groups.items():
        episodes = [replace(each, agent=of.name) for trial in group for each in trial.episodes]
        if not episodes:
            continue
        missing = Counter(trial.run.protocol.game for trial in group if trial.scores is None)
        (made,) = agents_of_episodes(episodes)
        protocol = group[0].run.protocol
        yield replace(
            made,
            label=of.label,
            settings=settings_in_words(protocol, of.label),
            differs=of.differs,
            differs_in=of.settings,
            protocol=protocol,
            missing=dict(missing),
        )


def _curves(groups: Mapping[_Group, Sequence[_Trial]]) -> Iterator[LearningCurves]:
    for of, group in groups.items():
        by_game: dict[str, list[RunCurve]] = {}
        for trial in group:
            if trial.curve is not None:
                by_game.setdefault(trial.run.protocol.game, []).append(trial.curve)
        for game, runs in by_game.items():
            yield LearningCurves(of.name, group[0].run.protocol.agent, of.differs, game, tuple(runs))


def published_rule(protocol: Protocol) -> Protocol | None:
    """The conditions of the published scores, which those have to follow that stand beside them."""
    return _published_rule(protocol.agent) if protocol.simulator == "atari" else None


@functools.cache
def _published_rule(agent: str) -> Protocol:
    return make_protocol("breakout", agent=agent)


def settings_in_words(protocol: Protocol, label: str) -> str:
    """How an agent plays, in the words of the paper's table of experimental settings; and its unusual settings."""
    parts = [] if protocol.agent == label else [f"the agent {protocol.agent}"]
    parts += [
        f"frame skip {protocol.frame_skip}",
        f"at most {protocol.max_frames:,} frames",
        f"{protocol.budget:,.10g} {protocol.budget_unit} per decision",
    ]
    if protocol.action_set == "full":
        parts.append("all 18 actions")
    if protocol.features is not None:
        parts.append(protocol.features)
    if protocol.learning is not None:
        parts.append(f"trained for {protocol.learning.schedule.interactions:,} interactions")
    if (usual := published_rule(protocol)) is not None:
        differ = {each.setting for each in compare_protocols(usual, protocol) if each.comparable}
        if unusual := differ.intersection(_METHOD):
            parts.append(in_words(protocol, unusual))
    return ", ".join(parts)
