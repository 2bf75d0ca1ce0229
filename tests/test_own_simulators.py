"""Simulators of one's own: named on the command line, recorded, verified and benchmarked like the others."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

from noveltree.benchmark.conditions import in_words
from noveltree.errors import InputError, NotDeterministicError, RecordError, SimulatorError, UnknownNameError
from noveltree.protocol import compare_protocols, make_protocol, parse_protocol, play_episode
from noveltree.records import EpisodeRecord, read_episode, write_episode
from noveltree.replay import verify_episode
from noveltree.results.comparable import settings_in_words
from noveltree.simulators import (
    SIMULATOR_KINDS,
    Corridor,
    GymnasiumSimulator,
    Observed,
    Options,
    Simulator,
    SimulatorKind,
    SimulatorSettings,
    State,
    Transition,
    find_game,
)
from noveltree.simulators import entry_points as shipped
from noveltree.simulators.levels import HIGHEST_LEVEL, level_at, parse_levels
from noveltree.simulators.permission import allow_import, forbid_imports, may_import
from tests.support.command_line import Cli, Result, in_a_process, on_a_terminal
from tests.support.own_worlds import LINE, write_line


@pytest.fixture(autouse=True)
def nothing_allowed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Every test begins in a directory of its own, in a process that may import nothing."""
    monkeypatch.chdir(tmp_path)
    forbid_imports()
    yield
    forbid_imports()


@pytest.fixture
def fresh(cli: Cli) -> Cli:
    """The command line in a process that, as far as permissions go, is a new one each time."""

    def run(*arguments: object) -> Result:
        forbid_imports()
        return cli(*arguments)

    return run


class Ring:
    """Five places in a ring, of which the first one pays."""

    actions = ("ON",)

    def start(self) -> State:
        return State(np.array([0], dtype=np.int64))

    def step(self, state: State, action: int) -> Transition:
        place = (int(state.observation[0]) + 1) % 5
        return Transition(State(np.array([place], dtype=np.int64)), float(place == 0), place == 0)

    def close(self) -> None:
        pass


class TestFromFileToReport:
    def test_a_factory_in_a_file_is_played_verified_and_reported(self, fresh: Cli, tmp_path: Path) -> None:
        source = write_line(tmp_path, "worlds/line.py")
        played = fresh("play", "worlds/line.py:Line", "--option", "size=4", "--agent", "iw1", "--json").object
        assert (played["game"], played["score"]) == ("worlds/line.py:Line", 1.0)
        record = read_episode(Path(played["episode_file"]))
        protocol = record.protocol
        assert (protocol.simulator, protocol.game, protocol.options) == (
            "own",
            "worlds/line.py:Line",
            Options({"size": 4}),
        )
        assert protocol.source == hashlib.sha256(source.read_bytes()).hexdigest()
        assert protocol.simulator_version == "not in a package"
        assert fresh("verify", played["episode_file"], "--import", "--json").object["verified"] == 1

    def test_a_suite_of_such_games_is_run_verified_and_reported_without_sections_of_atari(
        self, fresh: Cli, tmp_path: Path
    ) -> None:
        write_line(tmp_path)
        (tmp_path / "suite.yaml").write_text(
            "name: own\ngames: ['line.py:Line']\nagents: [iw1, bfs]\ntrials: 1\nevaluation_episodes: 2\n"
            "conditions: {options: {size: 4}, max_frames: 20, budget: 20}\n"
        )
        refused = fresh("benchmark", "run", "suite.yaml", "--out", "bench").sentence
        assert refused.startswith("The suite own: The simulator line.py:Line is code that is not noveltree's")
        assert not (tmp_path / "bench").exists()
        ran = fresh("benchmark", "run", "suite.yaml", "--out", "bench", "--import", "--json").object
        assert [trial["state"] for trial in ran["trials"]] == ["finished", "finished"]
        assert "say --import" in fresh("benchmark", "resume", "bench").sentence
        assert fresh("benchmark", "resume", "bench", "--import", "--json").code == 0
        assert "say --import" in fresh("verify", "bench").sentence
        assert fresh("verify", "bench", "--import", "--json").object["verified"] == 1
        assert fresh("report", "bench", "--out", "report.md").code == 0
        text = (tmp_path / "report.md").read_text()
        assert "line.py:Line" in text
        assert "options size=4" in text
        assert not [word for word in ("human", "SMRF", "Taxonomy", "published", "frame") if word in text]

    def test_levels_and_options_are_conditions_that_reports_tell(self) -> None:
        first = make_protocol("Taxi-v4", agent="iw1", game_levels="0-9", options={"is_rainy": False})
        second = make_protocol("Taxi-v4", agent="iw1", game_levels="10-19", options={"is_rainy": False})
        assert settings_in_words(first, "iw1").startswith("options is_rainy=false, levels 0-9, at most 200 steps, ")
        differences = compare_protocols(first, second)
        assert [(each.setting, each.comparable) for each in differences] == [("game_levels", False)]
        assert in_words(second, {"game_levels"}) == "levels 10-19"

    def test_one_named_on_the_command_line_is_run_without_being_asked(self, fresh: Cli, tmp_path: Path) -> None:
        write_line(tmp_path)
        (tmp_path / "suite.yaml").write_text("name: own\ngames: [corridor]\nagents: [iw1]\ntrials: 1\n")
        arguments = ("--games", "line.py:Line", "--option", "size=4", "--episodes", 1, "--max-frames", 20)
        planned = fresh("benchmark", "plan", "suite.yaml", *arguments, "--json").object
        assert [trial["game"] for trial in planned["trials"]] == ["line.py:Line"]

    def test_it_is_trained_on_some_levels_and_evaluated_on_others(self, fresh: Cli, tmp_path: Path) -> None:
        pytest.importorskip("torch")
        write_line(tmp_path)
        training = ("--interactions", 300, "--interval", 100, "--evaluation-episodes", 3, "--budget", 5)
        shorter = ("--max-frames", 20, "--workers", 2)
        levels = ("--levels", "0-2", "--evaluation-levels", "3,5")
        size = ("--option", "size=8")
        trained = fresh("train", "line.py:Line", *training, *shorter, *levels, *size, "--json").object
        run = Path(trained["run"])
        assert run.name == "line.py-Line-n-cpl-seed0"
        learnt = sorted((run / "episodes").glob("*/*.json"))
        assert {json.loads(path.read_bytes())["level"] for path in learnt} == {0, 1, 2}
        evaluated = sorted((run / "evaluation").glob("*/*.json"))
        assert [json.loads(path.read_bytes())["level"] for path in evaluated] == [3, 5, 3]
        assert fresh("verify", run, "--import", "--json").object["verified"] == 1
        assert "say --import" in fresh("evaluate", run).sentence
        (run / "result.json").unlink()
        assert "say --import" in fresh("train", "--resume", run).sentence
        assert fresh("train", "--resume", run, "--import", "--json").object["score"] == trained["score"]
        assert fresh("play", "line.py:Line", "--weights", run, "--json").object["game"] == "line.py:Line"


class TestDocumentation:
    """docs/simulators.md says what is so."""

    PAGE = (Path(__file__).parent.parent / "docs" / "simulators.md").read_text()

    def test_the_twenty_lines_play_and_verify(self, fresh: Cli, tmp_path: Path) -> None:
        code, commands = re.findall(r"```(?:python)?\n(.*?)```", self.PAGE, flags=re.DOTALL)[:2]
        (tmp_path / "line.py").write_text(code)
        play, verify, *_ = commands.splitlines()
        played = fresh(*play.split()[1:])
        assert "Mean score of 4 episodes: 1.00" in played.out
        assert "4 episodes hold" in fresh(*verify.split()[1:]).out

    def test_every_command_that_can_import_is_named(self, fresh: Cli) -> None:
        commands = ["verify", "render", "evaluate", "train", "protocol diff"]
        for command in [*commands, *(f"benchmark {each}" for each in ("plan", "run", "resume", "retry-failed"))]:
            assert "--import" in fresh(*command.split(), "--help").out
            assert command.split()[-1] in self.PAGE

    def test_a_protocol_can_be_shown_with_options_and_levels(self, fresh: Cli, tmp_path: Path) -> None:
        write_line(tmp_path)
        chosen = ("--game", "line.py:Line", "--option", "size=7", "--levels", "0-3")
        shown = fresh("protocol", "show", "otoole-2021", *chosen, "--json").object["protocol"]
        assert (shown["options"], shown["game_levels"]) == ({"size": 7}, "0-3")


class TestPermission:
    """Whose code runs: what somebody names, never what a file names."""

    @pytest.fixture
    def episode(self, fresh: Cli, tmp_path: Path) -> Path:
        """An episode of code that leaves a mark when it is imported."""
        write_line(tmp_path, more="\nimport pathlib\npathlib.Path('imported').touch()\n")
        file = fresh("play", "line.py:Line", "--agent", "iw1", "--json").object["episode_file"]
        (tmp_path / "imported").unlink()
        forbid_imports()
        return Path(str(file))

    def test_reading_a_record_imports_nothing(self, episode: Path) -> None:
        record = read_episode(episode)
        assert parse_protocol(record.protocol.model_dump(mode="json")) == record.protocol
        assert (record.protocol.title, record.protocol.simulator_kind.name) == ("line.py:Line", "own")
        with pytest.raises(InputError, match=r"line.py:Line is code that is not noveltree's: say --import"):
            verify_episode(record)
        assert not Path("imported").exists()

    @pytest.mark.parametrize(
        "command",
        [
            ("verify", "EPISODE"),
            ("verify", "episodes"),
            ("protocol", "diff", "otoole-2021", "EPISODE"),
            ("render", "EPISODE"),
            ("protocol", "show", "EPISODE"),
            ("report", "episodes", "--out", "report"),
        ],
    )
    def test_no_command_that_reads_records_imports_anything(
        self, fresh: Cli, episode: Path, command: tuple[str, ...]
    ) -> None:
        result = fresh(*(str(episode) if part == "EPISODE" else part for part in command))
        assert not Path("imported").exists()
        if command[0] == "verify" or command[1] == "diff":
            assert result.code in (1, 2)
            assert f"It would import {Path('line.py').resolve()}." in result.out + result.err

    def test_a_changed_source_is_named_before_and_after_it_may_be_imported(self, fresh: Cli, episode: Path) -> None:
        old = hashlib.sha256(Path("line.py").read_bytes()).hexdigest()[:12]
        Path("line.py").write_text(LINE + "# changed\n")
        new = hashlib.sha256(Path("line.py").read_bytes()).hexdigest()[:12]
        told = f"its SHA-256 digest is {new}, not {old}"
        before, after = fresh("verify", episode), fresh("verify", episode, "--import")
        assert f"which has changed since it was recorded: {told}." in before.out
        assert f"The source of line.py:Line has changed since it was recorded: {told}." in after.out
        assert (before.code, after.code) == (1, 1)
        assert "NOT REPLAYED" in after.out

    def test_a_directory_that_was_not_replayed_is_not_said_not_to_hold(self, fresh: Cli, episode: Path) -> None:
        told = fresh("verify", episode.parent)
        assert told.code == 1
        assert told.out.startswith(f"NOT REPLAYED  {episode}: The simulator line.py:Line is code that is not")
        assert "DOES NOT HOLD" not in told.out
        (finding,) = fresh("verify", episode.parent, "--json").object["directories"][0]["findings"]
        assert (finding["holds"], finding["replayed"]) == (False, False)
        assert "1 episode holds" in fresh("verify", episode.parent, "--import").out

    def test_code_that_is_gone_is_named(self, fresh: Cli, episode: Path) -> None:
        Path("line.py").unlink()
        assert "There is no line.py here." in fresh("verify", episode).out
        assert f"There is no file line.py in {Path.cwd()}." in fresh("verify", episode, "--import").out

    def test_workers_may_import_what_their_parent_may(self, fresh: Cli, episode: Path) -> None:
        for number in range(3):
            Path(f"episodes/again{number}.json").write_bytes(episode.read_bytes())
        verified = fresh("verify", "episodes", "--import", "--workers", 2, "--json").object
        assert (verified["verified"], verified["directories"][0]["episodes"]) == (1, 4)

    def test_only_what_was_named_is_allowed(self) -> None:
        allow_import("line.py:Line")
        assert may_import("line.py:Line")
        assert not may_import("other.py:Line")
        allow_import()
        assert may_import("other.py:Line")


class TestReferences:
    def test_modules_are_found_among_the_installed_ones_and_in_the_current_directory(self, tmp_path: Path) -> None:
        write_line(tmp_path, "places/street/line.py")
        (tmp_path / "places" / "__init__.py").write_text("from places.street import cells\n")
        (tmp_path / "places" / "street" / "cells.py").write_text("")
        protocol = make_protocol("places.street.line:Line", options={"size": 3})
        assert (protocol.game, protocol.max_frames) == ("places.street.line:Line", 18_000)
        assert play_episode(protocol).score == 1.0
        assert str(tmp_path) not in sys.path
        environment = make_protocol(
            "gymnasium.envs.toy_text.frozen_lake:FrozenLakeEnv", options={"is_slippery": False}
        )
        assert environment.simulator_version.startswith("gymnasium ")
        assert isinstance(environment.make_simulator(), GymnasiumSimulator)

    def test_files_beside_a_file_can_be_imported_by_it(self, tmp_path: Path) -> None:
        write_line(
            tmp_path, "worlds/line.py", more="\nimport sizes\n\n\ndef Long():\n    return Line(sizes.LONG)\n"
        )
        (tmp_path / "worlds" / "sizes.py").write_text("LONG = 7\n")
        assert make_protocol("./worlds/../worlds/line.py:Long").game == "worlds/line.py:Long"
        assert make_protocol(str(tmp_path / "worlds" / "line.py:Long")).game == "worlds/line.py:Long"

    def test_a_file_that_was_changed_is_another_simulator(self, tmp_path: Path) -> None:
        write_line(tmp_path)
        before = make_protocol("line.py:Line")
        write_line(tmp_path, more="Line.actions = ('LEFT', 'RIGHT', 'REST')\n")
        after = make_protocol("line.py:Line")
        assert before.hash != after.hash
        assert after.make_simulator().actions == ("LEFT", "RIGHT", "REST")
        assert [(each.setting, each.comparable) for each in compare_protocols(before, after)] == [("source", True)]
        with pytest.raises(InputError, match=r"The source of line.py:Line has changed since it was recorded"):
            before.make_simulator()

    def test_a_class_can_be_given_itself(self, tmp_path: Path) -> None:
        protocol = make_protocol(simulator=Ring, agent="iw1")
        assert protocol.game == f"{__name__}:Ring"
        assert protocol.source == hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
        write_episode(tmp_path / "a.json", EpisodeRecord(play_episode(protocol), protocol, seed=0, index=0))
        assert verify_episode(read_episode(tmp_path / "a.json")).holds
        write_line(tmp_path)
        assert make_protocol(simulator="line.py:Line").game == "line.py:Line"

    def test_what_has_no_name_is_refused(self) -> None:
        for nameless in (lambda: Ring(), Ring().start):
            with pytest.raises(InputError, match="has no name of its own that could be recorded"):
                make_protocol(simulator=nameless)
        with pytest.raises(InputError, match=r"not a Ring: others have to make it again"):
            make_protocol(simulator=Ring())  # type: ignore[arg-type]
        with pytest.raises(InputError, match="Give the game, 'pong', or the simulator"):
            make_protocol("pong", simulator=Ring)
        with pytest.raises(InputError, match="Which game"):
            make_protocol()

    @pytest.mark.parametrize(
        ("game", "kind"), [("a.b:C", "own"), ("x/y.py:C.make", "own"), ("gym:CartPole", "gymnasium")]
    )
    def test_a_colon_tells_code_from_games(self, game: str, kind: str) -> None:
        assert find_game(game)[0].name == kind
        with pytest.raises(UnknownNameError):
            find_game("not a reference: at all")


class TestBadInput:
    """Whatever is wrong with somebody's code is one sentence."""

    @pytest.mark.parametrize(
        ("code", "factory", "sentence"),
        [
            (None, "Line", "There is no file bad.py in "),
            ("", "Lin", "Unknown name in bad.py 'Lin'."),
            ("class Lina: pass", "Lin", "Unknown name in bad.py 'Lin'. Did you mean 'Lina'?"),
            ("Line = 3", "Line", "bad.py:Line is of type int, but a class or a function is expected"),
            ("def Line(: pass", "Line", "bad.py cannot be imported: SyntaxError: "),
            ("import nowhere", "Line", "bad.py cannot be imported: ModuleNotFoundError: No module named 'nowhere'"),
            ("import sys; sys.exit(3)", "Line", "bad.py cannot be imported: it ends the process (exit code 3)."),
            ("def Line(): exit('no')", "Line", "bad.py:Line cannot be made: it ends the process (exit code no)."),
            ("def Line(): return 1 / 0", "Line", "bad.py:Line cannot be made: ZeroDivisionError: division by zero"),
            ("def Line(): return 5", "Line", "bad.py:Line made something of type int, but a simulator with "),
            (
                "class Line:\n actions = 'A', 'B'",
                "Line",
                "bad.py:Line made something of type Line without ",
            ),
            ("def Line(size): pass", "Line", "bad.py:Line cannot be made without size: say --option size=VALUE"),
            ("def Line(size, /): pass", "Line", "bad.py:Line takes size by position only, but options have names."),
        ],
    )
    def test_a_factory_that_does_not_work(
        self, fresh: Cli, tmp_path: Path, code: str | None, factory: str, sentence: str
    ) -> None:
        if code is not None:
            (tmp_path / "bad.py").write_text(code)
        assert fresh("play", f"bad.py:{factory}").sentence.startswith(sentence)

    def test_a_module_that_is_missing(self, fresh: Cli) -> None:
        told = fresh("play", "nowhere.at.all:Line").sentence
        assert told.startswith("There is no module nowhere.at.all: it is neither installed nor in ")
        assert told.endswith("A file is named by its path: nowhere/at/all.py:Line.")

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            (["sise=4"], "Unknown option of line.py:Line 'sise'. Did you mean 'size'?"),
            (["size=big"], "The option size of line.py:Line is a whole number, not big."),
            (["size=4.5"], "The option size of line.py:Line is a whole number, not 4.5."),
            (["open=1"], "The option open of line.py:Line is true or false, not 1."),
            (["reward=true"], "The option reward of line.py:Line is a number, not true."),
            (["name=7"], "The option name of line.py:Line is a text, not 7. Write name='\"7\"' for the text."),
            (["size"], "options ['size']: an option is given as name=value, not 'size'."),
            (["size=4", "size=5"], "size is given twice"),
            (["1st=4"], "the name of an option has letters, digits and underscores, unlike '1st'"),
            (["size=NaN"], "size is a number, a text, true, false or null, not nan"),
        ],
    )
    def test_options_that_do_not_fit(self, fresh: Cli, tmp_path: Path, options: list[str], sentence: str) -> None:
        write_line(tmp_path)
        given = [part for option in options for part in ("--option", option)]
        assert sentence.removeprefix("options ['size']: ") in fresh("play", "line.py:Line", *given).sentence

    def test_options_that_fit_are_typed(self, tmp_path: Path) -> None:
        write_line(tmp_path)
        given = ["size=4", "reward=2", 'name="7"', "open=false"]
        protocol = make_protocol("line.py:Line", options=given)
        assert protocol.options.to_dict() == {"name": "7", "open": False, "reward": 2, "size": 4}
        assert parse_protocol(protocol.model_dump(mode="json")).options == protocol.options
        assert str(protocol.options) == 'name="7", open=false, reward=2, size=4'
        assert Options({"a": 1}) != Options({"a": True})

    def test_games_without_options_say_so(self, fresh: Cli) -> None:
        assert fresh("play", "pong", "--option", "size=4").sentence.startswith("pong has no options to choose")
        assert fresh("play", "corridor", "--levels", "4").sentence.startswith(
            "corridor has no game levels to choose"
        )

    def test_what_a_module_prints_does_not_disturb_the_one_object(self, tmp_path: Path) -> None:
        noisy = "\nprint('imported')\nstep = Line.step\n\n\ndef talk(*arguments):\n    print('step')\n"
        noisy += "    return step(*arguments)\n\n\nLine.step = talk\n"
        write_line(tmp_path, more=noisy)
        done = in_a_process("play", "line.py:Line", "--agent", "iw1", "--json", cwd=tmp_path)
        assert json.loads(done.stdout)["score"] == 1.0
        assert {"imported", "step"} == set(done.stderr.split())
        (tmp_path / "suite.yaml").write_text("name: own\ngames: ['line.py:Line']\nagents: [iw1]\ntrials: 1\n")
        bench = ("suite.yaml", "--out", "bench", "--episodes", 1, "--trial-workers", 2, "--import", "--json")
        done = in_a_process("benchmark", "run", *bench, cwd=tmp_path)
        assert [trial["state"] for trial in json.loads(done.stdout)["trials"]] == ["finished"]
        assert "step" in (tmp_path / "bench" / "logs" / "line.py-Line-iw1-trial-0.txt").read_text()
        done = in_a_process(
            "verify", "bench", *sorted((tmp_path / "episodes").iterdir()), "--import", "--json", cwd=tmp_path
        )
        assert json.loads(done.stdout)["verified"] == 2

    def test_chance_is_refused_with_the_first_step_that_differs(self, fresh: Cli, tmp_path: Path) -> None:
        dice = "\nimport random\n\n\ndef roll(self, state, action):\n"
        dice += "    return Transition(At(random.randrange(1000)), 0.0, False)\n\n\nLine.step = roll\n"
        write_line(tmp_path, more=dice)
        told = fresh("play", "line.py:Line").sentence
        assert told.startswith("line.py:Line is not deterministic. Walk 1, step 1, action")
        with pytest.raises(NotDeterministicError):
            make_protocol("line.py:Line")

    def test_a_broken_step_is_told_with_its_place(self, tmp_path: Path) -> None:
        write_line(tmp_path, more="\nLine.step = lambda self, state, action: (state, 0.0, False)\n")
        with pytest.raises(SimulatorError, match=r"line.py:Line is no simulator yet. Walk 1, step 1"):
            make_protocol("line.py:Line")

    def test_a_file_without_a_factory_is_told_what_is_missing(self, fresh: Cli, tmp_path: Path) -> None:
        write_line(tmp_path)
        told = fresh("play", "line.py").sentence
        assert told.endswith("Name what makes a simulator in that file, too: line.py:Factory.")

    def test_training_that_is_refused_leaves_nothing_behind(self, fresh: Cli, tmp_path: Path) -> None:
        pytest.importorskip("torch")
        write_line(tmp_path)
        told = fresh("train", "line.py:Line", "--loop", "lockstep", "--out", "run").sentence
        assert told.startswith("Networks cannot change in mid-episode in line.py:Line: its states cannot be stored")
        assert not (tmp_path / "run").exists()

    def test_a_step_that_fails_later_keeps_what_was_played(self, fresh: Cli, tmp_path: Path) -> None:
        fails = "\nstep = Line.step\n\n\ndef fail(self, state, action):\n    if state.place == 20:\n"
        fails += "        raise ValueError('a hole')\n    return step(self, state, action)\n\n\nLine.step = fail\n"
        write_line(tmp_path, more=fails)
        told = fresh("play", "line.py:Line", "--option", "size=30", "--agent", "iw1", "--budget", 3)
        assert "The simulator failed on action " in told.err
        assert "ValueError: a hole" in told.err
        assert "What was played so far is in episodes/" in told.err

    def test_a_slow_step_is_tried_once_waited_for_and_can_be_interrupted(self, tmp_path: Path) -> None:
        slow = "\nimport time\n\nstep = Line.step\n\n\ndef wait(*arguments):\n    time.sleep(0.6)\n"
        slow += "    return step(*arguments)\n\n\nLine.step = wait\n"
        write_line(tmp_path, more=slow)
        with on_a_terminal("play", "line.py:Line", "--budget", 1000, cwd=tmp_path) as (process, read_until):
            assert "waiting for 0:1" in read_until("waiting for 0:1")
            os.kill(process.pid, signal.SIGINT)
            assert "Interrupted" in read_until("Interrupted") or process.wait(20) == 130


class TestLevels:
    def test_the_level_follows_from_the_index(self) -> None:
        assert [level_at("0,3,7-9", index) for index in range(7)] == [0, 3, 7, 8, 9, 0, 3]

    def test_intervals_of_training_begin_elsewhere(self) -> None:
        """Of 10 levels, the second interval begins 6 later, the third 12, which is 2."""
        assert [level_at("0-9", 0, interval=interval) for interval in (0, 1, 2, 3)] == [0, 0, 6, 2]

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("", "levels are whole numbers and ranges of them"),
            ("-4", "levels are whole numbers and ranges of them"),
            ("1.5", "levels are whole numbers and ranges of them"),
            ("1,", "levels are whole numbers and ranges of them"),
            ("a-b", "levels are whole numbers and ranges of them"),
            ("9-3", "the range 9-3 is empty: it ends before it begins"),
            (f"{HIGHEST_LEVEL + 1}", f"{HIGHEST_LEVEL + 1} is too large for a level"),
            ("1-5,3", "the level 3 is there twice"),
        ],
    )
    def test_levels_that_are_none(self, text: str, sentence: str) -> None:
        with pytest.raises(ValueError, match=sentence):
            parse_levels(text)
        with pytest.raises(InputError, match=sentence):
            make_protocol("CliffWalking-v1", game_levels=text)

    def test_levels_are_seeds_of_an_environments_reset(self, fresh: Cli) -> None:
        simulator = GymnasiumSimulator("Taxi-v4")
        starts = [simulator.start_at(level).observation.tobytes() for level in (0, 1, 2, 1)]
        assert starts[0] == simulator.start().observation.tobytes()
        assert starts[1] == starts[3]
        assert len(set(starts)) == 3
        arguments = ("--levels", " 1 - 2,7", "--episodes", 4, "--max-steps", 2, "--budget", 5)
        played = fresh("play", "Taxi-v4", *arguments, "--json").object
        records = [read_episode(Path(file)) for file in played["episode_file"]]
        assert [record.level for record in records] == [1, 2, 7, 1]
        assert records[0].protocol.game_levels == "1-2,7"
        assert fresh("verify", *played["episode_file"], "--json").object["verified"] == 4

    def test_an_episode_of_a_level_that_is_not_its_own_does_not_verify(self, fresh: Cli, tmp_path: Path) -> None:
        protocol = make_protocol("Taxi-v4", game_levels="3-5", budget=5, max_frames=3)
        episode = play_episode(protocol)
        right, wrong = (EpisodeRecord(episode, protocol, seed=0, index=0, level=level) for level in (3, 4))
        assert verify_episode(right).holds
        assert "it began in level 4" in verify_episode(wrong).finding

    def test_a_level_that_there_is_not_is_a_sentence(self, fresh: Cli, tmp_path: Path) -> None:
        write_line(tmp_path)
        told = fresh("play", "line.py:Line", "--levels", "9").sentence
        assert told == "line.py:Line cannot begin in level 9: IndexError: a line of 5 cells has no level 9"
        told = fresh("play", "line.py:Line", "--levels", "0-2,3-9", "--episodes", 3).sentence
        assert told == "line.py:Line cannot begin in level 9: IndexError: a line of 5 cells has no level 9"
        assert not (tmp_path / "episodes").exists()
        write_line(tmp_path, more="\ndel Line.start_at\n")
        told = fresh("play", "line.py:Line", "--levels", "1").sentence
        assert told == "line.py:Line has no levels to choose: its simulator has no method start_at(level)."

    def test_levels_of_an_evaluation_are_for_agents_that_learn(self, fresh: Cli) -> None:
        told = fresh("play", "CliffWalking-v1", "--evaluation-levels", "3").sentence
        assert told == "riw-c has no levels of its own to be evaluated in, because it learns nothing."

    def test_a_paused_episode_goes_on_from_its_own_level(self, tmp_path: Path) -> None:
        pytest.importorskip("safetensors")
        from noveltree.collection import Order, make_collector
        from noveltree.collection.orders import Collected

        stored = (
            "\nLine.encode_state = lambda self, state: bytes([state.place])\n"
            "Line.decode_state = lambda self, data, observation: At(data[0])\n"
        )
        write_line(tmp_path, more=stored)
        protocol = make_protocol(
            "line.py:Line", game_levels="3-5", agent="uct", budget=3, max_frames=15, options={"size": 9}
        )

        def collected(order: Order) -> Collected:
            collector = make_collector(protocol, 0, workers=1, at_once=1)
            collector.order(order)
            return collector.collect()

        whole = collected(Order(0, 1)).episode
        part = collected(Order(0, 1, decisions=2, store=True))
        assert part.paused is not None
        again = collected(Order(0, 1, paused=part.paused)).episode
        assert again.actions == whole.actions


class TestOptionsOfGymnasium:
    def test_they_reach_the_environment(self, fresh: Cli) -> None:
        given = ("--option", "is_slippery=false", "--option", "map_name=8x8")
        played = fresh("play", "FrozenLake-v1", *given, "--max-steps", 1, "--budget", 5, "--json").object
        protocol = read_episode(Path(played["episode_file"])).protocol
        assert protocol.options.to_dict() == {"is_slippery": False, "map_name": "8x8"}
        simulator = protocol.make_simulator()
        assert simulator.step(simulator.start(), 1).state.observation.tolist() == [8]

    @pytest.mark.parametrize(
        ("option", "sentence"),
        [
            ("slippery=false", "Unknown option of FrozenLake-v1 'slippery'. Did you mean 'is_slippery'?"),
            ("is_slippery=no", "The option is_slippery of FrozenLake-v1 is true or false, not no."),
            ("map_name=8", "The option map_name of FrozenLake-v1 is a text, not 8."),
            (
                "chance=1",
                "What is known of the chance of FrozenLake-v1 is a setting of the protocol, and no option.",
            ),
            ("seed=3", "The seed of FrozenLake-v1 is its level: choose the levels 0-99, for instance."),
        ],
    )
    def test_those_that_do_not_fit_are_a_sentence(self, fresh: Cli, option: str, sentence: str) -> None:
        assert fresh("play", "FrozenLake-v1", "--option", option).sentence.startswith(sentence)


class TestAmbiguousIds:
    @pytest.mark.parametrize("game", ["ALE/Pong-v5", "PongNoFrameskip-v4", "Pong-v4", "PongDeterministic-v4"])
    def test_an_id_of_gymnasium_that_spells_an_atari_game_is_a_question(self, game: str) -> None:
        question = f"{game} may be two things: say pong for the Atari game, .* or gym:{game} for the environment"
        with pytest.raises(InputError, match=question):
            find_game(game)
        assert find_game(f"gym:{game}")[1] == game

    def test_an_environment_that_gymnasium_brings_is_that(self) -> None:
        assert make_protocol("Blackjack-v1", options={"natural": True}).simulator == "gymnasium"
        assert make_protocol("Blackjack").simulator == "atari"


class Halls(SimulatorKind):
    name = "halls"
    title = "halls"

    def make(self, game: str, settings: SimulatorSettings, observed: Observed) -> Simulator:
        return Corridor(4)


class TestEntryPoints:
    @pytest.fixture(autouse=True)
    def a_package_ships_two(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
        write_line(tmp_path, "shippedlines.py")
        points = {
            "short-line": EntryPoint("short-line", "shippedlines:Line", shipped.GROUP),
            "halls": EntryPoint("halls", f"{__name__}:Halls", shipped.GROUP),
            "gone": EntryPoint("gone", "shippedlines:Gone", shipped.GROUP),
        }
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setattr("noveltree.simulators.kind.entry_points", lambda: points)
        monkeypatch.setattr("noveltree.cli.games.entry_points", lambda: points)
        yield
        SIMULATOR_KINDS.pop("halls", None)
        sys.modules.pop("shippedlines", None)

    def test_the_name_of_a_factory_stands_for_its_reference(self) -> None:
        protocol = make_protocol("short-line", agent="iw1", options={"size": 3})
        assert (protocol.simulator, protocol.game) == ("own", "shippedlines:Line")
        assert play_episode(protocol).score == 1.0

    def test_a_kind_is_registered_when_it_is_asked_for(self, tmp_path: Path) -> None:
        protocol = make_protocol("halls", agent="iw1")
        assert protocol.simulator == "halls"
        write_episode(tmp_path / "a.json", EpisodeRecord(play_episode(protocol), protocol, seed=0, index=0))
        del SIMULATOR_KINDS["halls"]
        forbid_imports()
        with pytest.raises(RecordError, match="The simulator halls is code that is not noveltree's: say --import"):
            read_episode(tmp_path / "a.json")
        allow_import()
        assert verify_episode(read_episode(tmp_path / "a.json")).holds

    def test_they_are_listed_and_suggested(self, fresh: Cli) -> None:
        assert "short-line: a simulator that an installed package ships" in fresh("games").out
        with pytest.raises(UnknownNameError, match="Did you mean 'short-line'"):
            find_game("short-lin")

    def test_one_that_a_file_names_is_not_imported(self) -> None:
        with pytest.raises(InputError, match=r"short-line is code .* It would import shippedlines:Line"):
            find_game("short-line")
        assert "shippedlines" not in sys.modules

    def test_one_that_does_not_exist_is_a_sentence(self) -> None:
        with pytest.raises(
            InputError, match=r"gone, which .* ships, cannot be imported: shippedlines:Gone does not"
        ):
            make_protocol("gone")


def test_states_that_cannot_be_stored_are_told_when_training_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    from noveltree.trial import Progress, Watcher, train

    monkeypatch.setattr("noveltree.trial.watcher._SECONDS_BETWEEN_REPORTS", 0.0)  # or the interval may end before
    write_line(tmp_path)
    learning = {"schedule": {"interactions": 2_000, "interval": 1_000}, "evaluation_episodes": 1}
    protocol = make_protocol(
        "line.py:Line", agent="n-cpl", budget=10, options={"size": 500}, max_frames=100, learning=learning
    )
    told: list[str] = []

    def interrupt(progress: Progress) -> None:
        if progress.interactions > 200 and not told:
            told.append("interrupted")
            signal.raise_signal(signal.SIGINT)

    signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "run", protocol, watcher=Watcher(progress=interrupt, notice=told.append))
    assert told[1].endswith(
        "will be played again from the beginning: the states of line.py:Line cannot be stored, for its simulator "
        "has no encode_state and decode_state."
    )
    resumed = train(tmp_path / "run", protocol)
    assert resumed["score"] == train(tmp_path / "whole", protocol)["score"]
