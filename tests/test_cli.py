"""The command line: what it prints and where, what it exits with, and that nothing is ever lost."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from noveltree.cli.console import duration
from noveltree.episodes import Choice, End, Play
from noveltree.protocol import PRESETS
from noveltree.records import read_episode
from noveltree.replay import verify_episode
from noveltree.simulators import Corridor, State, Transition
from noveltree.simulators.games import PAPER_GAMES
from noveltree.version import __version__
from tests.support.command_line import NOVELTREE, Cli, in_a_process, on_a_terminal, on_screen

COMMANDS = [
    *(["play"], ["games"], ["agents"], ["protocol", "show"], ["protocol", "diff"]),
    *(["verify"], ["render"], ["doctor"], ["bench", "planning"]),
]
REQUIRED = {
    *("game", "agent", "seed", "score", "steps", "interactions", "seconds"),
    *("protocol_hash", "episode_file", "terminal"),
}


# play


def test_play_prints_one_json_object_and_writes_the_episode(cli: Cli) -> None:
    result = cli("play", "corridor", "--seed", 3, "--json").object
    assert result.keys() >= REQUIRED
    assert (result["game"], result["agent"], result["seed"]) == ("corridor", "riw-c", 3)
    assert (result["score"], result["terminal"], result["end"]) == (1.0, True, "terminal")
    record = read_episode(Path(result["episode_file"]))
    assert (record.seed, record.index, record.protocol.hash) == (3, 0, result["protocol_hash"])
    assert (record.episode.steps, record.episode.interactions) == (result["steps"], result["interactions"])
    assert verify_episode(record).holds


def test_play_tells_people_the_score_and_where_the_episode_is(cli: Cli) -> None:
    result = cli("play", "corridor", "--out", "there")
    assert result.code == 0
    assert result.err == ""  # quiet where no terminal is
    told, where = result.out.splitlines()
    assert re.fullmatch(
        r"corridor, riw-c, seed 0: score 1 in \d+ steps \(terminal\), [\d,]+ interactions in 0:0\d \([\d,]+/s\)",
        told,
    )
    (file,) = Path("there").iterdir()
    assert where == f"Episode: {file}"


def test_play_counts_one_as_one(cli: Cli) -> None:
    assert (
        " in 1 step (stopped), 1 interaction in "
        in cli("play", "corridor", "--agent", "random", "--max-steps", 1).out
    )


def test_several_episodes_are_summed_up(cli: Cli) -> None:
    result = cli("play", "corridor", "--agent", "random", "--max-steps", 5, "--episodes", 3, "--json").object
    assert result.keys() >= REQUIRED
    episodes = result["episodes"]
    assert [episode["index"] for episode in episodes] == [0, 1, 2]
    assert result["episode_file"] == [episode["episode_file"] for episode in episodes]
    assert result["score"] == sum(episode["score"] for episode in episodes) / 3
    assert result["steps"] == sum(episode["steps"] for episode in episodes) == 15
    records = [read_episode(Path(file)) for file in result["episode_file"]]
    assert all(verify_episode(record).holds for record in records)
    assert len({tuple(record.episode.column("action")) for record in records}) > 1
    assert "Mean score of 2 episodes: " in cli("play", "corridor", "--episodes", 2).out


def test_an_episode_that_is_there_already_is_not_written_again(cli: Cli) -> None:
    first, second = (cli("play", "corridor", "--json").object for _ in range(2))
    assert (first["repeated"], second["repeated"]) == (False, True)
    assert first["episode_file"] == second["episode_file"]
    told = cli("play", "corridor").out
    assert told.endswith(f"Episode: {first['episode_file']} (it was there already: the same decisions)\n")
    assert [str(file) for file in Path("episodes").iterdir()] == [first["episode_file"]]


def test_play_never_overwrites_another_episode(cli: Cli) -> None:
    def play(*more: object) -> str:
        return str(cli("play", "corridor", "--agent", "random", "--json", *more).object["episode_file"])

    files = [play("--max-steps", 2), play("--max-steps", 3), play("--max-steps", 3, "--action-values")]
    assert len(set(files)) == 3
    assert [read_episode(Path(file)).episode.steps for file in files] == [2, 3, 3]
    assert [play("--max-steps", 3), play("--max-steps", 3, "--action-values"), play("--max-steps", 2)] == [
        *(files[1], files[2], files[0])
    ]
    Path(files[0]).write_text("{}")
    assert play("--max-steps", 2) not in files  # a damaged file is nobody's
    assert Path(files[0]).read_text() == "{}"


MORE = "another agent (--agent {}; `noveltree agents` lists them)."


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["corridor"], ""),  # which is solved
        (
            ["corridor", "--budget", 2, "--max-steps", 3],
            "There was no reward. Try more steps or a larger budget (--budget 10) or " + MORE.format("auto"),
        ),
        (
            ["montezuma_revenge", "--agent", "uct", "--frames", 30, "--max-frames", 45],
            "There was no reward. Try a larger budget (--frames 150) or " + MORE.format("riw-c"),
        ),
        (
            ["FrozenLake8x8-v1", "--agent", "random", "--episodes", 2],
            "There was no reward. Try " + MORE.format("auto"),
        ),
        (
            ["CliffWalking-v1", "--seconds", 0.01, "--max-steps", 2],
            "There were costs, and no end. Try more steps or a larger budget (--seconds 0.05) or "
            + MORE.format("auto"),
        ),
    ],
)
def test_an_agent_that_found_no_reward_says_so_and_what_to_try(
    cli: Cli, arguments: list[object], advice: str
) -> None:
    last = cli("play", *arguments).out.splitlines()[-1]
    assert last == advice if advice else "Try" not in last
    assert cli("play", *arguments, "--json").object["score"] is not None  # one line, and nothing else


def test_the_settings_reach_the_protocol(cli: Cli) -> None:
    result = cli(
        *(
            "play",
            "Breakout",
            "--preset",
            "lipovetzky-2015",
            "--frames",
            60,
            "--frame-skip",
            6,
            "--max-frames",
            600,
        ),
        *("--action-set", "full", "--mode", 4, "--difficulty", 1, "--no-cache", "--features", "pixels"),
        *("--horizon", 7, "--discount", 0.9, "--tie-breaking", "larger-subtree", "--max-steps", 1, "--json"),
    ).object
    protocol = read_episode(Path(result["episode_file"])).protocol.model_dump()
    expected = {
        **{"game": "breakout", "agent": "iw1", "budget": 60.0, "budget_unit": "frames", "frame_skip": 6},
        **{"max_frames": 600, "action_set": "full", "mode": 4, "difficulty": 1, "cache": False, "horizon": 7},
        **{"features": "pixels", "discount": 0.9, "tie_breaking": "larger-subtree"},
    }
    assert {name: protocol[name] for name in expected} == expected
    result = cli(
        *("play", "corridor", "--agent", "uct", "--rollout-depth", 4, "--exploration", 0.5),
        *("--seconds", 0.01, "--max-steps", 1, "--json"),
    ).object
    protocol = read_episode(Path(result["episode_file"])).protocol.model_dump()
    expected = {"rollout_depth": 4, "exploration": 0.5, "budget": 0.01, "budget_unit": "seconds"}
    assert {name: protocol[name] for name in expected} == expected


def test_play_films_every_episode(cli: Cli) -> None:
    result = cli("play", "pong", "--agent", "random", "--max-steps", 2, "--episodes", 2, "--video", "a/pong.gif")
    assert result.out.count("Video: a/pong-") == 2
    assert sorted(path.name for path in Path("a").iterdir()) == ["pong-0.gif", "pong-1.gif"]


def test_playing_verifying_and_rendering_fit_together(tmp_path: Path) -> None:
    """Each in a process of its own, as users do it."""
    played = in_a_process("play", "qbert", "--max-steps", 3, "--budget", 20, "--json", cwd=tmp_path)
    assert (played.returncode, played.stderr) == (0, "")
    file = json.loads(played.stdout)["episode_file"]
    verified = in_a_process("verify", file, cwd=tmp_path)
    assert (verified.returncode, verified.stderr) == (0, "")
    assert verified.stdout == f"holds  score 0  {file}\n1 of 1 hold\n"
    rendered = in_a_process("render", file, "-o", "qbert.mp4", "--steps", "1:3", cwd=tmp_path)
    assert (rendered.returncode, rendered.stderr, rendered.stdout) == (0, "", "Video: qbert.mp4\n")
    assert (tmp_path / "qbert.mp4").stat().st_size > 1000


# Interrupts and terminals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_a_valid_episode_of_what_was_played(tmp_path: Path, number: signal.Signals) -> None:
    with on_a_terminal("play", "breakout", "--budget", 20, "--seed", 4, cwd=tmp_path) as (process, read_until):
        assert "interactions/s" in read_until("interactions/s")
        process.send_signal(number)
        told = "".join(on_screen(read_until("")))
        assert process.wait(timeout=60) == 130
    (file,) = (tmp_path / "episodes").iterdir()
    assert f"Episode: episodes/{file.name}" in told
    assert "(interrupted)" in told
    record = read_episode(file)
    assert record.episode.end is End.INTERRUPTED
    assert 1 <= record.episode.steps < 1200
    assert verify_episode(record).holds


def test_the_live_line_fits_one_line_and_disappears(tmp_path: Path) -> None:
    arguments = ("play", "montezuma_revenge", "--agent", "random", "--max-steps", 400, "--episodes", 2)
    with on_a_terminal(*arguments, cwd=tmp_path) as (process, read_until):
        seen = read_until("")
        assert process.wait(timeout=60) == 0
    lines = [line for line in re.split(r"[\r\n]|\x1b\[[0-9;?]*[A-Za-z]", seen) if line.startswith("score ")]
    assert lines
    for line in lines:
        assert re.match(r"score \d+  step \d+ of 400  [\d,]+ interactions/s  at most \d+:\d\d left$", line)
        assert len(line) <= 79
    assert not any(line.startswith("score ") for line in on_screen(seen))
    assert [line.split(",")[0].split(":")[0] for line in on_screen(seen) if line[0].isupper()] == [
        *("MontezumaRevenge", "Episode", "MontezumaRevenge", "Episode", "Mean score of 2 episodes"),
        "There was no reward. Try another agent (--agent uct; `noveltree agents` lists th",
    ]


def test_an_interrupt_between_decisions_loses_no_decision(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    step = Corridor.step
    calls = 0

    def interrupt(self: Corridor, state: State, action: int) -> Transition:
        nonlocal calls
        calls += 1
        if calls == 100:
            raise KeyboardInterrupt
        return step(self, state, action)

    with monkeypatch.context() as patch:
        patch.setattr(Corridor, "step", interrupt)
        result = cli("play", "corridor", "--agent", "bfs", "--budget", 20, "--episodes", 3, "--json")
    assert result.code == 130
    assert len(result.object["episodes"]) == 1
    record = read_episode(Path(result.object["episode_file"][0]))
    assert (record.episode.end, verify_episode(record).holds) == (End.INTERRUPTED, True)
    assert record.episode.steps >= 4


def test_an_interrupt_while_an_episode_is_written_counts_afterwards(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = os.fsync

    def interrupt(descriptor: int) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        fsync(descriptor)

    Path("episodes").mkdir()  # whose name is synced before anything is played
    monkeypatch.setattr(os, "fsync", interrupt)
    result = cli("play", "corridor", "--episodes", 2, "--json")
    assert result.code == 130
    (file,) = result.object["episode_file"]
    assert verify_episode(read_episode(Path(file))).holds


def test_an_interrupt_while_filming_still_tells_where_the_episode_is(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("noveltree.cli.play.render_episode", interrupt)
    result = cli("play", "pong", "--agent", "random", "--max-steps", 2, "--video", "pong.mp4", "--json")
    assert result.code == 130
    assert Path(result.object["episode_file"]).exists()


# Failures


def failing_step(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """A corridor whose simulator fails once, in the middle of an episode."""
    step = Corridor.step
    calls = 0

    def fail(self: Corridor, state: State, action: int) -> Transition:
        nonlocal calls
        calls += 1
        if calls == after:
            raise RuntimeError("the wire [/broke]")
        return step(self, state, action)

    monkeypatch.setattr(Corridor, "step", fail)


def test_a_simulator_that_fails_leaves_what_was_played(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    failing_step(monkeypatch, after=100)
    result = cli("play", "corridor", "--agent", "bfs", "--budget", 20)
    assert (result.code, result.out) == (1, "")
    kept, error = result.err.splitlines()
    assert re.fullmatch(
        r"Error: The simulator failed on action '(LEFT|RIGHT)': RuntimeError: the wire \[/broke\]\.?", error
    )
    (file,) = Path("episodes").iterdir()
    assert kept == f"What was played so far is in {file}."
    record = read_episode(file)
    assert (record.episode.end, verify_episode(record).holds) == (End.INTERRUPTED, True)
    assert record.episode.steps >= 4


def test_a_simulator_that_fails_at_once_leaves_no_empty_file(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    failing_step(monkeypatch, after=1)
    assert "The simulator failed on action" in cli("play", "corridor").sentence
    assert not list(Path("episodes").iterdir())


def test_a_simulator_without_actions_is_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    class Wall(Corridor):
        def __init__(self) -> None:
            super().__init__()
            self.actions = ()

    monkeypatch.setattr("noveltree.simulators.kinds.Corridor", Wall)
    result = cli("play", "corridor")
    assert (result.code, result.sentence) == (*(1, "The simulator has no actions, so there is nothing to decide."),)


def test_the_values_behind_decisions_are_recorded_if_asked_for(cli: Cli) -> None:
    assert cli("play", "corridor", "--action-values", "--out", "with").code == 0
    assert cli("play", "corridor", "--out", "without").code == 0
    (having,), (lacking,) = Path("with").iterdir(), Path("without").iterdir()
    episode = read_episode(having).episode
    for decision in episode.decisions:
        tried = [value for value in decision.action_values if value is not None]
        assert decision.action_values[decision.action] == max(tried)
    assert read_episode(lacking).episode.column("action_values") == [()] * episode.steps
    assert cli("verify", having, lacking).code == 0


def test_a_bug_leaves_what_was_played_too(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    left = [4]

    def fail(play: Play) -> Choice:
        left[0] -= 1
        return Choice(0 if left[0] else 1 // 0, ())

    monkeypatch.setattr("noveltree.episodes.play.Play.choose", fail)
    result = cli("play", "corridor")
    assert result.code == 1
    assert result.err.splitlines()[-1] == (
        "Error: noveltree failed: ZeroDivisionError: integer division or modulo by zero. "
        "Add --debug to see where, and report it."
    )
    (file,) = Path("episodes").iterdir()
    assert read_episode(file).episode.steps == 3


def test_a_disk_that_is_full_keeps_the_episodes_before(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    fsync = os.fsync
    calls = 0

    def fill(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls > 2:  # the first episode and its directory
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    Path("episodes").mkdir()  # whose name is synced before anything is played
    monkeypatch.setattr(os, "fsync", fill)
    result = cli("play", "corridor", "--episodes", 3, "--json")
    assert result.code == 1
    assert re.fullmatch(
        r"Cannot write episodes/corridor-.*-episode1-.*\.json: No space left on device\.", result.sentence
    )
    (file,) = Path("episodes").iterdir()
    assert verify_episode(read_episode(file)).holds


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["breakot"], 2, "Unknown game 'breakot'. Did you mean 'breakout'?"),
        ([""], 2, "Unknown game ''."),
        (["roms/../x"], 2, "Unknown game 'roms/../x'."),
        (["[/bold]"], 2, "Unknown game '[/bold]'."),
        (["ブレイクアウト"], 2, "Unknown game 'ブレイクアウト'."),
        (["combat"], 2, "combat is a game for several players"),
        (["Taxi-v0"], 2, "Unknown environment 'Taxi-v0'. Did you mean 'Taxi-v"),
        (["Pendulum-v1"], 2, "a lookahead needs a Discrete one"),
        (["corridor", "--agent", "riw_e"], 2, "Unknown agent 'riw_e'. Did you mean 'riw-"),
        (["corridor", "--preset", "otoole"], 2, "Unknown preset 'otoole'. Did you mean 'otoole-2021'?"),
        (["corridor", "--features", "pixel"], 2, "Unknown feature set 'pixel'. Did you mean 'pixels'?"),
        (
            ["corridor", "--tie-breaking", "coin"],
            2,
            "Unknown tie-breaking 'coin'. Known: larger-subtree, longest-branch, "
            "policy, product, random, softmax, unseen-if-idle, unseen-lately-if-idle.",
        ),
        (["corridor", "--budget", "0"], 2, "Invalid value for '--budget'"),
        (["corridor", "--budget", "-7"], 2, "Invalid value for '--budget'"),
        (["corridor", "--budget", "1e9"], 2, "Invalid value for '--budget'"),
        (["corridor", "--seconds", "0"], 2, "budget 0.0: input should be greater than 0."),
        (["corridor", "--seconds", "nan"], 2, "budget nan: input should be a finite number."),
        (["corridor", "--seconds", "inf"], 2, "budget inf: input should be a finite number."),
        (["breakout", "--frames", "14"], 2, "14 frames is less than one interaction of 15 frames."),
        (["corridor", "--budget", "5", "--seconds", "1"], 2, "Choose one of --budget, --seconds and --frames."),
        (["corridor", "--seed", "x"], 2, "Invalid value for '--seed'"),
        (["corridor", "--seed", "-1"], 2, "Invalid value for '--seed'"),
        (["corridor", "--seed", "9" * 300], 2, "Invalid value for '--seed'"),
        (["corridor", "--episodes", "0"], 2, "Invalid value for '--episodes'"),
        (["corridor", "--max-steps", "0"], 2, "Invalid value for '--max-steps'"),
        (["corridor", "--horizon", "0"], 2, "Invalid value for '--horizon'"),
        (["corridor", "--discount", "2"], 2, "Invalid value for '--discount'"),
        (["breakout", "--sticky-actions", "1.5"], 2, "Invalid value for '--sticky-actions'"),
        (["corridor", "--agent", "random", "--horizon", "3"], 2, "random has no setting 'horizon'"),
        (["corridor", "--mode", "1"], 2, "corridor has no mode to choose: that is a setting of Atari games."),
        (["breakout", "--mode", "3"], 2, "breakout has no mode 3; it has 0, 4,"),
        (["breakout", "--difficulty", "9"], 2, "breakout has no difficulty 9; it has 0, 1."),
        (["breakout", "--action-set", "all"], 2, "action_set 'all': input should be 'minimal' or 'full'."),
        (["breakout", "--frame-skip", "0"], 2, "Invalid value for '--frame-skip'"),
        (["breakout", "--frame-skip", "20000"], 2, "18000 frames has no room for an action of 20000 frames."),
        (["breakout", "--video", "film"], 2, "A video is an .mp4 or a .gif, not 'film'."),
        (["breakout", "--video", "film.avi"], 2, "A video is an .mp4 or a .gif, not '.avi'."),
        (
            ["corridor", "--video", "film.mp4"],
            2,
            "There is nothing to film in corridor: its simulator has no pictures",
        ),
        (["breakout", "--video", "a_file/film.mp4"], 1, "Cannot write to a_file: Not a directory."),
        (["corridor", "--out", "a_file"], 1, "Cannot write to a_file: Not a directory."),
        (["corridor", "--out", "a_file/below"], 1, "Cannot write to a_file/below: Not a directory."),
        (["corridor", "--bugdet", "5"], 2, "No such option: --bugdet"),
        (
            ["breakout", "--agent", "riw-d", "--risk-averse"],
            2,
            "Option '--risk-averse' requires an argument: no, parent or root. Add --help",
        ),
        (["corridor", "--budget"], 2, "Option '--budget' requires an argument. Add --help"),
        ([], 2, "Missing argument 'game'. Add --help to see what is possible."),
    ],
)
def test_a_bad_input_is_one_sentence_and_plays_nothing(
    cli: Cli, arguments: list[str], code: int, complaint: str
) -> None:
    Path("a_file").write_text("kept")
    result = cli("play", *arguments)
    assert complaint in result.sentence
    assert result.code == code
    assert [(path.name, path.read_text()) for path in Path.cwd().iterdir()] == [("a_file", "kept")]


def test_debug_shows_where_an_error_comes_from(tmp_path: Path) -> None:
    for arguments in (("--debug", "play", "breakot"), ("play", "breakot", "--debug")):
        result = in_a_process(*arguments, cwd=tmp_path)
        assert result.returncode == 1
        assert result.stderr.startswith("Traceback (most recent call last):")
        assert "find_game" in result.stderr
        assert "UnknownNameError: Unknown game 'breakot'." in result.stderr


# verify and render


@pytest.fixture
def episode(cli: Cli) -> Path:
    return Path(cli("play", "corridor", "--json").object["episode_file"])


def test_verify_says_of_each_file_whether_its_score_holds(cli: Cli, episode: Path) -> None:
    forged = Path("for[ged].json")
    record = json.loads(episode.read_bytes())
    record["seed"] = 99
    forged.write_text(json.dumps(record))
    Path("foreign.json").write_text("{}")
    result = cli("verify", episode, forged, "foreign.json", "missing.json")
    assert (result.code, result.err) == (1, "")
    assert result.out.splitlines() == [
        f"holds  score 1  {episode}",
        "UNREADABLE  for[ged].json was changed after it was written: its checksum does not fit.",
        "UNREADABLE  foreign.json is not an episode of noveltree.",
        "UNREADABLE  Cannot read missing.json: No such file or directory.",
        "1 of 4 hold",
    ]


def test_verify_exits_with_1_when_a_replay_gives_another_score(
    cli: Cli, episode: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = Corridor.step
    monkeypatch.setattr(
        Corridor, "step", lambda self, state, action: step(self, state, action)._replace(reward=0.5)
    )
    result = cli("verify", episode)
    assert result.code == 1
    assert result.out == f"DOES NOT HOLD  score 1  {episode}  (step 0 paid 0.5, not 0 as recorded)\n0 of 1 hold\n"
    told = cli("verify", episode, "--json")
    assert told.code == 1
    assert told.object == {
        "verified": 0,
        "failed": 1,
        "files": [
            {
                "file": str(episode),
                "holds": False,
                "replayed": True,
                "score": 1.0,
                "finding": "step 0 paid 0.5, not 0 as recorded",
            }
        ],
        "directories": [],
    }


def test_verify_as_json_holds(cli: Cli, episode: Path) -> None:
    result = cli("verify", episode, episode, "--json")
    assert result.code == 0
    assert (result.object["verified"], result.object["failed"]) == (2, 0)


@pytest.fixture
def pong(cli: Cli) -> Path:
    result = cli("play", "pong", "--agent", "random", "--max-steps", 4, "--json")
    return Path(result.object["episode_file"])


def test_render_writes_beside_the_episode(cli: Cli, pong: Path) -> None:
    result = cli("render", pong, "--scale", 1)
    assert (result.code, result.err) == (0, "")
    assert result.out == f"Video: {pong.with_suffix('.mp4')}\n"
    assert pong.with_suffix(".mp4").exists()


@pytest.mark.parametrize(
    ("steps", "filmed"), [("1:3", 2), ("-1:", 1), (":", 4), (":2", 2), ("3", 1), ("-1", 1), ("2:99", 2)]
)
def test_render_takes_steps_as_a_slice(
    cli: Cli, pong: Path, monkeypatch: pytest.MonkeyPatch, steps: str, filmed: int
) -> None:
    chosen: list[range] = []
    monkeypatch.setattr("noveltree.cli.render.render_episode", lambda *_, steps, **__: chosen.append(steps))
    assert cli("render", pong, "--steps", steps).code == 0
    assert len(chosen[0]) == filmed


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["missing.json"], 1, "Cannot read missing.json: No such file or directory."),
        (["a_file"], 1, "a_file is not an episode of noveltree, or is truncated: it is not valid JSON."),
        (["PONG", "-o", "film.avi"], 2, "A video is an .mp4 or a .gif, not '.avi'."),
        (["PONG", "-o", "a_file/film.mp4"], 1, "Cannot write a_file/film.mp4: Not a directory."),
        (["PONG", "--steps", "4:"], 2, "There is nothing to film: the episode has no such steps."),
        (["PONG", "--steps", "a:b"], 2, "Steps are given as FROM:TO, such as 0:100, not 'a:b'."),
        (["PONG", "--steps", ""], 2, "Steps are given as FROM:TO, such as 0:100, not ''."),
        (["PONG", "--scale", "100"], 2, "Invalid value for '--scale'"),
        (["PONG", "--every", "0"], 2, "Invalid value for '--every'"),
        ([], 2, "Missing argument 'file'."),
    ],
)
def test_render_refuses_with_one_sentence(
    cli: Cli, pong: Path, arguments: list[str], code: int, complaint: str
) -> None:
    Path("a_file").write_text("kept")
    result = cli("render", *(str(pong) if argument == "PONG" else argument for argument in arguments))
    assert complaint in result.sentence
    assert result.code == code
    assert {path.name for path in Path.cwd().iterdir()} == {"a_file", "episodes"}
    assert list(Path("episodes").iterdir()) == [pong.relative_to(Path.cwd()) if pong.is_absolute() else pong]


# protocol


def test_protocol_show_lists_the_presets(cli: Cli) -> None:
    listing = cli("protocol", "show").out
    assert all(preset in listing for preset in PRESETS)
    assert cli("protocol", "show", "--json").object["presets"].keys() == PRESETS.keys()


def test_protocol_show_shows_a_preset_or_an_episode(cli: Cli, episode: Path) -> None:
    shown = cli("protocol", "show", "bandres-2018", "--game", "pong", "--json").object
    assert (shown["protocol"]["game"], shown["protocol"]["budget"]) == ("pong", 0.5)
    assert shown == cli("protocol", "show", "bandres-2018:pong", "--json").object
    recorded = cli("protocol", "show", episode, "--json").object
    assert recorded["protocol_hash"] == read_episode(episode).protocol.hash
    listing = cli("protocol", "show", episode)
    assert listing.code == 0
    assert f"hash {recorded['protocol_hash']}" in listing.out
    assert re.search(r"^budget +100 +what may be spent on one decision", listing.out, re.MULTILINE)


def test_protocol_diff_says_which_scores_are_comparable_and_why(cli: Cli, episode: Path) -> None:
    same = cli("protocol", "diff", "otoole-2021", "otoole-2021:breakout")
    assert (same.code, same.out) == (0, "The same protocol: scores are comparable.\n")
    other = cli("protocol", "diff", "otoole-2021", "bandres-2018")
    assert other.code == 1
    assert "Scores are not comparable, because of: action_set, budget, budget_unit.\n" in other.out
    method = cli("protocol", "diff", "otoole-2021", "junyent-2021")
    assert method.code == 0
    assert "Scores are comparable.\n" in method.out
    assert cli("protocol", "diff", episode, "otoole-2021").out == same.out  # of the episode's game
    told = cli("protocol", "diff", episode, "otoole-2021", "--game", "pong", "--json")
    assert (told.code, told.object["comparable"]) == (1, False)
    assert {"setting", "first", "second", "comparable", "reason"} == told.object["differences"][0].keys()
    assert told.object["hashes"][0] == read_episode(episode).protocol.hash


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["show", "otole-2021"], 2, "Unknown preset 'otole-2021'. Did you mean 'otoole-2021'?"),
        (["show", "missing.json"], 2, "There is no file missing.json."),
        (["show", "otoole-2021:breakot"], 2, "Unknown game 'breakot'."),
        (["diff", "otoole-2021", "a_file"], 1, "a_file is not an episode of noveltree"),
        (["diff", "otoole-2021"], 2, "Missing argument 'second'."),
        (["diff", "otoole-2021", "missing/x"], 2, "There is no file missing/x."),
    ],
)
def test_protocol_refuses_with_one_sentence(cli: Cli, arguments: list[str], code: int, complaint: str) -> None:
    Path("a_file").touch()
    result = cli("protocol", *arguments)
    assert complaint in result.sentence
    assert result.code == code


def test_names_of_files_are_printed_as_they_are(cli: Cli) -> None:
    """Brackets and colons mean something to the library that prints."""
    result = cli("play", "corridor", "--out", "a[/b] :skull:")
    assert "Episode: a[/b] :skull:/corridor-" in result.out
    (file,) = Path("a[/b] :skull:").iterdir()
    assert f"holds  score 1  {file}\n" in cli("verify", file).out
    assert "a[/b]" in cli("protocol", "diff", file, "junyent-2021").out


# The others


def test_games_lists_all_games_and_their_suites(cli: Cli) -> None:
    games = {row["game"]: row for row in cli("games", "--json").object["games"]}
    assert len(games) > 100
    assert games["ms_pacman"] == {
        "game": "ms_pacman",
        "title": "MsPacman",
        "actions": 9,
        "suites": ["paper", "paper-scores"],
    }
    assert {name for name, row in games.items() if "paper" in row["suites"]} == set(PAPER_GAMES)
    listing = cli("games", "--suite", "paper").out
    assert re.search(r"^breakout +Breakout +4 +paper", listing, re.MULTILINE)
    assert listing.endswith("55 games\n")
    assert cli("games", "--suite", "papre").sentence.startswith("Unknown suite 'papre'. Did you mean 'paper'?")


def test_agents_lists_the_agents(cli: Cli) -> None:
    rows = {row["agent"]: row for row in cli("agents", "--json").object["agents"]}
    assert set(rows) == {
        "riw-plus",
        "n-cpl-plus",
        "pi-hiw",
        "riw-c",
        "riw-d",
        "iw1",
        "bfs",
        "uct",
        "rtdp",
        "unpruned",
        "random",
        "cpl",
        "n-cpl",
        "n-cpl-d",
        "pi-iw",
        "pi-iw-plus",
        "vae-iw",
        "alphazero",
        "p-iw",
        "graph",
        "r-max",
        "2bfs",
    }
    assert (rows["riw-d"]["novelty"], "features" in rows["riw-d"]["settings"]) == ("depth", True)
    listing = cli("agents").out
    assert all(f"\n{name} " in listing for name in rows)


def test_doctor_finds_a_healthy_installation_healthy(cli: Cli) -> None:
    result = cli("doctor", "--game", "qbert", "--json")
    assert result.code == 0
    report = result.object
    assert report["healthy"]
    assert [check["check"] for check in report["checks"] if not check["ok"]] == []
    assert report["versions"]["ale-py"]


def test_doctor_says_what_is_wrong_and_how_to_mend_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noveltree.cli.doctor.bundled_games", lambda: ("breakout", "qbert"))
    monkeypatch.setattr("noveltree.cli.doctor._PACKAGES", ("no-such-package",))
    result = cli("doctor", "--game", "breakout")
    assert result.code == 1
    assert "FAIL games: ale-py has no ROM of alien, amidar" in result.out
    assert "reinstall it: pip install" in result.out
    assert "no-such-package MISSING" in result.out
    assert "ok   corridor" in result.out
    assert result.out.endswith("Something is wrong.\n")
    assert cli("doctor", "--game", "breakot").sentence.startswith("Unknown game 'breakot'.")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--games", "breakot"], "Unknown game 'breakot'."),
        (["--games", ","], "Games are names separated by commas, not ','."),
        (["--games", "corridor"], "corridor is not an Atari game."),
        (["--games", "pong", "--budgets", "0"], "A budget must be at least 1 interaction, not 0."),
        (["--games", "pong", "--budgets", "many"], "Budgets are whole numbers separated by commas, not 'many'."),
        (["--games", "pong", "--agent", "riw"], "Unknown agent 'riw'."),
        (["--steps", "0"], "Invalid value for '--steps'"),
    ],
)
def test_bench_refuses_with_one_sentence(cli: Cli, arguments: list[str], complaint: str) -> None:
    result = cli("bench", "planning", *arguments)
    assert complaint in result.sentence
    assert result.code == 2


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_help_of_every_command_has_an_example(cli: Cli, command: list[str]) -> None:
    result = cli(*command, "--help")
    assert result.code == 0
    assert re.search(rf"Examples?:?\s+noveltree {' '.join(command)}\b", result.out)


def test_help_names_all_commands(cli: Cli) -> None:
    for arguments, code in ((["--help"], 0), ([], 2)):
        result = cli(*arguments)
        assert result.code == code
        text = result.out + result.err
        assert all(command in text for (command, *_) in COMMANDS)
        assert "Error" not in text


def test_an_unknown_command_is_refused_with_the_closest(cli: Cli) -> None:
    result = cli("plya")
    assert (result.code, "No such command 'plya'. Did you mean 'play'?" in result.sentence) == (2, True)


def test_the_version_is_printed_by_the_module_too(cli: Cli) -> None:
    assert cli("--version").out == f"noveltree {__version__}\n"
    result = in_a_process("--version")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"noveltree {__version__}\n", "")


def test_shell_completion_completes_commands() -> None:
    completing = {"_NOVELTREE_COMPLETE": "complete_bash", "COMP_WORDS": "noveltree pl", "COMP_CWORD": "1"}
    assert in_a_process(env=os.environ | completing).stdout.split() == ["play"]


def test_a_reader_that_leaves_gets_no_traceback() -> None:
    """As in `noveltree agents | head -0`."""
    with subprocess.Popen(
        [*NOVELTREE, "agents"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=60) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_an_output_that_is_full_is_one_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [*NOVELTREE, "agents", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert "Error: [Errno 28] No space left on device." in result.stderr
    assert "Traceback" not in result.stderr
    assert result.returncode != 0


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0:00"), (75, "1:15"), (3599.6, "1:00:00"), (3700, "1:01:40")])
def test_durations_read_as_on_a_clock(seconds: float, text: str) -> None:
    assert duration(seconds) == text
