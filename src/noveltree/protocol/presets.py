"""Presets: the experimental settings of papers, and lengths of training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from noveltree.protocol.choices import Choices


@dataclass(frozen=True, slots=True)
class Preset:
    """The experimental settings of a paper."""

    summary: str
    choices: Choices


@dataclass(frozen=True, slots=True)
class TrainingPreset:
    """How long and in which loop a learner is trained, and how it plans, if that is not the agent's own way."""

    summary: str
    learning: Mapping[str, Mapping[str, Any]]
    """By the kind of learner: settings of learning."""
    planning: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By agent: settings of planning."""
    agents: tuple[str, ...] | None = None
    """Whom it is for; None: for all that learn."""


TRAINING_PRESETS: dict[str, TrainingPreset] = {
    "paper": TrainingPreset(
        "each agent's defaults; N-CPL and CPL: those of the paper, 20,000,000 interactions, networks change every "
        "1,000,000",
        {},
    ),
    "quick": TrainingPreset(
        "to see within minutes what is learnt: 200,000 interactions in lockstep; VAE-IW: 1,000 screens",
        {
            "cpl": {
                "schedule": {"interactions": 200_000, "interval": 20_000},
                "loop": {"kind": "lockstep"},
                "evaluation_episodes": 2,
            },
            "joint": {"schedule": {"interactions": 200_000}, "evaluation_episodes": 2},
            "pi": {"schedule": {"interactions": 200_000, "interval": 20_000}, "evaluation_episodes": 2},
            "vae": {"loop": {"screens": 1_000}, "encoder": {"epochs": 20}, "evaluation_episodes": 2},
        },
    ),
    "junyent-2019": TrainingPreset(
        "pi-IW close to its first release (docs/deviations.md lists what differs): one lane, no normalisation, "
        "ties at random, 40,000,000 interactions",
        {
            "pi": {
                "schedule": {"interactions": 40_000_000},
                "loop": {"lanes": 1},
                "learning_rate": 5e-4,
                "gradient_norm": 40.0,
                "warm_up": 100,
                "normalisation": "none",
                "start": "fan-in",
                "policy_targets": {"temperature": 0.0},
            },
        },
        {"pi-iw": {"cached_nodes": "tested-when-met", "tie_breaking": "random"}},
        ("pi-iw",),
    ),
    "junyent-2021": TrainingPreset(
        "pi-IW, pi-IW+ and pi-HIW close to their release of 2021: one lane; large subtrees outweigh small rewards",
        {"pi": {"loop": {"lanes": 1}, "policy_targets": {"untried": "root-value"}}},
        {name: {"tie_breaking": "product"} for name in ("pi-iw", "pi-iw-plus", "pi-hiw")},
        ("pi-iw", "pi-iw-plus", "pi-hiw"),
    ),
}

#: What Bandres et al. ran in all their experiments.
_BANDRES: dict[str, Any] = {
    "agent": "riw-d",
    "features": "bprost-background",
    "action_set": "full",
    "horizon": 1_500,
    "cached_nodes": "tested-when-met",
    "repetitions": True,
    "lost_nodes": "leave",
    "untried": "zero",
}
_RISK_AVERSE: dict[str, Any] = {"risk_averse": "parent", "tie_breaking": "longest-branch"}

PRESETS: dict[str, Preset] = {
    "otoole-2021": Preset(
        "O'Toole et al. 2021 (N-CPL): 100 interactions, minimal action set, pixels",
        Choices(agent="riw-c"),
    ),
    "junyent-2021": Preset(
        "Junyent et al. 2021 (pi-IW+, pi-HIW): as otoole-2021, ties to the larger subtree, discount 0.99",
        Choices(agent="riw-d", tie_breaking="larger-subtree", discount=0.99),
    ),
    "bandres-2018": Preset(
        "Bandres et al. 2018 (RIW): 0.5 s per decision, all 18 actions, B-PROST without background",
        Choices(budget=0.5, budget_unit="seconds", **_BANDRES),
    ),
    "bandres-2018-32s": Preset(
        "Bandres et al. 2018 (RIW): as bandres-2018 with 32 s",
        Choices(budget=32.0, budget_unit="seconds", **_BANDRES),
    ),
    "bandres-2018-103": Preset(
        "Bandres et al. 2018 (RIW): the 103 interactions that 0.5 s were on their machines",
        Choices(budget=103.0, visits="counted", **_BANDRES),
    ),
    "bandres-2018-4100": Preset(
        "Bandres et al. 2018 (RIW): the 4,100 interactions that 32 s were on their machines",
        Choices(budget=4_100.0, visits="counted", **_BANDRES),
    ),
    "bandres-2018-ra-101": Preset(
        "Bandres et al. 2018 (RA RIW): risk averse, the 101 interactions that 0.5 s were",
        Choices(budget=101.0, visits="counted", **_BANDRES, **_RISK_AVERSE),
    ),
    "bandres-2018-ra-3300": Preset(
        "Bandres et al. 2018 (RA RIW): risk averse, the 3,300 interactions that 32 s were",
        Choices(budget=3_300.0, visits="counted", **_BANDRES, **_RISK_AVERSE),
    ),
    "bandres-2018-ns-ra-107": Preset(
        "Bandres et al. 2018 (NS+RA RIW): risk averse with novelty subtables, the 107 interactions that 0.5 s were",
        Choices(budget=107.0, visits="counted", subtables=True, **_BANDRES, **_RISK_AVERSE),
    ),
    "bandres-2018-ns-ra-3400": Preset(
        "Bandres et al. 2018 (NS+RA RIW): risk averse with subtables, the 3,400 interactions that 32 s were",
        Choices(budget=3_400.0, visits="counted", subtables=True, **_BANDRES, **_RISK_AVERSE),
    ),
    "lipovetzky-2015": Preset(
        "Lipovetzky et al. 2015 (IW(1)): 150,000 frames per decision in steps of 5, all 18 actions, RAM",
        Choices(
            agent="iw1",
            features="ram",
            action_set="full",
            frame_skip=5,
            budget=150_000.0,
            budget_unit="frames",
            horizon=300,
            discount=0.995,
            successors="random",
            pruned_nodes="tested",
            subtree_cap=30_000,
        ),
    ),
    "machado-2018": Preset(
        "Machado et al. 2018: sticky actions 0.25 (they recommend these alone, and a frame skip of 5), all 18 "
        "actions, and random no-op starts",
        Choices(agent="riw-c", action_set="full", sticky_actions=0.25, start="no-ops", max_frames=18_000),
    ),
}

DEFAULT_PRESET = "otoole-2021"
