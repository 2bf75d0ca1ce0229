"""How an agent is trained by a preset: what it learns with, and how it plans meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from noveltree.agents import AGENTS, Agent
from noveltree.errors import InputError, UnknownNameError
from noveltree.learning.settings import LearnerSettings
from noveltree.protocol.learners import default_learning
from noveltree.protocol.presets import PRESETS, TRAINING_PRESETS
from noveltree.reading import with_choices


def training_by(preset: str, agent: Agent) -> tuple[LearnerSettings, Mapping[str, Any]]:
    """How an agent learns by a preset of training, and the settings of planning that go with it."""
    if preset in PRESETS and preset not in TRAINING_PRESETS:
        raise InputError(
            f"{preset} is a preset of playing; the presets of training are {', '.join(TRAINING_PRESETS)}."
        )
    if preset not in TRAINING_PRESETS:
        raise UnknownNameError("preset of training", preset, TRAINING_PRESETS)
    usual = default_learning(agent)
    if usual is None:
        learners = ", ".join(name for name, each in AGENTS.items() if default_learning(each))
        raise InputError(f"{agent.name} learns nothing; the agents that do are {learners}.")
    found = TRAINING_PRESETS[preset]
    if found.agents is not None and agent.name not in found.agents:
        raise InputError(f"The preset {preset} of training is for {', '.join(found.agents)}, not for {agent.name}.")
    return with_choices(usual, found.learning.get(usual.kind, {})), found.planning.get(agent.name, {})
