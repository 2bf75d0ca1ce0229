"""What is said about the games agrees with the emulator."""

from __future__ import annotations

import ale_py
import pytest

from noveltree.errors import InputError
from noveltree.simulators.action_counts import ACTION_COUNTS
from noveltree.simulators.games import (
    HIDDEN_STATE_GAMES,
    HISTORY_RESET_GAMES,
    MULTIPLAYER_GAMES,
    PAPER_GAMES,
    all_games,
    bundled_games,
    canonical_game,
    rom_path,
)


def test_every_bundled_game_for_one_player_is_known() -> None:
    assert set(all_games()) == set(bundled_games()) - set(MULTIPLAYER_GAMES)
    assert set(MULTIPLAYER_GAMES) < set(bundled_games())


@pytest.mark.parametrize("tenth", range(10))
def test_action_counts_are_the_emulators(tenth: int) -> None:
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    for game in all_games()[tenth::10]:
        emulator = ale_py.ALEInterface()
        emulator.loadROM(rom_path(game))
        assert ACTION_COUNTS[game] == len(emulator.getMinimalActionSet()), game


def test_the_paper_has_55_games_33_of_its_53_compared_ones_with_ten_actions_or_more() -> None:
    assert len(PAPER_GAMES) == len(set(PAPER_GAMES)) == 55
    assert set(PAPER_GAMES) < set(all_games())
    compared = set(PAPER_GAMES) - {"freeway", "riverraid"}
    assert sum(ACTION_COUNTS[game] >= 10 for game in compared) == 33


@pytest.mark.parametrize("game", MULTIPLAYER_GAMES)
def test_games_on_which_the_emulator_ends_the_process_are_refused(game: str) -> None:
    with pytest.raises(InputError, match="several players"):
        canonical_game(game)


def test_games_with_oddities_are_known_games() -> None:
    assert set(HIDDEN_STATE_GAMES) | set(HISTORY_RESET_GAMES) < set(all_games())
