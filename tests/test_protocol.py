"""Protocols: presets, hashes, what is refused and how, and which scores are comparable."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from noveltree.agents import AGENTS, get_agent
from noveltree.episodes import End
from noveltree.errors import InputError, RecordError, UnknownNameError
from noveltree.learning import LearningSettings
from noveltree.learning.settings import PolicySettings, ScheduleSettings, ValueSettings
from noveltree.lookahead import Interactions, Seconds
from noveltree.protocol import (
    DEFAULT_PRESET,
    PRESETS,
    Protocol,
    compare_protocols,
    describe_setting,
    flat_settings,
    make_protocol,
    parse_protocol,
    play_episode,
)
from noveltree.protocol.learners import DEFAULT_LEARNING
from noveltree.simulators import Atari, Corridor, GymnasiumSimulator
from noveltree.version import __version__

FIXED = Protocol(
    simulator="atari",
    game="pong",
    mode=None,
    difficulty=None,
    action_set="minimal",
    frame_skip=15,
    max_frames=18_000,
    start="first-reset",
    sticky_actions=0,
    budget=100.0,
    budget_unit="interactions",
    cache=True,
    agent="riw-c",
    novelty="classic",
    features="pixels",
    horizon=100,
    discount=1.0,
    tie_breaking="random",
    rollout_depth=None,
    exploration=None,
    simulator_version="ale-py 0.12.1",
    rom_md5="60e0ea3cbe0913d39803477945e9e5ec",
    noveltree_version="0.1.0",
)

#: Another value for every setting that can have one.
OTHERS: dict[str, Any] = {
    "simulator": "gymnasium",
    "game": "breakout",
    "mode": 1,
    "difficulty": 0,
    "options": {"size": 9},
    "game_levels": "0-99",
    "evaluation_levels": "100-199",
    "source": "0" * 64,
    "action_set": "full",
    "frame_skip": 5,
    "max_frames": 4_500,
    "budget": 100.5,
    "budget_unit": "frames",
    "cache": False,
    "agent": "riw-d",
    "novelty": "depth",
    "precision": 8,
    "ranges": "0:1",
    "features": "ram",
    "horizon": None,
    "discount": 0.99,
    "reward_weight": 0.97,
    "rollout_cap": 8,
    "latent_threshold": 0.5,
    "duplicates": True,
    "tie_breaking": "larger-subtree",
    "cached_nodes": "tested-first",
    "most_nodes": 5_000,
    "visits": "counted",
    "repetitions": True,
    "lost_nodes": "leave",
    "subtables": True,
    "risk_averse": "root",
    "untried": "zero",
    "successors": "random",
    "pruned_nodes": "tested",
    "subtree_cap": 30_000,
    "rollout_depth": 10,
    "exploration": 1.0,
    "noise_share": 0.5,
    "noise_alpha": 0.3,
    "drawn_steps": 0,
    "start": "no-ops",
    "sticky_actions": 0.25,
    "chance": "sampled",
    "samples": 3,
    "value_scale": "raw",
    "tiles": "16x14",
    "levels": 16,
    "abstract_width": "1",
    "actions": "learnt",
    "pruned_leaves": "left-out",
    "exact_duplicates": True,
    "known_transitions": "free",
    "lives": "one",
    "price_of_life": 9.0,
    "leaf_values": "mean",
    "caution": 100,
    "persistence": "drawn",
    "safe_steps": 10,
    "width": 2,
    "cells": 1_000,
    "known_after": 5,
    "table": "depth",
    "state_keys": "held",
    "clocks": "snapshot.steps",
    "simulator_version": "ale-py 0.12.2",
    "rom_md5": None,
    "noveltree_version": "0.2.0",
    "learning": LearningSettings(),
}


def chosen(protocol: Protocol, *names: str) -> tuple[object, ...]:
    return tuple(getattr(protocol, name) for name in names)


# Presets


def test_the_default_is_the_protocol_of_the_paper() -> None:
    protocol = make_protocol("breakout")
    assert protocol == make_protocol("breakout", preset="otoole-2021")
    assert DEFAULT_PRESET == "otoole-2021"
    assert chosen(protocol, "agent", "novelty", "features", "horizon", "discount", "tie_breaking", "cache") == (
        *("riw-c", "classic", "pixels", 100, 1.0, "random", True),
    )
    assert chosen(protocol, "budget", "budget_unit", "frame_skip", "max_frames", "action_set") == (
        *(100.0, "interactions", 15, 18_000, "minimal"),
    )
    assert chosen(protocol, "mode", "difficulty", "start", "sticky_actions") == (None, None, "first-reset", 0)
    assert protocol.max_steps == 1_200


BANDRES = {
    **{"agent": "riw-d", "features": "bprost-background", "action_set": "full", "frame_skip": 15, "discount": 1.0},
    **{"max_frames": 18_000, "horizon": 1_500, "cached_nodes": "tested-when-met", "repetitions": True},
    **{"lost_nodes": "leave", "untried": "zero"},
}
COUNTED = {"budget_unit": "interactions", "visits": "counted"}
RISK_AVERSE = {"risk_averse": "parent", "tie_breaking": "longest-branch"}


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("junyent-2021", {"agent": "riw-d", "discount": 0.99, "tie_breaking": "larger-subtree", "budget": 100.0}),
        ("bandres-2018", {**BANDRES, "budget": 0.5, "budget_unit": "seconds", "visits": None}),
        ("bandres-2018-32s", {**BANDRES, "budget": 32.0, "budget_unit": "seconds", "visits": None}),
        ("bandres-2018-103", {**BANDRES, **COUNTED, "budget": 103.0, "tie_breaking": "random"}),
        ("bandres-2018-4100", {**BANDRES, **COUNTED, "budget": 4_100.0, "risk_averse": None}),
        ("bandres-2018-ra-101", {**BANDRES, **COUNTED, **RISK_AVERSE, "budget": 101.0, "subtables": None}),
        ("bandres-2018-ra-3300", {**BANDRES, **COUNTED, **RISK_AVERSE, "budget": 3_300.0}),
        ("bandres-2018-ns-ra-107", {**BANDRES, **COUNTED, **RISK_AVERSE, "budget": 107.0, "subtables": True}),
        ("bandres-2018-ns-ra-3400", {**BANDRES, **COUNTED, **RISK_AVERSE, "budget": 3_400.0, "subtables": True}),
        (
            "lipovetzky-2015",
            {
                **{"agent": "iw1", "features": "ram", "action_set": "full", "frame_skip": 5, "horizon": 300},
                **{"discount": 0.995, "budget": 150_000.0, "budget_unit": "frames", "successors": "random"},
                **{"pruned_nodes": "tested", "subtree_cap": 30_000, "max_frames": 18_000},
            },
        ),
        (
            "machado-2018",
            {
                **{"agent": "riw-c", "action_set": "full", "frame_skip": 15, "max_frames": 18_000},
                **{"sticky_actions": 0.25, "start": "no-ops", "chance": "sampled"},
            },
        ),
    ],
)
def test_a_preset_has_the_settings_of_its_paper(preset: str, expected: dict[str, object]) -> None:
    protocol = make_protocol("pong", preset=preset)
    assert {name: getattr(protocol, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        *[
            ("RIW_C", "riw-c"),
            ("IW(1)", "iw1"),
            ("p-IW(1)", "p-iw"),
            ("pi-IW(1)", "pi-iw"),
            ("pi-IW(1)+", "pi-iw-plus"),
        ],
        *[("pi-HIW(n, 1)", "pi-hiw"), ("pi-HIW(n,1)", "pi-hiw"), ("N-CPL+", "n-cpl-plus"), ("2BFS", "2bfs")],
    ],
)
def test_agents_are_known_in_the_spelling_of_the_papers(spelling: str, name: str) -> None:
    assert get_agent(spelling).name == name


def test_the_presets_are_these() -> None:
    assert sorted(PRESETS) == [
        *("bandres-2018", "bandres-2018-103", "bandres-2018-32s", "bandres-2018-4100"),
        *("bandres-2018-ns-ra-107", "bandres-2018-ns-ra-3400", "bandres-2018-ra-101", "bandres-2018-ra-3300"),
        *("junyent-2021", "lipovetzky-2015", "machado-2018", "otoole-2021"),
    ]


def test_a_setting_that_is_chosen_replaces_the_presets() -> None:
    protocol = make_protocol("pong", preset="lipovetzky-2015", horizon=50, action_set="minimal")
    assert chosen(protocol, "horizon", "action_set", "features") == (50, "minimal", "ram")


def test_a_budget_that_is_chosen_replaces_the_presets_unit_too() -> None:
    protocol = make_protocol("pong", preset="bandres-2018", features="pixels", budget=30)
    assert chosen(protocol, "budget", "budget_unit") == (30.0, "interactions")


def test_a_preset_for_atari_leaves_its_emulator_settings_out_elsewhere() -> None:
    protocol = make_protocol("corridor", preset="lipovetzky-2015", features="atoms")
    assert chosen(protocol, "action_set", "frame_skip", "horizon") == (None, 1, 300)


# The hash


def test_the_hash_of_a_fixed_protocol_never_changes() -> None:
    assert FIXED.hash == "03c39b58d8aa38c6"


def test_a_protocol_written_before_a_setting_existed_keeps_its_hash() -> None:
    old = {name: value for name, value in FIXED.model_dump(mode="json").items() if value is not None}
    assert len(old) < len(Protocol.model_fields)
    assert parse_protocol(old).hash == FIXED.hash


def test_equal_protocols_have_equal_hashes() -> None:
    assert make_protocol("Pong", budget=100).hash == make_protocol("PONG", budget=100.0).hash
    assert Protocol(**FIXED.model_dump()).hash == FIXED.hash


@pytest.mark.parametrize("setting", Protocol.model_fields)
def test_the_hash_changes_with_every_setting(setting: str) -> None:
    other = Protocol.model_validate(FIXED.model_dump() | {setting: OTHERS[setting]})
    assert other.hash != FIXED.hash


def test_a_protocol_survives_json() -> None:
    for preset in PRESETS:
        protocol = make_protocol("pong", preset=preset)
        assert parse_protocol(protocol.model_dump(mode="json")) == protocol


def test_a_protocol_names_the_software_and_the_rom() -> None:
    protocol = make_protocol("pong")
    assert protocol.simulator_version.startswith("ale-py 0.")
    assert protocol.rom_md5 == FIXED.rom_md5
    assert protocol.noveltree_version == __version__


def test_a_protocol_names_the_package_that_provides_an_environment() -> None:
    pytest.importorskip("minigrid")
    version = make_protocol("MiniGrid-Empty-5x5-v0").simulator_version
    assert re.fullmatch(r"gymnasium \d[\d.]*, minigrid \d[\d.]*", version)


def test_a_protocol_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        FIXED.budget = 5.0


# Settings of agents


@pytest.mark.parametrize("agent", AGENTS)
def test_exactly_the_settings_that_an_agent_uses_are_set(agent: str) -> None:
    protocol = make_protocol("pong", agent=agent)
    names = {"features", "horizon", "discount", "cache", "tie_breaking", "rollout_depth", "exploration"}
    assert {name for name in names if getattr(protocol, name) is not None} == names & {*AGENTS[agent].uses}
    assert protocol.novelty == AGENTS[agent].novelty


def test_a_presets_settings_do_not_matter_to_an_agent_that_does_not_use_them() -> None:
    assert make_protocol("pong", agent="random", preset="junyent-2021") == make_protocol("pong", agent="random")


def test_a_setting_that_the_agent_does_not_use_cannot_be_chosen() -> None:
    with pytest.raises(InputError, match="rtdp has no setting 'horizon'"):
        make_protocol("pong", agent="rtdp", horizon=5)


@pytest.mark.parametrize("setting", ["novelty", "rom_md5", "source", "simulator_version", "noveltree_version"])
def test_what_follows_from_other_settings_cannot_be_chosen(setting: str) -> None:
    with pytest.raises(InputError, match=f"'{setting}' follows from the others"):
        make_protocol("pong", **{setting: OTHERS[setting] or "x"})


def test_rtdp_may_by_default_try_every_action_once() -> None:
    assert make_protocol("pong", agent="rtdp").budget == 6 * (1 + 10)
    assert make_protocol("pong", agent="rtdp", rollout_depth=4).budget == 6 * (1 + 4)
    assert make_protocol("pong", agent="random").budget == 1


# Other simulators


@pytest.mark.parametrize("game", ["FrozenLake-v1", "gymnasium:FrozenLake-v1", "gym:FrozenLake-v1"])
def test_a_gymnasium_id_is_a_game(game: str) -> None:
    protocol = make_protocol(game)
    assert chosen(protocol, "simulator", "game", "features") == ("gymnasium", "FrozenLake-v1", "atoms")
    assert chosen(protocol, "action_set", "rom_md5", "frame_skip", "max_frames") == (None, None, 1, 100)
    assert protocol.simulator_version.startswith("gymnasium 1.")
    assert isinstance(protocol.make_simulator(), GymnasiumSimulator)


def test_the_corridor_is_a_game() -> None:
    protocol = make_protocol("Corridor")
    assert chosen(protocol, "simulator", "game", "features") == ("corridor", "corridor", "atoms")
    assert isinstance(protocol.make_simulator(), Corridor)


def test_an_episode_can_be_played_in_one_line() -> None:
    first, second = (play_episode(make_protocol("corridor"), seed=3, index=1) for _ in range(2))
    assert first.column("action") == second.column("action")
    assert (first.score, first.end) == (1.0, End.TERMINAL)


def test_the_simulator_of_an_atari_protocol_has_its_settings() -> None:
    simulator = make_protocol("pong", action_set="full", frame_skip=4).make_simulator()
    assert isinstance(simulator, Atari)
    assert (len(simulator.actions), simulator.frame_skip) == (18, 4)


@pytest.mark.parametrize("setting", ["action_set", "frame_skip", "mode", "difficulty"])
def test_emulator_settings_are_refused_elsewhere(setting: str) -> None:
    with pytest.raises(InputError, match=f"corridor has no {setting.replace('_', ' ')} to choose"):
        make_protocol("corridor", **{setting: OTHERS[setting]})


# Budgets


def test_budgets_come_in_three_units() -> None:
    assert make_protocol("pong", budget=7).make_budget() == Interactions(7)
    assert make_protocol("pong", budget=50, budget_unit="frames").make_budget() == Interactions(3)
    assert make_protocol("pong", budget=0.5, budget_unit="seconds").make_budget() == Seconds(0.5)


@pytest.mark.parametrize(
    ("choices", "complaint"),
    [
        ({"budget": 0}, "greater than 0"),
        ({"budget": -3}, "greater than 0"),
        ({"budget": 1.5}, "A budget of 1.5 interactions is not a whole number"),
        ({"budget": 15.5, "budget_unit": "frames"}, "A budget of 15.5 frames is not a whole number"),
        ({"budget": 14, "budget_unit": "frames"}, "14 frames is less than one interaction of 15 frames"),
        ({"budget": 0.0, "budget_unit": "seconds"}, "greater than 0"),
        ({"budget": -0.5, "budget_unit": "seconds"}, "greater than 0"),
        ({"budget": math.nan, "budget_unit": "seconds"}, "finite number"),
        ({"budget": math.inf, "budget_unit": "seconds"}, "finite number"),
        ({"budget": math.inf}, "finite number"),
        ({"budget": 5, "budget_unit": "hours"}, "'interactions', 'frames' or 'seconds'"),
        ({"budget_unit": "seconds"}, "unit was chosen, but not the budget"),
    ],
)
def test_a_budget_that_makes_no_sense_is_refused(choices: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        make_protocol("pong", **choices)


# What else is refused


@pytest.mark.parametrize(
    ("game", "choices", "complaint"),
    [
        ("breakot", {}, "Unknown game 'breakot'. Did you mean 'breakout'?"),
        ("", {}, "Unknown game ''."),
        ("ALE/Breakot-v5", {}, "Unknown game 'ALE/Breakot-v5'."),
        ("FrozenLaek-v1", {}, "Unknown environment 'FrozenLaek-v1'. Did you mean 'FrozenLake-v1'?"),
        ("pong", {"preset": "otole-2021"}, "Unknown preset 'otole-2021'. Did you mean 'otoole-2021'?"),
        ("pong", {"agent": "riw"}, "Unknown agent 'riw'. Did you mean 'riw-"),
        ("pong", {"features": "pixel"}, "Unknown feature set 'pixel'. Did you mean 'pixels'?"),
        (
            "pong",
            {"tie_breaking": "coin"},
            "Unknown tie-breaking 'coin'. Known: larger-subtree, longest-branch, "
            "policy, product, random, softmax, unseen-if-idle, unseen-lately-if-idle.",
        ),
    ],
)
def test_an_unknown_name_is_answered_with_the_known_ones(
    game: str, choices: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(UnknownNameError) as refusal:
        make_protocol(game, **choices)
    assert complaint in str(refusal.value)


@pytest.mark.parametrize(
    ("choices", "complaint"),
    [
        ({"speed": 3}, "A protocol has no setting 'speed'"),
        ({"horizon": 0}, "horizon 0: input should be greater than or equal to 1"),
        ({"discount": 0.0}, "discount 0.0: input should be greater than 0"),
        ({"discount": 1.5}, "discount 1.5: input should be less than or equal to 1"),
        ({"discount": math.nan}, "discount nan: input should be a finite number"),
        ({"frame_skip": 0}, "frame_skip 0: input should be greater than or equal to 1"),
        ({"max_frames": 0}, "max_frames 0: input should be greater than or equal to 1"),
        ({"max_frames": 14}, "An episode of 14 frames has no room for an action of 15 frames"),
        ({"action_set": "large"}, "action_set 'large': input should be 'minimal' or 'full'"),
        ({"mode": 77}, "pong has no mode 77; it has"),
        ({"difficulty": 77}, "pong has no difficulty 77; it has"),
        ({"features": "atoms"}, "'atoms' does not fit observations of type uint8"),
        ({"agent": "uct", "exploration": -1.0}, "exploration -1.0: input should be greater than or equal to 0"),
        ({"agent": "uct", "exploration": math.inf}, "exploration inf: input should be a finite number"),
        ({"agent": "uct", "rollout_depth": 0}, "rollout_depth 0: input should be greater than or equal to 1"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(choices: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        make_protocol("pong", **choices)


def test_rams_and_screens_are_features_of_atari_only() -> None:
    with pytest.raises(InputError, match=r"'ram' does not fit .* 'atoms' does\."):
        make_protocol("corridor", features="ram")


def test_a_rom_that_ale_py_does_not_support_is_refused() -> None:
    """ale-py ends the whole process when such a ROM is loaded."""
    with pytest.raises(InputError, match="combat is a game for several players"):
        make_protocol("combat")


# Records


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"speed": 3}, "there is no setting speed"),
        ({"frame_skip": "15"}, "frame_skip '15': a whole number is expected"),
        ({"frame_skip": 15.0}, "frame_skip 15.0: a whole number is expected"),
        ({"cache": 1}, "cache 1: true or false is expected"),
        ({"budget": "100"}, "budget '100': a number is expected"),
        ({"budget": math.inf}, "budget inf: input should be a finite number"),
        ({"sticky_actions": 1.25}, "sticky_actions 1.25: input should be less than or equal to 1"),
        ({"start": "noops"}, "start 'noops': input should be 'first-reset' or 'no-ops'"),
        ({"game": None}, "game None: a name is expected"),
        ({"simulator": "atary"}, "Unknown kind of simulator 'atary'. Did you mean 'atari'?"),
    ],
)
def test_a_recorded_protocol_is_read_strictly(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(RecordError) as refusal:
        parse_protocol(FIXED.model_dump(mode="json") | change)
    assert complaint in str(refusal.value)


@pytest.mark.parametrize("data", [None, [], "otoole-2021", {}])
def test_something_else_is_no_protocol(data: object) -> None:
    with pytest.raises(RecordError, match="Not a valid protocol"):
        parse_protocol(data)


# Comparisons


def test_the_same_protocol_has_no_differences() -> None:
    assert compare_protocols(FIXED, FIXED.model_copy()) == []


@pytest.mark.parametrize(
    ("settings", "comparable"),
    [
        (("simulator", "game", "mode", "difficulty"), False),
        (("action_set", "frame_skip", "max_frames", "budget", "budget_unit", "cache"), False),
        (("agent", "novelty", "features", "horizon", "discount", "tie_breaking"), True),
        (("rollout_depth", "exploration"), True),
        (("simulator_version", "noveltree_version"), True),
        (("rom_md5",), False),
    ],
)
def test_a_difference_says_whether_scores_stay_comparable(settings: tuple[str, ...], comparable: bool) -> None:
    for setting in settings:
        other = FIXED.model_copy(update={setting: OTHERS[setting]})
        (difference,) = compare_protocols(FIXED, other)
        assert difference.setting == setting
        assert (difference.first, difference.second) == (getattr(FIXED, setting), OTHERS[setting])
        assert difference.comparable is comparable
        assert difference.reason


def test_presets_of_different_papers_are_not_comparable_and_the_reasons_are_named() -> None:
    first, second = (make_protocol("pong", preset=preset) for preset in ("otoole-2021", "bandres-2018"))
    reasons = {d.setting for d in compare_protocols(first, second) if not d.comparable}
    assert reasons == {"action_set", "budget", "budget_unit"}


def test_methods_under_the_same_conditions_are_comparable() -> None:
    first, second = (make_protocol("pong", agent=agent) for agent in ("riw-c", "riw-d"))
    differences = compare_protocols(first, second)
    assert {d.setting for d in differences} == {"agent", "novelty"}
    assert all(d.comparable for d in differences)


# Learning

#: What new protocols have; the defaults are what records without it were played with.
NOW = LearningSettings(start="glorot", value=ValueSettings(clipping="each"), schedule=ScheduleSettings(wave=None))


def test_agents_that_learn_have_learning_settings_and_others_have_none() -> None:
    assert make_protocol("corridor", agent="n-cpl").learning == NOW
    assert make_protocol("corridor", agent="riw-c").learning is None
    with pytest.raises(InputError, match="riw-c learns nothing"):
        make_protocol("corridor", agent="riw-c", learning=LearningSettings())


def test_the_hash_changes_with_a_learning_setting_and_survives_json() -> None:
    first = make_protocol("corridor", agent="n-cpl")
    changed = NOW.model_copy(update={"policy": PolicySettings(epochs=9)})
    second = make_protocol("corridor", agent="n-cpl", learning=changed)
    assert first.hash != second.hash
    assert parse_protocol(second.model_dump(mode="json")) == second
    (difference,) = compare_protocols(first, second)
    assert (difference.setting, difference.first, difference.second) == ("learning.policy.epochs", 8, 9)
    assert difference.comparable


def test_training_for_longer_is_not_comparable() -> None:
    first = make_protocol("corridor", agent="n-cpl")
    longer = NOW.model_copy(update={"schedule": ScheduleSettings(interactions=40_000_000, wave=None)})
    second = make_protocol("corridor", agent="n-cpl", learning=longer)
    (difference,) = compare_protocols(first, second)
    assert not difference.comparable


def test_learning_or_not_is_one_difference_of_method() -> None:
    first, second = make_protocol("corridor", agent="n-cpl"), make_protocol("corridor", agent="riw-c")
    differences = {difference.setting: difference for difference in compare_protocols(first, second)}
    assert set(differences) == {"agent", "learning"}
    assert differences["learning"].comparable


def test_every_setting_of_learning_is_described() -> None:
    protocol = make_protocol("corridor", agent="n-cpl")
    settings = [name for name in flat_settings(protocol) if name.startswith("learning.")]
    assert len(settings) > 15
    assert all(describe_setting(protocol, name) for name in settings)


def test_a_mapping_of_learning_stands_over_how_the_agent_learns_otherwise() -> None:
    protocol = make_protocol("qbert", agent="n-cpl", learning={"schedule": {"interactions": 2_000_000}})
    own = DEFAULT_LEARNING["n-cpl"]
    schedule = own.schedule.model_copy(update={"interactions": 2_000_000})
    assert protocol.learning == own.model_copy(update={"schedule": schedule})
    with pytest.raises(InputError, match=r"learning\.schedul; did you mean schedule\?"):
        make_protocol("qbert", agent="n-cpl", learning={"schedul": {}})
    with pytest.raises(InputError, match="riw-c learns nothing"):
        make_protocol("qbert", agent="riw-c", learning={"schedule": {}})
