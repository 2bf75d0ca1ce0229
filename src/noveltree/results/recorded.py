"""What is recorded in benchmarks, runs and tables: scores, what is missing, what was verified, learning curves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from noveltree.benchmark.directory import PLAN
from noveltree.errors import InputError
from noveltree.results.comparable import Group, check_unique, group_trials, settings_in_words
from noveltree.results.curves import Evaluations, RunCurve, read_curve, read_evaluations
from noveltree.results.published_agents import published_agents
from noveltree.results.published_planners import other_planners
from noveltree.results.scores import AgentScores, Results, agents_of
from noveltree.results.tables import read_tables
from noveltree.results.trials import RecordedTrial, find_places, trials_in
from noveltree.results.vouching import Vouch

#: The name of the paper's results, and of those of earlier articles.
PUBLISHED = "published"


@dataclass(frozen=True, slots=True)
class LearningCurves:
    """The learning curves of an agent's trials in one game."""

    name: str
    """Of the agent among others."""
    agent: str
    """What it is: the authors' curve of that agent may stand behind."""
    differs: str
    """In what its conditions are not those of the others, in words; empty if they are."""
    game: str
    runs: tuple[RunCurve, ...]
    """Those in which episodes have ended, as in short training not all do."""
    evaluations: tuple[Evaluations, ...] = ()
    """Of all runs."""


@dataclass(slots=True)
class Records:
    """What was found in directories and tables."""

    agents: tuple[AgentScores, ...] = ()
    failed: dict[str, str] = field(default_factory=dict)
    """The errors of trials that failed, even after their retries."""
    unfinished: list[str] = field(default_factory=list)
    """Trials that were planned or started but are not over."""
    unverified: list[str] = field(default_factory=list)
    """Directories with episodes that no manifest has as they are: not verified, or changed since."""
    manifests: dict[str, Vouch] = field(default_factory=dict)
    """What manifests state, by the folder that they stand in."""
    tables: list[str] = field(default_factory=list)
    """Tables, of which neither the conditions are known nor whether their episodes were verified."""
    without_files: list[str] = field(default_factory=list)
    """Trials whose episodes are not there any more."""
    curves: list[LearningCurves] = field(default_factory=list)
    """Of trials that learn, finished or not."""
    lost_intervals: list[str] = field(default_factory=list)
    """Runs of whose learning curves points are missing, and which."""


def read_results(source: str, *, beside_published: bool = False) -> Results:
    """Results by the path of a table, a benchmark or a run.

    The name `published` stands for those of the paper, and after them those of earlier articles on planners.
    """
    if source == PUBLISHED:
        return Results(PUBLISHED, (*published_agents(), *other_planners()))
    records = read_records([Path(source)], beside_published=beside_published)
    if not records.agents:
        raise InputError(f"Nothing in {source} is finished yet: there are no scores.")
    return Results(source, records.agents)


def read_records(paths: Sequence[Path], *, beside_published: bool = False) -> Records:
    """All that is recorded in tables, benchmarks, runs, episodes, and folders of these.

    Scores that are not comparable with most others, or with the published ones if they are shown beside these and
    there are some of these games, belong to a separate agent: `riw-c (budget 10)`.
    """
    records = Records()
    trials: list[RecordedTrial] = []
    tables = [path for path in paths if path.is_file()]
    records.tables = list(map(str, tables))
    for path in paths:
        if path in tables:
            continue
        places = list(find_places(path))
        if not places:
            raise InputError(
                f"There is no benchmark, run or episode in {path}."
                if path.is_dir()
                else f"There is no table, benchmark or run {path}."
            )
        for place in places:
            trials += _read_place(place, Vouch.of(place, path), records)
    check_unique(trials)
    known = {game for agent in published_agents() for game in agent.games} if beside_published else set()
    groups = group_trials(trials, beside_published=not known.isdisjoint(trial.protocol.game for trial in trials))
    agents = (_agent(of, group) for of, group in groups.items())
    records.agents = (*(agent for agent in agents if agent is not None), *agents_of(read_tables(tables)))
    records.curves = list(_curves(groups, records))
    for name, count in Counter(agent.name for agent in records.agents).items():
        if count > 1:
            raise InputError(f"{name} is an agent of several of these; give tables and directories apart.")
    return records


def _read_place(place: Path, vouch: Vouch, records: Records) -> list[RecordedTrial]:
    """The trials of a benchmark, a run or a folder of episodes; what is wrong with them is added to the records."""
    trials, stopped = trials_in(place)
    records.unfinished += map(str, stopped)
    if vouch.manifest is not None:
        records.manifests[str(vouch.folder)] = vouch
    signed_off = not (place / PLAN).exists() or bool(vouch(place / PLAN))
    for trial in trials:
        if trial.state == "failed":
            records.failed[str(trial.run.path)] = trial.error
        elif trial.state != "finished":
            records.unfinished.append(str(trial.run.path))
        trial.episodes = list(trial.evaluation(vouch))
        signed_off &= all(each.manifest for each in trial.episodes)
        if trial.run.metrics_path.exists():  # the learning curve is shown, too
            signed_off &= bool(vouch(trial.run.metrics_path))
        if any(each.file is None for each in trial.episodes):
            records.without_files.append(str(trial.run.path))
    if not signed_off:
        records.unverified.append(str(place))
    return trials


def _agent(of: Group, group: Sequence[RecordedTrial]) -> AgentScores | None:
    """The agent of a group of trials; None if none of them has scores."""
    scores = [replace(each, agent=of.name, differs=of.differs) for trial in group for each in trial.episodes]
    if not scores:
        return None
    (made,) = agents_of(scores)
    protocol = group[0].protocol
    protocols = {trial.protocol.game: trial.protocol for trial in group}
    return replace(
        made,
        label=of.label,
        settings=settings_in_words(protocol, of.label, protocols),
        differs=of.differs,
        differs_in=of.settings,
        protocol=protocol,
        protocols=protocols,
        missing=dict(Counter(trial.protocol.game for trial in group if trial.scores is None)),
    )


def _curves(groups: Mapping[Group, Sequence[RecordedTrial]], records: Records) -> Iterator[LearningCurves]:
    for of, group in groups.items():
        curves: dict[str, list[RunCurve]] = {}
        evaluations: dict[str, list[Evaluations]] = {}
        for trial in group:
            if trial.protocol.learning is not None:
                evaluations.setdefault(trial.protocol.game, []).append(read_evaluations(trial.run))
            curve = read_curve(trial.run, f"{trial.label}, seed {trial.run.seed}", trial.mean)
            if curve is None:
                continue
            curves.setdefault(trial.protocol.game, []).append(curve)
            if curve.lost:
                records.lost_intervals.append(f"{trial.run.path} ({', '.join(map(str, curve.lost))})")
        for game, evaluated in evaluations.items():
            runs = tuple(curves.get(game, ()))
            yield LearningCurves(of.name, group[0].protocol.agent, of.differs, game, runs, tuple(evaluated))
