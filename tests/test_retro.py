"""Games of consoles: functions of a snapshot and an action, with the buttons that matter; stored and filmed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from noveltree.episodes import drive
from noveltree.errors import InputError, RecordError, SimulatorError, UnknownNameError
from noveltree.protocol import make_protocol
from noveltree.records import EpisodeRecord, read_episode, write_episode
from noveltree.records.play_file import decode_play, encode_play
from noveltree.replay import render_episode, verify_episode
from noveltree.simulators import RetroSimulator, RetroState, check_simulator, find_game
from noveltree.simulators.check import difference
from noveltree.simulators.console import borrow_console, give_back
from noveltree.simulators.snapshot_differences import SnapshotDifferences

GAME = "Airstriker-Genesis-v0"


@pytest.fixture(scope="module")
def simulator() -> Iterator[RetroSimulator]:
    pytest.importorskip("stable_retro")
    simulator = RetroSimulator(GAME, frame_skip=4)
    yield simulator
    simulator.close()


def test_a_console_is_a_function_of_state_and_action(simulator: RetroSimulator) -> None:
    covered = check_simulator(simulator, walks=2, length=40)
    assert covered.transitions == 80


def test_it_plays_what_stable_retro_plays_when_never_interrupted(simulator: RetroSimulator) -> None:
    """100 actions with their rewards, against frames that are emulated one after another without a snapshot."""
    console = borrow_console(GAME)
    actions = np.random.default_rng(1).integers(len(simulator.actions), size=100).tolist()
    buttons = [console.useful[action] for action in actions]
    console.stand_at(console.start)
    straight = [sum(console.frame(bits)[0] for _ in range(4)) for bits in buttons]
    last = console.snapshot()
    state, rewards = simulator.start(), []
    for action in actions:
        transition = simulator.step(state, action)
        rewards.append(transition.reward)
        assert isinstance(transition.state, RetroState)
        state = transition.state
    give_back(console)
    assert rewards == straight
    assert sum(rewards) > 0
    assert simulator._differences.unpack(state.packed) == last


def test_a_reward_is_what_was_won_since_the_state(simulator: RetroSimulator) -> None:
    """The score is in memory: coming from the start, where it is 0, a step must not pay all of it."""
    state, won = simulator.start(), 0.0
    rng = np.random.default_rng(1)
    while not won:
        state, won, _ = simulator.step(state, int(rng.integers(6)))  # type: ignore[assignment]
    expected = simulator.step(state, 0)
    simulator.step(simulator.start(), 0)
    assert difference(expected, simulator.step(state, 0)) is None
    assert expected.reward == 0


def test_a_snapshot_has_nothing_that_was_in_memory_before(simulator: RetroSimulator) -> None:
    console = borrow_console(GAME)
    console.stand_at(console.start)
    snapshots = []
    for pattern in (0xAA, 0x55):
        filled = bytes([pattern]) * console.size
        del filled  # the next allocation of this size is made there
        snapshots.append(console.snapshot())
    give_back(console)
    assert snapshots[0] == snapshots[1]
    assert len(snapshots[0]) < console.size


def test_actions_are_the_combinations_of_buttons_that_make_a_difference(simulator: RetroSimulator) -> None:
    """Airstriker moves left and right and fires with B; its description allows 126 combinations of 10 buttons."""
    assert simulator.actions == ("NONE", "LEFT", "RIGHT", "B", "LEFT+B", "RIGHT+B")
    full = RetroSimulator(GAME, action_set="full")
    assert len(full.actions) == len(set(full.actions)) == 126
    assert {*simulator.actions, "UP+LEFT+A", "A", "C"} <= {*full.actions}
    full.close()


def test_observations_are_screens_in_gray_of_the_size_that_is_asked_for(simulator: RetroSimulator) -> None:
    start = simulator.start().observation
    assert (start.shape, start.dtype) == ((84, 84), np.uint8)
    assert start.min() < start.max()
    small = RetroSimulator(GAME, screen=(40, 30))
    assert small.start().observation.shape == (30, 40)
    small.close()


def test_a_state_takes_a_few_kilobytes(simulator: RetroSimulator) -> None:
    state = simulator.start()
    for _ in range(20):
        state = simulator.step(state, 4).state  # type: ignore[assignment]
    snapshot = simulator._differences.unpack(state.packed)
    assert len(snapshot) > 100_000
    assert len(state.packed) < 10_000


def test_states_are_encoded_and_decoded(simulator: RetroSimulator) -> None:
    state = simulator.step(simulator.start(), 4).state
    again = simulator.decode_state(simulator.encode_state(state), state.observation)
    assert isinstance(state, RetroState)
    assert (again.packed, again.terminal) == (state.packed, False)
    data = simulator.encode_state(state)
    for damaged in (b"", data[:-1], b"x" + data[1:], data[:8] + b"\2" + data[9:]):
        with pytest.raises(RecordError, match="A stored s"):
            simulator.decode_state(damaged, state.observation)
    with pytest.raises(RecordError, match="A stored screen has type"):
        simulator.decode_state(data, state.observation[:3])


def test_a_state_that_another_process_has_stored_goes_on_as_it_did_there(simulator: RetroSimulator) -> None:
    program = """
from noveltree.simulators import RetroSimulator
simulator = RetroSimulator("Airstriker-Genesis-v0", frame_skip=4)
states, rewards = [simulator.start()], []
for step in range(40):
    state, reward, _ = simulator.step(states[-1], step % 6)
    states.append(state)
    rewards.append(reward)
for state in (states[10], states[-1]):
    print(simulator.encode_state(state).hex(), state.observation.tobytes().hex())
print(rewards)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    (first, seen), (_, expected) = (line.split() for line in done.stdout.splitlines()[:2])
    observation = np.frombuffer(bytes.fromhex(seen), dtype=np.uint8).reshape(84, 84)
    state = simulator.decode_state(bytes.fromhex(first), observation)
    rewards = []
    for step in range(10, 40):
        state, reward, _ = simulator.step(state, step % 6)  # type: ignore[assignment]
        rewards.append(reward)
    assert state.observation.tobytes().hex() == expected
    assert str(rewards)[1:-1] in done.stdout


def test_one_game_at_a_time_in_a_process(simulator: RetroSimulator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noveltree.simulators.console.rom_of", Path)
    with pytest.raises(InputError, match="one game of stable-retro at a time, and Airstriker-Genesis-v0 is being"):
        borrow_console("SonicTheHedgehog-Genesis-v0")


def test_names_are_found_in_any_case_and_without_their_version() -> None:
    pytest.importorskip("stable_retro")
    for name in ("retro:Airstriker-Genesis-v0", "retro:airstriker-genesis", "Retro:AIRSTRIKER-GENESIS-V0"):
        kind, game = find_game(name)
        assert (kind.name, game) == ("retro", GAME)
    with pytest.raises(UnknownNameError, match=f"Did you mean '{GAME}'"):
        find_game("retro:Airstrike-Genesis-v0")
    with pytest.raises(UnknownNameError):
        find_game("retro:../stable/Airstriker-Genesis-v0")


def test_a_game_without_its_rom_says_how_to_import_it() -> None:
    pytest.importorskip("stable_retro")
    with pytest.raises(SimulatorError, match=r"no ROM of 1942-Nes-v0: import yours with `python -m stable_r"):
        make_protocol("retro:1942-Nes-v0")


def test_a_missing_package_is_named_with_the_way_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stable_retro", None)
    with pytest.raises(SimulatorError, match=r'pip install "noveltree\[retro\]"'):
        find_game("retro:Airstriker-Genesis-v0")


def test_an_episode_is_recorded_verified_paused_and_filmed(tmp_path: Path, simulator: RetroSimulator) -> None:
    pytest.importorskip("safetensors")
    protocol = make_protocol(f"retro:{GAME}", budget=10, frame_skip=4)
    assert (protocol.simulator, protocol.game, protocol.action_set) == ("retro", GAME, "minimal")
    assert protocol.features == "pixels"
    assert protocol.rom_md5 is not None
    play = protocol.make_play(simulator, seed=0, index=0)
    drive([play], decisions=2)
    paused = encode_play(play, protocol)
    drive([play], decisions=2)
    again = decode_play(paused, protocol, simulator)
    drive([again], decisions=2)
    assert again.episode().actions == play.episode().actions
    assert again.episode().final_observation == play.episode().final_observation

    write_episode(tmp_path / "a.json", EpisodeRecord(play.episode(), protocol, seed=0, index=0))
    record = read_episode(tmp_path / "a.json")
    assert verify_episode(record).holds
    render_episode(record, tmp_path / "a.gif")
    assert (tmp_path / "a.gif").stat().st_size > 1000
    assert len(list(simulator.film(simulator.start(), 1))) == 4


# Differences between snapshots.


@pytest.mark.parametrize("snapshot", [b"12345678abcdefgh", b"1234567_abcdefgh", b"", b"123", b"12345678abcdefgh++"])
def test_a_snapshot_of_any_length_is_unpacked_bit_for_bit(snapshot: bytes) -> None:
    differences = SnapshotDifferences(b"12345678abcdefgh")
    packed = differences.pack(snapshot)
    assert differences.unpack(packed) == snapshot
    assert differences.unpack(differences.pack(b"12345678abcdefgh")) == b"12345678abcdefgh"


def test_what_does_not_differ_takes_no_room() -> None:
    """Two words, of which the second differs: four bytes of length, four of its place, eight of the word."""
    differences = SnapshotDifferences(b"12345678abcdefgh")
    assert len(differences.pack(b"12345678abcdefgh")) == 4
    assert differences.pack(b"12345678abcdefgx") == b"\x10\0\0\0" + b"\1\0\0\0" + b"abcdefgx"


@pytest.mark.parametrize("packed", [b"", b"\x10\0\0\0!", b"\x10\0\0\0" + b"\2\0\0\0" + b"abcdefgx"])
def test_damaged_differences_are_refused(packed: bytes) -> None:
    with pytest.raises(RecordError, match="A stored snapshot"):
        SnapshotDifferences(b"12345678abcdefgh").unpack(packed)
