"""A clairvoyant's scores are marked wherever scores are shown, also if there are no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from noveltree import Planner
from noveltree.benchmark.conditions import differences, in_words, may_foresee
from noveltree.protocol import Protocol, make_protocol
from noveltree.results.comparable import settings_in_words
from noveltree.simulators import chance_of
from tests.support.command_line import Cli


@pytest.fixture(scope="module")
def sampled() -> Protocol:
    return make_protocol("FrozenLake-v1", agent="bfs")


@pytest.mark.parametrize(("chance", "words"), [("foreseen", "foreseen"), (None, "foreseen if there was any")])
def test_they_are_marked_even_if_all_are(sampled: Protocol, chance: str | None, words: str) -> None:
    protocol = sampled.model_copy(update={"chance": chance})
    found = differences({("bfs", protocol.hash): 5}, {protocol.hash: protocol})
    assert found["bfs", protocol.hash] == ("chance",)
    assert in_words(protocol, ("chance",)) == f"chance {words}"


def test_scores_without_foresight_are_not(sampled: Protocol) -> None:
    for protocol in (sampled, sampled.model_copy(update={"chance": "none"}), make_protocol("breakout")):
        assert not may_foresee(protocol)
        assert differences({("a", protocol.hash): 5}, {protocol.hash: protocol}) == {("a", protocol.hash): ()}


def test_how_an_agent_played_says_what_chance_was_to_it(sampled: Protocol) -> None:
    assert "chance sampled" in settings_in_words(sampled, "bfs")
    sticky = make_protocol("breakout", preset="machado-2018")
    assert "sticky actions 0.25, no-op starts, chance sampled" in settings_in_words(sticky, "riw-c")
    assert "chance" not in settings_in_words(make_protocol("breakout"), "riw-c")


def test_playing_says_so(cli: Cli, tmp_path: Path) -> None:
    play = ("play", "FrozenLake-v1", "--agent", "bfs", "--budget", "5", "--max-steps", "3", "--out", str(tmp_path))
    assert "clairvoyant" not in cli(*play).out
    assert "clairvoyant's score" in cli(*play, "--chance", "foreseen").out


def test_whatever_is_made_by_name_draws_what_chance_brings() -> None:
    with Planner("FrozenLake-v1", agent="bfs", budget=5) as planner:
        assert chance_of(planner.simulator) is planner.simulator


def test_a_simulator_of_ones_own_without_chance_is_not_suspected(sampled: Protocol) -> None:
    assert not may_foresee(sampled.model_copy(update={"simulator": "own", "chance": None}))


def test_where_chance_differs_from_game_to_game_each_is_named(sampled: Protocol) -> None:
    """A suite with a slippery lake, and one that is not."""
    still = make_protocol("FrozenLake8x8-v1", agent="bfs", options={"is_slippery": False})
    games = {each.game: each for each in (still, sampled)}
    assert "chance sampled in FrozenLake-v1" in settings_in_words(still, "bfs", games)
    clairvoyant = sampled.model_copy(update={"chance": "foreseen"})
    games = {"FrozenLake8x8-v1": sampled, "FrozenLake-v1": clairvoyant}
    told = settings_in_words(sampled, "bfs", games)
    assert "chance sampled in FrozenLake8x8-v1" in told
    assert "chance foreseen in FrozenLake-v1" in told


def test_comparing_suites_names_chance_by_game(cli: Cli, tmp_path: Path) -> None:
    """One suite has a corridor and a lake, the other one the lake alone, foreseen."""
    for name, games, chance in (
        ("honest", "corridor, FrozenLake-v1", ""),
        ("clairvoyant", "FrozenLake-v1", ", chance: foreseen"),
    ):
        (tmp_path / f"{name}.yaml").write_text(
            f"name: {name}\ngames: [{games}]\nagents: [bfs]\ntrials: 1\nevaluation_episodes: 2\n"
            f"conditions: {{max_frames: 5, budget: 5{chance}}}\n"
        )
        assert cli("benchmark", "run", tmp_path / f"{name}.yaml", "--out", tmp_path / name).code == 0
    told = cli("compare", f"{tmp_path / 'honest'}:bfs", f"{tmp_path / 'clairvoyant'}:bfs")
    assert "A: " in told.out
    assert "chance sampled in FrozenLake-v1" in told.out
    assert "chance foreseen" in told.out
    assert "Warning: their conditions differ: chance foreseen. Compare with care." in told.err


def test_runs_and_evaluations_say_so(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    trained = cli(
        *("train", "FrozenLake-v1", "--agent", "n-cpl", "--chance", "foreseen", "--interactions", 400),
        *("--interval", 200, "--budget", 10, "--out", tmp_path / "run", "--evaluation-episodes", 1),
    )
    assert trained.code == 0
    assert "This is a clairvoyant's score" in trained.out
    listed = cli("runs", tmp_path)
    assert f"Clairvoyants, who foresaw what chance would bring: {tmp_path / 'run'}" in listed.out
    (row,) = cli("runs", tmp_path, "--json").object["runs"]
    assert row["chance"] == "foreseen"
    evaluated = cli("evaluate", tmp_path / "run", "--episodes", 1)
    assert "This is a clairvoyant's score" in evaluated.out
    assert cli("evaluate", tmp_path / "run", "--episodes", 1, "--json").object["chance"] == "foreseen"


def test_json_of_played_episodes_says_so(cli: Cli, tmp_path: Path) -> None:
    play = ("play", "FrozenLake-v1", "--agent", "bfs", "--budget", 5, "--max-steps", 3, "--out", tmp_path, "--json")
    assert cli(*play).object["chance"] == "sampled"
    assert cli(*play, "--chance", "foreseen", "--episodes", 2).object["chance"] == "foreseen"
