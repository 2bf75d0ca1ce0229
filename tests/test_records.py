"""Episode files: what is read is what was written, damage is noticed, and a replay shows whether a score holds."""

from __future__ import annotations

import errno
import hashlib
import itertools
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from noveltree.episodes import Decision, End, drive
from noveltree.errors import NoveltreeError, OutputError, RecordError
from noveltree.protocol import make_protocol
from noveltree.records import (
    EpisodeRecord,
    check_writable,
    disk,
    encode_episode,
    read_episode,
    write_atomically,
    write_episode,
)
from noveltree.records.files import numbered
from noveltree.replay import Verification, verify_episode
from tests.support.agents import PLAYABLE_AT_ONCE


def played(game: str, *, steps: int | None = None, **choices: Any) -> EpisodeRecord:
    protocol = make_protocol(game, **choices)
    play = protocol.make_play(protocol.make_simulator(), seed=5, index=2)
    drive([play], decisions=steps)
    return EpisodeRecord(play.episode(), protocol, seed=5, index=2)


@pytest.fixture(scope="module")
def corridor() -> EpisodeRecord:
    """A whole episode, which ends at the exit."""
    return played("corridor", budget=30)


@pytest.fixture(scope="module")
def breakout() -> EpisodeRecord:
    """The first steps of an episode, in which nothing is scored yet."""
    return played("breakout", agent="random", steps=12)


@pytest.fixture
def file(tmp_path: Path, corridor: EpisodeRecord) -> Path:
    path = tmp_path / "episode.json"
    write_episode(path, corridor)
    return path


def checksum(content: dict[str, Any]) -> str:
    """As the format defines it, computed here once more."""
    rest = {key: value for key, value in content.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def tamper(path: Path, change: Callable[[dict[str, Any]], None], *, cover_up: bool) -> None:
    content = json.loads(path.read_bytes())
    change(content)
    if cover_up:
        content["checksum"] = checksum(content)
    path.write_text(json.dumps(content))


# Writing and reading


@pytest.mark.parametrize("agent", PLAYABLE_AT_ONCE)
def test_what_is_read_is_what_was_written(tmp_path: Path, agent: str) -> None:
    record = played("corridor", agent=agent, budget=12)
    path = tmp_path / "episode.json"
    write_episode(path, record)
    again = read_episode(path)
    assert encode_episode(again) == path.read_bytes() == encode_episode(record)
    assert (again.protocol, again.seed, again.index) == (record.protocol, 5, 2)
    assert (again.episode.end, again.episode.final_observation) == (
        *(record.episode.end, record.episode.final_observation),
    )
    for ours, theirs in zip(again.episode.decisions, record.episode.decisions, strict=True):
        assert ours == replace(theirs, seconds=round(theirs.seconds, 6), action_values=())


def test_values_of_actions_and_changes_of_networks_are_recorded_if_asked_for(tmp_path: Path) -> None:
    record = replace(played("corridor", agent="riw-c", budget=12), weights="a" * 16, refreshed=((3, "b" * 16),))
    path = tmp_path / "episode.json"
    write_episode(path, record, action_values=True)
    again = read_episode(path)
    assert encode_episode(again, action_values=True) == path.read_bytes()
    assert (again.weights, again.refreshed) == ("a" * 16, ((3, "b" * 16),))
    assert again.episode.column("action_values") == record.episode.column("action_values")
    assert json.loads(path.read_bytes())["version"] == 2
    write_episode(path, replace(record, refreshed=()))
    assert json.loads(path.read_bytes())["version"] == 1, "what the first version can say is written in it"


def test_a_file_is_json_with_a_summary_for_people(file: Path, corridor: EpisodeRecord) -> None:
    content = json.loads(file.read_bytes())
    assert (content["format"], content["version"]) == ("noveltree-episode", 1)
    assert (content["game"], content["agent"], content["seed"], content["index"]) == ("corridor", "riw-c", 5, 2)
    assert (content["score"], content["end"]) == (1.0, "terminal")
    assert content["steps"] == corridor.episode.steps == len(content["decisions"]["action"])
    assert content["interactions"] == sum(content["decisions"]["interactions"])
    assert content["protocol_hash"] == corridor.protocol.hash
    assert content["checksum"] == checksum(content)


def test_an_episode_without_decisions_can_be_written_and_holds(tmp_path: Path) -> None:
    record = played("corridor", steps=0)
    write_episode(tmp_path / "episode.json", record)
    again = read_episode(tmp_path / "episode.json")
    assert again.episode == record.episode
    assert verify_episode(again).holds


def test_a_file_name_says_what_is_inside(corridor: EpisodeRecord) -> None:
    assert corridor.file_name() == f"corridor-riw-c-seed5-episode2-{corridor.protocol.hash[:8]}.json"


def test_a_file_name_stays_in_its_directory(corridor: EpisodeRecord) -> None:
    protocol = corridor.protocol.model_copy(update={"game": "../../etc/Env-v0"})
    assert "/" not in replace(corridor, protocol=protocol).file_name()


# Damage


CHANGES: dict[str, Callable[[dict[str, Any]], None]] = {
    "score": lambda content: content.update(score=2.0),
    "seed": lambda content: content.update(seed=6),
    "index": lambda content: content.update(index=3),
    "end": lambda content: content.update(end="truncated"),
    "game": lambda content: content.update(game="pong"),
    "final_observation": lambda content: content.update(final_observation="0" * 64),
    "protocol": lambda content: content["protocol"].update(budget=29.0),
    "action": lambda content: content["decisions"]["action"].__setitem__(3, 1 - content["decisions"]["action"][3]),
    "reward": lambda content: content["decisions"]["reward"].__setitem__(0, 1.0),
    "interactions": lambda content: content["decisions"]["interactions"].__setitem__(0, 1),
    "seconds": lambda content: content["decisions"]["seconds"].__setitem__(0, 0.25),
    "solved": lambda content: content["decisions"]["solved"].__setitem__(0, not content["decisions"]["solved"][0]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_checksum_notices_any_change(file: Path, change: Callable[[dict[str, Any]], None]) -> None:
    tamper(file, change, cover_up=False)
    with pytest.raises(RecordError, match="was changed after it was written: its checksum does not fit"):
        read_episode(file)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"score": 2.0}, "its summary does not fit its decisions"),
        ({"steps": 3}, "its summary does not fit its decisions"),
        ({"interactions": 3}, "its summary does not fit its decisions"),
        ({"game": "pong"}, "its summary does not fit its protocol"),
        ({"agent": "uct"}, "its summary does not fit its protocol"),
        ({"protocol_hash": "0" * 16}, "its summary does not fit its protocol"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(file: Path, change: dict[str, Any], complaint: str) -> None:
    tamper(file, lambda content: content.update(change), cover_up=True)
    with pytest.raises(RecordError, match=complaint):
        read_episode(file)


def test_a_changed_protocol_no_longer_fits_its_hash(file: Path) -> None:
    tamper(file, lambda content: content["protocol"].update(budget=10.0), cover_up=True)
    with pytest.raises(RecordError, match="its summary does not fit its protocol"):
        read_episode(file)


def test_a_truncated_file_is_refused_wherever_it_ends(file: Path) -> None:
    data = file.read_bytes()
    for size in [*range(0, len(data) - 2, 37), len(data) - 3, len(data) - 2]:
        file.write_bytes(data[:size])
        with pytest.raises(RecordError, match="not an episode of noveltree, or is truncated"):
            read_episode(file)


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"\x00" * 100, b"\xff\xfe\x00\x01garbage", b"\x89PNG\r\n\x1a\n", "ａ".encode("utf-16")),
        *(b"{}", b"[]", b"null", b'"noveltree-episode"', b'{"format": "other"}', b"NaN"),
        *(b"[" * 100_000, b'{"format":' * 50_000, b"[" * 100_000 + b"]" * 100_000, b"1" * 10_000),
    ],
)
def test_something_else_is_refused_with_one_sentence(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "foreign.json"
    path.write_bytes(data)
    with pytest.raises(RecordError) as refusal:
        read_episode(path)
    assert str(refusal.value).startswith(f"{path} is not an episode of noveltree")
    assert "\n" not in str(refusal.value)


def test_deep_nesting_inside_an_episode_is_refused(file: Path) -> None:
    for depth in (300, 900, 30_000):
        nested = '{"a":' * depth + "1" + "}" * depth
        text = json.dumps(json.loads(file.read_bytes()) | {"protocol": "HERE"}).replace('"HERE"', nested)
        (file.parent / "nested.json").write_text(text)
        with pytest.raises(RecordError):
            read_episode(file.parent / "nested.json")


@pytest.mark.parametrize("version", [3, 0, "1", None])
def test_another_format_version_is_refused(file: Path, version: object) -> None:
    tamper(file, lambda content: content.update(version=version), cover_up=True)
    with pytest.raises(RecordError, match=f"has format version {version!r}; this noveltree reads 1"):
        read_episode(file)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda content: content.update(note="x"), "there is no setting note"),
        (lambda content: content.pop("seed"), "seed is missing"),
        (lambda content: content.update(seed="5"), "seed '5': a whole number is expected"),
        (lambda content: content.update(end="won"), "end 'won': input should be 'terminal'"),
        (
            lambda content: content["decisions"]["action"].__setitem__(0, 0.5),
            "decisions.action.0 0.5: a whole number is expected",
        ),
        (lambda content: content["decisions"]["reward"].pop(), "its columns have different lengths"),
        (lambda content: content["protocol"].update(frame_skip=0), "Not a valid protocol: frame_skip 0"),
        (lambda content: content["protocol"].update(budget=float("inf")), "Not a valid protocol: budget inf"),
    ],
)
def test_the_format_is_read_strictly(file: Path, change: Callable[[dict[str, Any]], None], complaint: str) -> None:
    tamper(file, change, cover_up=True)
    with pytest.raises(RecordError) as refusal:
        read_episode(file)
    assert complaint in str(refusal.value)


def test_a_missing_file_and_a_directory_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"Cannot read .*: No such file or directory\."):
        read_episode(tmp_path / "nothing.json")
    with pytest.raises(RecordError, match=r"Cannot read .*: Is a directory\."):
        read_episode(tmp_path)
    with pytest.raises(RecordError, match=r"Cannot read .*: Not a directory\."):
        read_episode(Path(__file__) / "episode.json")


def test_a_file_is_not_read_beyond_the_size_of_any_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noveltree.records.episode_file.LARGEST_FILE", 2**20)
    monkeypatch.setattr("noveltree.records.parsing.LARGEST_FILE", 2**20)
    with pytest.raises(RecordError, match=r"/dev/zero is not an episode .*: it is larger than 1 MB"):
        read_episode(Path("/dev/zero"))


# Verification


@pytest.mark.parametrize("agent", PLAYABLE_AT_ONCE)
def test_episodes_of_all_agents_hold_on_atari(agent: str) -> None:
    record = played("qbert", agent=agent, steps=6, budget=12)
    assert verify_episode(record) == Verification(holds=True, score=record.episode.score, finding="")


@pytest.mark.parametrize("game", ["corridor", "FrozenLake-v1", "CartPole-v1"])
def test_episodes_hold_on_other_simulators(game: str) -> None:
    record = played(game, budget=40, steps=25)
    verification = verify_episode(record)
    assert (verification.holds, verification.score, verification.finding) == (True, record.episode.score, "")


@pytest.mark.parametrize(
    "choices",
    [
        {"game": "breakout", "mode": 4, "difficulty": 1, "action_set": "full", "frame_skip": 4},
        {"game": "yars_revenge", "features": "bprost"},
        {"game": "freeway", "features": "ram"},
        {"game": "gravitar", "preset": "bandres-2018-ns-ra-107"},
        {"game": "kangaroo", "preset": "lipovetzky-2015"},
    ],
)
def test_episodes_hold_with_other_settings(choices: dict[str, Any]) -> None:
    assert verify_episode(played(**choices, budget=10, steps=5)).holds


@pytest.mark.parametrize("risk_averse", ["parent", "root"])
def test_what_a_risk_averse_planner_fears_is_not_in_its_score(risk_averse: str) -> None:
    """Three interactions do not save the ball: a life is lost, and seen coming."""
    record = played("breakout", agent="riw-d", risk_averse=risk_averse, budget=3, steps=40)
    assert verify_episode(record).holds
    assert min(record.episode.rewards) == 0.0
    values = [
        value for decision in record.episode.decisions for value in decision.action_values if value is not None
    ]
    assert min(values) <= -499_900.0


def test_where_visits_count_a_walk_may_go_on_beyond_the_budget() -> None:
    record = played("corridor", agent="riw-d", visits="counted", horizon=7, budget=30, steps=3)
    assert verify_episode(record).holds
    assert verify_episode(with_decision(record, 1, interactions=30 + 1 + 7)).holds
    verification = verify_episode(with_decision(record, 1, interactions=30 + 1 + 8))
    assert verification.finding == "step 1 took 39 interactions, more than 38"
    free = replace(record, protocol=make_protocol("corridor", agent="riw-d", horizon=7, budget=30))
    assert not verify_episode(with_decision(free, 1, interactions=30 + 2)).holds


def test_a_truncated_episode_holds_at_the_limit_and_not_before_it_or_beyond() -> None:
    record = played("breakout", agent="random", max_frames=10 * 15)
    assert record.episode.end is End.TRUNCATED
    assert verify_episode(record).holds
    for frames, finding in (
        (11 * 15, "it ends before the limit of 11 steps"),
        (9 * 15, "it goes beyond the limit of 9 steps"),
    ):
        other = replace(record, protocol=record.protocol.model_copy(update={"max_frames": frames}))
        verification = verify_episode(other)
        assert (verification.holds, verification.finding) == (False, finding)


def with_decision(record: EpisodeRecord, step: int, **change: Any) -> EpisodeRecord:
    decisions = list(record.episode.decisions)
    decisions[step] = replace(decisions[step], **change)
    return replace(record, episode=replace(record.episode, decisions=tuple(decisions)))


def written(tmp_path: Path, record: EpisodeRecord) -> EpisodeRecord:
    """The record as a forger would have it: with a summary and a checksum that fit."""
    write_episode(tmp_path / "forged.json", record)
    return read_episode(tmp_path / "forged.json")


def test_a_forged_reward_does_not_hold(tmp_path: Path, breakout: EpisodeRecord) -> None:
    forged = written(tmp_path, with_decision(breakout, 7, reward=400.0))
    verification = verify_episode(forged)
    assert not verification.holds
    assert verification.finding == "step 7 paid 0, not 400 as recorded"


def test_forged_actions_hold_only_if_they_lead_to_the_same_place(tmp_path: Path, corridor: EpisodeRecord) -> None:
    """The world is small enough to foresee what each forgery leads to: a bump into the wall moves nothing."""
    actions = [decision.action for decision in corridor.episode.decisions]
    for step, action in enumerate(actions):
        cells = [0]
        for forged in (*actions[:step], 1 - action, *actions[step + 1 :]):
            cells.append(max(0, cells[-1] + (-1, 1)[forged]))
        verification = verify_episode(written(tmp_path, with_decision(corridor, step, action=1 - action)))
        assert verification.holds is (9 in cells and cells.index(9) == len(actions))


def test_a_forged_action_does_not_hold_on_atari(tmp_path: Path, breakout: EpisodeRecord) -> None:
    """Nothing is scored here, so that only the last screen can tell."""
    last = breakout.episode.steps - 1
    right, left = 2, 3
    other = right if breakout.episode.decisions[last].action == left else left
    verification = verify_episode(written(tmp_path, with_decision(breakout, last, action=other)))
    assert (verification.holds, verification.finding) == (False, "the last observation is different")


@pytest.mark.parametrize("action", [4, 18, -1])
def test_an_action_that_does_not_exist_does_not_hold(breakout: EpisodeRecord, action: int) -> None:
    verification = verify_episode(with_decision(breakout, 3, action=action))
    assert (verification.holds, verification.finding) == (False, "step 3 has an action that does not exist")


def test_a_forged_end_does_not_hold(corridor: EpisodeRecord, breakout: EpisodeRecord) -> None:
    over = replace(breakout, episode=replace(breakout.episode, end=End.TERMINAL))
    assert verify_episode(over).finding == "the game was not over after the last step"
    going_on = replace(corridor, episode=replace(corridor.episode, end=End.STOPPED))
    assert verify_episode(going_on).finding == "the game was over after the last step"


def test_decisions_after_the_end_do_not_hold(corridor: EpisodeRecord) -> None:
    last = corridor.episode.decisions[-1]
    longer = replace(corridor.episode, decisions=(*corridor.episode.decisions, last))
    verification = verify_episode(replace(corridor, episode=longer))
    assert verification.finding == f"the game was over before step {corridor.episode.steps}"


def test_an_episode_cut_short_does_not_hold(breakout: EpisodeRecord) -> None:
    shorter = replace(breakout.episode, decisions=breakout.episode.decisions[:-1])
    verification = verify_episode(replace(breakout, episode=shorter))
    assert (verification.holds, verification.finding) == (False, "the last observation is different")


def test_another_rom_is_another_game(breakout: EpisodeRecord) -> None:
    other = breakout.protocol.model_copy(update={"rom_md5": "0" * 32})
    verification = verify_episode(replace(breakout, protocol=other))
    assert (verification.holds, verification.finding) == (False, "the ROM of breakout here is a different one")


def test_another_version_of_the_emulator_is_a_caveat(breakout: EpisodeRecord) -> None:
    protocol = breakout.protocol.model_copy(update={"simulator_version": "ale-py 0.10.0"})
    here = breakout.protocol.simulator_version
    verification = verify_episode(replace(breakout, protocol=protocol))
    assert verification.holds
    assert verification.finding == f"recorded with ale-py 0.10.0, replayed with {here}"
    failed = verify_episode(with_decision(replace(breakout, protocol=protocol), 0, reward=5.0))
    assert failed.finding == f"step 0 paid 0, not 5 as recorded; recorded with ale-py 0.10.0, replayed with {here}"


@pytest.mark.parametrize("game", ["no_such_game", "../../etc/passwd", "combat"])
def test_a_record_of_a_game_that_does_not_exist_is_refused(breakout: EpisodeRecord, game: str) -> None:
    protocol = breakout.protocol.model_copy(update={"game": game})
    with pytest.raises(NoveltreeError):
        verify_episode(replace(breakout, protocol=protocol))


# Writing files


@pytest.mark.parametrize("failing", ["create", "write", "sync", "rename"])
def test_a_failure_while_writing_leaves_the_old_file_and_nothing_else(tmp_path: Path, failing: str) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def fail(operation: disk.Operation) -> None:
        if operation.kind == failing:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with disk.watched(fail), pytest.raises(OutputError, match=r"Cannot write .*/file: No space left on device\."):
        write_atomically(path, b"new")
    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [("file", b"old")]


def test_an_interrupt_while_writing_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def interrupt(descriptor: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_atomically(path, b"new")
    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [("file", b"old")]


def test_a_file_is_flushed_before_it_gets_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    existed: list[bool] = []
    fsync = os.fsync

    def watch(descriptor: int) -> None:
        existed.append(path.exists())
        fsync(descriptor)

    monkeypatch.setattr("os.fsync", watch)
    write_atomically(path, b"data")
    assert existed == [False, True]  # the file, then its directory
    assert path.read_bytes() == b"data"


def test_directories_are_made_on_the_way(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a" / "b" / "file", b"data")
    check_writable(tmp_path / "c" / "d")
    assert (tmp_path / "a" / "b" / "file").read_bytes() == b"data"
    assert list((tmp_path / "c" / "d").iterdir()) == []


def test_a_file_in_the_way_of_a_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for directory in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OutputError, match=rf"Cannot write to {directory}: Not a directory\."):
            check_writable(directory)
        with pytest.raises(OutputError, match=r"Cannot write .*: Not a directory\."):
            write_atomically(directory / "x", b"")


def test_files_that_would_be_called_the_same_are_numbered() -> None:
    names = [path.name for path in itertools.islice(numbered(Path("episode.v1.json")), 3)]
    assert names == ["episode.v1.json", "episode.v1-2.json", "episode.v1-3.json"]


def test_every_field_of_a_decision_is_recorded(file: Path) -> None:
    columns = json.loads(file.read_bytes())["decisions"]
    assert set(columns) == set(Decision.__dataclass_fields__) - {"action_values", "root_value"}
