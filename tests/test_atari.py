"""Atari games: names, actions and settings, what is observed of them, and that they play as in ale-py."""

from __future__ import annotations

from typing import Any

import ale_py
import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from noveltree.errors import InputError, UnknownNameError
from noveltree.simulators.atari import Atari, AtariState
from noveltree.simulators.corridor import Corridor
from noveltree.simulators.games import (
    HIDDEN_STATE_GAMES,
    PAPER_GAMES,
    all_games,
    canonical_game,
    game_title,
    rom_md5,
    rom_path,
)
from noveltree.simulators.screen import SIDE, ScreenReducer
from noveltree.simulators.simulator import Transition

Bytes = NDArray[np.uint8]


def state_after(transition: Transition) -> AtariState:
    assert isinstance(transition.state, AtariState)
    return transition.state


# Names


@pytest.mark.parametrize(
    "spelling",
    [
        "ms_pacman",
        "MsPacman",
        "ms pacman",
        " Ms. Pacman ",
        "MS-PACMAN",
        "ALE/MsPacman-v5",
        "ale/MsPacman-v5",
        "ALE/MsPacman-ram-v5",
        "MsPacman-v4",
        "MsPacmanNoFrameskip-v4",
        "MsPacmanDeterministic-v0",
        "MsPacman-ramNoFrameskip-v4",
    ],
)
def test_every_usual_spelling_names_the_game(spelling: str) -> None:
    assert canonical_game(spelling) == "ms_pacman"


@pytest.mark.parametrize("game", all_games())
def test_every_game_is_found_by_its_name_and_by_its_title(game: str) -> None:
    assert canonical_game(game) == game
    assert canonical_game(game_title(game)) == game
    assert canonical_game(f"ALE/{game_title(game)}-v5") == game


@pytest.mark.parametrize(
    ("spelling", "game"),
    [
        ("Pitfall", "pitfall"),
        ("Pitfall2", "pitfall2"),
        ("pac-man", "pacman"),
        ("Montezuma Revenge", "montezuma_revenge"),
        ("Q*bert", "qbert"),
        ("Yars' Revenge", "yars_revenge"),
        ("H.E.R.O.", "hero"),
        ("Up'n Down", "up_n_down"),
    ],
)
def test_punctuation_does_not_matter_and_similar_names_are_told_apart(spelling: str, game: str) -> None:
    assert canonical_game(spelling) == game


@pytest.mark.parametrize("name", ["pongg", "", "ALE/", "-v5", "ms_pacman_2"])
def test_an_unknown_game_is_refused(name: str) -> None:
    with pytest.raises(UnknownNameError, match="Unknown game"):
        canonical_game(name)


def test_a_misspelt_game_is_met_with_the_closest_name() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'pong'"):
        Atari("pongg")


def test_the_paper_has_55_games_and_ale_py_bundles_them() -> None:
    assert len(PAPER_GAMES) == len(set(PAPER_GAMES)) == 55
    assert set(PAPER_GAMES) <= set(all_games())
    assert rom_path("pong").is_file()
    assert len(rom_md5("pong")) == 32


# Actions and settings


def test_the_minimal_action_set_is_the_default_and_the_full_one_an_option() -> None:
    assert Atari("pong").actions == ("NOOP", "FIRE", "RIGHT", "LEFT", "RIGHTFIRE", "LEFTFIRE")
    full = Atari("pong", action_set="full").actions
    assert len(full) == len(set(full)) == 18
    assert full[:3] == ("NOOP", "FIRE", "UP")


def test_an_action_is_an_index_into_the_chosen_set() -> None:
    minimal, full = Atari("breakout"), Atari("breakout", action_set="full")
    for name in minimal.actions:
        one = minimal.step(minimal.start(), minimal.actions.index(name))
        other = full.step(full.start(), full.actions.index(name))
        assert state_after(one).snapshot == state_after(other).snapshot


def test_settings_that_make_no_sense_are_refused_with_what_would() -> None:
    with pytest.raises(InputError, match="at least 1, not 0"):
        Atari("pong", frame_skip=0)
    with pytest.raises(InputError, match="'minimal' or 'full', not 'maximal'"):
        Atari("pong", action_set="maximal")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="pong has no mode 77; it has 0, 1"):
        Atari("pong", mode=77)
    with pytest.raises(InputError, match="alien has no difficulty 7; it has 0"):
        Atari("alien", difficulty=7)


def test_mode_and_difficulty_change_the_game() -> None:
    start = Atari("space_invaders").start()
    assert (Atari("space_invaders", mode=0, difficulty=0).start().ram == start.ram).all()
    assert (Atari("space_invaders", mode=9).start().ram != start.ram).any()
    simulator, hard = Atari("breakout"), Atari("breakout", difficulty=1)
    assert simulator.start().snapshot != hard.start().snapshot


def test_a_state_of_another_simulator_is_refused() -> None:
    with pytest.raises(InputError, match="CorridorState"):
        Atari("pong").step(Corridor().start(), 0)


def test_an_interaction_holds_the_action_for_the_skipped_frames_and_sums_their_rewards() -> None:
    skipping, single = Atari("asteroids", frame_skip=15), Atari("asteroids", frame_skip=1)
    generator = np.random.default_rng(0)
    state, frame = skipping.start(), single.start()
    rewards = []
    for action in generator.integers(len(skipping.actions), size=20):
        transition = skipping.step(state, int(action))
        total = 0.0
        for _ in range(15):
            after = single.step(frame, int(action))
            frame = state_after(after)
            total += after.reward
        state = state_after(transition)
        rewards.append(transition.reward)
        assert transition.reward == total
        assert (state.observation == frame.observation).all()
        assert (state.ram == frame.ram).all()
    assert any(rewards)


# Observations


class FakeScreen:
    """A screen of random colors, and the gray values that an emulator would give for it."""

    def __init__(self, height: int, generator: np.random.Generator) -> None:
        self.gray_of_color = generator.integers(256, size=256, dtype=np.uint8)
        self.raw = np.zeros((height, 160), dtype=np.uint8)

    def grayscale(self, gray: Bytes) -> None:
        gray[:] = self.gray_of_color[self.raw]

    def resized(self) -> Any:
        return cv2.resize(self.gray_of_color[self.raw], (SIDE, SIDE), interpolation=cv2.INTER_AREA)


@pytest.mark.parametrize("height", [210, 214, 220, 230, 250])
@pytest.mark.parametrize("colors", [2, 16, 256])
def test_the_reduced_screen_equals_that_of_opencv(height: int, colors: int) -> None:
    generator = np.random.default_rng(height + colors)
    screen = FakeScreen(height, generator)
    reduce = ScreenReducer(height, 160, screen.grayscale)
    for _ in range(10):
        screen.raw[:] = generator.integers(colors, size=screen.raw.shape)
        assert (reduce(screen.raw) == screen.resized()).all()


@pytest.mark.parametrize("height", [210, 250])
def test_screens_that_change_in_a_few_rows_equal_those_of_opencv(height: int) -> None:
    generator = np.random.default_rng(height)
    screen = FakeScreen(height, generator)
    reduce = ScreenReducer(height, 160, screen.grayscale)
    kept: list[tuple[Bytes, Any]] = []
    for number in range(400):
        change = generator.integers(6)
        row = generator.integers(height)
        colors = min(256, 2 + number)  # colors that were never seen before keep appearing
        if change == 0:  # one pixel
            screen.raw[row, generator.integers(160)] = generator.integers(colors)
        elif change == 1:  # one row, of one color
            screen.raw[row] = generator.integers(colors)
        elif change == 2:  # a row like the one above
            screen.raw[row] = screen.raw[row - 1]
        elif change == 3:  # a block
            screen.raw[row : row + 20, 40:60] = generator.integers(colors, size=(1, 20))
        elif change == 4:  # the last rows, or the first
            screen.raw[-2:] = generator.integers(colors, size=(2, 160))
            screen.raw[0] = generator.integers(colors)
        kept.append((reduce(screen.raw), screen.resized()))
    # Compared at the end: an image that was returned is never touched again.
    for reduced, resized in kept:
        assert (reduced == resized).all()


@pytest.mark.parametrize("game", ["qbert", "pong", "private_eye", "enduro", "carnival", "keystone_kapers"])
def test_what_is_observed_is_the_last_screen_in_gray_as_opencv_reduces_it(game: str) -> None:
    simulator = Atari(game)
    generator = np.random.default_rng(0)
    state = simulator.start()
    screens = set()
    for action in generator.integers(len(simulator.actions), size=60):
        transition = simulator.step(state, int(action))
        state = state_after(transition)
        gray = simulator._emulator.getScreenGrayscale()
        resized: Any = cv2.resize(gray, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
        assert (state.observation == resized).all()
        screens.add(gray.tobytes())
    assert len(screens) > 20


# How it plays


def plain_emulator(game: str) -> Any:
    """ale-py without anything of noveltree, with the same settings."""
    emulator = ale_py.ALEInterface()
    emulator.setInt("frame_skip", 15)
    emulator.setFloat("repeat_action_probability", 0.0)
    emulator.loadROM(rom_path(game))
    emulator.reset_game()
    return emulator


@pytest.mark.parametrize("game", sorted(set(PAPER_GAMES) - set(HIDDEN_STATE_GAMES)))
def test_uninterrupted_play_is_a_chain_of_transitions(game: str) -> None:
    emulator, simulator = plain_emulator(game), Atari(game)
    actions = emulator.getMinimalActionSet()
    state = simulator.start()
    assert (emulator.getRAM() == state.ram).all()
    for action in np.random.default_rng(0).integers(len(actions), size=60):
        reward = emulator.act(actions[action])
        transition = simulator.step(state, int(action))
        state = state_after(transition)
        assert (reward, emulator.game_over()) == (transition.reward, transition.terminal)
        assert (emulator.getRAM() == state.ram).all()
        assert (emulator.getScreen() == simulator._raw).all()
        if transition.terminal:
            break


def test_the_start_does_not_depend_on_what_was_loaded_and_played_before() -> None:
    def same(one: AtariState, other: AtariState) -> bool:
        return one.snapshot == other.snapshot and np.array_equal(one.observation, other.observation)

    generator = np.random.default_rng(0)
    games = ("assault", "freeway", "hero", "private_eye", "qbert", "yars_revenge", "beam_rider")
    first = {}
    for game in games:
        simulator = Atari(game)
        first[game] = simulator.start()
        state = simulator.start()
        for action in generator.integers(len(simulator.actions), size=20):
            state = state_after(simulator.step(state, int(action)))
        assert same(simulator.start(), first[game])
    for game in games:
        assert same(Atari(game).start(), first[game])


def test_a_snapshot_continues_in_another_simulator_of_the_same_game() -> None:
    one, other = Atari("ms_pacman"), Atari("ms_pacman")
    state = one.start()
    for action in np.random.default_rng(0).integers(len(one.actions), size=20):
        here, there = one.step(state, int(action)), other.step(state, int(action))
        assert here.reward == there.reward
        assert state_after(here).snapshot == state_after(there).snapshot
        assert (here.state.observation == there.state.observation).all()
        state = state_after(there)


def test_a_state_has_the_lives_that_are_left() -> None:
    """In Breakout with nobody at the paddle: five, and after a while four."""
    simulator = Atari("breakout")
    state = simulator.start()
    assert state.lives == 5
    for _ in range(20):
        state = state_after(simulator.step(state, simulator.actions.index("FIRE")))
    assert state.lives < 5
    assert Atari("pong").start().lives == 0, "it has none"
