"""Whether a run's result is that of its episodes, these are its own, and it has learnt what it says."""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from noveltree.audit.collecting import follow_pretraining
from noveltree.audit.findings import Finding, Lack, name_in
from noveltree.audit.intervals import follow_intervals
from noveltree.audit.rounds import follow_rounds
from noveltree.audit.training import (
    Ledger,
    check_checkpoints,
    check_result,
    difference_of_lines,
    episode_line,
    read_lines,
)
from noveltree.episodes import End
from noveltree.errors import NoveltreeError
from noveltree.learning.schedule import Schedule
from noveltree.learning.settings import LockstepSettings
from noveltree.records import EpisodeRecord, read_episode
from noveltree.records.checkpoint import checkpoint_paths
from noveltree.records.run_directory import CHECKPOINTS, RESULT, RunDirectory, place_of_episode
from noveltree.trial.checkpoint_state import lanes_of
from noveltree.trial.trial import first_snapshot
from noveltree.wording import counted

_Line = Mapping[str, Any]

#: What a result says of training.
_OF_TRAINING = {"interactions", "intervals", "evaluation", "evaluated_from", "tail"}
#: How the recorded episodes of a run are followed once more, by the kind of the loop.
_LOOPS: dict[str, Callable[[Ledger], None]] = {
    "intervals": follow_intervals,
    "lockstep": follow_rounds,
    "pretraining": follow_pretraining,
}


def check_run(directory: Path, path: Path) -> Iterator[Finding]:
    """What does not hold in the run in `path`, without playing or learning anything again."""
    name = name_in(directory, path)
    try:
        run = RunDirectory.open(path)
        result = run.read_result()
        evaluation = [] if result is None else run.evaluation_paths(result)
        if result is not None and len(evaluation) != len(result["scores"]):
            yield Finding(name, False, "its result has more scores than episodes")
            return
        evaluated = sorted({*evaluation, *run.evaluated_paths()})
        records = {each: read_episode(each) for each in (*evaluated, *run.learnt_paths())}
    except NoveltreeError as error:
        yield Finding(name, False, str(error))
        return
    for folder in ("episodes", "evaluation"):
        for each in (path / folder).rglob("*.json"):
            if place_of_episode(each) is None or each.parent.parent != path / folder:
                yield Finding(name_in(directory, each), False, "a run does not name its episodes like this")
    for each, record in records.items():
        for sentence in _check_place(run, each, record, evaluation):
            yield Finding(name_in(directory, each), False, sentence)
    for each in _missing_before(evaluated):
        yield Finding(name_in(directory, each), False, "it is not there, although later ones are")
    if result is not None:
        scores = [records[each].episode.score for each in evaluation]
        about = {"game": run.protocol.game, "agent": run.protocol.agent, "seed": run.seed}
        said = {**about, "protocol_hash": run.protocol.hash, "score": statistics.fmean(scores), "scores": scores}
        if not run.protocol.training_interactions:  # else they are those of training
            said["interactions"] = sum(records[each].episode.interactions for each in evaluation)
        if any(result.get(key) != value for key, value in said.items()):
            yield Finding(name, False, "its result is not that of its episodes")
        if run.protocol.learning is None and result.get("evaluated_from", 0):
            yield Finding(name, False, "it has other episodes than the first of its seed")
        if more := sorted(result.keys() - said.keys() - _OF_TRAINING):
            yield Finding(name, False, f"its result has {more[0]!r}, which noveltree does not write")
    if run.protocol.learning is not None:
        yield from _check_learning(directory, run, result, records)


def _check_place(run: RunDirectory, path: Path, record: EpisodeRecord, evaluation: Sequence[Path]) -> Iterator[str]:
    """Whether an episode is one of this run, and of this place in it."""
    known = (record.protocol, record.seed, (record.interval, record.index))
    if known != (run.protocol, run.seed, place_of_episode(path)):
        yield "it belongs to another run, or elsewhere in this run"
    evaluated = path.is_relative_to(run.path / "evaluation")
    level = run.protocol.level_of(record.index, interval=record.interval, evaluation=evaluated)
    if record.level != level:
        yield f"it began in level {record.level}, not in level {level} as an episode of its place"
    if record.weights and not run.protocol.training_interactions:
        yield "it was played with networks, but its agent has learnt nothing"
    stopped = record.episode.end is End.STOPPED and path not in evaluation  # enough was seen of it
    if record.episode.end not in (End.TERMINAL, End.TRUNCATED) and not stopped:
        yield "it was not played to its end"


def _missing_before(paths: Sequence[Path]) -> Iterator[Path]:
    """Episodes of evaluations that are not there although later ones are."""
    for folder in sorted({path.parent for path in paths}):
        there = {place[1] for path in paths if path.parent == folder and (place := place_of_episode(path))}
        for index in range(max(there, default=0)):
            if index not in there:
                yield folder / f"{index:05}.json"


def _check_learning(
    directory: Path, run: RunDirectory, result: Mapping[str, Any] | None, records: Mapping[Path, EpisodeRecord]
) -> Iterator[Finding]:
    """What does not hold of a run's learning: episodes, metrics, checkpoints, result, evaluation."""
    learning = run.protocol.learning
    assert learning is not None
    over = result is not None
    lines, problem = read_lines(run, over=over)
    metrics = name_in(directory, run.metrics_path)
    if problem and (over or lines):
        yield Finding(metrics, False, problem)
        return
    learnt = {(each.interval, each.index): each for each in map(records.__getitem__, run.learnt_paths())}
    closed = [line for line in lines if line["event"] == "interval"]
    if not over:
        with contextlib.suppress(NoveltreeError, ImportError):  # damaged checkpoints are found below
            learnt |= {(each.interval, each.index): each for each in lanes_of(run)}
    ledger = Ledger(run, over, learnt, [_first_weights(run), *(line.get("weights") for line in closed)])
    if not learnt and closed:
        yield Lack(name_in(directory, run.path), False, "the episodes that it learnt from are not there")
    else:
        _LOOPS[learning.loop.kind](ledger)
        yield from _check_against_metrics(directory, ledger, lines)
    if not (paths := checkpoint_paths(run.path / CHECKPOINTS)) and closed:
        yield Lack(name_in(directory, run.path), False, "its checkpoints, with its networks, are not there")
    if paths:
        try:
            found = list(check_checkpoints(ledger))
        except ImportError as error:
            sentence = f"its checkpoints were not checked, because {error.name} is not installed"
            yield Finding(name_in(directory, run.path), True, sentence)
        else:
            for path, sentence in found:
                yield Finding(name_in(directory, path), False, sentence)
    if result is not None and learnt:
        for path, sentence in check_result(ledger, result):
            yield Finding(name_in(directory, path), False, sentence)
    yield from _check_evaluation(directory, ledger, lines, records, result)


def _check_against_metrics(
    directory: Path, ledger: Ledger, lines: Sequence[Mapping[str, Any]]
) -> Iterator[Finding]:
    """Whether metrics are those of the episodes, line by line."""
    metrics = name_in(directory, ledger.run.metrics_path)
    for path, sentence in ledger.wrong:
        yield Finding(name_in(directory, path), False, sentence)
    recorded = [line for line in lines if line["event"] in ("episode", "interval")]
    if not ledger.ordered:
        recorded.sort(key=lambda line: (line["event"] != "episode", line.get("index", 0)))
    for number, (said, due) in enumerate(zip(recorded, ledger.lines, strict=False), start=1):
        if difference := difference_of_lines(said, due):
            yield Finding(metrics, False, f"line {number} is not that of the episodes: {difference}")
            return
    if ledger.over and ledger.tail:
        yield Lack(name_in(directory, ledger.run.path), False, "what its lanes played last is not there")
        yield from _check_lines_alone(directory, ledger, recorded)
        return
    if len(recorded) > len(ledger.lines):
        lost = counted(len(recorded) - len(ledger.lines), "line")
        yield Finding(metrics, False, f"{ledger.missing or 'training was over then'}, but {lost} more came of it")
        return
    if ledger.over and ledger.missing:
        yield Finding(name_in(directory, ledger.run.path), False, ledger.missing)
    if ledger.over and len(recorded) < len(ledger.lines):
        yield Finding(metrics, False, f"{counted(len(ledger.lines) - len(recorded), 'line')} are missing")
    for place in sorted(ledger.training.keys() - ledger.taken):
        path = ledger.run.episode_path(*place)
        if path.exists():
            yield Finding(name_in(directory, path), False, "training had no such episode")


def _check_lines_alone(directory: Path, ledger: Ledger, lines: Sequence[_Line]) -> Iterator[Finding]:
    """Whether metrics and episodes know of each other where rounds cannot be followed to the end."""
    metrics = name_in(directory, ledger.run.metrics_path)
    ended = {place: each for place, each in ledger.training.items() if each.episode.end is not End.STOPPED}
    said = {(line.get("interval"), line.get("index")): line for line in lines if line["event"] == "episode"}
    if said.keys() != ended.keys():
        yield Finding(
            metrics,
            False,
            f"its episodes are not those that are there, such as {sorted(said.keys() ^ ended.keys())[0]}",
        )
        return
    for place, record in ended.items():
        line = said[place]
        if difference := difference_of_lines(line, episode_line(record, at=line.get("at"))):
            yield Finding(metrics, False, f"episode {place[1]} of interval {place[0]}: {difference}")
    spent = sum(record.episode.interactions for record in ledger.training.values())
    closed = [line for line in lines if line["event"] == "interval"]
    if closed and spent > closed[-1].get("interactions", 0):
        yield Finding(metrics, False, f"its interactions are fewer than those of its episodes, {spent:,}")


def _check_evaluation(
    directory: Path,
    ledger: Ledger,
    lines: Sequence[_Line],
    records: Mapping[Path, EpisodeRecord],
    result: Mapping[str, Any] | None,
) -> Iterator[Finding]:
    """Whether evaluations were played with what was deployed then, and are what the metrics say."""
    run = ledger.run
    for path in run.evaluated_paths():
        record = records[path]
        due = ledger.weights[record.interval - 1] if 1 <= record.interval <= len(ledger.weights) else None
        if record.weights != due or record.refreshed:
            yield Finding(
                name_in(directory, path),
                False,
                f"it says that it was played with the networks {record.weights}, but {due} were deployed then",
            )
    evaluations = [line for line in lines if line["event"] == "evaluation"]
    on_the_way = evaluations if result is None else evaluations[:-1]
    due_then = list(_evaluations_on_the_way(run, lines, records))
    if on_the_way != due_then and (result is not None or on_the_way != due_then[:-1]):  # it may be going on
        sentence = "its evaluations on the way are not those of its episodes"
        yield Finding(name_in(directory, run.metrics_path), False, sentence)
    if result is None:
        return
    last = {"event": "evaluation", "mean_return": statistics.fmean(result["scores"]), "returns": result["scores"]}
    if evaluations[-1:] != [last] or lines[-1] != last:
        yield Finding(name_in(directory, run.metrics_path), False, "its evaluation is not that of the result")
    first = _trained_until(run, lines) + 1
    if result.get("evaluated_from") != first:
        said = result.get("evaluated_from")
        sentence = f"its evaluation is that of interval {said}, but training was over before interval {first}"
        yield Finding(name_in(directory, run.path / RESULT), False, sentence)


def _evaluations_on_the_way(
    run: RunDirectory, lines: Sequence[_Line], records: Mapping[Path, EpisodeRecord]
) -> Iterator[_Line]:
    """The lines of evaluations that milestones of training bring about, as their episodes have them."""
    learning = run.protocol.learning
    assert learning is not None
    if not isinstance(learning.loop, LockstepSettings):
        return
    before = 0
    for line in lines:
        if line["event"] != "interval" or not isinstance(after := line.get("interactions"), int):
            continue
        passed, before = learning.loop.passes_milestone(before, after), after
        if passed and after < learning.schedule.interactions:
            interval = int(line["interval"]) + 1
            places = (run.evaluation_path(interval, index) for index in range(learning.evaluation_episodes))
            returns = [records[path].episode.score for path in places if path in records]
            mean = statistics.fmean(returns) if returns else None
            yield {
                **{"event": "evaluation", "interval": interval, "interactions": after},
                **{"mean_return": mean, "returns": returns},
            }


def _trained_until(run: RunDirectory, lines: Sequence[_Line]) -> int:
    """The last interval of training, as metrics have it; intervals of a continuing evaluation may follow."""
    learning = run.protocol.learning
    assert learning is not None
    closed = [line.get("interactions") for line in lines if line["event"] == "interval"]
    for number, spent in enumerate(closed, start=1):
        if isinstance(spent, int) and Schedule(learning.schedule, number + 1, spent).finished:
            return number
    return len(closed)


def _first_weights(run: RunDirectory) -> str | None:
    """The networks that learning begins with, if agents play with them; None if that cannot be told here."""
    with (
        contextlib.suppress(ImportError, NoveltreeError),
        contextlib.closing(run.protocol.make_simulator()) as simulator,
    ):
        return first_snapshot(run, simulator).digest
    return None
