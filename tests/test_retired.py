"""What did not earn its place is gone, and the episodes that were played with it still count."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from noveltree.agents import AGENTS, RetiredSettings, Settings, retired_among
from noveltree.benchmark import plan_suite
from noveltree.benchmark.suite import parse_suite
from noveltree.errors import InputError
from noveltree.lookahead import SELECTIONS
from noveltree.protocol import make_protocol, play_episode
from noveltree.records import read_episode
from noveltree.replay import plan_again, verify_episode
from tests.support.command_line import Cli

FASTER = Path(__file__).parent.parent / "experiments" / "faster-learning"
#: What was chosen, and a trial that was played so.
PLAYED = {
    "`rollout_cap: 12`": FASTER / "planners/trials/berzerk/cap/trial-0",
    "`price_of_life: 100.0`": FASTER / "planners-9/trials/berzerk/depth-larger-life-price/trial-0",
    "`leaf_values: mean`": FASTER / "life-2/trials/breakout/life-policy-value-mean/trial-0",
    "`tie_breaking: fresh-subtree`": FASTER / "planners-13/trials/berzerk/life-free-fresh/trial-0",
    "`tie_breaking: fresh-if-idle`": FASTER / "planners-14/trials/berzerk/life-free-idle/trial-0",
}


def first_episode(trial: Path) -> Path:
    return min(trial.glob("evaluation/*/*.json"))


@pytest.fixture
def unfinished(tmp_path: Path) -> Path:
    """A benchmark with a trial that is finished and others that are not."""
    copy = shutil.copytree(FASTER / "planners-9", tmp_path / "planners-9")
    (copy / "manifest.json").unlink(missing_ok=True)
    return copy


def test_no_agent_has_it() -> None:
    assert not RetiredSettings.model_fields.keys() & Settings.model_fields.keys()
    for agent in AGENTS.values():
        assert not RetiredSettings.model_fields.keys() & {*agent.uses}
    assert retired_among(("tie_breaking", name) for name in SELECTIONS) == {}


@pytest.mark.parametrize("told", PLAYED)
def test_episodes_that_were_played_with_it_are_replayed_and_not_planned(told: str) -> None:
    record = read_episode(first_episode(PLAYED[told]))
    assert verify_episode(record).holds
    with pytest.raises(InputError, match=f"This was played with {told}, which noveltree no longer has"):
        plan_again(record)


def test_what_stood_for_not_being_chosen_is_no_obstacle() -> None:
    protocol = make_protocol("corridor", agent="riw-plus", budget=10)
    unchosen = {name: field.default for name, field in RetiredSettings.model_fields.items()}
    protocol.model_copy(update=unchosen).check_plannable()
    assert make_protocol("corridor", agent="riw-plus", budget=10, leaf_values="best") == protocol


@pytest.mark.parametrize(
    ("chosen", "called"),
    [({"price_of_life": 10.0}, "`price_of_life: 10.0`"), ({"tie_breaking": "fresh-if-idle"}, "fresh-if-idle")],
)
def test_it_cannot_be_chosen(chosen: dict[str, object], called: str) -> None:
    with pytest.raises(InputError, match=f"There was .*{called}`?, which noveltree no longer has"):
        make_protocol("corridor", agent="riw-plus", **chosen)


def test_a_suite_with_it_cannot_be_played_as_if_it_had_not() -> None:
    suite = parse_suite("{name: old, games: [corridor], agents: [{agent: riw-plus, price_of_life: 9.0}]}")
    (trial,) = plan_suite(suite)
    assert trial.protocol.price_of_life == 9.0  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="which noveltree no longer has"):
        play_episode(trial.protocol)


def test_a_directory_with_it_verifies_and_says_what_was_not_planned_again(cli: Cli, unfinished: Path) -> None:
    verified = cli("verify", "--partial", unfinished, "--replan", "all")
    assert verified.code == 0, verified
    told = " ".join(verified.out.split())
    assert "episodes hold (replayed)" in told
    assert "or they were played with what noveltree no longer has" in told
    alone = cli("verify", "--replan", first_episode(PLAYED["`rollout_cap: 12`"]))
    assert alone.code == 0
    assert "not planned again: This was played with `rollout_cap: 12`" in " ".join(alone.out.split())


def test_a_benchmark_with_it_is_read_and_not_gone_on_with(cli: Cli, unfinished: Path) -> None:
    assert json.loads(cli("benchmark", "status", unfinished, "--json").out)
    journal = (unfinished / "journal.jsonl").read_bytes()
    for told in (cli("benchmark", "resume", unfinished), cli("benchmark", "plan", FASTER / "planners-9.yaml")):
        assert told.code == 2
        assert "`price_of_life: 100.0`, which noveltree no longer has" in told.sentence
    assert (unfinished / "journal.jsonl").read_bytes() == journal


def test_nobody_is_shown_it(cli: Cli) -> None:
    shown = cli("protocol", "show", "otoole-2021", "--game", "breakout").out
    assert "horizon" in shown
    assert not any(name in shown for name in RetiredSettings.model_fields)
