"""Kinds of simulators: those that are shipped, and one that is registered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from noveltree.errors import InputError, RecordError, UnknownNameError
from noveltree.features import FEATURE_SETS, NEEDS_TILES
from noveltree.protocol import make_protocol, parse_protocol, play_episode
from noveltree.records import EpisodeRecord, read_episode, write_episode
from noveltree.replay import verify_episode
from noveltree.simulators import (
    SIMULATOR_KINDS,
    Corridor,
    Observed,
    Simulator,
    SimulatorKind,
    SimulatorSettings,
    find_game,
    get_kind,
    register_simulator,
)
from tests.support.command_line import Cli


class Hallways(SimulatorKind):
    """Corridors of any length: `hallway 12`."""

    name = "hallway"
    title = "hallway"
    takes = ("mode",)

    def make(self, game: str, settings: SimulatorSettings, observed: Observed) -> Simulator:
        return Corridor(int(game.removeprefix("hallway-")), wait=settings.mode == 1)

    def find(self, game: str) -> str | None:
        first, _, length = game.lower().replace("-", " ").partition(" ")
        return f"hallway-{int(length)}" if first == "hallway" and length.isdigit() else None

    def games(self) -> tuple[str, ...]:
        return ("hallway-5", "hallway-12")

    def version(self, game: str) -> str:
        return "hallways 1.0"

    def max_episode_steps(self, simulator: Simulator) -> int | None:
        return 77


@pytest.fixture
def hallways() -> Iterator[None]:
    register_simulator(Hallways())
    yield
    del SIMULATOR_KINDS["hallway"]


@pytest.mark.usefixtures("hallways")
class TestRegistered:
    def test_its_games_are_found_in_its_spellings(self) -> None:
        assert make_protocol("Hallway 5").game == "hallway-5"
        assert find_game("hallway-12")[0].name == "hallway"
        with pytest.raises(UnknownNameError, match="Did you mean 'hallway-12'"):
            find_game("halway-12")

    def test_its_protocol_has_what_it_says(self) -> None:
        protocol = make_protocol("hallway-5", mode=1)
        assert (protocol.simulator, protocol.mode, protocol.frame_skip) == ("hallway", 1, 1)
        assert (protocol.features, protocol.max_frames) == ("atoms", 77)
        assert (protocol.simulator_version, protocol.rom_md5) == ("hallways 1.0", None)
        assert protocol.make_simulator().actions == ("LEFT", "RIGHT", "WAIT")

    def test_it_is_played_recorded_and_verified(self, tmp_path: Path) -> None:
        protocol = make_protocol("hallway-12", agent="iw1", budget=50)
        write_episode(tmp_path / "a.json", EpisodeRecord(play_episode(protocol), protocol, seed=0, index=0))
        record = read_episode(tmp_path / "a.json")
        assert record.protocol == protocol
        assert (verify_episode(record).holds, record.episode.score) == (True, 1.0)

    def test_it_is_played_on_the_command_line(self, cli: Cli) -> None:
        assert cli("play", "hallway 5", "--mode", 1, "--json").object["game"] == "hallway-5"
        assert "nothing to film in hallway-5" in cli("play", "hallway 5", "--video", "a.mp4").sentence

    def test_settings_that_it_does_not_take_are_refused(self) -> None:
        with pytest.raises(InputError, match="hallway-5 has no action set to choose"):
            make_protocol("hallway-5", action_set="full")


def test_a_record_of_a_kind_that_is_not_registered_is_a_clear_error(hallways: None, tmp_path: Path) -> None:
    protocol = make_protocol("hallway-5")
    write_episode(tmp_path / "a.json", EpisodeRecord(play_episode(protocol), protocol, seed=0, index=0))
    kind = SIMULATOR_KINDS.pop("hallway")
    try:
        with pytest.raises(RecordError, match=r"Unknown kind of simulator 'hallway'.*register_simulator"):
            read_episode(tmp_path / "a.json")
        with pytest.raises(RecordError, match="Not a valid protocol: Unknown kind"):
            parse_protocol(protocol.model_dump(mode="json"))
    finally:
        register_simulator(kind)


@pytest.mark.parametrize(
    ("game", "kind", "name"),
    [
        ("Ms. Pacman", "atari", "ms_pacman"),
        ("Blackjack", "atari", "blackjack"),
        ("Blackjack-v1", "gymnasium", "Blackjack-v1"),
        ("gym:ALE/Pong-v5", "gymnasium", "ALE/Pong-v5"),
        ("gym:FrozenLake-v1", "gymnasium", "FrozenLake-v1"),
        ("CartPole-v1", "gymnasium", "CartPole-v1"),
        ("Nowhere-v3", "gymnasium", "Nowhere-v3"),
        (" CORRIDOR ", "corridor", "corridor"),
    ],
)
def test_a_game_belongs_to_the_kind_that_knows_it(game: str, kind: str, name: str) -> None:
    found, canonical = find_game(game)
    assert (found.name, canonical) == (kind, name)
    assert get_kind(kind) is found


def test_features_say_what_has_to_be_observed() -> None:
    assert NEEDS_TILES == {"bprost": True, "bprost-background": "foreground"}
    assert set(FEATURE_SETS) > NEEDS_TILES.keys()
    for features in ("bprost", "bprost-background", "pixels"):
        start = make_protocol("pong", features=features).make_simulator().start()
        assert (getattr(start, "tiles") is not None) == (features in NEEDS_TILES)  # noqa: B009
