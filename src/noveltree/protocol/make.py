"""Making protocols: a preset, what is chosen otherwise, and what follows from the game and the agent."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noveltree.agents import Agent, Settings, get_agent
from noveltree.errors import InputError, UnknownNameError
from noveltree.features import PRECISION, default_features, learn_ranges
from noveltree.learning import PiSettings
from noveltree.learning.settings import LearnerSettings
from noveltree.lookahead import VALUE, check_chance
from noveltree.protocol.auto import AUTO, AutoChoice, choose_agent
from noveltree.protocol.choices import Choices, read_choices
from noveltree.protocol.hashing import FIRST_EDITION
from noveltree.protocol.learners import default_learning
from noveltree.protocol.presets import DEFAULT_PRESET, PRESETS, TRAINING_PRESETS
from noveltree.protocol.protocol import Protocol, observed_by
from noveltree.reading import validated, with_choices
from noveltree.simulators import (
    SIMULATOR_KINDS,
    Chance,
    Observed,
    Simulator,
    SimulatorKind,
    SimulatorSettings,
    level_at,
    name_game,
    outermost,
    start_at,
)
from noveltree.simulators.fingerprint import learn_clocks
from noveltree.simulators.references import Reference
from noveltree.version import __version__

#: Frames after which episodes are truncated if neither the game nor anybody says so.
MAX_FRAMES = 18_000


def make_protocol(
    game: str | None = None,
    *,
    simulator: str | Callable[..., Any] | None = None,
    preset: str = DEFAULT_PRESET,
    on_auto: Callable[[AutoChoice], None] | None = None,
    **choices: Any,
) -> Protocol:
    """The protocol of a preset for a game, with some of its settings chosen otherwise (None: not chosen).

    `game` is an Atari game in any spelling, the id of a Gymnasium environment, `corridor`, a game of a kind that
    you have registered, or code of your own, which is imported: `package.module:Factory` or
    `path/to/file.py:Factory`. Instead, the class or function itself may be given as the `simulator`.

    `learning` is an object with all settings, or a mapping with those that are not the agent's own, such as
    `{"schedule": {"interactions": 2_000_000}}`.

    A preset's settings that belong to its own agent, or to Atari, are left out where another agent or game is
    chosen that does not have them. With the agent `auto` the simulator is looked at for a moment, and the
    protocol is that of the agent which suits it; `on_auto` is told which and why.
    """
    if preset in TRAINING_PRESETS and preset not in PRESETS:
        raise InputError(
            f"{preset} is a preset of training, for agents that learn; the presets of playing are "
            f"{', '.join(PRESETS)}."
        )
    if preset not in PRESETS:
        raise UnknownNameError("preset", preset, PRESETS)
    usual = PRESETS[preset].choices
    chosen = read_choices(_over_own_learning(choices, usual))
    kind, name = name_game(_named(game, simulator))
    if chosen.agent == AUTO:
        auto = _choose_agent(kind, name, chosen)
        # Games of some kinds are always played with the same budget; a preset may have its own.
        if kind.alike or chosen.budget is not None or usual.budget is not None:
            auto = dataclasses.replace(auto, budget=None)
        own = {**auto.settings, "budget": auto.budget, **chosen.given(Choices.model_fields)}
        chosen = Choices(**{**own, "agent": auto.agent})
        if on_auto is not None:
            on_auto(auto)
    agent = get_agent(chosen.agent or usual.agent)
    learning = default_learning(agent) if chosen.learning is None else chosen.learning
    _check_fit(chosen, kind, name, agent)
    chosen = chosen.over(_fitting(usual, kind, agent, chosen))
    settings = validated(SimulatorSettings, {**dict(kind.defaults), **chosen.given(kind.takes)})
    world = _look_at(kind, name, settings, agent, chosen, learning)
    protocol = Protocol(
        simulator=kind.name,
        game=world.game,
        **{**dict(settings), "chance": world.chance},
        max_frames=chosen.max_frames or world.max_frames,
        budget=chosen.budget or float(agent.default_budget(world.actions, world.settings)),
        budget_unit=chosen.budget_unit or "interactions",
        agent=agent.name,
        novelty=agent.novelty_with(world.settings),
        **_recorded(agent.used(world.settings)),
        learning=learning,
        simulator_version=kind.version(name),
        rom_md5=kind.rom_md5(name),
        source=kind.source(name),
        noveltree_version=__version__,
    )
    if protocol.max_frames < protocol.frame_skip:
        raise InputError(
            f"An episode of {protocol.max_frames} frames has no room for an action of {protocol.frame_skip} frames."
        )
    if protocol.evaluation_levels is not None and (learning is None or learning.evaluation == "continuing"):
        why = "it learns nothing" if learning is None else "it learns on while it is evaluated"
        raise InputError(f"{agent.name} has no levels of its own to be evaluated in, because {why}.")
    protocol.make_budget()  # complains about a budget that allows no interaction
    return protocol


def _over_own_learning(choices: Mapping[str, Any], usual: Choices) -> Mapping[str, Any]:
    """The choices, of which those of learning stand over how the agent learns otherwise."""
    learning, agent = choices.get("learning"), choices.get("agent") or usual.agent
    if not isinstance(learning, Mapping) or agent == AUTO:
        return choices
    own = default_learning(get_agent(agent))
    if own is None:
        return choices  # which is refused
    return {**choices, "learning": with_choices(own, learning, called=lambda name: f"learning.{name}")}


def _choose_agent(kind: SimulatorKind, game: str, chosen: Choices) -> AutoChoice:
    """The agent that suits a game, as it is played with what is chosen of its simulator."""
    settings = validated(SimulatorSettings, {**dict(kind.defaults), **chosen.given(kind.takes)})
    with contextlib.closing(kind.make(game, settings, Observed())) as simulator:
        levels = settings.game_levels
        return choose_agent(
            simulator, None if levels is None else start_at(simulator, level_at(levels, 0), game=game)
        )


def _named(game: str | None, simulator: str | Callable[..., Any] | None) -> str:
    """What the game is called."""
    match game, simulator:
        case (str(), None):
            return game
        case (None, str()):
            return simulator
        case (None, None):
            raise InputError("Which game? Give its name, or the simulator.")
        case (None, _) if callable(simulator):
            return str(Reference.to(simulator, Path.cwd()))
        case (None, _):
            raise InputError(
                "The simulator is a class or a function that makes one, or a reference to it, not a "
                f"{type(simulator).__name__}: others have to make it again."
            )
        case _:
            raise InputError(f"Give the game, {game!r}, or the simulator, but not both.")


def settings_for(agent: Agent, simulator: Simulator, chosen: Mapping[str, Any]) -> Settings:
    """The settings of an agent in a simulator: what is chosen, and otherwise what suits the simulator."""
    start, own = simulator.start(), dict(chosen)
    if "features" in agent.uses:
        own.setdefault("features", default_features(start))
        if own["features"] == "atoms" and own.get("precision") != 0:
            ranges = own.get("ranges") or learn_ranges(simulator)
            own = own if ranges is None else {"precision": PRECISION, "ranges": ranges, **own}
    if own.get("state_keys") == "held" and "state_keys" in agent.uses:
        own.setdefault("clocks", learn_clocks(simulator))
    settings = agent.settings(**own)
    agent.assemble(start, settings)  # complains about features that do not fit
    return settings


def _check_fit(chosen: Choices, kind: SimulatorKind, game: str, agent: Agent) -> None:
    """Raise InputError about settings that the game or the agent does not have."""
    for setting in chosen.given(SimulatorSettings.model_fields):
        if setting not in kind.takes:
            whose = " and ".join(each.title for each in SIMULATOR_KINDS.values() if setting in each.takes)
            of_gray = setting == "game_levels" and "levels" in agent.uses
            hint = "; levels of gray are --gray-levels" if of_gray else ""
            raise InputError(
                f"{game} has no {setting.replace('_', ' ')} to choose: that is a setting of {whose} games{hint}."
            )
    if chosen.learning is not None and default_learning(agent) is None:
        raise InputError(f"{agent.name} learns nothing, so it has no learning settings.")
    targets = getattr(chosen.learning, "policy_targets", None)
    if targets is not None and (targets.kind == "visits") != agent.counts_visits:
        counted = "visits" if agent.counts_visits else "values"
        raise InputError(
            f"The policy targets {targets.kind!r} are not for {agent.name}: what it knows of actions are {counted}."
        )
    if isinstance(chosen.learning, PiSettings) and (chosen.learning.returns is None) == (VALUE in agent.heads):
        wrong = "needs a value head" if VALUE in agent.heads else "asks for no value, so that no returns are learnt"
        raise InputError(f"{agent.name} {wrong}: leave learning.returns as it is.")


def _fitting(usual: Choices, kind: SimulatorKind, agent: Agent, chosen: Choices) -> Choices:
    """What a preset chooses, without what does not fit the game, the agent, or the budget that is chosen."""
    misfits = {*SimulatorSettings.model_fields} - {*kind.takes} | {*Settings.model_fields} - {*agent.uses}
    if agent.name != usual.agent:  # whose own ways are not those of the preset's agent
        misfits |= {*agent.defaults}
    if chosen.budget is not None:
        misfits |= {"budget", "budget_unit"}
    return Choices(**usual.given(Choices.model_fields.keys() - misfits))


def _recorded(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of an agent as a protocol has them: a default is not repeated that older records do not have."""
    return {
        name: value
        for name, value in settings.items()
        if name in FIRST_EDITION[""] or value != Settings.model_fields[name].default
    }


@dataclass(frozen=True, slots=True)
class _World:
    """What follows from a game and an agent."""

    game: str
    actions: int
    max_frames: int
    settings: Settings
    chance: Chance | None


def _look_at(
    kind: SimulatorKind,
    game: str,
    simulator_settings: SimulatorSettings,
    agent: Agent,
    chosen: Choices,
    learning: LearnerSettings | None,
) -> _World:
    """Find out what follows from a game and an agent; the simulator is made only if that is necessary."""
    own = chosen.given(Settings.model_fields)
    known = kind.known_actions(game, simulator_settings, chosen.features)
    # Only the screen shows whether so many tiles fit on it, and only an observation whether it has ranges.
    if known is not None and chosen.tiles is None and not chosen.precision:
        return _World(game, known, MAX_FRAMES, agent.settings(**own), simulator_settings.chance)
    observed = observed_by(agent, agent.settings(**own), learning)
    with contextlib.closing(kind.make(game, simulator_settings, observed)) as simulator:
        for levels in (simulator_settings.game_levels, simulator_settings.evaluation_levels):
            for level in () if levels is None else outermost(levels):
                start_at(simulator, level, game=game)  # complains about one that there is not
        settings = settings_for(agent, simulator, own)
        chance = _chance(kind, game, simulator, chosen.chance)
        if chance == "sampled":
            check_chance(agent.assemble(simulator.start(), settings), agent.name)
        limit = kind.max_episode_steps(simulator)
        return _World(
            game=kind.full_name(simulator) or game,
            actions=len(simulator.actions),
            max_frames=MAX_FRAMES if limit is None else limit * simulator_settings.frame_skip,
            settings=settings,
            chance=chance,
        )


def _chance(kind: SimulatorKind, game: str, simulator: Simulator, chosen: Chance | None) -> Chance | None:
    """What planners know of chance: what is chosen, or nothing but what they draw, if there is any."""
    found = kind.chance(simulator)
    if chosen == "none" and found == "sampled":
        raise InputError(
            f"In {game} chance decides about transitions: it can be sampled, or foreseen, but it cannot be none."
        )
    return chosen or found
