"""What did not earn its place is gone, and the episodes that were played with it still count."""

from __future__ import annotations

from pathlib import Path

import pytest

from noveltree.agents import AGENTS, RetiredSettings, Settings, retired_among
from noveltree.errors import InputError
from noveltree.lookahead import SELECTIONS
from noveltree.protocol import make_protocol
from noveltree.records import read_episode
from noveltree.replay import plan_again, verify_episode
from tests.support.command_line import Cli

FASTER = Path(__file__).parent.parent / "experiments" / "faster-learning"
#: What was chosen, and the first episode that was played so.
PLAYED = {
    "rollout cap 12": FASTER / "planners/trials/berzerk/cap/trial-0",
    "price of life 100.0": FASTER / "planners-9/trials/berzerk/depth-larger-life-price/trial-0",
    "tie breaking fresh-subtree": FASTER / "planners-13/trials/berzerk/life-free-fresh/trial-0",
    "tie breaking fresh-if-idle": FASTER / "planners-14/trials/berzerk/life-free-idle/trial-0",
}


def first_episode(trial: Path) -> Path:
    return min(trial.glob("evaluation/*/*.json"))


def test_no_agent_has_it() -> None:
    assert not RetiredSettings.model_fields.keys() & Settings.model_fields.keys()
    for agent in AGENTS.values():
        assert not RetiredSettings.model_fields.keys() & {*agent.uses}
    assert retired_among(("tie_breaking", name) for name in SELECTIONS) == {}


@pytest.mark.parametrize("told", PLAYED)
def test_episodes_that_were_played_with_it_are_replayed_and_not_planned(told: str) -> None:
    record = read_episode(first_episode(PLAYED[told]))
    assert verify_episode(record).holds
    with pytest.raises(InputError, match=f"This was played with {told}, which did not earn its place and is gone"):
        plan_again(record)


def test_what_stood_for_not_being_chosen_is_no_obstacle() -> None:
    protocol = make_protocol("corridor", agent="riw-plus", budget=10)
    unchosen = {name: field.default for name, field in RetiredSettings.model_fields.items()}
    protocol.model_copy(update=unchosen).check_plannable()


def test_it_cannot_be_chosen() -> None:
    with pytest.raises(InputError, match="The setting 'price_of_life' did not earn its place and is gone"):
        make_protocol("corridor", agent="riw-plus", price_of_life=10.0)
    with pytest.raises(InputError, match="Unknown tie-breaking 'fresh-if-idle'"):
        make_protocol("corridor", agent="riw-plus", tie_breaking="fresh-if-idle")


def test_who_asks_for_it_is_told(cli: Cli) -> None:
    suite = FASTER / "planners-9.yaml"
    told = cli("benchmark", "plan", suite)
    assert told.code == 2
    assert (
        "depth-larger-life-price has price of life 100.0, which did not earn its place and is gone."
        in told.sentence
    )
    replanned = cli("verify", "--replan", first_episode(PLAYED["rollout cap 12"]))
    assert replanned.code == 1
    assert "rollout cap 12, which did not earn its place and is gone" in " ".join(replanned.out.split())
