"""Every forgery that docs/verification.md names is made on a real small run, and found at the depth it says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from forgeries_table import build_table
from noveltree.audit import Depth, audit
from noveltree.benchmark import BenchmarkDirectory, plan_suite
from noveltree.benchmark.registration import register
from noveltree.benchmark.suite import parse_suite
from noveltree.protocol import make_protocol
from noveltree.records import read_episode
from noveltree.records.checkpoint import checkpoint_paths
from noveltree.records.run_directory import RunDirectory
from noveltree.results import collect
from noveltree.trial import play_trial, train
from tests.support.benchmarks import TINY, create, played
from tests.support.forging import (
    flip_bit,
    forge_checkpoint,
    forge_decision,
    forge_decisions,
    forge_episode,
    forge_evaluated_from,
    forge_json,
    forge_lines,
    forge_manifest,
    forge_result,
    forge_score,
    pass_off,
    played_elsewhere,
    played_with,
    with_other_weights,
)
from tests.support.runs import small_protocol
from tests.test_lockstep import protocol as lockstep_protocol

DOCUMENT = (Path(__file__).parent.parent / "docs" / "verification.md").read_text()
ALL = 10**9
REPLAY, REPLAN = Depth(), Depth(replan=ALL)
RELEARN, EVERYTHING = Depth(relearn=True), Depth(replan=ALL, relearn=True)
#: Long episodes, in which chance has its say: two of them are never the same.
PLANNER = make_protocol("corridor", agent="riw-c", budget=3, max_frames=200)


#: Evaluated in other levels than those in which it learns.
LEVELS = make_protocol(
    "Taxi-v4",
    agent="n-cpl",
    budget=5,
    max_frames=20,
    game_levels="0-9",
    evaluation_levels="100-199",
    learning=small_protocol(interactions=600, interval=300, evaluation_episodes=3).learning,
)


class Originals(NamedTuple):
    """Real runs that are forged: planners', learners'; and a benchmark, with one not begun."""

    planner: Path
    learner: Path
    lockstep: Path
    continuing: Path
    levels: Path
    benchmark: Path


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Originals:
    place = tmp_path_factory.mktemp("originals")
    play_trial(place / "planner", PLANNER, episodes=4)
    train(place / "learner", small_protocol(interactions=4_000))
    train(place / "lockstep", lockstep_protocol())
    train(place / "continuing", small_protocol(interactions=3_000, evaluation="continuing", evaluation_episodes=3))
    train(place / "levels", LEVELS)
    create(played(place / "benchmark") / "begun")
    return Originals(*(place / name for name in Originals._fields))


class Forgery(NamedTuple):
    """What is done to a copy of an original, how deep it has to be looked for, and what is then said."""

    of: str
    forge: Callable[[Path], object]
    depth: Depth
    said: str


FORGERIES: dict[str, Forgery] = {}


def forgery(name: str, of: str, depth: Depth, said: str) -> Callable[[Callable[[Path], object]], None]:
    def enter(forge: Callable[[Path], object]) -> None:
        FORGERIES[name] = Forgery(of, forge, depth, said)

    return enter


def episodes(run: Path, interval: int | None = None) -> list[Path]:
    """Episodes that a run learnt from."""
    paths = RunDirectory.open(run).learnt_paths()
    return [path for path in paths if interval in (None, read_episode(path).interval)]


def evaluation(run: Path) -> list[Path]:
    return RunDirectory.open(run).evaluated_paths()


def lines_of(lines: list[dict[str, Any]], event: str) -> list[dict[str, Any]]:
    return [line for line in lines if line["event"] == event]


# The curve


@forgery("an interval's mean return raised", "learner", REPLAY, "its mean_return is")
def _(run: Path) -> None:
    forge_lines(run, lambda lines: lines_of(lines, "interval")[1].update(mean_return=100.0))


@forgery("the return of a training episode raised in the metrics", "learner", REPLAY, "its return is")
def _(run: Path) -> None:
    forge_lines(run, lambda lines: lines[0].update({"return": 5.0}))


@forgery("an interval left out of the metrics", "learner", REPLAY, "metrics")
def _(run: Path) -> None:
    forge_lines(run, lambda lines: lines.remove(lines_of(lines, "interval")[0]))


@forgery("a verdict turned round", "learner", REPLAY, "its accepted is False")
def _(run: Path) -> None:
    forge_lines(run, lambda lines: lines_of(lines, "interval")[1].update(accepted=False))


@forgery("a p-value changed", "learner", REPLAY, "its p_value is")
def _(run: Path) -> None:
    forge_lines(run, lambda lines: lines_of(lines, "interval")[1].update(p_value=0.5))


@forgery("the evaluation changed in the metrics", "learner", REPLAY, "its evaluation is not that of the result")
def _(run: Path) -> None:
    forge_lines(run, lambda lines: lines[-1].update(mean_return=100.0))


@forgery("the end of the metrics cut off", "learner", REPLAY, "its last line is cut off")
def _(run: Path) -> None:
    path = run / "metrics.jsonl"
    path.write_bytes(path.read_bytes()[:-20])


@forgery("a loss changed in the metrics", "learner", RELEARN, "policy_losses")
def _(run: Path) -> None:
    forge_lines(run, lambda lines: lines_of(lines, "interval")[0].update(policy_losses=[0.1]))


# Training episodes


@forgery("a training episode deleted", "learner", REPLAY, "episode 2 of interval 1 is not there")
def _(run: Path) -> None:
    episodes(run, 1)[2].unlink()


@forgery(
    "a training episode deleted together with its line", "learner", REPLAY, "episode 2 of interval 1 is not there"
)
def _(run: Path) -> None:
    episodes(run, 1)[2].unlink()
    forge_lines(run, lambda lines: lines.pop(2))


@forgery("the last training episodes deleted together with their lines", "learner", REPLAY, "is not there")
def _(run: Path) -> None:
    last = episodes(run)[-1]
    place = read_episode(last)
    last.unlink()

    def forge(lines: list[dict[str, Any]]) -> None:
        lines[:] = [
            each for each in lines if (each.get("interval"), each.get("index")) != (place.interval, place.index)
        ]

    forge_lines(run, forge)


@forgery("all training episodes deleted", "learner", REPLAY, "the episodes that it learnt from are not there")
def _(run: Path) -> None:
    shutil.rmtree(run / "episodes")


@forgery("a training episode added", "learner", REPLAY, "training had no such episode")
def _(run: Path) -> None:
    last = episodes(run, 1)[-1]
    index = read_episode(last).index + 1
    added = last.with_name(f"{index:05}.json")
    shutil.copy(last, added)
    forge_episode(added, index=index)


@forgery("what a lane played last deleted", "lockstep", REPLAY, "what its lanes played last is not there")
def _(run: Path) -> None:
    next(path for path in episodes(run) if read_episode(path).episode.end == "stopped").unlink()


@forgery("an episode of a lane deleted", "lockstep", REPLAY, "is not there")
def _(run: Path) -> None:
    episodes(run, 1)[0].unlink()


# Networks


@forgery("checkpoints deleted", "learner", REPLAY, "its checkpoints, with its networks, are not there")
def _(run: Path) -> None:
    shutil.rmtree(run / "checkpoints")


@forgery("weights in a checkpoint changed", "learner", REPLAY, "it deploys the networks")
def _(run: Path) -> None:
    forge_checkpoint(run, lambda old: with_other_weights(old, "policy"))


@forgery("weights in a checkpoint changed that nobody plays with", "learner", RELEARN, "has other numbers")
def _(run: Path) -> None:
    forge_checkpoint(run, lambda old: with_other_weights(old, "target"))


@forgery("a bit of a checkpoint flipped", "learner", REPLAY, "the checksum of arrays.safetensors does not fit")
def _(run: Path) -> None:
    flip_bit(checkpoint_paths(run / "checkpoints")[-1] / "arrays.safetensors")


@forgery("the checkpoint of another run", "learner", REPLAY, "it is of another run")
def _(run: Path) -> None:
    train(run.parent / "other", small_protocol(interactions=4_000), seed=1)
    shutil.rmtree(run / "checkpoints")
    shutil.copytree(run.parent / "other" / "checkpoints", run / "checkpoints")


@forgery("an older checkpoint instead of the last", "learner", REPLAY, "by another name")
def _(run: Path) -> None:
    older, last = checkpoint_paths(run / "checkpoints")
    shutil.rmtree(last)
    older.rename(last)


@forgery("what training stands at changed in a checkpoint", "learner", REPLAY, "its interactions is")
def _(run: Path) -> None:
    forge_checkpoint(run, lambda old: replace(old, state={**old.state, "interactions": 1}))


@forgery("digests of networks zeroed in training episodes", "learner", REPLAY, "played with the networks 0000")
def _(run: Path) -> None:
    for path in episodes(run, 2):
        forge_episode(path, weights="0" * 16)


@forgery("digests of networks removed from training episodes", "learner", REPLAY, "played with the networks None")
def _(run: Path) -> None:
    for path in episodes(run, 2):
        forge_episode(path, weights=None)


@forgery("digests of networks added to episodes before anything was learnt", "learner", REPLAY, "networks 0000")
def _(run: Path) -> None:
    for path in episodes(run, 1):
        forge_episode(path, weights="0" * 16)


@forgery("digests of networks zeroed in the evaluation", "learner", REPLAY, "played with the networks 0000")
def _(run: Path) -> None:
    for path in evaluation(run):
        forge_episode(path, weights="0" * 16)


@forgery("digests of networks zeroed in the metrics", "learner", REPLAY, "deployed then")
def _(run: Path) -> None:
    forge_lines(run, lambda lines: [line.update(weights="0" * 16) for line in lines_of(lines, "interval")])


@forgery(
    "networks that changed in mid-episode removed from a record", "lockstep", REPLAY, "played with the networks"
)
def _(run: Path) -> None:
    forge_episode(next(path for path in episodes(run) if read_episode(path).refreshed), refreshed=())


@forgery("digests replaced everywhere", "learner", RELEARN, "learnt again, weights of interval")
def _(run: Path) -> None:
    shutil.rmtree(run / "checkpoints")
    digests: dict[str, str] = {}

    def forge(lines: list[dict[str, Any]]) -> None:
        for number, line in enumerate(lines_of(lines, "interval")):
            line["weights"] = digests.setdefault(line["weights"], f"{number:016x}")

    forge_lines(run, forge)
    for path in [*episodes(run), *evaluation(run)]:
        if weights := read_episode(path).weights:
            forge_episode(path, weights=digests[weights])


# Interactions and phases


@forgery("interactions understated in the result", "learner", REPLAY, "its interactions is 1000")
def _(run: Path) -> None:
    forge_result(run, interactions=1_000)


@forgery("interactions understated in the metrics", "learner", REPLAY, "its interactions is")
def _(run: Path) -> None:
    forge_lines(run, lambda lines: lines_of(lines, "interval")[-1].update(interactions=1_000))


@forgery("interactions of a lane understated in the result", "lockstep", REPLAY, "its interactions is 1000")
def _(run: Path) -> None:
    forge_result(run, interactions=1_000)


@forgery("interactions understated in episodes and metrics alike", "learner", EVERYTHING, "it is another one")
def _(run: Path) -> None:
    path = episodes(run, 1)[0]
    record = forge_decision(path, 0, interactions=4)
    less = {"interactions": record.episode.interactions}

    def forge(lines: list[dict[str, Any]]) -> None:
        lines[0].update(less)
        for line in lines_of(lines, "interval"):
            line["interactions"] -= 1

    forge_lines(run, forge)
    result = RunDirectory.open(run).read_result()
    assert result is not None
    forge_result(run, interactions=result["interactions"] - 1)
    for checkpoint in checkpoint_paths(run / "checkpoints"):
        state = json.loads((checkpoint / "state.json").read_text())["state"]
        assert state["interactions"] > 0
    shutil.rmtree(run / "checkpoints")


@forgery("a training episode passed off as evaluation", "learner", REPLAY, "it is another one")
def _(run: Path) -> None:
    pass_off(episodes(run, 1)[0], evaluation(run)[0])
    forge_score(run)


@forgery("an evaluation of earlier networks passed off as the last", "learner", REPLAY, "were deployed then")
def _(run: Path) -> None:
    source, target = episodes(run, 2)[0], evaluation(run)[0]
    weights = read_episode(source).weights
    pass_off(source, target)
    forge_episode(target, weights=weights)
    forge_score(run)


@forgery("fewer episodes evaluated than the protocol says", "learner", REPLAY, "but its protocol has 10 episodes")
def _(run: Path) -> None:
    for path in evaluation(run)[5:]:
        path.unlink()
    scores = [read_episode(path).episode.score for path in evaluation(run)]
    forge_result(run, scores=scores, score=sum(scores) / len(scores))
    forge_score(run)


@forgery("another seed in run.json", "learner", REPLAY, "it belongs to another run")
def _(run: Path) -> None:
    forge_json(run / "run.json", seed=1)


@forgery("another agent named in run.json", "planner", REPLAY, "are not those of its protocol")
def _(run: Path) -> None:
    forge_json(run / "run.json", agent="n-cpl")


@forgery("an evaluation of earlier networks chosen by the result", "learner", REPLAY, "over before interval")
def _(run: Path) -> None:
    closed = RunDirectory.open(run).read_metrics("interval")
    earlier, last = closed[-2]["interval"] + 1, closed[-1]["interval"] + 1
    played_with(run, closed[-2]["weights"], interval=earlier, episodes=10)
    shutil.rmtree(run / "evaluation" / f"interval-{last:04}")
    forge_evaluated_from(run, earlier)


@forgery("an evaluation without networks, of an interval that never was", "learner", REPLAY, "over before interval")
def _(run: Path) -> None:
    played_with(run, None, interval=99, episodes=10)
    forge_evaluated_from(run, 99)


@forgery("earlier episodes of training chosen as evaluation", "continuing", REPLAY, "over before interval")
def _(run: Path) -> None:
    forge_result(run, scores=[read_episode(path).episode.score for path in episodes(run, 2)][:3])
    forge_evaluated_from(run, 2)


@forgery(
    *("the evaluation told twice in the metrics", "learner", REPLAY),
    "its evaluations on the way are not those of its episodes",
)
def _(run: Path) -> None:
    forge_lines(run, lambda lines: lines.insert(2, {**lines[-1], "mean_return": 100.0}))


@forgery("a line of another kind in the metrics", "learner", REPLAY, "line 2 is none that noveltree writes")
def _(run: Path) -> None:
    forge_lines(run, lambda lines: lines.insert(1, {"event": "record", "mean_return": 100.0}))


@forgery("the last returns of training raised in the result", "lockstep", REPLAY, "its tail is")
def _(run: Path) -> None:
    forge_result(run, tail={"episodes": 1, "mean_return": 100.0})


# Episodes


@forgery("a reward changed", "planner", REPLAY, "as recorded")
def _(run: Path) -> None:
    forge_decision(evaluation(run)[0], 3, reward=100.0)
    forge_score(run)


@forgery("an action changed", "planner", REPLAN, "it is another one")
def _(run: Path) -> None:
    path = evaluation(run)[0]
    forge_decision(path, 0, action=1 - read_episode(path).episode.actions[0])


@forgery("an episode copied to another index", "planner", REPLAY, "it is another one")
def _(run: Path) -> None:
    pass_off(evaluation(run)[0], evaluation(run)[1])
    forge_score(run)


@forgery("an episode copied to another seed", "planner", REPLAY, "it is another one")
def _(run: Path) -> None:
    play_trial(run / "second", PLANNER, seed=1, episodes=2)
    pass_off(evaluation(run)[0], evaluation(run / "second")[0])
    forge_score(run / "second")


@forgery("the best of many episodes renumbered", "planner", REPLAN, "it is another one")
def _(run: Path) -> None:
    best, *_ = played_elsewhere(run.parent / "many", PLANNER, seed=9, episodes=2)
    pass_off(best, evaluation(run)[2])
    forge_score(run)


@forgery("the best of many intervals", "planner", REPLAY, "other episodes than the first of its seed")
def _(run: Path) -> None:
    """A planner's episodes are those of interval 0; those of others come out, too, if they are planned again."""
    played_with(run, None, interval=7, episodes=4)
    shutil.rmtree(run / "evaluation" / "interval-0000")
    forge_evaluated_from(run, 7)
    forge_result(run, interactions=sum(read_episode(path).episode.interactions for path in evaluation(run)))


@forgery("a protocol with a smaller budget, everywhere", "planner", REPLAN, "it is another one")
def _(run: Path) -> None:
    richer = make_protocol("corridor", agent="riw-c", budget=4, max_frames=200)
    shutil.rmtree(run)
    play_trial(run, richer, episodes=4)
    for path in evaluation(run):
        forge_episode(path, protocol=PLANNER)
        forge_decisions(path, lambda old: replace(old, interactions=min(old.interactions, 3)))
    total = sum(read_episode(path).episode.interactions for path in evaluation(run))
    forge_json(run / "run.json", protocol=PLANNER.model_dump(mode="json"), protocol_hash=PLANNER.hash)
    forge_result(run, protocol_hash=PLANNER.hash, interactions=total)


@forgery("evaluated in the levels of training", "levels", REPLAY, "not in level 100 as an episode of its place")
def _(run: Path) -> None:
    last = RunDirectory.open(run).read_metrics("interval")[-1]
    played_with(run, last["weights"], interval=last["interval"] + 1, episodes=3, evaluation=False)
    forge_score(run)


@forgery("something else in the result", "planner", REPLAY, "its result has 'human', which noveltree does not")
def _(run: Path) -> None:
    forge_result(run, human=100.0)


@forgery("an episode of another agent", "planner", REPLAN, "it is another one")
def _(run: Path) -> None:
    other = make_protocol("corridor", agent="bfs", budget=3, max_frames=200)
    pass_off(played_elsewhere(run.parent / "bfs", other, seed=0)[0], evaluation(run)[0])
    forge_score(run)


@forgery("more interactions used than are recorded", "planner", REPLAN, "it is another one")
def _(run: Path) -> None:
    richer = make_protocol("corridor", agent="riw-c", budget=30, max_frames=200)
    target = evaluation(run)[0]
    pass_off(played_elsewhere(run.parent / "rich", richer, seed=0)[0], target)
    forge_decisions(target, lambda old: replace(old, interactions=min(old.interactions, 3)))
    forge_result(run, interactions=sum(read_episode(path).episode.interactions for path in evaluation(run)))
    forge_score(run)


@forgery("fewer interactions used than are recorded", "planner", REPLAN, "it is another one")
def _(run: Path) -> None:
    poorer = make_protocol("corridor", agent="riw-c", budget=2, max_frames=200)
    target = evaluation(run)[0]
    pass_off(played_elsewhere(run.parent / "poor", poorer, seed=0)[0], target)
    forge_decisions(target, lambda old: replace(old, interactions=3))
    forge_result(run, interactions=sum(read_episode(path).episode.interactions for path in evaluation(run)))
    forge_score(run)


@forgery("an evaluation played without the networks", "learner", REPLAN, "it is another one")
def _(run: Path) -> None:
    planner = make_protocol("corridor", agent="riw-c", budget=5, max_frames=200)
    pass_off(played_elsewhere(run.parent / "plain", planner, seed=3)[0], evaluation(run)[0])
    forge_score(run)


@forgery("a lookahead beyond the horizon", "planner", REPLAY, "beyond the horizon of 100")
def _(run: Path) -> None:
    forge_decision(evaluation(run)[0], 1, depth=101)


@forgery("no interactions although nothing was solved", "planner", REPLAY, "took no interactions although")
def _(run: Path) -> None:
    path = evaluation(run)[0]
    step = next(n for n, each in enumerate(read_episode(path).episode.decisions) if not each.solved)
    forge_decision(path, step, interactions=0)
    forge_result(run, interactions=sum(read_episode(path).episode.interactions for path in evaluation(run)))


@forgery("more interactions than the budget", "planner", REPLAY, "more than 4")
def _(run: Path) -> None:
    forge_decision(evaluation(run)[0], 1, interactions=99)


@forgery("a name twice in a record", "planner", REPLAY, "it has 'score' twice")
def _(run: Path) -> None:
    path = evaluation(run)[0]
    path.write_text(path.read_text().replace('"score":', '"score": 1000.0,\n"score":', 1))


@forgery("totals that do not add up", "planner", REPLAY, "its result is not that of its episodes")
def _(run: Path) -> None:
    forge_result(run, interactions=1)


@forgery("a mean that is not that of its scores", "planner", REPLAY, "its result is not that of its episodes")
def _(run: Path) -> None:
    forge_result(run, score=1_000.0)


@forgery("an episode of the evaluation left out", "planner", REPLAY, "although later ones are")
def _(run: Path) -> None:
    worst = evaluation(run)[1]
    worst.unlink()
    scores = [read_episode(path).episode.score for path in evaluation(run)]
    forge_result(run, scores=scores[:1], score=scores[0])


# Benchmarks


@forgery("a table that was edited", "benchmark", REPLAY, "it is not the table of these episodes")
def _(directory: Path) -> None:
    table = collect([BenchmarkDirectory.open(directory)], relative_to=directory).to_csv()
    (directory / "results.csv").write_text(table.replace(",1.0,", ",5.0,"))


@forgery("a trial of which nothing says what it is", "benchmark", REPLAY, "has a result, but no run.json")
def _(directory: Path) -> None:
    """Whatever is in it, it is not compared with a protocol and a seed."""
    trials = directory / "trials" / "corridor" / "riw-c"
    shutil.copytree(trials / "trial-1", trials / "trial-0", dirs_exist_ok=True)
    (trials / "trial-0" / "run.json").unlink()


@forgery("another seed in the plan and in the trial", "benchmark", REPLAY, "it is not the plan of the suite")
def _(directory: Path) -> None:
    plan = json.loads((directory / "plan.json").read_text())
    label, protocol, trial, seed, count = plan["trials"][0]
    forge_json(directory / "plan.json", trials=[[label, protocol, trial, seed + 9, count], *plan["trials"][1:]])
    run = directory / "trials" / "corridor" / label / f"trial-{trial}"
    made = RunDirectory.open(run)
    shutil.rmtree(run)
    play_trial(run, made.protocol, seed=seed + 9, episodes=count)


@forgery("more episodes in a manifest than there are", "benchmark", REPLAY, "it states 999 episodes, but there are")
def _(directory: Path) -> None:
    assert audit(directory).holds
    forge_manifest(directory, lambda old: replace(old, checked=old.checked.model_copy(update={"episodes": 999})))


@forgery("a trial left out of the plan after it was registered", "benchmark", REPLAY, "was registered, and is not")
def _(directory: Path) -> None:
    register(BenchmarkDirectory.open(directory / "begun"))
    fewer = parse_suite(TINY.replace("trials: 2", "trials: 1"))
    opened = BenchmarkDirectory.open(directory / "begun")
    for trial in opened.trials:
        if trial.trial:
            shutil.rmtree(opened.run_path(trial), ignore_errors=True)
    (directory / "begun" / "plan.json").unlink()
    BenchmarkDirectory.create(directory / "begun", fewer, plan_suite(fewer))


@forgery(
    "another registration than was published", "benchmark", Depth(registered="0" * 64), "was registered, not 000"
)
def _(directory: Path) -> None:
    shutil.rmtree(directory / "begun")


@forgery("a registration that was changed", "benchmark", REPLAY, "its digest does not fit")
def _(directory: Path) -> None:
    register(BenchmarkDirectory.open(directory / "begun"))
    path = directory / "begun" / "registration.json"
    path.write_text(path.read_text().replace("trial-1", "trial-7"))


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_found(name: str, originals: Originals, tmp_path: Path) -> None:
    forged = FORGERIES[name]
    run = tmp_path / "run"
    shutil.copytree(getattr(originals, forged.of), run)
    forged.forge(run)
    made = audit(run, depth=forged.depth)
    assert not made.holds
    wrong = [finding.sentence for finding in made.findings if not finding.holds]
    assert any(forged.said in sentence for sentence in wrong), wrong
    assert (run / "manifest.json").exists() == (name == "more episodes in a manifest than there are")


@pytest.mark.parametrize("of", Originals._fields)
def test_what_was_not_forged_holds_at_every_depth(of: str, originals: Originals, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(getattr(originals, of), run)
    made = audit(run, depth=EVERYTHING)
    assert [finding.sentence for finding in made.findings if not finding.holds] == []
    assert made.checked.replanned == made.episodes
    assert made.checked.relearnt == made.checked.learners == (of not in ("planner", "benchmark"))


def test_the_document_names_every_forgery_and_there_are_42_or_more() -> None:
    assert len(FORGERIES) >= 42
    assert build_table() in DOCUMENT
    text = " ".join(DOCUMENT.split())
    for trust in ("seconds", "ended by the clock", "run and not shown", "last episodes of a", "of processor"):
        assert trust in text.partition("Not found, and named above")[2].partition("##")[0]
