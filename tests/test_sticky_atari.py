"""Sticky actions and random starts of Atari games: by their definition, frame by frame, and never foreseen."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import ale_py
import numpy as np
import pytest

from noveltree import make_protocol, play_episode, verify_episode
from noveltree.episodes import drive
from noveltree.errors import InputError, RecordError
from noveltree.protocol import Protocol
from noveltree.records import EpisodeRecord
from noveltree.records.play_file import decode_play, encode_play
from noveltree.simulators import Atari, StickyAtari, chance_of, check_simulator
from noveltree.simulators.sticky_atari import MOST_NO_OPS, StickyState, frames_stuck

NOOP, FIRE, RIGHT, LEFT = range(4)  # of Breakout


@pytest.fixture(scope="module")
def sticky() -> StickyAtari:
    return StickyAtari("breakout", sticky_actions=0.25, frame_skip=4)


def executed(dice: int, probability: float, before: int, chosen: int, frames: int) -> list[int]:
    """What is executed, by the definition: in each frame the action before once more, or the chosen one."""
    rng = np.random.default_rng(dice)
    actions = [before]
    for _ in range(frames):
        if actions[-1] == chosen or rng.random() >= probability:
            actions.append(chosen)
        else:
            actions.append(actions[-1])
    return actions[1:]


def test_it_takes_as_many_frames_until_the_chosen_action_is_executed_as_the_definition_says() -> None:
    for dice in range(500):
        for probability in (0.0, 0.25, 0.9, 1.0):
            frames = executed(dice, probability, LEFT, RIGHT, 5)
            assert frames == [LEFT] * (stuck := frames_stuck(dice, probability, 5)) + [RIGHT] * (5 - stuck)


def test_an_action_sticks_for_as_many_frames_as_a_geometric_distribution_has_it() -> None:
    counts = Counter(frames_stuck(dice, 0.25, 3) for dice in range(8_000))
    expected = {0: 6_000, 1: 1_500, 2: 375, 3: 125}  # 3/4, 3/16, 3/64, and 1/64 for what is longer
    assert all(abs(counts[stuck] - number) < 4 * number**0.5 for stuck, number in expected.items())


def test_a_draw_emulates_what_is_executed_frame_by_frame(sticky: StickyAtari) -> None:
    """The same frames in an emulator of its own give the same memory and reward, and are those that are filmed."""
    emulator = ale_py.ALEInterface()
    emulator.setFloat("repeat_action_probability", 0.0)
    emulator.loadROM(ale_py.roms.get_rom_path("breakout"))
    emulator.reset_game()
    state = sticky.start()
    before, seen = 0, set()
    for dice, action in enumerate(np.random.default_rng(1).integers(4, size=60).tolist()):
        filmed = list(sticky.film(state, action, dice))
        (state, reward, terminal), certain = sticky.draw(state, action, dice)  # type: ignore[assignment]
        chosen = emulator.getMinimalActionSet()[action]
        frames = executed(dice, 0.25, before, chosen.value, 4)
        paid = 0.0
        for frame, picture in zip(frames, filmed, strict=True):
            paid += emulator.act(ale_py.Action(frame))
            assert np.array_equal(picture, emulator.getScreenRGB())
        assert reward == paid
        assert np.array_equal(state.ram, emulator.getRAM())
        assert certain == (before == chosen.value)
        assert state.last_action == frames[-1]
        assert not terminal
        before = frames[-1]
        seen.add(frames.count(frames[-1]))
    assert len(seen) > 1  # something did stick


def test_without_sticking_it_is_the_game_of_the_other_simulator() -> None:
    plain, framewise = Atari("qbert"), StickyAtari("qbert", no_ops=True)
    assert chance_of(framewise) is None
    state, other = plain.start(), framewise.start()
    for action in np.random.default_rng(0).integers(6, size=80).tolist():
        first, second = plain.step(state, action), framewise.step(other, action)
        assert first[1:] == second[1:]
        state, other = first.state, second.state  # type: ignore[assignment]
        assert state.snapshot == other.snapshot
        assert np.array_equal(state.observation, other.observation)
        if first.terminal:
            break


def test_it_is_a_function_of_state_action_and_dice(sticky: StickyAtari) -> None:
    check_simulator(sticky, walks=2, length=10)
    assert chance_of(sticky) is sticky
    start = sticky.draw(sticky.start(), FIRE, 0).transition.state
    first = [sticky.key(sticky.draw(start, RIGHT, dice).transition.state) for dice in range(30)]
    assert first == [sticky.key(sticky.draw(start, RIGHT, dice).transition.state) for dice in range(30)]
    assert 1 < len(set(first)) <= 5  # stuck for 0 to 4 frames
    certain = [sticky.draw(start, FIRE, dice) for dice in range(5)]
    assert all(draw.certain for draw in certain)
    assert len({sticky.key(draw.transition.state) for draw in certain}) == 1


def test_states_are_told_apart_by_what_may_be_repeated(sticky: StickyAtari) -> None:
    start = sticky.start()
    assert sticky.key(start) != sticky.key(StickyState(start, RIGHT))


def test_states_are_stored_with_the_last_action(sticky: StickyAtari) -> None:
    state = sticky.draw(sticky.start(), RIGHT, 3).transition.state
    restored = sticky.decode_state(sticky.encode_state(state), state.observation)
    assert sticky.key(restored) == sticky.key(state)
    with pytest.raises(RecordError, match="bytes"):
        sticky.decode_state(b"", state.observation)


def test_starts_differ_by_frames_without_an_action() -> None:
    simulator = StickyAtari("breakout", no_ops=True, frame_skip=4)
    frames = [ale_py.ALEState(simulator.draw_start(dice).snapshot).getFrameNumber() for dice in range(200)]
    first = min(frames)
    assert {frame - first for frame in frames} == set(range(MOST_NO_OPS + 1))
    assert simulator.key(simulator.draw_start(7)) == simulator.key(simulator.draw_start(7))
    assert StickyAtari("breakout", sticky_actions=0.5).draw_start(7).snapshot == Atari("breakout").start().snapshot


def test_a_probability_above_one_and_foreign_states_are_refused(sticky: StickyAtari) -> None:
    with pytest.raises(InputError, match="from 0 to 1, not 2"):
        StickyAtari("breakout", sticky_actions=2)
    with pytest.raises(InputError, match="cannot step from a AtariState"):
        sticky.draw(Atari("breakout").start(), 0, 0)


# Episodes


def short(**choices: object) -> Protocol:
    return make_protocol("breakout", preset="machado-2018", budget=6, frame_skip=4, max_frames=120, **choices)


@pytest.fixture(scope="module")
def record() -> EpisodeRecord:
    protocol = short()
    return EpisodeRecord(play_episode(protocol, seed=3, index=1), protocol, 3, 1)


def test_a_recorded_episode_verifies_with_the_chance_that_it_had(record: EpisodeRecord) -> None:
    assert record.protocol.chance == "sampled"
    verification = verify_episode(record)
    assert verification.holds, verification.finding
    assert not verify_episode(replace(record, index=2)).holds


def test_an_episode_that_was_stored_goes_on_with_the_same_dice(record: EpisodeRecord) -> None:
    protocol = record.protocol
    simulator = protocol.make_simulator()
    play = protocol.make_play(simulator, seed=3, index=1)
    while not play.finished:
        drive([play], decisions=10)
        play = decode_play(encode_play(play, protocol), protocol, protocol.make_simulator())
    assert play.episode().actions == record.episode.actions
    assert play.episode().final_observation == record.episode.final_observation


def test_agents_without_a_rule_for_chance_say_so_at_once() -> None:
    with pytest.raises(InputError, match="pi-hiw with these settings"):
        make_protocol("breakout", agent="pi-hiw", sticky_actions=0.25)
    with pytest.raises(InputError, match="riw-d with these settings"):
        make_protocol("breakout", preset="bandres-2018-103", sticky_actions=0.25)


def test_no_op_starts_alone_leave_nothing_to_chance_while_playing() -> None:
    protocol = make_protocol("breakout", agent="random", start="no-ops", max_frames=60)
    assert protocol.chance is None
    record = EpisodeRecord(play_episode(protocol, seed=1), protocol, 1, 0)
    assert verify_episode(record).holds


def test_probability_zero_is_the_protocol_without_it() -> None:
    assert make_protocol("breakout", sticky_actions=0.0).hash == make_protocol("breakout").hash
