"""The command line of learning: what it prints and where, what it refuses, and that nothing is ever lost."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import math
import re
import shutil
import signal
from collections.abc import Iterator
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from matplotlib.image import imread
from rich.console import Console

import noveltree.cli.evaluate  # which binds the console before tests replace it
import noveltree.cli.train
from noveltree.agents import AGENTS
from noveltree.learning import LearningSettings, PiSettings
from noveltree.learning.retention import KeepLatest
from noveltree.learning.settings import JointSettings, LockstepSettings, ScheduleSettings
from noveltree.learning.value_targets import LambdaReturns
from noveltree.protocol import Protocol, make_protocol
from noveltree.records import disk, read_episode, write_episode
from noveltree.records.run_directory import RunDirectory
from noveltree.replay import verify_episode
from noveltree.simulators import Corridor, State, Transition
from noveltree.trial import Progress, Watcher, train
from tests.support.agents import EVERYWHERE
from tests.support.command_line import Cli, in_a_process, on_a_terminal, on_screen
from tests.support.runs import contents

LEARNERS = [name for name, agent in AGENTS.items() if agent.heads]
#: Two intervals, in about a second.
_FIRST = tuple(
    word
    for choice in ("schedule.wave=8", "start=fan-in", "value.clipping=together")
    for word in ("--set", f"learning.{choice}")
)
SMALL = ("--interactions", 4000, "--interval", 500, "--budget", 5, "--max-frames", 200, *_FIRST)
#: So many that there is time to interrupt them.
LONG = ("--interactions", 15_000, "--interval", 500, "--budget", 5, "--max-frames", 200, *_FIRST)
COMMANDS = [["train"], ["evaluate"], ["runs"], ["curve"], ["bench", "learning"]]


def protocol_of(interactions: int, **choices: Any) -> Protocol:
    """What the options above choose."""
    schedule = {"interactions": interactions, "interval": 500}
    learning = LearningSettings.model_validate({"schedule": schedule, **choices})
    return make_protocol("corridor", agent="n-cpl", budget=5, max_frames=200, learning=learning)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run, to be copied."""
    directory = tmp_path_factory.mktemp("template") / "run"
    train(directory, protocol_of(4000))
    return directory


@pytest.fixture
def run(template: Path, cli: Cli) -> Path:
    """A finished run in the directory in which the command line works."""
    shutil.copytree(template, "run")
    return Path("run")


def files(directory: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in directory.rglob("*") if path.is_file() and path.name != "lock"}


class _StopError(Exception):
    pass


def stop_after_interval(directory: Path, protocol: Protocol) -> None:
    """Train until an interval is over, and stop in the next one."""

    def watch(line: dict[str, Any]) -> None:
        if line["event"] == "episode" and line["interval"] == 2:
            raise _StopError

    with pytest.raises(_StopError):
        train(directory, protocol, watcher=Watcher(metrics=watch))


# train


def test_train_prints_every_interval_and_the_score(cli: Cli) -> None:
    result = cli("train", "corridor", *SMALL)
    assert (result.code, result.err) == (0, "")
    *intervals, score, where = result.out.splitlines()
    assert len(intervals) == 2
    for number, line in enumerate(intervals, start=1):
        assert re.fullmatch(
            rf"Interval {number}: mean return [\d.]+ of \d+ episodes, (accepted|rejected)( \(p = \d\.\d+\))?; "
            r"[\d,]+ interactions so far; policy loss [\d.]+",
            line,
        )
    run = RunDirectory.open(Path("runs/corridor-n-cpl-seed0"))
    found = run.read_result()
    assert found is not None
    assert score == (
        f"corridor, n-cpl, seed 0: mean score {found['score']:.10g} of 10 episodes after "
        f"{found['interactions']:,} interactions"
    )
    assert where == "Run: runs/corridor-n-cpl-seed0"


def test_the_settings_reach_the_run(cli: Cli) -> None:
    result = cli(
        *("train", "corridor", "--agent", "n-cpl-d", "--seed", 7, "--out", "there/it is", "--json"),
        *("--interactions", 300, "--interval", 200, "--budget", 4, "--max-frames", 30, "--p-value", 0.2),
        *("--value-targets", "lambda-returns", "--retention", "latest", "--sides", "one-sided"),
        *("--evaluation", "continuing", "--evaluation-episodes", 3, "--episodes-at-once", 2),
    ).object
    assert (result["run"], result["seed"], len(result["scores"])) == ("there/it is", 7, 3)
    protocol = RunDirectory.open(Path("there/it is")).protocol
    assert (protocol.agent, protocol.budget, protocol.max_frames) == ("n-cpl-d", 4, 30)
    assert protocol.hash == result["protocol_hash"]
    learning = protocol.learning
    assert learning is not None
    schedule = learning.schedule
    assert (schedule.interactions, schedule.interval) == (300, 200)
    assert (schedule.p_value, schedule.sides) == (0.2, "one-sided")
    assert (learning.value.targets.kind, learning.retention.kind) == ("lambda-returns", "latest")
    assert (learning.evaluation, learning.evaluation_episodes) == ("continuing", 3)


def test_the_same_command_again_gives_the_same_result_without_training(cli: Cli, run: Path) -> None:
    before = files(run)
    result = cli("train", "corridor", *SMALL, "--out", run, "--json").object
    assert result == {**(RunDirectory.open(run).read_result() or {}), "run": "run"}
    assert cli("train", "--resume", run, "--json").object == result
    told = cli("train", "--resume", run)
    assert (told.code, told.err) == (0, "")
    assert told.out == (
        f"corridor, n-cpl, seed 0: mean score {result['score']:.10g} of 10 episodes after "
        f"{result['interactions']:,} interactions\nRun: run\n"
    )
    assert files(run) == before


def test_every_setting_of_learning_and_of_planning_can_be_chosen(cli: Cli) -> None:
    cli(
        *("train", "corridor", *SMALL, "--out", "run", "--horizon", 7, "--no-cache", "--value-targets"),
        *("lambda-returns", "--set", "learning.value.targets.lambda_=0.5", "--set", "learning.policy.epochs=3"),
        *("--set", "learning.retention=latest", "--set", "learning.retention.transitions=99"),
    )
    protocol = RunDirectory.open(Path("run")).protocol
    assert (protocol.horizon, protocol.cache) == (7, False)
    assert protocol.learning is not None
    assert protocol.learning.value.targets == LambdaReturns(lambda_=0.5)
    assert protocol.learning.policy.epochs == 3
    assert protocol.learning.retention == KeepLatest(transitions=99)


def test_a_run_that_was_stopped_goes_on_wherever_it_is(cli: Cli, template: Path) -> None:
    stop_after_interval(Path("before"), protocol_of(4000))
    Path("before").rename("after")
    Path("link").symlink_to("after")
    assert cli("train", "--resume", "link", "--json").object["run"] == "link"
    assert contents(Path("after")) == contents(template)


def test_resuming_takes_what_is_of_this_machine_and_refuses_what_is_of_the_run(cli: Cli, run: Path) -> None:
    result = cli("train", "--resume", run, "--workers", 2, "--episodes-at-once", 3, "--device", "cpu", "--json")
    assert result.code == 0
    for arguments, named in (
        (["corridor"], "game"),
        (["--out", "there"], "--out"),
        (["--seed", 0], "--seed"),
        (["corridor", "--interactions", 9000], "game, --interactions"),
    ):
        result = cli("train", "--resume", run, *arguments)
        assert result.sentence == f"With --resume everything about the run is known: leave out {named}."
        assert result.code == 2


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        ([], 2, "Which game? Give its name, or --resume DIR to resume a run."),
        (["breakot"], 2, "Unknown game 'breakot'. Did you mean 'breakout'?"),
        (["corridor", "--agent", "ncpl"], 2, "Unknown agent 'ncpl'. Did you mean 'n-cpl'?"),
        (
            ["corridor", "--agent", "riw-c"],
            2,
            f"riw-c learns nothing; the agents that do are {', '.join(LEARNERS)}.",
        ),
        (
            *(["corridor", "--interactions", "2000"], 2),
            "An interval of 1,000,000 interactions is larger than the training budget of 2,000; "
            "choose a smaller interval.",
        ),
        (["corridor", "--interactions", "0"], 2, "Invalid value for '--interactions'"),
        (["corridor", "--seed", "-1"], 2, "Invalid value for '--seed'"),
        (["corridor", "--budget", "0"], 2, "Invalid value for '--budget'"),
        (["corridor", "--workers", "0"], 2, "Invalid value for '--workers'"),
        (["corridor", "--sides", "both"], 2, "--sides 'both': input should be 'two-sided' or 'one-sided'."),
        (
            ["corridor", "--retention", "all"],
            2,
            "--retention 'all': one of 'paper', 'latest', 'replay' is expected.",
        ),
        (
            *(["corridor", "--value-targets", "td"], 2),
            "--value-targets 'td': one of 'paper', 'lambda-returns', 'monte-carlo' is expected.",
        ),
        (
            *(["corridor", "--agent", "n-cpl-plus", "--value-targets", "monte-carlo"], 2),
            "--value-targets is not for n-cpl-plus, which learns otherwise;",
        ),
        (
            *(["corridor", "--agent", "pi-iw", "--set", "learning.policy_targets.kind=visits"], 2),
            "The policy targets 'visits' are not for pi-iw: what it knows of actions are values.",
        ),
        (
            *(["corridor", "--agent", "alphazero", "--set", "learning.policy_targets.kind=softmax"], 2),
            "The policy targets 'softmax' are not for alphazero: what it knows of actions are visits.",
        ),
        (
            *(["corridor", "--agent", "pi-iw", "--set", "learning.returns.largest=10"], 2),
            "pi-iw asks for no value, so that no returns are learnt: leave learning.returns as it is.",
        ),
        (
            *(["corridor", "--agent", "alphazero", "--set", "learning.returns=null"], 2),
            "alphazero needs a value head: leave learning.returns as it is.",
        ),
        (
            *(["corridor", "--agent", "pi-iw-plus", "--set", "learning.returns.largest=1e39"], 2),
            "learning.returns.largest 1e+39: input should be less than or equal to 1000000000000.",
        ),
        (
            *(["corridor", "--agent", "pi-hiw", "--set", "learning.batch=1"], 2),
            "a batch has at least 2 transitions; choose a larger learning.batch, or learning.normalisation=none.",
        ),
        (
            ["corridor", "--preset", "junyent-2019"],
            2,
            "The preset junyent-2019 of training is for pi-iw, not for n-cpl.",
        ),
        (["pong", "--agent", "pi-hiw", "--levels", "8"], 2, "levels of gray are --gray-levels."),
        (["corridor", "--evaluation", "no"], 2, "--evaluation 'no': input should be 'frozen' or 'continuing'."),
        (["corridor", "--p-value", "2"], 2, "Invalid value for '--p-value'"),
        (["pong", "--agent", "pi-hiw", "--gray-levels", "257"], 2, "Invalid value for '--gray-levels'"),
        (["corridor", "--p-value", "nan"], 2, "Invalid value for '--p-value'"),
        (["corridor", "--p-value", "many"], 2, "Invalid value for '--p-value'"),
        (["corridor", "--set", "batch=3"], 2, "--set takes a setting of learning, such as learning.value.batch=64"),
        (["corridor", "--set", "learning.value.batch"], 2, "--set takes a setting of learning"),
        (["corridor", "--set", "learning.value.bach=3"], 2, "setting learning.value.bach; did you mean batch?"),
        (["corridor", "--set", "learning.value.batch=many"], 2, "learning.value.batch 'many': a whole number is"),
        (["corridor", "--set", "learning.schedule.wave=0"], 2, "learning.schedule.wave 0: input should be greater"),
        (["corridor", "--interval", "5", "--set", "learning.schedule.interval=6"], 2, "interval is chosen twice."),
        (["corridor", "--device", "gpu"], 2, "The device is cpu or cuda, not 'gpu'."),
        (["corridor", "--episodes-at-once", "100000000"], 2, "GB of memory"),
        (
            ["corridor", "--action-set", "full"],
            2,
            "corridor has no action set to choose",
        ),
        (["corridor", *SMALL, "--out", "a_file"], 1, "Cannot write to a_file: Not a directory."),
        (["corridor", *SMALL, "--out", "a_file/below"], 1, "Cannot write to a_file/below: Not a directory."),
        (
            ["corridor", *SMALL, "--out", "."],
            2,
            ". is not empty and holds no run; choose another --out, or empty it.",
        ),
        (["--resume", "nowhere"], 1, "There is no run in nowhere: it has no run.json."),
        (["--resume", "a_file"], 1, "There is no run in a_file: it has no run.json."),
    ],
)
def test_a_bad_input_is_one_sentence_and_trains_nothing(
    cli: Cli, arguments: list[str], code: int, complaint: str
) -> None:
    Path("a_file").write_text("kept")
    result = cli("train", *arguments)
    assert complaint in result.sentence
    assert result.code == code
    assert [(path.name, path.read_text()) for path in Path.cwd().iterdir()] == [("a_file", "kept")]


def test_a_gpu_that_is_not_there_is_one_sentence(cli: Cli, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    for arguments in (["train", "corridor", *SMALL], ["evaluate", run]):
        result = cli(*arguments, "--device", "cuda")
        assert result.sentence == "The device cuda was asked for, but torch finds no GPU; use --device cpu."
        assert result.code == 2
    assert not Path("runs").exists()


def test_another_run_in_the_same_directory_is_refused_and_left_as_it_is(cli: Cli, run: Path) -> None:
    before = files(run)
    for arguments, complaint in (
        (
            [*SMALL, "--retention", "latest"],
            "run holds another run: its learning.retention.kind is paper, not latest",
        ),
        ([*LONG], "run holds another run: its learning.schedule.interactions is 4000, not 15000"),
        ([*SMALL, "--agent", "cpl"], "run holds another run: its agent is n-cpl, not cpl"),
        ([*SMALL, "--seed", 1], "run holds a run with seed 0, not 1"),
    ):
        result = cli("train", "corridor", *arguments, "--out", run)
        assert result.sentence == f"{complaint}; choose another --out."
        assert result.code == 2
    assert files(run) == before


def test_a_second_process_is_refused_while_one_is_training(cli: Cli, run: Path) -> None:
    with RunDirectory.open(run).locked():
        for arguments in (["corridor", *SMALL, "--out", run], ["--resume", run]):
            result = cli("train", *arguments)
            assert re.fullmatch(r"A process is already working on run \(process \d+\)\.", result.sentence)
            assert result.code == 2


@pytest.mark.parametrize("damage", [b'{"score": ', b'{"score": 1e9}', b""])
def test_a_damaged_result_is_not_believed_and_can_be_had_again(cli: Cli, run: Path, damage: bytes) -> None:
    expected = cli("train", "--resume", run, "--json").object
    (run / "result.json").write_bytes(damage)
    result = cli("train", "--resume", run)
    assert result.sentence.startswith("run/result.json ")
    assert result.code == 1
    (run / "result.json").unlink()
    assert cli("train", "--resume", run, "--json").object == expected


def test_a_damaged_checkpoint_is_passed_over_with_a_notice(cli: Cli, template: Path) -> None:
    shutil.copytree(template, "run")
    Path("run/result.json").unlink()
    newest = max(Path("run/checkpoints").iterdir())
    (newest / "state.json").write_text("{}")
    result = cli("train", "--resume", "run")
    assert result.code == 0
    assert result.err == (
        f"The checkpoint {newest} is damaged: the checksum of state.json does not fit. "
        "Going on from the one before.\n"
    )
    assert contents(Path("run")) == contents(template)


@contextlib.contextmanager
def missing(*packages: str) -> Iterator[None]:
    """As if these packages were not installed."""
    find_spec = importlib.util.find_spec

    def find(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name in packages else find_spec(name, package)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importlib.util, "find_spec", find)
        yield


@pytest.mark.parametrize(
    ("arguments", "package", "what", "extra"),
    [
        (["train", "corridor"], "torch", "Training", "learn"),
        (["train", "--resume", "run"], "onnx", "Training", "learn"),
        (["evaluate", "run"], "torch", "Evaluating", "learn"),
        (["play", "corridor", "--weights", "run"], "onnxruntime", "Playing with networks", "learn"),
        (["bench", "learning"], "torch", "Measuring learning", "learn"),
        (["curve", "run"], "matplotlib", "Drawing", "plot"),
    ],
)
def test_what_is_not_installed_is_named_with_how_to_install_it(
    cli: Cli, run: Path, arguments: list[str], package: str, what: str, extra: str
) -> None:
    with missing(package):
        result = cli(*arguments)
    assert result.sentence == (
        f"{what} needs {package}, which the extra '{extra}' installs: pip install \"noveltree[{extra}]\"."
    )
    assert result.code == 2


def test_runs_are_listed_without_what_learning_needs(cli: Cli, run: Path) -> None:
    with missing("torch", "onnx", "onnxruntime", "safetensors", "matplotlib", "tensorboard"):
        assert cli("runs", run, "--json").object["runs"][0]["state"] == "finished"


def test_tensorboard_gets_its_files_if_it_is_installed(cli: Cli) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    small = (
        "--interactions",
        300,
        "--interval",
        200,
        "--budget",
        5,
        "--max-frames",
        20,
        "--evaluation-episodes",
        1,
    )
    with_it = cli("train", "corridor", *small, "--out", "with", "--json").object
    (file,) = Path("with/tensorboard").iterdir()
    assert file.name.startswith("events.out.tfevents.")
    read = EventAccumulator(str(file))
    read.Reload()
    lines = RunDirectory.open(Path("with")).read_metrics()
    for name, event, key in (
        ("interval/mean_return", "interval", "mean_return"),
        ("episode/return", "episode", "return"),
    ):
        expected = [line[key] for line in lines if line["event"] == event]
        assert [each.value for each in read.Scalars(name)] == pytest.approx(expected)

    def fill(operation: disk.Operation) -> None:
        if operation.kind == "write" and operation.path.parent.name == "tensorboard":
            raise OSError(28, "No space left on device")

    with disk.watched(fill):
        full = cli("train", "corridor", *small, "--out", "full")
    assert (full.code, full.err.count("\n")) == (1, 1)
    assert full.err.startswith("Error: Cannot write full/tensorboard/events.out.tfevents.")
    assert full.err.endswith(": No space left on device.\n")
    went_on = cli("train", "--resume", "full", "--json").object
    assert {**went_on, "run": ""} == {**with_it, "run": ""}
    with missing("tensorboard"):
        without = cli("train", "corridor", *small, "--out", "without", "--json").object
    assert not Path("without/tensorboard").exists()
    assert {**with_it, "run": ""} == {**without, "run": ""}


# Interrupts and terminals


def live_lines(seen: str) -> list[str]:
    """What stood on the live line, one after another."""
    return [line for line in re.split(r"[\r\n]|\x1b\[[0-9;?]*[A-Za-z]", seen) if line.strip()]


@pytest.fixture(scope="module")
def long_run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a longer run holds that nobody disturbed."""
    directory = tmp_path_factory.mktemp("undisturbed") / "run"
    train(directory, protocol_of(15_000))
    return contents(directory)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_loses_nothing_and_says_how_to_go_on(
    cli: Cli, tmp_path: Path, number: signal.Signals, long_run: dict[str, Any]
) -> None:
    arguments = ("train", "corridor", *LONG, "--out", "the run")
    with on_a_terminal(*arguments, cwd=tmp_path) as (process, read_until):
        assert "  interval 3: mean " in read_until("  interval 3: mean ")
        process.send_signal(number)
        seen = read_until("")
        assert process.wait(timeout=60) == 130
    first, *_, last = on_screen(seen)
    assert first.startswith("Interval 1: mean return ")
    assert last == "Interrupted. To resume: noveltree train --resume 'the run'"
    lines = [line for line in live_lines(seen) if "/s  " in line]
    for line in lines:
        assert re.match(
            r"[\d,]+ of 15,000  [\d,]+/s  [\d:?]+ left  interval \d(, learning)?: mean [\d.-]+ of \d", line
        )
        assert len(line) <= 79
    assert any(re.search(r"interval 3(, learning)?: mean [\d.-]+ of \d+ \(before: ", line) for line in lines)
    assert cli("runs", ".", "--json").object["runs"][0]["state"] == "stopped"
    assert cli("train", "--resume", "the run").code == 0
    assert contents(tmp_path / "the run") == long_run


def test_an_impatient_second_interrupt_does_not_disturb_the_ending(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, template: Path
) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # where tests run in the background, it is ignored
    step = Corridor.step
    calls = 0

    def interrupt(self: Corridor, state: State, action: int) -> Transition:
        nonlocal calls
        calls += 1
        if calls == 1000:
            signal.raise_signal(signal.SIGINT)
        return step(self, state, action)

    def join(words: list[str]) -> str:
        """Called when the first interrupt is about to be reported."""
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
        return " ".join(words)

    with monkeypatch.context() as patch:
        patch.setattr(Corridor, "step", interrupt)
        patch.setattr("noveltree.cli.train.shlex.join", join)
        result = cli("train", "corridor", *SMALL, "--out", "run")
    assert (result.code, result.out) == (130, "")
    assert result.err == "Interrupted. To resume: noveltree train --resume run\n"
    assert cli("train", "--resume", "run").code == 0
    assert contents(Path("run")) == contents(template)


def test_an_interrupt_of_an_evaluation_keeps_the_episodes_that_are_over(
    cli: Cli, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(RunDirectory, "write_episode", interrupt_after(2))
        result = cli("evaluate", run, "--episodes", 14)
    assert (result.code, result.out, "Traceback" in result.err) == (130, "", False)
    assert len(list(run.glob("evaluation/*/*.json"))) == 12
    assert len(cli("evaluate", run, "--episodes", 14, "--json").object["scores"]) == 14


def interrupt_after(episodes: int) -> Any:
    """Writes so many episodes, and then the user is tired of it."""
    write = RunDirectory.write_episode
    written = 0

    def write_some(self: RunDirectory, *arguments: Any, **place: Any) -> None:
        nonlocal written
        written += 1
        if written > episodes:
            raise KeyboardInterrupt
        write(self, *arguments, **place)

    return write_some


@pytest.mark.parametrize("width", [80, 40])
def test_the_live_line_fits_one_line_and_disappears(
    cli: Cli, run: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    terminal = io.StringIO()
    console = Console(file=terminal, force_terminal=True, width=width, highlight=False)
    monkeypatch.setattr("noveltree.cli.console.out", console)
    assert cli("train", "corridor", *SMALL, "--out", "trained").code == 0
    assert cli("evaluate", run, "--episodes", 12).code == 0
    lines = live_lines(terminal.getvalue())
    assert any(re.match(r"[\d,]+ of 4,000  [\d,]+/s  [\d:?]+ left(?: |$)", line) for line in lines)
    assert any(re.match(r"evaluation: 10 of 10 episodes, mean(?: [\d.]+)?(?: |$)", line) for line in lines)
    assert any(re.match(r"12 of 12 episodes, mean ", line) for line in lines)
    assert max(map(len, lines)) < width
    assert terminal.getvalue().endswith("\x1b[1A\x1b[2K")


def test_a_terminal_shows_in_the_end_what_a_pipe_gets(tmp_path: Path) -> None:
    """No line is overwritten by the live line, nor the other way round, and the budget is never exceeded."""
    # The first interval's episodes alone, all of which are played, take more than the whole budget.
    arguments = ("train", "corridor", *SMALL, "--interactions", 400, "--interval", 200)
    piped = in_a_process(*arguments, "--out", "run", cwd=tmp_path)
    assert (piped.returncode, piped.stderr, piped.stdout.count("\r")) == (0, "", 0)
    shutil.rmtree(tmp_path / "run")
    with on_a_terminal(*arguments, "--out", "run", cwd=tmp_path) as (process, read_until):
        seen = read_until("")
        assert process.wait(timeout=60) == 0
    expected = [line[at : at + 80] for line in piped.stdout.splitlines() for at in range(0, len(line), 80)]
    assert on_screen(seen) == [line.rstrip() for line in expected]
    for done in re.findall(r"([\d,]+) of 400 ", seen):
        assert int(done.replace(",", "")) < 400


def test_a_preset_of_training_can_be_chosen_and_changed(cli: Cli) -> None:
    small = ("--interactions", 1_000, "--interval", 300, "--budget", 5, "--max-frames", 200, "--lanes", 3)
    assert cli("train", "corridor", "--preset", "quick", *small, "--out", "run").code == 0
    learning = RunDirectory.open(Path("run")).protocol.learning
    assert learning is not None
    assert learning.loop == LockstepSettings(lanes=3)
    assert (learning.schedule.interactions, learning.schedule.interval) == (1_000, 300)
    assert learning.evaluation_episodes == 2
    result = cli("train", "corridor", "--preset", "quik")
    assert (result.code, result.sentence) == (
        *(
            2,
            "Unknown preset of training 'quik'. Did you mean 'quick'? "
            "Known: junyent-2019, junyent-2021, paper, quick.",
        ),
    )


@pytest.mark.parametrize(
    ("command", "preset", "sentence"),
    [
        ("train", "bandres-2018", "bandres-2018 is a preset of playing; the presets of training are paper, quick,"),
        (
            "play",
            "junyent-2019",
            "junyent-2019 is a preset of training, for agents that learn; the presets of playing",
        ),
    ],
)
def test_a_preset_of_the_other_kind_is_called_that(command: str, preset: str, sentence: str, cli: Cli) -> None:
    result = cli(command, "corridor", "--preset", preset)
    assert result.code == 2
    assert result.sentence.startswith(sentence)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--set", "learning.loop.lanes=0"), "--lanes 0: input should be greater than or equal to 1."),
        (("--set", "learning.loop.lanes=2000"), "--lanes 2000: input should be less than or equal to 1024."),
        (("--set", "learning.loop.lane=3"), "lockstep has no setting learning.loop.lane; did you mean lanes?"),
    ],
)
def test_a_setting_that_is_wrong_has_the_name_by_which_it_is_set(
    options: tuple[str, ...], sentence: str, cli: Cli
) -> None:
    result = cli("train", "corridor", "--agent", "n-cpl-plus", *options)
    assert result.code == 2
    assert result.sentence.startswith(sentence)


def test_a_preset_named_after_a_paper_also_says_how_the_agent_plans(cli: Cli) -> None:
    small = ("--interactions", 100, "--interval", 100, "--budget", 5, "--max-frames", 200)
    assert (
        cli("train", "corridor", "--agent", "pi-iw", "--preset", "junyent-2019", *small, "--out", "run").code == 0
    )
    protocol = RunDirectory.open(Path("run")).protocol
    assert (protocol.cached_nodes, protocol.tie_breaking) == ("tested-when-met", "random")
    assert isinstance(protocol.learning, PiSettings)
    assert (protocol.learning.normalisation, protocol.learning.gradient_norm) == ("none", 40.0)
    assert protocol.learning.loop == LockstepSettings(lanes=1, decisions=1, refresh="round")


def test_episodes_beyond_the_budget_are_said_to_be_the_last_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    learning = LearningSettings(schedule=ScheduleSettings(interactions=400, interval=200))
    protocol = make_protocol("corridor", agent="n-cpl", budget=5, learning=learning)
    shown: list[str] = []
    session = noveltree.cli.train._Session(Path("run"), protocol, 0)
    session._line = SimpleNamespace(update=shown.append)  # type: ignore[assignment]
    for interactions in (100, 400, 1_800):
        session._show(Progress("playing", 1, interactions, 0, (1.0,), None, None))
    assert [line.split("  ")[0] for line in shown] == ["100 of 400", "400 spent", "400 spent"]


def test_until_episodes_end_the_live_line_says_what_is_learnt_and_what_decisions_pay() -> None:
    learning = JointSettings(schedule=ScheduleSettings(interactions=4_000, interval=200), loop=LockstepSettings())
    protocol = make_protocol("corridor", agent="n-cpl-plus", budget=5, learning=learning)
    shown: list[str] = []
    session = noveltree.cli.train._Session(Path("run"), protocol, 0)
    session._line = SimpleNamespace(update=shown.append)  # type: ignore[assignment]
    quarter, half = math.log(4), math.log(2)
    for pays, foresight in (
        ((2.0, 4.0), ()),
        ((*[1.0] * 10, *[3.0] * 9, 13.0), (quarter,)),
        ((1.0,), (quarter, *[half] * 10)),
    ):
        session._show(Progress("playing", 5, 1_000, 0, (), None, None, None, pays, foresight))
    session._show(Progress("playing", 5, 1_000, 0, (7.0,), None, None, None, (1.0,), (quarter, *[half] * 10)))
    assert [line.split("  ")[-1] for line in shown] == [
        "interval 5: 3 per decision",
        "interval 5: foresees 25%; 4 per decision",
        "interval 5: foresees 50%, at first 25%; 1 per decision",
        "interval 5: mean 7 of 1; foresees 50%, at first 25%; 1 per decision",
    ]


# evaluate


def test_evaluate_plays_what_is_missing_and_prints_the_scores(cli: Cli, run: Path) -> None:
    trained = RunDirectory.open(run).read_result()
    assert trained is not None
    result = cli("evaluate", run, "--episodes", 11, "--json").object
    assert (result["scores"][:10], len(result["scores"])) == (trained["scores"], 11)
    assert result["score"] == sum(result["scores"]) / 11
    assert (result["game"], result["agent"], result["seed"]) == ("corridor", "n-cpl", 0)
    records = [read_episode(Path(file)) for file in result["episode_files"]]
    assert {record.weights for record in records} == {result["weights"]}
    assert all(verify_episode(record).holds for record in records)
    told = cli("evaluate", run)
    assert (told.code, told.err) == (0, "")
    assert told.out == (
        f"Scores: {', '.join(f'{score:g}' for score in trained['scores'])}\n"
        f"corridor, n-cpl, seed 0: mean score {trained['score']:.10g} of 10 episodes\n"
        f"Episodes: {Path(result['episode_files'][0]).parent}\n"
    )


def test_a_run_can_be_evaluated_while_it_is_being_trained(cli: Cli) -> None:
    stop_after_interval(Path("run"), protocol_of(4000))
    with RunDirectory.open(Path("run")).locked():
        early = cli("evaluate", "run", "--episodes", 2, "--json").object
    assert cli("train", "--resume", "run").code == 0
    late = cli("evaluate", "run", "--episodes", 2, "--json").object
    assert (early["interval"], late["interval"]) == (2, 3)
    for result in (early, late):
        records = [read_episode(Path(file)) for file in result["episode_files"]]
        assert [record.weights for record in records] == [result["weights"]] * 2


def test_evaluate_refuses_with_one_sentence(cli: Cli, run: Path) -> None:
    RunDirectory.create(Path("new"), protocol_of(4000), 0)
    shutil.copytree(run, "damaged")
    (max(Path("damaged/checkpoints").iterdir()) / "state.json").unlink()
    for arguments, code, complaint in (
        (["nowhere"], 1, "There is no run in nowhere: it has no run.json."),
        (["new"], 2, "The run in new has not deployed any networks yet; train it on."),
        (["damaged"], 1, "No such file or directory. Train on: that goes back to the one before."),
        ([run, "--episodes", 0], 2, "Invalid value for '--episodes'"),
        ([run, "--device", "gpu"], 2, "The device is cpu or cuda, not 'gpu'."),
        ([], 2, "Missing argument 'run'."),
    ):
        result = cli("evaluate", *arguments)
        assert complaint in result.sentence
        assert result.code == code


# play --weights


def test_play_plays_with_the_networks_of_a_run(cli: Cli, run: Path) -> None:
    played = cli("play", "corridor", "--weights", run, "--json").object
    assert played["agent"] == "n-cpl"
    assert played["protocol_hash"] == RunDirectory.open(run).protocol.hash  # it plays as it has learnt
    file = Path(played["episode_file"])
    evaluated = cli("evaluate", run, "--episodes", 1, "--json").object
    assert read_episode(file).weights == json.loads(file.read_text())["weights"] == evaluated["weights"]
    assert cli("verify", file).code == 0
    assert cli("play", "corridor", "--weights", run, "--agent", "n-cpl", "--max-steps", 2).code == 0
    without = cli("play", "corridor", "--agent", "riw-c", "--json").object["episode_file"]
    assert "weights" not in json.loads(Path(without).read_text())


@pytest.mark.parametrize("agent", [name for name in EVERYWHERE if AGENTS[name].heads])
def test_every_learner_is_evaluated_played_and_verified(cli: Cli, agent: str) -> None:
    small = (
        "--interactions",
        800,
        "--interval",
        400,
        "--budget",
        10,
        "--max-frames",
        60,
        "--evaluation-episodes",
        1,
    )
    soon = ("--set", "learning.batch=8", "--set", "learning.warm_up=8") if AGENTS[agent].needs_networks else ()
    assert cli("train", "corridor", "--agent", agent, *small, *soon, "--out", "run", "--json").code == 0
    assert cli("evaluate", "run", "--episodes", 2, "--json").object["weights"]
    assert cli("play", "corridor", "--weights", "run", "--json").object["agent"] == agent
    assert cli("verify", "run").code == 0


def test_play_refuses_weights_that_do_not_fit_with_one_sentence(cli: Cli, run: Path) -> None:
    full = ("--interactions", 20, "--interval", 20, "--budget", 2, "--max-frames", 30, "--action-set", "full")
    assert cli("train", "pong", *full, "--evaluation-episodes", 1, "--out", "pong", "--json").code == 0
    RunDirectory.create(Path("new"), protocol_of(4000), 0)
    shutil.copytree(run, "mixed")
    shutil.rmtree("mixed/checkpoints")
    shutil.copytree("pong/checkpoints", "mixed/checkpoints")
    shutil.copytree(run, "shipped", ignore=shutil.ignore_patterns("checkpoints"))
    before = set(Path.cwd().rglob("*"))
    for arguments, code, complaint in (
        (["corridor", "--weights", "pong"], 2, "The weights in pong are of another game: pong, not corridor."),
        (
            *(["pong", "--weights", "pong", "--action-set", "minimal"], 2),
            "The weights in pong are of another network: it does not have 6 actions and observations of shape",
        ),
        (["corridor", "--weights", "mixed"], 1, "The checkpoints in mixed are of another run."),
        (
            *(["corridor", "--weights", run, "--agent", "cpl"], 2),
            "The weights in run are of another agent: n-cpl, not cpl.",
        ),
        (
            *(["corridor", "--weights", run, "--agent", "riw-c"], 2),
            "The weights in run are of another agent: n-cpl, not riw-c.",
        ),
        (
            *(["corridor", "--agent", "n-cpl"], 2),
            "n-cpl plays with networks that it has learnt: train it with `noveltree train`, and give the run's "
            "directory with --weights.",
        ),
        (["corridor", "--weights", "new"], 2, "The run in new has not deployed any networks yet; train it on."),
        (["corridor", "--weights", "shipped"], 2, "Copy shipped/checkpoints from where it was trained, or "),
        (["corridor", "--weights", "nowhere"], 1, "There is no run in nowhere: it has no run.json."),
    ):
        result = cli("play", *arguments)
        assert complaint in result.sentence
        assert result.code == code
    made = set(Path.cwd().rglob("*")) - before
    assert {path for path in made if path.is_file()} == set()


# runs and curve


@pytest.fixture
def listed(run: Path) -> Iterator[Path]:
    """A directory with a run in every state."""
    directory = Path("all")
    shutil.copytree(run, directory / "finished")
    stop_after_interval(directory / "stopped", protocol_of(4000))
    (directory / "linked").symlink_to(Path("../run"))
    for name in ("edited", "result", "metrics", "lines"):
        shutil.copytree(run, directory / "damaged" / name)
    content = (directory / "damaged/edited/run.json").read_text()
    (directory / "damaged/edited/run.json").write_text(content.replace('"budget": 5', '"budget": 50'))
    (directory / "damaged/result/result.json").write_text("{")
    (directory / "damaged/metrics/metrics.jsonl").write_text("3\n")
    (directory / "damaged/lines/metrics.jsonl").write_text('{"event": "interval"}\n')
    with RunDirectory.create(directory / "running", protocol_of(15_000), 5).locked():
        yield directory


def test_runs_lists_every_run_with_its_state(cli: Cli, listed: Path) -> None:
    rows = {row["run"]: row for row in cli("runs", listed, "--json").object["runs"]}
    assert {name: row["state"] for name, row in rows.items()} == {
        "all/damaged/edited": "damaged",
        "all/damaged/metrics": "damaged",
        "all/damaged/result": "damaged",
        "all/damaged/lines": "damaged",
        "all/finished": "finished",
        "all/linked": "finished",
        "all/running": "running",
        "all/stopped": "stopped",
    }
    result = RunDirectory.open(listed / "finished").read_result()
    assert result is not None
    finished = rows["all/finished"]
    assert (finished["score"], finished["interactions"], finished["interval"]) == (
        *(result["score"], result["interactions"], 2),
    )
    assert finished["accepted"] + finished["rejected"] == 2
    stopped = rows["all/stopped"]
    assert 500 < stopped["interactions"] < result["interactions"]
    assert (stopped["interval"], stopped["budget"], stopped["score"]) == (2, 4000, None)
    running = rows["all/running"]
    assert (running["interactions"], running["seed"], running["last_return"]) == (0, 5, None)
    assert "run.json was changed after it was written" in rows["all/damaged/edited"]["complaint"]


def test_runs_fits_a_terminal_and_says_what_is_damaged(cli: Cli, listed: Path) -> None:
    result = cli("runs", listed)
    assert (result.code, result.err) == (0, "")
    table, complaints = result.out.splitlines()[:9], result.out.splitlines()[9:]
    assert all(len(line) <= 80 for line in table)
    assert table[0].split() == ["run", "state", "interactions", "interval", "last", "return", "score"]
    assert re.match(r"all/finished +finished +[\d,]+ of 4,000 +2 +[\d.]+ +[\d.]+ *$", table[5])
    assert re.match(r"all/running +running +0 of 15,000 +1 *$", table[7])
    assert complaints == [
        "all/damaged/edited/run.json was changed after it was written: its hash does not fit its protocol.",
        "The metrics in all/damaged/lines are damaged: they have lines that noveltree does not write.",
        "all/damaged/metrics/metrics.jsonl is damaged: it has lines that noveltree does not write.",
        "all/damaged/result/result.json is damaged: it is not valid JSON.",
    ]


def test_the_name_of_a_run_is_never_cut_off(cli: Cli) -> None:
    name = "a" * 60
    RunDirectory.create(Path(name) / "b", protocol_of(4000), 0)
    listing = cli("runs", ".").out
    assert "".join(line.split()[0] for line in listing.splitlines()[1:]) == f"{name}/b"


def test_runs_has_something_to_say_when_there_are_none(cli: Cli) -> None:
    assert cli("runs").sentence == "There is no directory runs."
    Path("a_file").touch()
    assert cli("runs", "a_file").sentence == "There is no directory a_file."
    assert cli("runs", ".").out == f"There are no runs in {Path.cwd()}.\n"
    assert cli("runs", ".", "--json").object == {"runs": []}


def test_curve_draws_a_run(cli: Cli, run: Path) -> None:
    result = cli("curve", run)
    assert (result.code, result.out, result.err) == (0, "Figure: run/curve.png\n", "")
    assert imread(run / "curve.png").ndim == 3
    told = cli("curve", run, "--out", "a/b.svg", "--json").object
    assert (told["figure"], len(told["runs"][0]["intervals"])) == ("a/b.svg", 2)
    RunDirectory.create(Path("new"), protocol_of(4000), 0)
    for arguments, complaint in (
        (["new"], "No episode has ended in a finished interval of new yet: there is nothing to draw."),
        ([run, "-o", "curve.pdf"], "A figure is a .png or an .svg, not '.pdf'."),
        (["nowhere"], "There is no run in nowhere: it has no run.json."),
    ):
        assert cli("curve", *arguments).sentence == complaint


# protocol, bench, doctor and help


def test_protocols_of_agents_that_learn_are_shown_and_compared(cli: Cli, run: Path) -> None:
    (file, *_) = sorted(run.glob("evaluation/*/*.json"))
    listing = cli("protocol", "show", file)
    assert listing.code == 0
    assert re.search(r"^learning\.schedule\.interactions +4000 +training budget", listing.out, re.MULTILINE)
    assert re.search(r"^learning\.evaluation +frozen ", listing.out, re.MULTILINE)
    write_episode(Path("other.json"), replace(read_episode(file), protocol=protocol_of(6000)))
    result = cli("protocol", "diff", file, "other.json")
    assert result.code == 1
    assert "Scores are not comparable, because of: learning.schedule.interactions.\n" in result.out
    told = cli("protocol", "diff", file, "other.json", "--json")
    (difference,) = told.object["differences"]
    assert (difference["setting"], difference["first"], difference["second"]) == (
        *("learning.schedule.interactions", 4000, 6000),
    )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--games", "corridor"], "Learning is compared with raw emulation, and corridor is not an Atari game."),
        (["--games", "breakot"], "Unknown game 'breakot'."),
        (["--games", "pong", "--agent", "riw-c"], "riw-c learns nothing"),
        (["--games", ","], "Games are names separated by commas, not ','."),
        (["--decisions", "0"], "Invalid value for '--decisions'"),
    ],
)
def test_bench_learning_refuses_with_one_sentence(cli: Cli, arguments: list[str], complaint: str) -> None:
    result = cli("bench", "learning", *arguments)
    assert complaint in result.sentence
    assert result.code == 2


def test_doctor_lists_what_learning_needs(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noveltree.cli.doctor._check", lambda make: "not tried here")
    versions = cli("doctor", "--json").object["versions"]
    packages = {"torch", "onnx", "onnxruntime", "safetensors", "scipy", "matplotlib", "tensorboard"}
    assert packages <= versions.keys()
    assert f"  torch {versions['torch']}\n" in cli("doctor").out
    monkeypatch.setattr("noveltree.cli.doctor._version", lambda package: None if package == "torch" else "1")
    result = cli("doctor")
    assert '  torch not installed; for agents that learn: pip install "noveltree[learn]"\n' in result.out
    assert result.out.endswith("All is well.\n")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_help_of_every_command_has_an_example(cli: Cli, command: list[str]) -> None:
    result = cli(*command, "--help")
    assert result.code == 0
    assert re.search(rf"Examples?:?\s+noveltree {' '.join(command)}\b", result.out)


def test_help_names_the_commands_of_learning(cli: Cli) -> None:
    text = cli("--help").out
    assert all(command in text for (command, *_) in COMMANDS)


def test_training_in_a_process_of_its_own_prints_one_object_and_nothing_else(
    tmp_path: Path, template: Path
) -> None:
    """With workers, as users do it: no library warns, no process is left to complain."""
    result = in_a_process("train", "corridor", *SMALL, "--out", "run", "--workers", 2, "--json", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout)["run"] == "run"
    assert contents(tmp_path / "run") == contents(template)


# The lockstep loop, in which intervals may close before an episode has ended


LOCKSTEP = ["--loop", "lockstep", "--interactions", 2000, "--interval", 500, "--budget", 5, "--max-frames", 200]


def test_every_command_understands_a_run_in_lockstep(cli: Cli) -> None:
    told = cli("train", "corridor", *LOCKSTEP, "--out", "run").out
    assert "Interval 1: 0 per decision, no episode ended; 800 interactions so far" in told
    assert re.search(r"per decision, mean return [\d.]+ of \d+ episodes", told)
    (row,) = cli("runs", "run", "--json").object["runs"]
    assert (row["state"], row["interval"], row["budget"]) == ("finished", 3, 2000)
    assert row["last_return"] is not None
    assert cli("curve", "run", "--json").object["runs"][0]["intervals"]
    assert cli("verify", "run", "--workers", 1).code == 0
    assert cli("report", "run", "-o", "report.md").code == 0
