"""Presets: the experimental settings of papers, and lengths of training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from noveltree.protocol.choices import Choices


@dataclass(frozen=True, slots=True)
class Preset:
    """The experimental settings of a paper."""

    summary: str
    choices: Choices


@dataclass(frozen=True, slots=True)
class TrainingPreset:
    """How long and in which loop a learner is trained."""

    summary: str
    learning: Mapping[str, Mapping[str, Any]]
    """By the kind of learner, the settings of learning that are not the agent's own."""


TRAINING_PRESETS: dict[str, TrainingPreset] = {
    "paper": TrainingPreset(
        "as the agent's authors had it; N-CPL: 20,000,000 interactions, networks change every 1,000,000", {}
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
            "vae": {"loop": {"screens": 1_000}, "encoder": {"epochs": 20}, "evaluation_episodes": 2},
        },
    ),
}

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
        "Bandres et al. 2018 (RIW): 0.5 s per decision, all 18 actions, B-PROST",
        Choices(agent="riw-d", features="bprost", action_set="full", budget=0.5, budget_unit="seconds"),
    ),
    "bandres-2018-32s": Preset(
        "Bandres et al. 2018 (RIW): 32 s per decision, all 18 actions, B-PROST",
        Choices(agent="riw-d", features="bprost", action_set="full", budget=32.0, budget_unit="seconds"),
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
        ),
    ),
}

DEFAULT_PRESET = "otoole-2021"
