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
