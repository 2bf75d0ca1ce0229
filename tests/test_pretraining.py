"""VAE-IW from its first screen to its score: collected, trained and evaluated, resumable at any instant."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from noveltree.audit import audit
from noveltree.benchmark import plan_suite
from noveltree.benchmark.estimate import estimate
from noveltree.benchmark.suite import parse_suite
from noveltree.collection import InProcess, Order, collect_all
from noveltree.collection.orders import PathRecorder
from noveltree.episodes import End, Play, drive
from noveltree.errors import InputError
from noveltree.learning.vae_settings import PaperEncoder, PretrainingSettings, SmallEncoder, VaeSettings
from noveltree.protocol import default_learning, make_protocol, parse_protocol
from noveltree.records import read_episode
from noveltree.records.run_directory import RunDirectory
from noveltree.replay import verify_episode
from noveltree.results.curves import read_curve
from noveltree.trial import Progress, Watcher, evaluate, pretraining, read_deployment, train
from noveltree.trial.memory import estimate_memory
from noveltree.trial.trial import Trial
from tests.support.command_line import Cli
from tests.support.killing import PRETRAINING
from tests.support.runs import contents
from tests.test_kill_and_resume import kill_and_resume

#: 20 screens of two lanes in rounds of one decision, and 2 epochs of 3 batches each.
PROTOCOL = PRETRAINING
EVENTS = ["episode"] * 2 + ["epoch"] * 2 + ["interval", "evaluation"]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vae") / "run"
    train(path, PROTOCOL)
    return path


class _Cut(Exception):
    pass


# A trial's life


def test_screens_are_collected_then_trained_on_then_played_with(directory: Path) -> None:
    run = RunDirectory.open(directory)
    assert [line["event"] for line in run.read_metrics()] == EVENTS
    episodes = [read_episode(path) for path in run.learnt_paths()]
    # 20 screens are those of 4 decisions: a lane's 2, of which an episode may have 10.
    assert [(record.interval, record.index) for record in episodes] == [(1, 0), (1, 1)]
    assert [(record.episode.steps, record.episode.end) for record in episodes] == [(2, End.STOPPED)] * 2
    assert {record.weights for record in episodes} == {None}
    (interval,) = run.read_metrics("interval")
    assert interval["interactions"] == sum(record.episode.interactions for record in episodes)
    assert (interval["episodes"], interval["mean_return"]) == (0, None), "none was played to its end"
    assert len(interval["reconstruction_losses"]) == 2
    deployment, number = read_deployment(run)
    assert (deployment.digest, number) == (interval["weights"], 2)
    result = run.read_result()
    assert result is not None
    (evaluated,) = [read_episode(path) for path in run.evaluation_paths(result)]
    assert (evaluated.weights, evaluated.interval) == (deployment.digest, 2)
    assert (evaluated.episode.steps, evaluated.episode.end) == (10, End.TRUNCATED)


def test_its_episodes_verify_and_its_directory_is_in_order(directory: Path, tmp_path: Path) -> None:
    paths = [*directory.glob("episodes/*/*.json"), *directory.glob("evaluation/*/*.json")]
    assert len(paths) == 3
    assert all(verify_episode(read_episode(path)).holds for path in paths)
    copy = tmp_path / "copy"
    shutil.copytree(directory, copy)
    assert audit(copy).holds


def test_an_evaluation_that_was_stopped_is_still_found_out(directory: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(directory, copy)
    (path,) = copy.glob("evaluation/*/*.json")
    stopped = read_episode(path)
    with contextlib.closing(PROTOCOL.make_simulator()) as simulator:
        play = PROTOCOL.make_play(simulator, seed=0, index=0, interval=2)
        drive([play], decisions=2)
        run = RunDirectory.open(copy)
        run.write_episode(path, play.episode(), interval=2, index=0, weights=stopped.weights)
    assert "it was not played to its end" in [finding.sentence for finding in audit(copy).findings]


def test_episodes_that_end_are_followed_by_others(tmp_path: Path) -> None:
    short = PROTOCOL.model_copy(update={"max_frames": 15})  # one decision
    train(tmp_path / "run", short)
    run = RunDirectory.open(tmp_path / "run")
    episodes = [read_episode(path) for path in run.learnt_paths()]
    assert [(record.index, record.episode.steps) for record in episodes] == [(0, 1), (1, 1), (2, 1), (3, 1)]
    (interval,) = run.read_metrics("interval")
    assert interval["episodes"] == 4
    curve = read_curve(run, "pong", None)
    assert curve is not None
    (point,) = curve.points
    assert (point.interactions, point.episodes, point.mean_return) == (40, 4, interval["mean_return"])


def test_the_training_budget_ends_the_collection_too(tmp_path: Path) -> None:
    learning = VaeSettings.model_validate(
        {**PROTOCOL.learning.model_dump(), "schedule": {"interactions": 15}}  # type: ignore[union-attr]
    )
    protocol = PROTOCOL.model_copy(update={"learning": learning})
    assert (PROTOCOL.training_interactions, protocol.training_interactions) == (40, 15)
    result = train(tmp_path / "run", protocol)
    assert result["interactions"] == 20, "a round of two lanes with one decision of 10"


def test_the_screens_of_a_decision_are_those_of_its_root_and_of_other_nodes() -> None:
    with contextlib.closing(PROTOCOL.make_simulator()) as simulator:
        play = PROTOCOL.make_play(simulator, seed=0, index=0)
        recorder = PathRecorder(play, sample=4)
        seen: list[list[bytes]] = []

        def chose(play: Play, choice: Any) -> None:
            nodes = list(play.lookahead.nodes())
            seen.append([node.state.observation.tobytes() for node in nodes])
            recorder.chose(play)

        drive([play], decisions=3, on_choice=chose)
        sampled = recorder.path(play.episode()).sampled
        assert sampled is not None
        assert sampled.shape == (15, 128, 128)
        for decision, known in enumerate(seen):
            root, *others = [screen.tobytes() for screen in sampled[5 * decision : 5 * decision + 5]]
            assert root == known[0]
            for screen in others:  # none is taken more often than it is there
                known.remove(screen)


def test_a_lookahead_with_few_nodes_is_sampled_whole() -> None:
    protocol = make_protocol("pong", agent="vae-iw", budget=2)
    with contextlib.closing(InProcess(protocol, seed=0, at_once=1)) as collector:
        (collected,) = collect_all(collector, [Order(1, 0, decisions=1, sample=4)])
        assert collected.path.sampled is not None
        assert len(collected.path.sampled) == 3
        (without,) = collect_all(collector, [Order(1, 1, decisions=1)])
        assert without.path.sampled is None


# The same to the bit


@pytest.mark.parametrize(("workers", "at_once"), [(1, 1), (2, 1)])
def test_the_result_does_not_depend_on_who_plays(
    workers: int, at_once: int, directory: Path, tmp_path: Path
) -> None:
    train(tmp_path / "run", PROTOCOL, workers=workers, episodes_at_once=at_once)
    assert contents(tmp_path / "run") == contents(directory)


def test_a_trial_that_was_cut_off_after_any_checkpoint_goes_on_to_the_bit(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every life ends with the next checkpoint: of a round, of a batch, or of networks that are trained."""
    write, lives = Trial.write_checkpoint, 0

    def cut(trial: Trial, number: int, checkpoint: Any) -> None:
        write(trial, number, checkpoint)
        raise _Cut

    monkeypatch.setattr(pretraining, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    monkeypatch.setattr(Trial, "write_checkpoint", cut)
    while lives < 30 and not (tmp_path / "run" / "result.json").exists():
        lives += 1
        with contextlib.suppress(_Cut):
            train(tmp_path / "run", PROTOCOL)
    assert lives == 2 + 2 * (3 + 1) + 1 + 1, "rounds, batches and epochs, the end of training, and the last life"
    assert contents(tmp_path / "run") == contents(directory)


def test_lines_that_were_written_after_the_last_checkpoint_come_again(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_metrics = Trial.add_metrics

    def cut(trial: Trial, event: str, **line: Any) -> None:
        add_metrics(trial, event, **line)
        raise _Cut

    with monkeypatch.context() as patch:
        patch.setattr(Trial, "add_metrics", cut)
        for _ in range(2):  # nothing is written in between: the same line again
            with pytest.raises(_Cut):
                train(tmp_path / "run", PROTOCOL)
    train(tmp_path / "run", PROTOCOL)
    assert contents(tmp_path / "run") == contents(directory)


def test_kill_minus_nine_leaves_no_trace(directory: Path, tmp_path: Path) -> None:
    killed = kill_and_resume(
        tmp_path / "run", "--loop", "pretraining", "--kills", "5", "--longest-life", "4", "--workers", "1"
    )
    assert killed.kills > 0
    assert contents(tmp_path / "run") == contents(directory)


@pytest.mark.parametrize("stage", ["playing", "learning"])
def test_an_interrupt_ends_a_trial_and_nothing_is_lost(
    stage: str, directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("noveltree.trial.watcher._SECONDS_BETWEEN_REPORTS", 0.0)  # or learning may end unreported

    def interrupt(progress: Progress) -> None:
        if progress.stage == stage and (stage == "playing" or progress.trained):
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "run", PROTOCOL, watcher=Watcher(progress=interrupt))
    assert not (tmp_path / "run" / "result.json").exists()
    train(tmp_path / "run", PROTOCOL)
    assert contents(tmp_path / "run") == contents(directory)


# Its protocol


def test_its_protocol_is_read_back_and_its_hash_never_changes() -> None:
    protocol = make_protocol("pong", agent="vae-iw")
    assert parse_protocol(json.loads(json.dumps(protocol.model_dump(mode="json")))) == protocol
    of_any_version = protocol.model_copy(update={"simulator_version": "", "noveltree_version": ""})
    assert of_any_version.hash == "47a6b704dd6382d7"
    learning = protocol.learning
    assert isinstance(learning, VaeSettings)
    hashes = {
        protocol.model_copy(update={"learning": VaeSettings(**choice)}).hash
        for choice in (
            {},
            {"encoder": PaperEncoder()},
            {"encoder": SmallEncoder(epochs=9)},
            {"loop": PretrainingSettings(screens=99)},
            {"beta": 1e-3},
        )
    }
    assert len(hashes) == 5
    assert learning.encoder == SmallEncoder(), "on every machine"
    assert learning.loop.screens == 15_000
    assert protocol.training_interactions == 300_000


def test_memory_and_time_are_estimated_by_encoder() -> None:
    small, paper = (
        make_protocol("pong", agent="vae-iw", learning=VaeSettings(encoder=encoder))
        for encoder in (SmallEncoder(), PaperEncoder())
    )
    assert estimate_memory(small, workers=1, at_once=8) < estimate_memory(paper, workers=1, at_once=8) < 5e9
    assert small.learning is not None
    assert paper.learning is not None
    assert small.learning.training_seconds() < 3_600 < 24 * 3_600 < paper.learning.training_seconds()


def test_suites_have_it_among_their_agents() -> None:
    suite = parse_suite(
        """
name: encoders
games: [pong]
agents:
  - vae-iw
  - {agent: vae-iw, name: theirs, learning: {encoder: {kind: paper}}}
trials: 1
training_interactions: 100000
evaluation_episodes: 1
conditions: {max_frames: 150}
"""
    )
    trials = plan_suite(suite)
    assert [trial.protocol.training_interactions for trial in trials] == [100_000, 100_000]
    small, paper = estimate(trials)
    assert small.interactions == paper.interactions == 101_000
    assert paper.seconds > small.seconds + 24 * 3_600


def test_every_other_game_is_refused() -> None:
    for game in ("corridor", "CartPole-v1"):
        with pytest.raises(InputError, match=r"^vae-iw plays Atari games only: it learns what is seen on their"):
            make_protocol(game, agent="vae-iw")


def test_settings_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    protocol = make_protocol("pong", agent="vae-iw", learning=VaeSettings(evaluation="continuing"))
    with pytest.raises(InputError, match="does not change once it is trained"):
        train(tmp_path / "run", protocol)


# The command line


def test_the_commands_know_its_runs(directory: Path, cli: Cli) -> None:
    shutil.copytree(directory, "runs/pong")
    shown = cli("runs", "runs", "--json")
    (row,) = json.loads(shown.out)["runs"]
    assert (row["state"], row["interactions"], row["budget"]) == ("finished", 40, 40)
    evaluated = cli("evaluate", "runs/pong", "--episodes", "1", "--json")
    assert (
        json.loads(evaluated.out)["weights"] == RunDirectory.open(directory).read_metrics("interval")[0]["weights"]
    )
    played = cli(
        "play", "pong", "--weights", "runs/pong", "--max-steps", "2", "--latent-threshold", "0.6", "--json"
    )
    assert played.code == 0, played.err
    record = read_episode(Path(json.loads(played.out)["episode_file"]))
    assert (record.protocol.latent_threshold, record.weights is None) == (0.6, False)
    assert cli("verify", "runs/pong").code == 0
    assert cli("report", "runs/pong", "--out", "report.html").code == 0
    drawn = cli("curve", "runs/pong")
    assert "after 2 epochs: screens held out lose" in drawn.out
    assert cli("verify", "runs/pong").code == 0, "a figure that is drawn later changes nothing"


def test_training_says_what_it_does(cli: Cli) -> None:
    options = ["--budget", "10", "--max-frames", "150", "--screens", "20", "--evaluation-episodes", "1"]
    done = cli("train", "pong", "--agent", "vae-iw", *options, "--set", "learning.encoder.epochs=1", "--out", "run")
    assert done.code == 0, done.err
    assert "Epoch 1: reconstruction " in done.out
    assert "Interval 1: no episode ended; 40 interactions so far" in done.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("play", "pong", "--agent", "vae-iw"), "vae-iw plays with networks that it has learnt: train it"),
        (("play", "breakout", "--weights", "run"), "are of another game: pong, not breakout."),
        (("play", "pong", "--weights", "run", "--agent", "n-cpl"), "are of another agent: vae-iw, not n-cpl."),
        (("play", "pong", "--weights", "run", "--latent-threshold", "1"), "latent_threshold"),
        (("train", "pong", "--agent", "vae-iw", "--loop", "lockstep"), "should be 'pretraining'"),
        (("train", "pong", "--agent", "vae-iw", "--encoder", "large"), "one of 'paper', 'small' is expected"),
        (("train", "pong", "--agent", "vae-iw", "--screens", "1"), "screens"),
        (("train", "pong", "--agent", "n-cpl", "--encoder", "small"), "encoder"),
        (("train", "corridor", "--agent", "vae-iw"), "vae-iw plays Atari games only"),
    ],
)
def test_bad_input_is_answered_with_a_sentence(
    arguments: tuple[str, ...], sentence: str, directory: Path, cli: Cli
) -> None:
    shutil.copytree(directory, "run")
    result = cli(*arguments)
    assert result.code == 2
    assert sentence in " ".join(result.err.split())
    assert "Traceback" not in result.err


def test_a_run_that_is_not_trained_yet_has_nothing_to_play_with(tmp_path: Path) -> None:
    with pytest.raises(_Cut):
        train(tmp_path / "run", PROTOCOL, watcher=Watcher(metrics=_raise_cut))
    with pytest.raises(InputError, match=r"has not deployed any networks yet; train it on\.$"):
        evaluate(tmp_path / "run")


def _raise_cut(line: dict[str, Any]) -> None:
    if line["event"] == "epoch":
        raise _Cut


def test_quick_training_is_quick() -> None:
    from noveltree.cli.options import _SHORTCUTS, chosen_learning

    nothing = dict.fromkeys(_SHORTCUTS)
    quick = chosen_learning("vae-iw", "quick", nothing, ())
    assert isinstance(quick, VaeSettings)
    assert (quick.loop.screens, quick.encoder.epochs, quick.evaluation_episodes) == (1_000, 20, 2)
    assert chosen_learning("vae-iw", "paper", nothing, ()) == default_learning_of("vae-iw")
    paper = chosen_learning("vae-iw", "paper", {**nothing, "encoder": "paper"}, ())
    assert isinstance(paper, VaeSettings)
    assert paper.encoder == PaperEncoder(epochs=100)


def default_learning_of(agent: str) -> Any:
    from noveltree.agents import get_agent

    return default_learning(get_agent(agent))
