"""Running benchmarks with real processes: retries, interrupts, growth, collecting and auditing."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from noveltree.audit import audit
from noveltree.benchmark import BenchmarkDirectory, plan_suite, read_suite, run_benchmark
from noveltree.benchmark.directory import TrialStatus
from noveltree.benchmark.executors import LocalExecutor
from noveltree.benchmark.scheduler import Benchmark, _Run
from noveltree.benchmark.suite import Conditions
from noveltree.benchmark.supervise import Outcome, Supervised, supervise
from noveltree.benchmark.trial_process import Task, _Notices
from noveltree.cli.benchmark_view import View
from noveltree.episodes import End, drive
from noveltree.errors import BusyError, InputError, OutputError, RecordError
from noveltree.records import read_episode, write_episode
from noveltree.records.episode_file import EpisodeRecord
from noveltree.records.files import checksum
from noveltree.records.journal import Journal
from noveltree.records.manifest import read_manifest
from noveltree.records.run_directory import RunDirectory
from noveltree.results import collect
from tests.support.benchmarks import SMALL, TINY, create, play_all, table
from tests.support.command_line import NOVELTREE, Cli, on_a_terminal
from tests.support.processes import children_of, is_alive, wait_until


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small benchmark, run without anything happening to it."""
    path = tmp_path_factory.mktemp("undisturbed") / "benchmark"
    statuses = run_benchmark(create(path, SMALL), LocalExecutor(2))
    assert {status.state for status in statuses} == {"finished"}
    return path


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished benchmark of planners, to be copied."""
    path = tmp_path_factory.mktemp("tiny") / "benchmark"
    run_benchmark(create(path), LocalExecutor(2))
    return path


@pytest.fixture
def copy(tiny: Path, tmp_path: Path) -> Path:
    shutil.copytree(tiny, tmp_path / "copy")
    return tmp_path / "copy"


class Executor:
    """Plays no trial; says of each what it is told to."""

    def __init__(self, *outcomes: Outcome) -> None:
        self.outcomes = list(outcomes)
        self.submitted: list[str] = []

    def capacity(self) -> int:
        return 1

    def submit(self, name: str, task: Task) -> None:
        self.submitted.append(name)

    def wait(self, seconds: float) -> list[tuple[str, Outcome]]:
        return [(self.submitted[-1], self.outcomes.pop(0))]

    def stop(self) -> list[tuple[str, Outcome]]:
        return []

    def close(self) -> None:
        pass


def one_trial() -> str:
    return TINY.replace("[riw-c, riw-d]", "[riw-c]").replace("trials: 2", "trials: 1")


class TestRunning:
    def test_planners_play_and_learners_learn(self, undisturbed: Path) -> None:
        rows = table(undisturbed)
        phases = {(row["agent"], row["phase"]) for row in rows}
        assert phases == {("riw-c", "evaluation"), ("n-cpl", "training"), ("n-cpl", "evaluation")}
        for agent in ("riw-c", "n-cpl"):
            for trial in range(3):
                evaluated = [
                    row
                    for row in rows
                    if (row["agent"], row["trial"], row["phase"]) == (agent, str(trial), "evaluation")
                ]
                assert [row["episode"] for row in evaluated] == ["0", "1", "2", "3"]
                assert {row["seed"] for row in evaluated} == {str(trial)}
        for row in rows:
            record = read_episode(undisturbed / row["episode_file"])
            assert str(record.episode.score) == row["score"]
            assert record.protocol.hash == row["protocol_hash"]
            assert str(record.episode.interactions) == row["interactions"]

    def test_what_is_finished_is_not_run_again(self, copy: Path) -> None:
        executor = Executor()
        run_benchmark(BenchmarkDirectory.open(copy), executor)
        assert executor.submitted == []

    def test_a_trial_whose_result_is_gone_is_run_again_from_its_episodes(self, copy: Path) -> None:
        before = table(copy)
        name = "trials/corridor/riw-c/trial-1"
        (copy / name / "result.json").unlink()
        (copy / name / "evaluation/interval-0000/00001.json").unlink()
        kept = (copy / name / "evaluation/interval-0000/00000.json").stat().st_mtime_ns
        statuses = run_benchmark(BenchmarkDirectory.open(copy), LocalExecutor(1))
        assert {status.state for status in statuses} == {"finished"}
        assert (copy / name / "evaluation/interval-0000/00000.json").stat().st_mtime_ns == kept
        assert table(copy) == before

    def test_nothing_is_left_but_what_is_documented(self, tiny: Path) -> None:
        assert {path.name for path in tiny.iterdir()} == {
            "suite.yaml",
            "plan.json",
            "journal.jsonl",
            "lock",
            "trials",
        }

    def test_what_was_left_unfinished_by_one_that_was_killed_is_removed(self, tmp_path: Path) -> None:
        for name in (".room.0123abcd.unfinished", ".plan.json.0123abcd.unfinished"):
            (tmp_path / name).write_text("{")
        create(tmp_path, one_trial())
        assert {path.name for path in tmp_path.iterdir()} == {"suite.yaml", "plan.json", "lock"}

    def test_another_process_cannot_run_it_at_the_same_time(self, copy: Path) -> None:
        benchmark = BenchmarkDirectory.open(copy)
        with benchmark.locked(), pytest.raises(BusyError, match="already working"):
            run_benchmark(benchmark, LocalExecutor(1))


class TestFailing:
    def test_a_failing_trial_is_tried_three_times_and_does_not_stop_the_others(self, tmp_path: Path) -> None:
        benchmark = create(tmp_path / "benchmark")
        bad = benchmark.path / "trials/corridor/riw-c/trial-0"
        bad.mkdir(parents=True)
        (bad / "foreign.txt").write_text("not a run")
        endings: list[TrialStatus | None] = []
        statuses = run_benchmark(benchmark, LocalExecutor(2), on_change=lambda _, ended: endings.append(ended))
        states = {status.trial.name: status.state for status in statuses}
        assert states.pop("trials/corridor/riw-c/trial-0") == "failed"
        assert set(states.values()) == {"finished"}
        failed = next(status for status in statuses if status.state == "failed")
        assert failed.failures == 3
        assert "is not empty and holds no run" in failed.error
        assert sum(ended is failed for ended in endings) == 3
        # Run again, it is left alone; retried, it is run.
        assert run_benchmark(benchmark, executor := Executor())[0].state == "failed"
        assert executor.submitted == []
        (bad / "foreign.txt").unlink()
        with benchmark.locked():
            benchmark.retry(benchmark.statuses()[0])
        assert {status.state for status in run_benchmark(benchmark, LocalExecutor(1))} == {"finished"}

    def test_failures_count_only_in_a_row(self, tmp_path: Path) -> None:
        benchmark = create(tmp_path / "benchmark", one_trial())
        trial = benchmark.trials[0]
        boom = Outcome("failed", 1.0, "boom")
        executor = Executor(*[boom] * 5)
        submit = executor.submit

        def submit_and_record(name: str, task: Task) -> None:
            submit(name, task)
            if len(executor.submitted) == 2:  # an episode is recorded in the second life
                path = benchmark.run_path(trial) / "evaluation/interval-0000/00000.json"
                path.parent.mkdir(parents=True)
                path.write_text("{}")

        executor.submit = submit_and_record  # type: ignore[method-assign]
        (status,) = run_benchmark(benchmark, executor)
        assert status.state == "failed"
        assert len(executor.submitted) == 4

    def test_a_trial_that_is_killed_from_outside_is_started_again_without_end(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """With pauses that grow; and what it fails of itself counts as before."""
        pauses: list[float] = []
        put_off = _Run._put_off

        def note(run: _Run, status: TrialStatus, seconds: float) -> None:
            pauses.append(seconds)
            put_off(run, status, 0.0)

        monkeypatch.setattr(_Run, "_put_off", note)
        benchmark = create(tmp_path / "benchmark", one_trial())
        killed, boom = Outcome("killed", 1.0, "Its process was killed by SIGKILL."), Outcome("failed", 1.0, "boom")
        executor = Executor(*[killed] * 12, boom, killed, boom, killed, boom)
        (status,) = run_benchmark(benchmark, executor)
        assert (status.state, status.failures, status.kills, status.error) == ("failed", 3, 14, "boom")
        assert len(executor.submitted) == 17
        assert pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300, 300]
        (again,) = BenchmarkDirectory.open(benchmark.path).statuses()
        assert (again.state, again.kills) == ("failed", 14)

    def test_pauses_begin_anew_when_an_episode_was_recorded_in_between(self, tmp_path: Path) -> None:
        benchmark = create(tmp_path / "benchmark", one_trial())
        (status,) = benchmark.statuses()
        for recorded in (0, 0, 1):
            if recorded:
                path = benchmark.run_path(status.trial) / "evaluation/interval-0000/00000.json"
                path.parent.mkdir(parents=True)
                path.write_text("{}")
            benchmark.killed(status, 1.0, "Its process was killed by SIGKILL.")
        assert (status.state, status.kills) == ("interrupted", 1)

    def test_a_trial_that_another_process_works_on_is_tried_later(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("noveltree.benchmark.scheduler._SECONDS_WHILE_BUSY", 0.01)
        benchmark = create(tmp_path / "benchmark", one_trial())
        trial = benchmark.trials[0]

        class Busy(Executor):
            def wait(self, seconds: float) -> list[tuple[str, Outcome]]:
                if len(self.submitted) == 9 and not benchmark.is_finished(trial):
                    RunDirectory.create(benchmark.run_path(trial), trial.protocol, 0).write_result(
                        {"scores": [1.0], "score": 1.0}
                    )
                ending = "finished" if len(self.submitted) == 9 else "busy"
                return [(self.submitted[-1], Outcome(ending, 0.1))]

            def capacity(self) -> int:
                time.sleep(0.01)
                return 1

        executor = Busy()
        (status,) = run_benchmark(benchmark, executor)
        assert (status.state, status.failures, len(executor.submitted)) == ("finished", 0, 9)

    def test_a_process_that_dies_says_how(self, tmp_path: Path) -> None:
        task = task_of(create(tmp_path / "benchmark", one_trial()))
        supervised = Supervised(task)
        os.kill(supervised.pid, signal.SIGKILL)
        outcome = supervised.wait()
        assert (outcome.ending, outcome.error) == ("killed", "Its process was killed by SIGKILL.")
        for number, ending in (
            (signal.SIGTERM, "killed"),
            (signal.SIGHUP, "killed"),
            (signal.SIGSEGV, "failed"),
            (signal.SIGABRT, "failed"),
        ):
            before = signal.signal(number, signal.SIG_DFL)  # or it is ignored wherever the tests run under nohup
            supervised = Supervised(task)
            signal.signal(number, before)
            os.kill(supervised.pid, number)
            assert supervised.wait().ending == ending
        broken = Supervised(replace(task, protocol={"game": 3})).wait()
        assert broken.ending == "failed"
        assert "Not a valid protocol" in broken.error
        crashed = Supervised(replace(task, protocol=None)).wait()  # type: ignore[arg-type]
        assert crashed.ending == "failed"
        assert Supervised(task).wait().ending == "finished"

    def test_an_unexpected_error_leaves_its_traceback_in_the_log(self, tmp_path: Path) -> None:
        log = tmp_path / "logs" / "trial.txt"
        task = task_of(create(tmp_path / "benchmark", one_trial()))
        outcome = Supervised(replace(task, directory="\0", log=str(log))).wait()
        assert outcome.ending == "failed"
        assert "ValueError" in outcome.error
        assert "Traceback" in log.read_text()

    def test_a_host_that_does_not_see_the_directory_plays_nothing(self, tmp_path: Path) -> None:
        task = task_of(create(tmp_path / "benchmark", one_trial()))
        for wrong in (
            replace(task, plan=str(tmp_path / "elsewhere/plan.json")),
            replace(task, plan_digest="0" * 64),
        ):
            outcome = supervise(wrong)
            assert outcome.ending == "output"
            assert "does not see" in outcome.error
        assert not Path(task.directory).exists()
        assert supervise(task).ending == "finished"

    def test_a_disk_that_is_full_stops_everything_and_fails_nothing(self, tmp_path: Path) -> None:
        benchmark = create(tmp_path / "benchmark")
        full = Executor(Outcome("output", 1.0, "Cannot write x: No space left on device."))
        with pytest.raises(OutputError, match="No space left on device"):
            run_benchmark(benchmark, full)
        assert len(full.submitted) == 1
        assert {status.state for status in benchmark.statuses()} == {"interrupted", "waiting"}
        assert {status.state for status in run_benchmark(benchmark, LocalExecutor(2))} == {"finished"}


def task_of(benchmark: BenchmarkDirectory) -> Task:
    trial = benchmark.trials[0]
    return Task(
        directory=str(benchmark.run_path(trial)),
        log=str(benchmark.log_path(trial)),
        notices=str(benchmark.notices_path(trial)),
        plan=str(benchmark.plan_path),
        plan_digest=hashlib.sha256(benchmark.plan_path.read_bytes()).hexdigest(),
        protocol=trial.protocol.model_dump(mode="json"),
        seed=0,
        episodes=3,
    )


class TestGrowing:
    def test_a_suite_that_has_all_trials_and_more_may_go_on_in_a_directory(self, copy: Path) -> None:
        before = table(copy)
        grown = create(copy, TINY.replace("trials: 2", "trials: 3"))
        statuses = run_benchmark(grown, LocalExecutor(2))
        assert len(statuses) == 6
        assert {status.state for status in statuses} == {"finished"}
        assert [row for row in table(copy) if row["trial"] != "2"] == before

    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            (("trials: 2", "trials: 1"), "trials/corridor/riw-c/trial-1 is not in this suite"),
            (("[riw-c, riw-d]", "[riw-c]"), "trials/corridor/riw-d/trial-0 is not in this suite"),
            (("budget: 5", "budget: 6"), "in trials/corridor/riw-c/trial-0 budget is 5.0, not 6.0"),
            (("evaluation_episodes: 3", "evaluation_episodes: 4"), "episodes is 3, not 4"),
            (("trials: 2", "seeds: [1, 0]"), "seed is 0, not 1"),
        ],
    )
    def test_another_suite_is_refused(self, copy: Path, change: tuple[str, str], complaint: str) -> None:
        with pytest.raises(InputError) as caught:
            create(copy, TINY.replace(*change))
        assert complaint in str(caught.value)

    def test_software_of_another_version_is_not_mixed_in(self, copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("noveltree.simulators.kind.__version__", "99.0")
        with pytest.raises(InputError, match=r"simulator_version is noveltree .*, not noveltree 99\.0"):
            create(copy)

    def test_a_directory_with_something_else_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "thesis.tex").write_text("")
        with pytest.raises(InputError, match="is not empty and holds no benchmark"):
            create(tmp_path)


class TestHealing:
    @pytest.mark.parametrize("name", ["plan.json", "suite.yaml", "journal.jsonl"])
    def test_a_file_that_was_lost_comes_back_when_the_suite_is_run_again(self, copy: Path, name: str) -> None:
        before = table(copy)
        (copy / name).unlink()
        assert {status.state for status in run_benchmark(create(copy), Executor())} == {"finished"}
        assert table(copy) == before

    def test_a_result_that_was_damaged_is_reported_and_not_counted_as_finished(self, copy: Path) -> None:
        result = copy / "trials/corridor/riw-c/trial-0/result.json"
        result.write_text("")
        (first, *others) = run_benchmark(BenchmarkDirectory.open(copy), LocalExecutor(2))
        assert first.state == "failed"
        assert "result.json is damaged" in first.error
        benchmark = BenchmarkDirectory.open(copy)
        assert benchmark.statuses()[0].state == "failed"
        executor = Executor()
        run_benchmark(benchmark, executor)
        assert executor.submitted == []
        result.unlink()
        with benchmark.locked():
            benchmark.retry(benchmark.statuses()[0])
        assert {status.state for status in run_benchmark(benchmark, LocalExecutor(2))} == {"finished"}
        assert {status.state for status in others} == {"finished"}

    @pytest.mark.parametrize(
        "line", ['{"event": "began", "trial": ["x"]}', '{"event": "x", "seconds": Infinity}', "null", "rubbish"]
    )
    def test_a_journal_that_was_tampered_with_does_no_harm(self, copy: Path, line: str) -> None:
        with (copy / "journal.jsonl").open("a") as file:
            file.write(line + "\n")
        assert {status.state for status in BenchmarkDirectory.open(copy).statuses()} == {"finished"}

    def test_names_in_a_plan_lead_nowhere_else(self, copy: Path) -> None:
        plan = copy / "plan.json"
        plan.write_text(plan.read_text().replace('["riw-c"', '["../../x"'))
        with pytest.raises(RecordError, match="names that noveltree does not write"):
            BenchmarkDirectory.open(copy)

    @pytest.mark.parametrize("number", [-1, 1e308])
    def test_no_trial_has_a_number_that_no_file_can_have(self, copy: Path, number: float) -> None:
        plan = copy / "plan.json"
        content = json.loads(plan.read_text())
        content["trials"][0][2] = number
        plan.write_text(json.dumps(content))
        with pytest.raises(RecordError, match="numbered as noveltree numbers none"):
            BenchmarkDirectory.open(copy)


class TestCollecting:
    def test_unfinished_trials_are_named_and_left_out(self, copy: Path) -> None:
        (copy / "trials/corridor/riw-d/trial-1/result.json").unlink()
        made = collect([BenchmarkDirectory.open(copy)], relative_to=copy)
        assert made.missing == ["trials/corridor/riw-d/trial-1"]
        assert len(made.scores) == 3 * 3

    def test_other_conditions_are_labelled_and_warned_about(self, copy: Path, tmp_path: Path) -> None:
        other = create(tmp_path / "other", TINY.replace("budget: 5", "budget: 6").replace("trials: 2", "trials: 1"))
        play_all(other)
        made = collect([BenchmarkDirectory.open(copy), other], relative_to=tmp_path)
        assert len(made.scores) == 12 + 6
        assert {row["differs"] for row in made.rows() if row["episode_file"].startswith("other/")} == {"budget 6"}
        assert {row["differs"] for row in made.rows() if row["episode_file"].startswith("copy/")} == {""}
        assert made.warnings == [
            "Not comparable with the others: riw-c in corridor, played with budget 6.",
            "Not comparable with the others: riw-d in corridor, played with budget 6.",
        ]

    def test_two_methods_of_one_name_are_not_mixed_either(self, copy: Path, tmp_path: Path) -> None:
        text = TINY.replace("[riw-c, riw-d]", "[{agent: riw-c, horizon: 7}]").replace("trials: 2", "trials: 1")
        other = create(tmp_path / "other", text)
        play_all(other)
        made = collect([BenchmarkDirectory.open(copy), other], relative_to=tmp_path)
        assert made.warnings == ["Not comparable with the others: riw-c in corridor, played with horizon 7."]

    def test_other_conditions_in_another_game_are_found_too(self, tmp_path: Path) -> None:
        short = (
            "{name: x, games: [GAME], agents: [random], evaluation_episodes: 2, conditions: {max_frames: FRAMES}}"
        )
        made = []
        for game, frames in (("pong", "150"), ("breakout", "150"), ("qbert", "300")):
            text = short.replace("GAME", game).replace("FRAMES", frames)
            made.append(create(tmp_path / game, text))
            play_all(made[-1])
        table = collect(made, relative_to=tmp_path)
        assert {(row.game, row.differs) for row in table.scores} == {
            ("pong", ""),
            ("breakout", ""),
            ("qbert", "at most 300 frames"),
        }
        assert table.warnings == [
            "Not comparable with the others: random in qbert, played with at most 300 frames."
        ]

    def test_a_budget_that_follows_from_the_method_is_no_condition(self, tmp_path: Path) -> None:
        suite = read_suite("smrf").part(games=["pong", "breakout"], episodes=1)
        suite = suite.model_copy(update={"conditions": Conditions(max_frames=30)})
        benchmark = BenchmarkDirectory.create(tmp_path / "benchmark", suite, plan_suite(suite))
        play_all(benchmark)
        assert {row["differs"] for row in table(benchmark.path)} == {""}

    def test_methods_of_different_names_are_compared(self, tmp_path: Path) -> None:
        text = TINY.replace("riw-d", "{agent: riw-c, name: shallow, horizon: 7}")
        benchmark = create(tmp_path / "benchmark", text)
        play_all(benchmark)
        assert {row["differs"] for row in table(benchmark.path)} == {""}

    def test_an_episode_is_not_counted_twice(self, tiny: Path, copy: Path) -> None:
        both = [BenchmarkDirectory.open(path) for path in (tiny, copy)]
        with pytest.raises(InputError, match="are the same trial; leave one of them out"):
            collect(both, relative_to=copy)

    def test_parquet_says_the_same(self, tiny: Path, tmp_path: Path) -> None:
        parquet = pytest.importorskip("pyarrow.parquet")
        made = collect([BenchmarkDirectory.open(tiny)], relative_to=tiny)
        (tmp_path / "table.parquet").write_bytes(made.to_parquet())
        read = parquet.read_table(tmp_path / "table.parquet").to_pylist()
        assert read == made.rows()

    def test_learning_goes_on_in_the_evaluation_if_it_is_told_to(self, tmp_path: Path) -> None:
        text = SMALL.replace("learning:\n", "learning:\n      evaluation: continuing\n", 1)
        text = text.replace("  - riw-c\n", "").replace("trials: 3", "trials: 1")
        benchmark = create(tmp_path / "benchmark", text)
        play_all(benchmark)
        rows = table(benchmark.path)
        evaluated = [row for row in rows if row["phase"] == "evaluation"]
        result = RunDirectory.open(benchmark.run_path(benchmark.trials[0])).read_result()
        assert result is not None
        assert [float(row["score"]) for row in evaluated] == result["scores"]
        assert {row["interval"] for row in evaluated} == {str(result["evaluated_from"])}
        assert audit(benchmark.path).holds


def rewrite(path: Path, **changes: Any) -> None:
    """Tamper with an episode so that everything in the file still fits together."""
    content = {**json.loads(path.read_text()), **changes}
    content["checksum"] = checksum(content)
    path.write_text(json.dumps(content))


class TestAuditing:
    EPISODE = "trials/corridor/riw-c/trial-0/evaluation/interval-0000/00000.json"

    def findings(self, path: Path, **options: Any) -> dict[str, str]:
        made = audit(path, **options)
        return {finding.file: finding.sentence for finding in made.findings if not finding.holds}

    def test_what_is_true_is_signed_off(self, copy: Path, cli: Cli) -> None:
        assert cli("benchmark", "collect", copy).code == 0
        made = audit(copy, workers=2)
        assert made.holds
        assert made.episodes == 12
        manifest = read_manifest(copy)
        assert manifest == made.manifest
        assert self.EPISODE in manifest.files
        assert {"results.csv", "plan.json", "suite.yaml", "journal.jsonl"} <= manifest.files.keys()
        again = audit(copy)
        assert again.holds
        assert again.manifest.digest == manifest.digest

    @pytest.mark.parametrize(
        "tamper",
        [
            lambda path: path.write_text(path.read_text().replace('"score": 1.0', '"score": 2.0')),
            lambda path: path.write_text("{}"),
            lambda path: path.write_bytes(path.read_bytes()[:-20]),
            lambda path: path.unlink(),
        ],
    )
    def test_a_tampered_episode_is_found_without_a_manifest(self, copy: Path, tamper: Any) -> None:
        tamper(copy / self.EPISODE)
        assert self.findings(copy)
        assert read_manifest(copy) is None

    def test_a_clever_forgery_is_found_by_replay(self, copy: Path) -> None:
        path = copy / self.EPISODE
        record = read_episode(path)
        decisions = list(record.episode.decisions)
        last = decisions[-1]
        for number, forged in ((-1, {"reward": last.reward + 1.0}), (0, {"action": 1 - decisions[0].action})):
            changed = list(decisions)
            changed[number] = type(last)(**{**{f: getattr(changed[number], f) for f in last.__slots__}, **forged})
            episode = type(record.episode)(tuple(changed), record.episode.end, record.episode.final_observation)
            write_episode(path, EpisodeRecord(episode, record.protocol, record.seed, record.index))
            assert self.EPISODE in self.findings(copy)

    def test_a_result_must_be_that_of_its_episodes(self, copy: Path) -> None:
        run_path = copy / "trials/corridor/riw-d/trial-0"
        run_directory = RunDirectory.open(run_path)
        result = run_directory.read_result()
        assert result is not None
        run_directory.write_result({**result, "score": 99.0})
        assert self.findings(copy) == {"trials/corridor/riw-d/trial-0": "its result is not that of its episodes"}

    @pytest.mark.parametrize("change", [{"scores": [1.0], "score": 1.0}, {"interactions": 1}, {"seed": 9}])
    def test_whatever_it_says_otherwise(self, copy: Path, change: dict[str, Any]) -> None:
        run_directory = RunDirectory.open(copy / "trials/corridor/riw-d/trial-0")
        result = run_directory.read_result()
        assert result is not None
        run_directory.write_result({**result, **change})
        assert self.findings(copy)

    def test_an_episode_that_was_cut_off_before_it_went_wrong_is_found(self, copy: Path) -> None:
        path = copy / self.EPISODE
        record = read_episode(path)
        protocol = record.protocol
        with contextlib.closing(protocol.make_simulator()) as simulator:
            play = protocol.make_play(simulator, seed=record.seed, index=record.index)
            drive([play], decisions=3)
        episode = play.episode()
        assert episode.end is End.STOPPED
        write_episode(path, EpisodeRecord(episode, protocol, record.seed, record.index))
        run_directory = RunDirectory.open(copy / "trials/corridor/riw-c/trial-0")
        result = run_directory.read_result()
        assert result is not None
        scores = [episode.score, *result["scores"][1:]]
        interactions = sum(read_episode(each).episode.interactions for each in path.parent.glob("*.json"))
        score = statistics.fmean(scores)
        run_directory.write_result({**result, "scores": scores, "score": score, "interactions": interactions})
        assert self.findings(copy) == {self.EPISODE: "it was not played to its end"}

    def test_a_plan_must_be_that_of_the_suite(self, copy: Path) -> None:
        plan = copy / "plan.json"
        content = json.loads(plan.read_text())
        content["trials"].pop()
        plan.write_text(json.dumps({**content, "checksum": checksum(content)}))
        shutil.rmtree(copy / "trials/corridor/riw-d/trial-1")
        assert self.findings(copy) == {"plan.json": "it is not the plan of the suite"}
        plan.unlink()
        assert "it has no plan.json" in self.findings(copy)["plan.json"]

    def test_a_benchmark_further_down_is_checked_too(self, copy: Path, cli: Cli) -> None:
        cli("benchmark", "collect", copy)
        audit(copy)
        (copy / "results.parquet").write_text("junk")
        sentences = {(finding.file, finding.sentence) for finding in audit(copy.parent).findings}
        assert sentences == {
            ("copy/results.parquet", "it is not the table of these episodes; collect it again"),
            ("copy/results.parquet", "was changed after it was signed off"),
        }

    def test_nobody_vouches_for_links_and_pipes(self, copy: Path) -> None:
        os.mkfifo(copy / "pipe.json")
        (copy / "link.json").symlink_to("/dev/null")
        assert self.findings(copy) == {"pipe.json": "is not a regular file", "link.json": "is not a regular file"}

    @pytest.mark.parametrize("change", [{"interactions": -1}, {"depth": -1}, {"seconds": float("nan")}])
    def test_numbers_that_cannot_be_are_found(self, copy: Path, change: dict[str, Any]) -> None:
        path = copy / self.EPISODE
        content = json.loads(path.read_text())
        ((name, value),) = change.items()
        content["decisions"][name][0] = value
        rewrite(path, decisions=content["decisions"])
        assert self.EPISODE in self.findings(copy)

    def test_what_is_not_finished_is_said(self, copy: Path) -> None:
        shutil.rmtree(copy / "trials/corridor/riw-d/trial-1")
        made = audit(copy)
        assert made.holds
        assert [(finding.file, finding.sentence) for finding in made.findings] == [
            ("trials", "1 of 4 planned trials are not finished, such as trials/corridor/riw-d/trial-1")
        ]

    @pytest.mark.parametrize("name", ["episodes/interval-x/a.json", "evaluation/interval-0000/b.json"])
    def test_an_episode_in_a_strange_place_is_found(self, copy: Path, name: str) -> None:
        place = copy / "trials/corridor/riw-c/trial-0" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(copy / self.EPISODE, place)
        assert self.findings(copy) == {
            f"trials/corridor/riw-c/trial-0/{name}": "a run does not name its episodes like this"
        }

    def test_what_changes_while_it_is_verified_is_not_signed_off(self, copy: Path) -> None:
        def change(what: str, done: int, total: int) -> None:
            (copy / "suite.yaml").write_text((copy / "suite.yaml").read_text() + "#\n")

        with pytest.raises(BusyError, match="was changed while it was verified"):
            audit(copy, on_progress=change)
        assert read_manifest(copy) is None

    def test_an_episode_of_another_seed_is_found(self, copy: Path) -> None:
        shutil.copy(copy / self.EPISODE.replace("trial-0", "trial-1"), copy / self.EPISODE)
        assert "it belongs to another run" in self.findings(copy)[self.EPISODE]

    def test_a_table_must_be_that_of_the_episodes(self, copy: Path, cli: Cli) -> None:
        cli("benchmark", "collect", copy)
        csv = copy / "results.csv"
        csv.write_text(csv.read_text().replace(",1.0,", ",5.0,", 1))
        assert self.findings(copy) == {"results.csv": "it is not the table of these episodes; collect it again"}

    def test_what_changes_after_signing_off_is_found(self, copy: Path) -> None:
        audit(copy)
        (copy / "suite.yaml").write_text((copy / "suite.yaml").read_text() + "\n")
        (copy / "notes.txt").write_text("mine")
        shutil.rmtree(copy / "trials/corridor/riw-d/trial-1")
        found = self.findings(copy)
        assert found["suite.yaml"] == "was changed after it was signed off"
        assert found["notes.txt"] == "was added after it was signed off"
        assert found["trials/corridor/riw-d/trial-1/run.json"] == "is missing after it was signed off"
        assert not self.findings(copy, renew=True)
        assert not self.findings(copy)

    def test_a_manifest_that_was_edited_is_refused(self, copy: Path) -> None:
        audit(copy)
        manifest = copy / "manifest.json"
        content = json.loads(manifest.read_text())
        content["files"].pop("suite.yaml")
        manifest.write_text(json.dumps(content))
        with pytest.raises(RecordError, match="its digest does not fit"):
            audit(copy)
        assert audit(copy, renew=True).holds
        assert audit(copy).holds

    def test_a_directory_without_episodes_or_at_work_is_refused(self, copy: Path, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        with pytest.raises(InputError, match="There are no episodes"):
            audit(tmp_path / "empty")
        with BenchmarkDirectory.open(copy).locked(), pytest.raises(BusyError, match="verify it afterwards"):
            audit(copy)


class TestJournal:
    def test_a_line_that_was_cut_off_is_passed_over(self, tmp_path: Path) -> None:
        journal = Journal(tmp_path / "journal.jsonl")
        journal.add({"event": "began"})
        with journal.path.open("ab") as file:
            file.write(b'{"event": "fin')
        journal.add({"event": "failed"})
        assert [event["event"] for event in journal.read()] == ["began", "failed"]

    @pytest.mark.parametrize(
        ("change", "left"),
        [
            (lambda lines: [lines[0].replace(b"began", b"ended"), *lines[1:]], None),
            (lambda lines: lines[1:], None),
            (lambda lines: [lines[1], lines[0], *lines[2:]], None),
            (lambda lines: [lines[0], *lines], None),
            (lambda lines: [*lines[:2], b'{"event": "retry"}\n', lines[2]], None),
            (lambda lines: [*lines[:2], lines[2].replace(b"finished", bytes(8))], 2),
            (lambda lines: [*lines, b'{"event": "retry"}\n'], 3),
            (lambda lines: lines[:2], 2),
        ],
    )
    def test_a_line_that_was_changed_dropped_or_moved_is_noticed(
        self, tmp_path: Path, change: Callable[[list[bytes]], list[bytes]], left: int | None
    ) -> None:
        """But for the last one, which may not have come to the disk whole when the power was cut."""
        journal = Journal(tmp_path / "journal.jsonl")
        for event in ("began", "failed", "finished"):
            journal.add({"event": event})
        lines = journal.path.read_bytes().splitlines(keepends=True)
        journal.path.write_bytes(b"".join(change(lines)))
        if left is None:
            with pytest.raises(RecordError, match=r"was changed after it was written: line \d does not fit"):
                journal.read()
            return
        assert [event["event"] for event in journal.read()] == ["began", "failed", "finished"][:left]
        Journal(journal.path).add({"event": "retry"})
        assert [event["event"] for event in journal.read()][left:] == ["retry"]


LONG = TINY.replace("[corridor]", "[breakout]").replace("budget: 5, max_frames: 200", "budget: 100")


#: A learner that has something to say: one of its returns is 1, and its supports end at 0.5.
CLIPPED = """
name: clipped
games: [corridor]
agents:
  - agent: pi-iw-plus
    learning:
      schedule: {interval: 500}
      loop: {lanes: 1}
      returns: {largest: 0.5}
trials: 1
training_interactions: 1000
evaluation_episodes: 1
conditions: {budget: 10, max_frames: 100}
"""


class TestNotices:
    def test_what_a_learner_has_to_say_reaches_who_runs_the_benchmark_and_who_looks_later(self, cli: Cli) -> None:
        Path("clipped.yaml").write_text(CLIPPED)
        ran = cli("benchmark", "run", "clipped.yaml", "--out", "bench")
        assert ran.code == 0, ran
        (line,) = (line for line in ran.out.splitlines() if "learning.returns.largest" in line)
        assert re.match(
            r"notice    corridor, pi-iw-plus, trial 0: \d+% of the returns of an episode are beyond", line
        )
        status = cli("benchmark", "status", "bench").out
        assert status.count(line) == 1
        (trial,) = cli("benchmark", "status", "bench", "--json").object["trials"]
        assert [f"notice    corridor, pi-iw-plus, trial 0: {notice}" for notice in trial["notices"]] == [line]

    def test_a_trial_that_says_the_same_again_is_heard_once(self, tmp_path: Path) -> None:
        """As one does that was killed before its next checkpoint."""
        benchmark = create(tmp_path, one_trial())
        (trial,) = benchmark.trials
        for notice in ("Some are clipped.", "Some are clipped.", "In two\nlines."):
            _Notices(benchmark.notices_path(trial))(notice)
        assert benchmark.notices(trial) == ["Some are clipped.", "In two lines."]

    def test_a_trial_is_heard_while_it_runs_and_not_again_at_the_end(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        benchmark = create(tmp_path, one_trial())
        view, (status,) = View(benchmark, quiet=False), benchmark.statuses()
        running = Benchmark(benchmark, {status.trial.name: status}, {status.trial.name: 0.0})
        say = _Notices(benchmark.notices_path(status.trial))
        for notice in ("First.", "Second."):
            say(notice)
            for _ in range(2):
                view.show(running, None)
            assert capsys.readouterr().out == f"notice    corridor, riw-c, trial 0: {notice}\n"
        view.print_status([status], running=False)
        assert "notice" not in capsys.readouterr().out

    def test_a_long_list_of_notices_is_cut_short(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        benchmark = create(tmp_path, one_trial())
        statuses = benchmark.statuses()
        for number in range(23):
            _Notices(benchmark.notices_path(statuses[0].trial))(f"Number {number}.")
        View(benchmark, quiet=False).print_status(statuses, running=False)
        told = capsys.readouterr().out
        assert told.count("notice    corridor") == 20
        assert f"... and 3 notices more in {tmp_path / 'logs'}" in told


class TestCommandLine:
    def run_long(self, tmp_path: Path) -> subprocess.Popen[str]:
        (tmp_path / "long.yaml").write_text(LONG)
        process = subprocess.Popen(
            [*NOVELTREE, "benchmark", "run", "long.yaml", "--out", "long", "--workers", "2"],
            cwd=tmp_path,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        wait_until(lambda: len(list((tmp_path / "long").glob("trials/*/*/*/progress.json"))) == 2)
        return process

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_a_signal_stops_cleanly(self, tmp_path: Path, number: signal.Signals) -> None:
        process = self.run_long(tmp_path)
        children = children_of(process.pid)
        assert len(children) == 2
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
        assert process.returncode == 130
        assert err == "Interrupted; no finished episode is lost. To resume: noveltree benchmark resume long\n"
        assert not any(Path(f"/proc/{child}").exists() for child in children)
        events = [event["event"] for event in BenchmarkDirectory.open(tmp_path / "long").journal.read()]
        assert events == ["began", "began", "interrupted", "interrupted"]

    def test_trials_do_not_outlive_a_supervisor_that_is_killed(self, tmp_path: Path) -> None:
        process = self.run_long(tmp_path)
        children = children_of(process.pid)
        process.kill()
        process.communicate()
        wait_until(lambda: not any(is_alive(child) for child in children), 30)
        statuses = BenchmarkDirectory.open(tmp_path / "long").statuses()
        assert [status.state for status in statuses] == ["interrupted", "interrupted", "waiting", "waiting"]

    def test_the_live_table_fits_a_terminal_of_80_columns(self, tmp_path: Path) -> None:
        (tmp_path / "long.yaml").write_text(LONG)
        arguments = ("benchmark", "run", "long.yaml", "--out", "long", "--workers", 2)
        with on_a_terminal(*arguments, cwd=tmp_path) as (process, read_until):
            seen = read_until("episode 1 of 3")
            seen = read_until("left")
            process.send_signal(signal.SIGINT)
            process.wait(30)
        assert "breakout" in seen
        assert "2 running" in seen
        assert "0 of 4 done" in seen
        assert "0 failed" in seen

    def test_from_a_suite_to_a_signed_table(self, cli: Cli) -> None:
        Path("tiny.yaml").write_text(TINY)
        planned = cli("benchmark", "plan", "tiny.yaml", "--json").object
        assert len(planned["trials"]) == 4
        listing = cli("benchmark", "plan", "tiny.yaml").out
        assert "4 trials: 1 game x 2 agents x 2" in listing
        assert "Expected: " in listing
        ran = cli("benchmark", "run", "tiny.yaml", "--out", "bench", "--workers", 2, "--json").object
        assert (ran["finished"], ran["failed"]) == (4, 0)
        assert cli("benchmark", "resume", "bench", "--json").object["finished"] == 4
        status = cli("benchmark", "status", "bench")
        assert "4 trials: 4 finished" in status.out
        collected = cli("benchmark", "collect", "bench", "--json").object
        assert collected["rows"] == 12
        assert Path("bench/results.csv").exists()
        verified = cli("verify", "bench", "--workers", 1, "--json").object
        assert verified["directories"][0]["holds"] is True
        assert "12 episodes hold" in cli("verify", "bench", "--workers", 1).out

    def test_failures_come_first_with_their_error_and_the_exit_code_is_one(self, cli: Cli) -> None:
        Path("tiny.yaml").write_text(TINY)
        bad = Path("bench/trials/corridor/riw-d/trial-1")
        create(Path("bench"))
        bad.mkdir(parents=True)
        (bad / "foreign").touch()
        ran = cli("benchmark", "run", "tiny.yaml", "--out", "bench", "--workers", 2)
        assert ran.code == 1
        assert "will be retried" in ran.out
        status = cli("benchmark", "status", "bench")
        assert status.out.startswith("FAILED  corridor, riw-d, trial 1: ")
        assert "noveltree benchmark retry-failed bench" in status.out
        assert cli("benchmark", "status", "bench", "--json").object["trials"][0]["state"] == "failed"
        collected = cli("benchmark", "collect", "bench")
        assert "1 trial not finished, and not in the table: trials/corridor/riw-d/trial-1" in collected.err
        (bad / "foreign").unlink()
        assert cli("benchmark", "retry-failed", "bench").code == 0

    def test_a_closed_pipe_does_not_stop_the_benchmark(self, tmp_path: Path) -> None:
        (tmp_path / "tiny.yaml").write_text(TINY)
        command = f"{' '.join(NOVELTREE)} benchmark run tiny.yaml --out bench --workers 1 | head -1"
        subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True, capture_output=True, timeout=60)
        wait_until(lambda: not BenchmarkDirectory.open(tmp_path / "bench").is_locked)
        assert len(table(tmp_path / "bench")) == 12

    def test_nothing_is_imported_from_where_the_records_are(self, copy: Path, tmp_path: Path) -> None:
        hostile = tmp_path / "hostile"
        hostile.mkdir()
        for module in ("pickle", "json", "noveltree", "numpy"):
            (hostile / f"{module}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').close()")
        command = Path(sys.executable).with_name("noveltree")
        for arguments in (["verify", copy], ["benchmark", "resume", copy]):
            (copy / "trials/corridor/riw-c/trial-0/result.json").unlink(missing_ok=True)
            subprocess.run([command, *arguments], cwd=hostile, check=True, capture_output=True, timeout=60)
        assert (copy / "trials/corridor/riw-c/trial-0/result.json").exists()
        assert not (tmp_path / "ran").exists()

    def test_a_trial_may_have_several_processes(self, cli: Cli, undisturbed: Path) -> None:
        Path("small.yaml").write_text(SMALL.replace("trials: 3", "trials: 1"))
        assert cli("benchmark", "run", "small.yaml", "--out", "bench", "--trial-workers", 2).code == 0
        assert table(Path("bench")) == [row for row in table(undisturbed) if row["trial"] == "0"]

    def test_verify_of_a_tampered_directory_exits_with_one(self, copy: Path, cli: Cli) -> None:
        path = copy / TestAuditing.EPISODE
        path.write_text(path.read_text().replace('"steps": ', '"steps": 1', 1))
        result = cli("verify", copy, "--workers", 1)
        assert result.code == 1
        assert result.out.startswith("DOES NOT HOLD  ")
        assert "in doubt" in result.out

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            (["run", "smok", "--out", "x"], "Unknown suite 'smok'. Did you mean 'smoke'?"),
            (["run", "smoke", "--out", "x", "--executor", "rya"], "The executor is local or ray"),
            (["run", "smoke", "--out", "x", "--address", "a:1"], "add --executor ray"),
            (["run", "smoke", "--out", "/proc/x"], "Cannot write to /proc/x"),
            (["run", "smoke", "--out", "file"], "Not a directory"),
            (["plan", "smoke", "--games", "pongg"], "Unknown game 'pongg'"),
            (["plan", "smoke", "--agents", "riw-d"], "Unknown agent of the suite 'riw-d'"),
            (["status", "nowhere"], "There is no benchmark in nowhere"),
            (["collect", "nowhere"], "There is no benchmark in nowhere"),
            (["init", "file"], "file is there already"),
        ],
    )
    def test_bad_input_gets_one_sentence(self, cli: Cli, arguments: list[str], complaint: str) -> None:
        Path("file").touch()
        result = cli("benchmark", *arguments)
        assert complaint in result.sentence
        assert result.code in (1, 2)

    def test_init_writes_a_suite_that_can_be_planned(self, cli: Cli) -> None:
        assert cli("benchmark", "init").code == 0
        assert "30 trials: 3 games x 2 agents x 5" in cli("benchmark", "plan", "suite.yaml").out
        assert cli("benchmark", "init", "mine.yaml", "--from", "smoke").code == 0
        assert "name: smoke" in Path("mine.yaml").read_text()


def test_watchers_see_what_is_running(tmp_path: Path) -> None:
    benchmark = create(tmp_path / "benchmark", one_trial())
    seen: list[int] = []

    def look(running: Benchmark, ended: TrialStatus | None) -> None:
        seen.append(len(running.running))

    run_benchmark(benchmark, LocalExecutor(1), on_change=look)
    assert 1 in seen
    assert seen[-1] == 0
