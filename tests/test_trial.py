"""Trials: what they learn, what their result does not depend on, what they survive, and what they refuse."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noveltree.audit import audit
from noveltree.collection import Collected, Collector, InProcess, Listener, Order, Workers, collect_all
from noveltree.collection.orders import Seen, make_path
from noveltree.episodes import Choice, Decision, End, Episode, EpisodeChance, Play, digest
from noveltree.errors import InputError, LearningError, OutputError, RecordError
from noveltree.learning import LearningSettings
from noveltree.learning.deployment import Deployment
from noveltree.learning.experience import joined
from noveltree.learning.retention import KeepLatest
from noveltree.learning.settings import ScheduleSettings, ValueSettings
from noveltree.protocol import Protocol, make_protocol
from noveltree.records import disk, read_episode, write_atomically
from noveltree.records.files import checksum
from noveltree.records.journal import Journal
from noveltree.records.run_directory import RunDirectory
from noveltree.replay import replay, verify_episode
from noveltree.simulators import Corridor
from noveltree.trial import Watcher, evaluate, train
from noveltree.trial.checkpoint_state import read_deployment, unpack
from noveltree.trial.intervals import Intervals
from noveltree.trial.memory import available_memory, check_memory, estimate_memory
from noveltree.trial.trial import Trial
from tests.support.runs import contents, small_protocol
from tests.support.workers import DyingWorkers


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small trial that ran from its beginning to its end in one process, one episode at a time."""
    directory = tmp_path_factory.mktemp("undisturbed") / "run"
    train(directory, small_protocol(), episodes_at_once=1)
    return directory


# What is learnt


def test_the_trivial_world_is_learnt_in_seconds(tmp_path: Path) -> None:
    """With three interactions per decision an untrained agent wanders; one that has learnt walks to the exit."""
    protocol = make_protocol(
        "corridor",
        agent="n-cpl",
        budget=3,
        max_frames=300,
        learning=LearningSettings(
            schedule=ScheduleSettings(interactions=12_000, interval=1_500),
            value=ValueSettings(at_least=64, every=4, refresh=200, learning_rate=1e-3),
        ),
    )
    last = train(tmp_path / "run", protocol)["intervals"]
    run = RunDirectory.open(tmp_path / "run")
    before = [record.episode.steps for record in run.read_interval(1)]
    after = [read_episode(run.evaluation_path(last + 1, index)).episode.steps for index in range(10)]
    assert np.mean(before) > 30
    assert np.mean(after) < 12  # nine steps lead from the start to the exit


@pytest.mark.parametrize("agent", ["cpl", "n-cpl", "n-cpl-d"])
def test_every_agent_that_learns_can_be_trained(agent: str, tmp_path: Path) -> None:
    protocol = small_protocol(interactions=2_000).model_copy(
        update={"agent": agent, "novelty": {"cpl": "none", "n-cpl": "classic", "n-cpl-d": "depth"}[agent]}
    )
    if agent == "cpl":
        protocol = protocol.model_copy(update={"features": None})
    assert train(tmp_path / "run", protocol)["agent"] == agent


def test_a_gymnasium_environment_can_be_learnt(tmp_path: Path) -> None:
    learning = LearningSettings(schedule=ScheduleSettings(interactions=1_000, interval=500), evaluation_episodes=2)
    protocol = make_protocol("FrozenLake-v1", agent="n-cpl", budget=5, learning=learning)
    assert len(train(tmp_path / "run", protocol)["scores"]) == 2


def test_networks_without_a_first_interval_are_uniform_and_zero(tmp_path: Path) -> None:
    """The episodes of the first interval are those of the planner without networks."""
    protocol = small_protocol(interactions=1_000)
    train(tmp_path / "run", protocol)
    (first, *_) = RunDirectory.open(tmp_path / "run").read_interval(1)
    planner = make_protocol("corridor", agent="riw-c", budget=5, max_frames=200)
    simulator = planner.make_simulator()
    play = planner.make_play(simulator, seed=0, index=0, interval=1)
    while not play.finished:
        assert list(play.plan()) == []  # nothing is ever asked
        play.execute(play.choose())
    assert first.weights is None
    assert first.episode.actions == play.episode().actions


# What the result does not depend on


@pytest.mark.parametrize(("workers", "at_once"), [(1, 3), (1, 64), (2, 2), (3, 1)])
def test_the_result_does_not_depend_on_how_episodes_are_collected(
    workers: int, at_once: int, tmp_path: Path, undisturbed: Path
) -> None:
    train(tmp_path / "run", small_protocol(), workers=workers, episodes_at_once=at_once)
    assert contents(tmp_path / "run") == contents(undisturbed)


def test_nor_does_it_in_atari_games_with_convolutions(tmp_path: Path) -> None:
    learning = LearningSettings(
        schedule=ScheduleSettings(interactions=500, interval=250, wave=3),
        value=ValueSettings(at_least=8, every=8, batch=8),
        evaluation_episodes=3,
    )
    protocol = make_protocol("pong", agent="n-cpl", budget=10, max_frames=150, learning=learning)
    train(tmp_path / "one", protocol, episodes_at_once=1)
    train(tmp_path / "many", protocol, episodes_at_once=8, workers=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "many")


def test_another_seed_gives_another_result(tmp_path: Path, undisturbed: Path) -> None:
    train(tmp_path / "run", small_protocol(), seed=1)
    assert contents(tmp_path / "run")["arrays"] != contents(undisturbed)["arrays"]


def test_every_recorded_episode_can_be_verified(undisturbed: Path) -> None:
    files = [*undisturbed.glob("episodes/*/*.json"), *undisturbed.glob("evaluation/*/*.json")]
    assert len(files) > 20
    assert all(verify_episode(read_episode(file)).holds for file in files)


# Resuming


def test_a_finished_run_is_not_trained_again(undisturbed: Path) -> None:
    before = contents(undisturbed)
    assert train(undisturbed, small_protocol()) == before["result"]
    assert contents(undisturbed) == before


class _StopError(Exception):
    pass


def _train_until(directory: Path, protocol: Protocol, episodes: int, **options: Any) -> None:
    """Train, and stop at the moment in which so many episodes have been learnt from."""
    left = episodes

    def count(line: dict[str, Any]) -> None:
        nonlocal left
        left -= line["event"] == "episode"
        if left == 0:
            raise _StopError

    with pytest.raises(_StopError):
        train(directory, protocol, watcher=Watcher(metrics=count), **options)


@pytest.mark.parametrize("episodes", [1, 5, 9, 14])
def test_a_trial_that_was_stopped_goes_on_to_the_same_result(
    episodes: int, tmp_path: Path, undisturbed: Path
) -> None:
    _train_until(tmp_path / "run", small_protocol(), episodes)
    train(tmp_path / "run", small_protocol())
    assert contents(tmp_path / "run") == contents(undisturbed)


def test_transitions_that_are_kept_are_there_again_after_a_stop(tmp_path: Path) -> None:
    protocol = small_protocol(retention=KeepLatest(transitions=300))
    train(tmp_path / "undisturbed", protocol)
    _train_until(tmp_path / "stopped", protocol, 14)
    train(tmp_path / "stopped", protocol)
    expected = contents(tmp_path / "undisturbed")
    assert expected["state"]["kept"]
    assert contents(tmp_path / "stopped") == expected


@pytest.mark.parametrize("episodes", [3, 30])
def test_an_evaluation_while_learning_goes_on_can_be_resumed_too(episodes: int, tmp_path: Path) -> None:
    protocol = small_protocol(interactions=2_000, evaluation="continuing", evaluation_episodes=25)
    train(tmp_path / "undisturbed", protocol)
    _train_until(tmp_path / "stopped", protocol, episodes)
    train(tmp_path / "stopped", protocol)
    expected = contents(tmp_path / "undisturbed")
    first = expected["state"]["evaluated_from"]
    assert expected["state"]["interval"] > first  # an interval was over in the middle of the evaluation
    run = RunDirectory.open(tmp_path / "undisturbed")
    records = [read_episode(path) for path in run.evaluation_paths(expected["result"])]
    assert [record.interval for record in records] == sorted(record.interval for record in records)
    assert {record.interval for record in records} >= {first, first + 1}
    assert expected["result"]["scores"] == [record.episode.score for record in records]
    assert contents(tmp_path / "stopped") == expected


def test_an_episode_that_was_damaged_is_played_again(tmp_path: Path, undisturbed: Path) -> None:
    _train_until(tmp_path / "run", small_protocol(), 14)
    newest = max((tmp_path / "run" / "episodes").rglob("*.json"))
    newest.write_bytes(newest.read_bytes()[:-100])
    train(tmp_path / "run", small_protocol())
    assert contents(tmp_path / "run") == contents(undisturbed)


def test_kept_transitions_of_an_episode_that_was_replaced_are_not_learnt_from(tmp_path: Path) -> None:
    _train_until(tmp_path / "run", small_protocol(retention=KeepLatest(transitions=300)), 14)
    run = RunDirectory.open(tmp_path / "run")
    checkpoint, _ = run.read_checkpoint()
    assert checkpoint is not None
    ((interval, index), (_, other), *_) = checkpoint.state["kept"]
    shutil.copy(run.episode_path(interval, other), run.episode_path(interval, index))
    with pytest.raises(RecordError, match="holds another episode than its name says"):
        train(tmp_path / "run", run.protocol)


def _drop(data: bytes) -> bytes:
    return data.split(b"\n", 1)[1]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda data: data[:50], "is not what it was when the checkpoint was written"),
        (_drop, "line 1 does not fit"),
        (lambda data: data.replace(b'"interval": 1', b'"interval": 2', 1), "line 1 does not fit"),
        (lambda data: b"", "is not what it was when the checkpoint was written"),
    ],
)
def test_metrics_that_were_changed_are_not_added_to(
    change: Callable[[bytes], bytes], complaint: str, tmp_path: Path
) -> None:
    _train_until(tmp_path / "run", small_protocol(), 30)
    metrics = tmp_path / "run" / "metrics.jsonl"
    changed = change(metrics.read_bytes())
    metrics.write_bytes(changed)
    with pytest.raises(RecordError, match=complaint):
        train(tmp_path / "run", small_protocol())
    assert metrics.read_bytes() == changed


def test_metrics_that_were_forged_with_their_checksums_do_not_fit_the_checkpoint(tmp_path: Path) -> None:
    _train_until(tmp_path / "run", small_protocol(), 30)
    path = tmp_path / "run" / "metrics.jsonl"
    lines = Journal(path).read()
    path.unlink()
    for line in lines:
        Journal(path).add({**line, "steps": 17} if line["event"] == "episode" and line["steps"] > 10 else line)
    with pytest.raises(RecordError, match="is not what it was when the checkpoint was written"):
        train(tmp_path / "run", small_protocol())


def test_a_run_of_before_there_were_checksums_goes_on(tmp_path: Path, undisturbed: Path) -> None:
    _train_until(tmp_path / "run", small_protocol(), 30)
    path = tmp_path / "run" / "metrics.jsonl"
    whole = path.read_bytes()
    old = [re.sub(rb', "checksum": "\w+"', b"", line) for line in whole.splitlines(keepends=True)]
    path.write_bytes(b"".join(old))
    for place in (tmp_path / "run" / "checkpoints").iterdir():
        content = json.loads((place / "state.json").read_bytes())
        state = content["state"]
        lines = len(whole[: state["metrics_size"]].splitlines())
        del state["metrics_checksum"]
        state["metrics_size"] = sum(map(len, old[:lines]))
        (place / "state.json").write_text(json.dumps({**content, "checksum": checksum(content)}))
    run = json.loads((tmp_path / "run" / "run.json").read_bytes())
    del run["checksum"]
    (tmp_path / "run" / "run.json").write_text(json.dumps(run))
    train(tmp_path / "run", small_protocol())
    expected, found = contents(undisturbed), contents(tmp_path / "run")
    del expected["run"]["checksum"]
    assert found == expected
    assert path.read_bytes().startswith(b"".join(old[:20]))


@pytest.mark.parametrize("which", [0, -1])
def test_an_episode_of_a_continuing_evaluation_that_was_deleted_is_missed(which: int, tmp_path: Path) -> None:
    protocol = small_protocol(interactions=2_000, evaluation="continuing", evaluation_episodes=25)
    train(tmp_path / "run", protocol)
    run = RunDirectory.open(tmp_path / "run")
    result = run.read_result()
    assert result is not None
    paths = run.evaluation_paths(result)
    over = [path for path in paths if path.parent == paths[0].parent]
    over[which].unlink()
    assert run.evaluation_paths(result) == paths
    assert not audit(tmp_path / "run").holds
    (tmp_path / "run" / "result.json").unlink()
    with pytest.raises(RecordError, match=f"Cannot read .*{over[which].name}"):
        train(tmp_path / "run", protocol)


@pytest.mark.parametrize("name", ["99", "000099.txt", "notes"])
def test_what_is_no_checkpoint_is_not_taken_for_one(name: str, tmp_path: Path, undisturbed: Path) -> None:
    shutil.copytree(undisturbed, tmp_path / "run")
    (tmp_path / "run" / "checkpoints" / name).mkdir()
    assert contents(tmp_path / "run") == contents(undisturbed)


@pytest.mark.parametrize("damage", ["flipped weight", "flipped state", "truncated", "missing"])
def test_the_checkpoint_before_is_used_when_the_newest_is_damaged(
    damage: str, tmp_path: Path, undisturbed: Path
) -> None:
    _train_until(tmp_path / "run", small_protocol(), 30)
    checkpoints = sorted((tmp_path / "run" / "checkpoints").iterdir())
    assert len(checkpoints) == 2
    _damage(checkpoints[-1], damage)
    notices: list[str] = []
    train(tmp_path / "run", small_protocol(), watcher=Watcher(notice=notices.append))
    assert len(notices) == 1
    assert str(checkpoints[-1]) in notices[0]
    assert contents(tmp_path / "run") == contents(undisturbed)


def test_checkpoints_of_another_run_are_refused(tmp_path: Path, undisturbed: Path) -> None:
    RunDirectory.create(tmp_path / "run", small_protocol(), seed=1)
    shutil.copytree(undisturbed / "checkpoints", tmp_path / "run" / "checkpoints")
    with pytest.raises(RecordError, match="are of another run"):
        train(tmp_path / "run", small_protocol(), seed=1)


def test_a_damaged_checkpoint_is_not_evaluated(tmp_path: Path, undisturbed: Path) -> None:
    shutil.copytree(undisturbed, tmp_path / "run")
    _damage(max((tmp_path / "run" / "checkpoints").iterdir()), "flipped weight")
    with pytest.raises(RecordError, match="is damaged: the checksum of arrays"):
        evaluate(tmp_path / "run")


def test_nothing_is_touched_when_no_checkpoint_is_whole(tmp_path: Path) -> None:
    _train_until(tmp_path / "run", small_protocol(), 30)
    for checkpoint in (tmp_path / "run" / "checkpoints").iterdir():
        _damage(checkpoint, "truncated")
    before = _files(tmp_path / "run")
    with pytest.raises(RecordError, match="No intact checkpoint is left"):
        train(tmp_path / "run", small_protocol())
    assert _files(tmp_path / "run") == before


def _damage(checkpoint: Path, damage: str) -> None:
    arrays, state = checkpoint / "arrays.safetensors", checkpoint / "state.json"
    match damage:
        case "flipped weight":
            data = bytearray(arrays.read_bytes())
            data[-5] ^= 1
            arrays.write_bytes(data)
        case "flipped state":
            state.write_text(state.read_text().replace('"interactions": ', '"interactions": 1'))
        case "truncated":
            arrays.write_bytes(arrays.read_bytes()[:-8])
        case "missing":
            state.unlink()


def _files(directory: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in directory.rglob("*") if path.is_file() and path.name != "lock"}


# The schedule at work


def orders(indices: Iterable[int]) -> list[Order]:
    return [Order(1, index) for index in indices]


def run_intervals(run: RunDirectory, collector: Collector) -> None:
    trial = Trial(run, collector, Watcher())
    trial.complete(Intervals(trial))


class _ScriptedCollector:
    """Plays nothing: the returns of interval i are what the script says, walked in a corridor that pays them."""

    def __init__(self, script: Sequence[Sequence[float]]) -> None:
        self.listener = Listener()
        self._script = script
        self._orders: list[tuple[int, int]] = []
        self._weights: str | None = None
        self.deployed: list[str | None] = []

    def deploy(self, deployment: Deployment | None) -> None:
        self.deployed.append(None if deployment is None else deployment.digest)

    def order(self, order: Order) -> None:
        self._orders.append((order.interval, order.index))

    def collect(self) -> Collected:
        interval, index = self._orders.pop()  # the last one first: they may come in any order
        score = self._script[interval - 1][index] if interval <= len(self._script) else 0.0
        states = [np.array([cell], dtype=np.int64) for cell in range(11)]
        decisions = tuple(Decision(1, score if step == 9 else 0.0, 25, 0, 0, False, 1, 0.0) for step in range(10))
        episode = Episode(decisions, End.TERMINAL, digest(states[-1]))
        return Collected(interval, index, episode, make_path([Seen(state, 0) for state in states], episode))

    def pause(self) -> None:
        pass

    def close(self) -> None:
        pass


GOOD, BAD = (10.0, 11.0, 12.0, 11.0), (1.0, 2.0, 1.0, 2.0)


def _run_script(tmp_path: Path, *script: Sequence[float]) -> tuple[list[str | None], list[dict[str, Any]]]:
    """Play a script of intervals of four episodes; what was deployed in each, and the metrics of each."""
    protocol = small_protocol(interactions=1_000 * len(script), evaluation_episodes=1)
    run = RunDirectory.create(tmp_path / "run", protocol, seed=0)
    collector = _ScriptedCollector(script)
    run_intervals(run, collector)
    return collector.deployed, [line for line in run.read_metrics() if line["event"] == "interval"]


def test_accepted_updates_are_deployed_one_after_another(tmp_path: Path) -> None:
    deployed, intervals = _run_script(tmp_path, GOOD, GOOD, GOOD)
    assert [line["accepted"] for line in intervals] == [True, True, True]
    assert [line["tested"] for line in intervals] == [False, True, True]
    assert deployed == [None, *(line["weights"] for line in intervals)]
    assert len(set(deployed)) == 4


def test_a_rejected_update_brings_back_what_was_deployed_before_it(tmp_path: Path) -> None:
    deployed, intervals = _run_script(tmp_path, GOOD, GOOD, BAD, BAD, BAD)
    assert [line["accepted"] for line in intervals] == [True, True, False, True, True]
    assert [line["tested"] for line in intervals] == [False, True, True, False, True]
    # Interval 3 was played with the second update; its returns bring back the first, for interval 4.
    assert deployed[3] == deployed[1]
    assert deployed[4] not in deployed[:4]


def test_rejecting_the_first_update_brings_back_the_untrained_agent(tmp_path: Path) -> None:
    deployed, intervals = _run_script(tmp_path, GOOD, BAD, BAD)
    assert [line["accepted"] for line in intervals] == [True, False, True]
    assert [weights is None for weights in deployed] == [True, False, True, False]


def test_a_rejected_interval_leaves_no_trace_in_training(tmp_path: Path) -> None:
    """After a rejection training goes on as if the rejected interval had brought nothing."""
    protocol = small_protocol(interactions=3_000, evaluation_episodes=1)
    run = RunDirectory.create(tmp_path / "run", protocol, seed=0)
    run_intervals(run, _ScriptedCollector((GOOD, GOOD, BAD)))
    checkpoint, _ = run.read_checkpoint()
    assert checkpoint is not None
    before, _ = RunDirectory.open(tmp_path / "run").read_checkpoint()
    assert before is not None
    snapshots = unpack(checkpoint)
    assert snapshots["previous"] is None
    assert checkpoint.state["baseline"] is None
    assert snapshots["current"] is not None
    assert snapshots["current"].counters["time_steps"] == 4 * 10  # of the first interval alone


# Interrupts


def _interrupted(monkeypatch: pytest.MonkeyPatch, directory: Path, protocol: Protocol, *, decisions: int) -> None:
    """Train until an interrupt comes in the middle of a later decision."""
    execute, made = Play.execute, 0

    def interrupt(play: Play, choice: Choice) -> Decision:
        nonlocal made
        made += 1
        if made == decisions:
            signal.raise_signal(signal.SIGINT)
        return execute(play, choice)

    with monkeypatch.context() as patch:
        patch.setattr(Play, "execute", interrupt)
        with pytest.raises(KeyboardInterrupt):
            train(directory, protocol, episodes_at_once=3)


@pytest.mark.parametrize("decisions", [20, 150, 430])
def test_episodes_that_are_interrupted_are_paused_and_go_on_to_the_bit(
    decisions: int, tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # where tests run in the background, it is ignored
    _interrupted(monkeypatch, tmp_path / "run", small_protocol(), decisions=decisions)
    assert list((tmp_path / "run" / "paused").iterdir())
    train(tmp_path / "run", small_protocol(), episodes_at_once=3)
    assert contents(tmp_path / "run") == contents(undisturbed)
    assert not (tmp_path / "run" / "paused").exists()


def test_a_paused_episode_whose_file_is_damaged_is_played_again(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _interrupted(monkeypatch, tmp_path / "run", small_protocol(), decisions=150)
    for path in (tmp_path / "run" / "paused").iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    train(tmp_path / "run", small_protocol())
    assert contents(tmp_path / "run") == contents(undisturbed)


def test_episodes_whose_states_cannot_be_stored_are_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    learning = LearningSettings(schedule=ScheduleSettings(interactions=1_000, interval=500), evaluation_episodes=2)
    lake = make_protocol("FrozenLake-v1", agent="n-cpl", budget=5, learning=learning)
    _interrupted(monkeypatch, tmp_path / "run", lake, decisions=20)
    train(tmp_path / "run", lake)
    train(tmp_path / "whole", lake)
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


# Workers


def test_a_worker_that_dies_is_replaced_and_its_episodes_are_played_again(
    tmp_path: Path, undisturbed: Path
) -> None:
    protocol = small_protocol()
    run = RunDirectory.create(tmp_path / "run", protocol, seed=0)
    with contextlib.closing(DyingWorkers(protocol, every=2)) as workers:
        run_intervals(run, workers)
        assert workers.deaths == 4
    assert contents(tmp_path / "run") == contents(undisturbed)


def test_workers_that_keep_dying_are_an_error(tmp_path: Path) -> None:
    protocol = small_protocol()
    over = threading.Event()

    def assassin(workers: Workers) -> None:
        while not over.wait(0.05):
            for process in workers.processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)

    with contextlib.closing(Workers(protocol, seed=0, workers=2, at_once=2)) as workers:
        thread = threading.Thread(target=assassin, args=(workers,))
        thread.start()
        try:
            with pytest.raises(Exception, match="keep dying"):
                list(collect_all(workers, orders(range(4))))
        finally:
            over.set()
            thread.join()


def test_an_error_in_a_worker_is_an_error_here(tmp_path: Path) -> None:
    protocol = small_protocol().model_copy(update={"simulator": "gymnasium", "game": "NoSuchEnvironment-v0"})
    with (
        contextlib.closing(Workers(protocol, seed=0, workers=2, at_once=2)) as workers,
        pytest.raises(InputError, match="NoSuchEnvironment"),
    ):
        list(collect_all(workers, orders(range(4))))


def test_workers_end_with_whoever_started_them(tmp_path: Path) -> None:
    workers = Workers(small_protocol(), seed=0, workers=2, at_once=2)
    processes = workers.processes
    workers.close()
    for _ in range(100):
        if not any(Path(f"/proc/{process}").exists() for process in processes):
            return
        time.sleep(0.05)
    raise AssertionError("workers are left")


def test_workers_never_heed_an_interrupt_not_even_while_they_start(tmp_path: Path) -> None:
    """Ctrl-C at a terminal goes to all processes, and whoever trains ends the others."""
    with contextlib.closing(Workers(small_protocol(), seed=0, workers=2, at_once=2)) as workers:
        for process in workers.processes:
            os.kill(process, signal.SIGINT)
        started = set(workers.processes)
        assert len(list(collect_all(workers, orders(range(2))))) == 2
        for process in workers.processes:
            os.kill(process, signal.SIGINT)
        assert len(list(collect_all(workers, orders(range(2, 4))))) == 2
        assert set(workers.processes) == started


# Replaying


def test_a_replayed_episode_is_the_one_that_was_collected() -> None:
    protocol = small_protocol()
    collector = InProcess(protocol, seed=0, at_once=2)
    for collected in collect_all(collector, orders([0, 1, 2])):
        again = replay(Corridor(), EpisodeChance(0, collected.index, 1), collected.episode)
        assert (again.path.observations == collected.path.observations).all()
        assert (again.path.actions == collected.path.actions).all()
        assert (again.path.rewards == collected.path.rewards).all()
        assert again.path.terminal == collected.path.terminal


def test_an_episode_of_another_world_does_not_replay() -> None:
    collector = InProcess(small_protocol(), seed=0, at_once=1)
    (collected,) = collect_all(collector, orders([0]))
    with pytest.raises(RecordError, match="does not replay"):
        replay(Corridor(4), EpisodeChance(0, 0, 1), collected.episode)


# Bad input


def test_a_run_with_another_protocol_is_refused_and_left_as_it_is(tmp_path: Path, undisturbed: Path) -> None:
    before = _files(undisturbed)
    with pytest.raises(InputError, match=r"holds another run: its learning\.schedule\.interval is 1000, not 500"):
        train(undisturbed, small_protocol(interval=500))
    with pytest.raises(InputError, match="holds a run with seed 0, not 7"):
        train(undisturbed, small_protocol(), seed=7)
    assert _files(undisturbed) == before


def test_a_directory_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("dear")
    with pytest.raises(InputError, match="not empty and holds no run"):
        train(tmp_path, small_protocol())
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_second_process_on_the_same_run_is_refused(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "run", small_protocol(), seed=0)
    with run.locked():
        assert run.is_locked
        with pytest.raises(InputError, match=f"already working on .*process {os.getpid()}"):
            train(tmp_path / "run", small_protocol())
    assert not run.is_locked


def test_a_lock_that_was_deleted_lets_nobody_in(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "run", small_protocol(), seed=0)
    with run.locked():
        (tmp_path / "run" / "lock").unlink()
        assert run.is_locked
        with pytest.raises(InputError, match=r"already working on .*another one"):
            train(tmp_path / "run", small_protocol())
    assert not run.is_locked


def test_what_killed_writers_left_is_swept_when_a_run_goes_on(tmp_path: Path) -> None:
    """But not what a living process is writing, such as one that evaluates."""
    run = RunDirectory.create(tmp_path / "run", small_protocol(), seed=0)
    episodes = tmp_path / "run" / "episodes" / "interval-0001"
    episodes.mkdir(parents=True)
    left = [tmp_path / "run" / ".run.json.0123abcd.unfinished", episodes / ".00000.json.0123abcd.unfinished"]
    for path in left:
        path.write_text('{"format": ')
    hidden = tmp_path / "run" / ".notes.txt"
    hidden.write_text("mine")
    swept: list[list[bool]] = []

    def look(operation: disk.Operation) -> None:
        if operation.kind == "write":
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(disk, "_watchers", [])
                with run.locked():
                    swept.append([path.exists() for path in (operation.path, *left, hidden)])

    with disk.watched(look):
        write_atomically(tmp_path / "run" / "evaluation" / "interval-0001" / "00000.json", b"{}")
    assert swept == [[True, False, False, True]]


def test_asking_whether_a_run_is_locked_disturbs_nobody_who_locks_it(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "run", small_protocol(), seed=0)
    with (tmp_path / "run" / "lock").open("rb") as asking:
        fcntl.flock(asking, fcntl.LOCK_SH)
        threading.Timer(0.1, lambda: fcntl.flock(asking, fcntl.LOCK_UN)).start()
        with run.locked():
            assert run.is_locked


def test_whoever_may_not_write_the_lock_is_told_the_truth(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "run", small_protocol(), seed=0)
    lock = tmp_path / "run" / "lock"
    with run.locked():
        lock.chmod(0o444)
        assert run.is_locked
    assert not run.is_locked
    lock.unlink()
    assert not run.is_locked
    lock.mkdir()
    assert not run.is_locked
    with pytest.raises(OutputError, match=r"Cannot lock .*: Is a directory"), run.locked():
        pass


def test_a_lock_holds_on_a_full_disk_too(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "run", small_protocol(), seed=0)

    def full(handle: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.write", full)
        with run.locked():
            assert run.is_locked


def test_a_process_that_was_killed_while_it_began_leaves_a_directory_to_begin_in(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    (tmp_path / ".run.json.x7f").write_text('{"format": ')
    assert RunDirectory.create(tmp_path, small_protocol(), seed=3).seed == 3


def test_two_processes_that_begin_at_once_do_not_mix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one begins between this one's look into the directory and its first write."""

    def begin_in_between(path: Path) -> None:
        monkeypatch.undo()
        RunDirectory.create(tmp_path / "run", small_protocol(), seed=1)

    monkeypatch.setattr("noveltree.records.run_directory.check_writable", begin_in_between)
    with pytest.raises(InputError, match="holds a run with seed 1, not 0"):
        RunDirectory.create(tmp_path / "run", small_protocol(), seed=0)
    assert RunDirectory.open(tmp_path / "run").seed == 1


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"seed": -1}, "is not a run of noveltree"),
        ({"seed": 1}, "was changed after it was written: its checksum does not fit"),
        ({"agent": "riw-c"}, "was changed after it was written: its checksum does not fit"),
        ({"seed": "0"}, "is not a run of noveltree"),
        ({"version": 2}, "has format version 2; this noveltree reads 1"),
        ({"protocol": {"budget": 50}}, "was changed after it was written: its hash does not fit its protocol"),
        ({"protocol": {"learning": None}}, "its hash does not fit its protocol"),
        ({"protocol": {"budget": "much"}}, r"run\.json: Not a valid protocol"),
    ],
)
def test_a_run_that_was_edited_is_refused(
    change: dict[str, Any], complaint: str, tmp_path: Path, undisturbed: Path
) -> None:
    content = json.loads((undisturbed / "run.json").read_text())
    protocol = {**content["protocol"], **change.get("protocol", {})}
    (tmp_path / "run.json").write_text(json.dumps({**content, **change, "protocol": protocol}))
    with pytest.raises(RecordError, match=complaint):
        RunDirectory.open(tmp_path)


def test_a_run_that_is_no_json_is_refused(tmp_path: Path) -> None:
    for text in ("[" * 100_000, "[]", '{"format"', "\udcff"):
        (tmp_path / "run.json").write_bytes(text.encode(errors="surrogateescape"))
        with pytest.raises(RecordError, match=r"run\.json is damaged"):
            RunDirectory.open(tmp_path)


def test_an_interval_larger_than_the_budget_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="larger than the training budget"):
        train(tmp_path / "run", small_protocol(interactions=500))
    assert not (tmp_path / "run").exists()


def test_an_agent_that_learns_nothing_cannot_be_trained(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="riw-c learns nothing"):
        train(tmp_path / "run", make_protocol("corridor", agent="riw-c"))


def test_a_loss_that_is_no_number_keeps_the_last_checkpoint(tmp_path: Path) -> None:
    value = ValueSettings(at_least=16, every=8, batch=16, refresh=100, learning_rate=1e30)
    with pytest.raises(LearningError, match="not a finite number"):
        train(tmp_path / "run", small_protocol(value=value))
    # And in the middle of a run that went well so far:
    _train_until(tmp_path / "good", small_protocol(), 14)
    before = contents(tmp_path / "good")["arrays"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("torch.nn.functional.huber_loss", lambda values, targets: (values * float("nan")).mean())
        with pytest.raises(LearningError, match="not a finite number"):
            train(tmp_path / "good", small_protocol())
    assert contents(tmp_path / "good")["arrays"] == before


def test_a_full_disk_is_found_out_before_an_interval_is_played(tmp_path: Path, undisturbed: Path) -> None:
    _train_until(tmp_path / "run", small_protocol(), 14)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shutil.disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9 - 10**6, 10**6))
        with pytest.raises(OutputError, match="not enough space"):
            train(tmp_path / "run", small_protocol())
    train(tmp_path / "run", small_protocol())
    assert contents(tmp_path / "run") == contents(undisturbed)


def test_a_disk_that_fills_up_while_a_checkpoint_is_written_costs_nothing_but_it(
    tmp_path: Path, undisturbed: Path
) -> None:
    calls = 0
    fsync = os.fsync

    def full_now_and_then(handle: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 40:
            raise OSError(28, "No space left on device")
        fsync(handle)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", full_now_and_then)
        with pytest.raises(OutputError, match="No space left on device"):
            train(tmp_path / "run", small_protocol())
    train(tmp_path / "run", small_protocol())
    assert contents(tmp_path / "run") == contents(undisturbed)


def test_more_episodes_at_once_than_memory_can_hold_are_refused(tmp_path: Path) -> None:
    protocol = make_protocol("pong", agent="n-cpl")
    with pytest.raises(InputError, match="GB of memory"):
        train(tmp_path / "run", protocol, episodes_at_once=10**7)
    assert not (tmp_path / "run").exists()
    assert available_memory() is not None
    check_memory(protocol, workers=1, at_once=1)
    assert estimate_memory(protocol, workers=1, at_once=32) < 1.5e9


def test_a_run_that_has_deployed_nothing_cannot_be_evaluated(tmp_path: Path) -> None:
    RunDirectory.create(tmp_path / "run", small_protocol(), seed=0)
    with pytest.raises(InputError, match="has not deployed any networks yet"):
        evaluate(tmp_path / "run")


# Evaluating


def test_evaluating_a_run_that_is_being_trained_leaves_its_evaluation_alone(
    tmp_path: Path, undisturbed: Path
) -> None:
    _train_until(tmp_path / "run", small_protocol(), 14)
    with RunDirectory.open(tmp_path / "run").locked():
        early = evaluate(tmp_path / "run", episodes=2)
    train(tmp_path / "run", small_protocol())
    assert [read_episode(Path(file)).weights for file in early["episode_files"]] == [early["weights"]] * 2
    expected, found = contents(undisturbed), contents(tmp_path / "run")
    assert expected["episodes"].items() <= found["episodes"].items()
    assert len(found["episodes"]) == len(expected["episodes"]) + 2


def test_episodes_that_were_evaluated_are_not_played_again(undisturbed: Path) -> None:
    spent: list[int] = []
    first = evaluate(undisturbed, episodes=10, on_interactions=spent.append)
    assert spent == []
    result = RunDirectory.open(undisturbed).read_result()
    assert result is not None
    assert first["scores"] == result["scores"]
    more = evaluate(undisturbed, episodes=12, episodes_at_once=2, on_interactions=spent.append)
    assert more["scores"][:10] == first["scores"]
    assert len(more["scores"]) == 12
    assert spent != []


def test_evaluation_episodes_name_the_networks_they_were_played_with(undisturbed: Path) -> None:
    run = RunDirectory.open(undisturbed)
    deployment, interval = read_deployment(run)
    record = read_episode(run.evaluation_path(interval, 0))
    assert (record.weights, record.interval) == (deployment.digest, interval)


def test_lives_of_a_path_are_the_same_in_one_piece_in_two_and_replayed() -> None:
    """Random play at Breakout, in which lives are soon lost; the second piece goes on from a file."""
    protocol = make_protocol("breakout", agent="random", max_frames=15 * 60)
    (whole,) = collect_all(InProcess(protocol, seed=0, at_once=1), orders([0]))
    assert whole.path.losses.any()
    (first,) = collect_all(InProcess(protocol, seed=0, at_once=1), [Order(1, 0, decisions=25, store=True)])
    (second,) = collect_all(InProcess(protocol, seed=0, at_once=1), [Order(1, 0, paused=first.paused)])
    again = replay(protocol.make_simulator(), protocol.chance_of(seed=0, index=0, interval=1), whole.episode)
    for path in (joined([first.path, second.path]), again.path):
        assert path.lives is not None
        assert path.lives.tolist() == whole.path.lives.tolist()
