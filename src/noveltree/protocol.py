"""The protocol: every setting that a score depends on, as one value with a stable hash.

Scores are comparable when they were obtained under the same conditions. Papers on planning in Atari differ in the
action set, the frame skip, the budget and its unit, and in whether transitions are cached, mostly without saying
so next to their tables. Here the protocol is written into every result, and `compare_protocols` says what two of
them have in common.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib.metadata
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import ale_py
import pydantic
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SerializeAsAny

from noveltree.agents import Settings, get_agent
from noveltree.episodes import Episode, Play, drive, episode_rng
from noveltree.errors import InputError, RecordError, UnknownNameError
from noveltree.features import default_features
from noveltree.learning import LearningSettings
from noveltree.learning.settings import LearnerSettings, parse_learning
from noveltree.lookahead import Budget, Interactions, Seconds, frames
from noveltree.simulators import Atari, Corridor, GymnasiumSimulator, Simulator, State, is_environment_id
from noveltree.simulators.action_counts import ACTION_COUNTS, FULL_ACTION_SET
from noveltree.simulators.games import canonical_game, rom_md5
from noveltree.simulators.gymnasium import provider_of
from noveltree.version import __version__

SimulatorKind = Literal["atari", "gymnasium", "corridor"]
BudgetUnit = Literal["interactions", "frames", "seconds"]
Role = Literal["task", "conditions", "method", "software"]


#: The settings of any learner.
Learning = Annotated[SerializeAsAny[LearnerSettings], BeforeValidator(parse_learning)]


def _field(role: Role, description: str, **constraints: Any) -> Any:
    return Field(description=description, json_schema_extra={"role": role}, **constraints)


class Protocol(BaseModel):
    """Every setting that a score depends on. Settings that an agent does not use are None."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    simulator: SimulatorKind = _field("task", "what is simulated")
    game: str = _field("task", "the game, by its canonical name, or the environment's id")
    mode: int | None = _field("task", "the game's mode; None is its default", default=None)
    difficulty: int | None = _field("task", "the game's difficulty; None is its default", default=None)

    action_set: Literal["minimal", "full"] | None = _field(
        "conditions", "the Atari actions to choose from", default=None
    )
    frame_skip: int = _field("conditions", "frames for which an action is held", ge=1)
    max_frames: int = _field("conditions", "frames after which an episode is truncated", ge=1)
    start: Literal["first-reset"] = _field("conditions", "where episodes begin: after the first reset, no no-ops")
    sticky_actions: Literal[0] = _field("conditions", "probability with which an action is repeated")
    budget: float = _field("conditions", "what may be spent on one decision", gt=0)
    budget_unit: BudgetUnit = _field("conditions", "the unit of the budget")
    cache: bool | None = _field("conditions", "whether the executed action's subtree is kept", default=None)

    agent: str = _field("method", "the algorithm")
    novelty: Literal["classic", "depth", "none"] = _field("method", "what decides which nodes are pruned")
    features: str | None = _field("method", "the features over which novelty is defined", default=None)
    horizon: int | None = _field("method", "actions below the root that a lookahead may reach", default=None)
    discount: float | None = _field("method", "weight of a reward one action later, in the backup", default=None)
    tie_breaking: str | None = _field("method", "how one of several equally good actions is chosen", default=None)
    rollout_depth: int | None = _field("method", "length of random rollouts", default=None)
    exploration: float | None = _field("method", "constant of UCB1", default=None)

    learning: Learning | None = _field("method", "how the agent learns, if it does", default=None)

    simulator_version: str = _field("software", "package and version behind the simulator")
    rom_md5: str | None = _field("software", "MD5 sum of the game's ROM", default=None)
    noveltree_version: str = _field("software", "version of noveltree")

    @property
    def hash(self) -> str:
        """Sixteen hexadecimal digits that are the same exactly if all settings are.

        Settings that are None are left out, so that a setting which is added later does not change old hashes.
        """
        settings = self.model_dump(mode="json", exclude_none=True)
        canonical = json.dumps(settings, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    @property
    def max_steps(self) -> int:
        """Time steps after which an episode is truncated."""
        return self.max_frames // self.frame_skip

    def settings(self) -> Settings:
        """The agent's settings."""
        agent = get_agent(self.agent)
        return agent.settings(**{name: getattr(self, name) for name in agent.uses})

    def make_budget(self) -> Budget:
        match self.budget_unit:
            case "interactions":
                return Interactions(int(self.budget))
            case "frames":
                return frames(int(self.budget), frame_skip=self.frame_skip)
            case "seconds":
                return Seconds(self.budget)

    def make_simulator(self) -> Simulator:
        return _make_simulator(self.model_dump())

    def make_play(
        self,
        simulator: Simulator,
        *,
        seed: int,
        index: int,
        interval: int = 0,
    ) -> Play:
        """Begin the episode `index` of a trial with `seed` (and of its `interval`, if it learns)."""
        return Play(
            simulator,
            get_agent(self.agent),
            settings=self.settings(),
            budget=self.make_budget(),
            rng=episode_rng(seed, index, interval=interval),
            max_steps=self.max_steps,
        )


def play_episode(protocol: Protocol, *, seed: int = 0, index: int = 0) -> Episode:
    """Play one episode under a protocol, from its start to its end."""
    with contextlib.closing(protocol.make_simulator()) as simulator:
        play = protocol.make_play(simulator, seed=seed, index=index)
        drive([play])
        return play.episode()


@dataclass(frozen=True, slots=True)
class Preset:
    """The experimental settings of a paper."""

    summary: str
    choices: dict[str, Any]


PRESETS: dict[str, Preset] = {
    "otoole-2021": Preset(
        "O'Toole et al. 2021 (N-CPL): 100 interactions, minimal action set, pixels",
        {"agent": "riw-c"},
    ),
    "junyent-2021": Preset(
        "Junyent et al. 2021 (pi-IW+, pi-HIW): as otoole-2021, ties to the larger subtree, discount 0.99",
        {"agent": "riw-d", "tie_breaking": "larger-subtree", "discount": 0.99},
    ),
    "bandres-2018": Preset(
        "Bandres et al. 2018 (RIW): 0.5 s per decision, all 18 actions, B-PROST",
        {"agent": "riw-d", "features": "bprost", "action_set": "full", "budget": 0.5, "budget_unit": "seconds"},
    ),
    "bandres-2018-32s": Preset(
        "Bandres et al. 2018 (RIW): 32 s per decision, all 18 actions, B-PROST",
        {"agent": "riw-d", "features": "bprost", "action_set": "full", "budget": 32.0, "budget_unit": "seconds"},
    ),
    "lipovetzky-2015": Preset(
        "Lipovetzky et al. 2015 (IW(1)): 150,000 frames per decision in steps of 5, all 18 actions, RAM",
        {
            "agent": "iw1",
            "features": "ram",
            "action_set": "full",
            "frame_skip": 5,
            "budget": 150_000.0,
            "budget_unit": "frames",
            "horizon": 300,
            "discount": 0.995,
        },
    ),
}

DEFAULT_PRESET = "otoole-2021"
_ATARI_SETTINGS = ("action_set", "frame_skip", "mode", "difficulty")
#: Settings that follow from the others and from what is installed.
_FOUND_OUT = {"simulator", "novelty", "simulator_version", "rom_md5", "noveltree_version"}
_AGENT_SETTINGS = tuple(field.name for field in dataclasses.fields(Settings))


def make_protocol(game: str, *, preset: str = DEFAULT_PRESET, **choices: Any) -> Protocol:
    """The protocol of a preset for a game, with some of its settings chosen otherwise (None: not chosen).

    `game` is an Atari game in any spelling, the id of a Gymnasium environment, or `corridor`. A preset's settings
    that belong to its own agent are left out when another agent is chosen that does not have them.
    """
    if preset not in PRESETS:
        raise UnknownNameError("preset", preset, PRESETS)
    preset_choices = PRESETS[preset].choices
    chosen = {name: value for name, value in choices.items() if value is not None}
    if unknown := chosen.keys() - Protocol.model_fields.keys():
        raise InputError(f"A protocol has no setting {min(unknown)!r}.")
    if found := chosen.keys() & _FOUND_OUT:
        raise InputError(f"The setting {min(found)!r} follows from the others; it cannot be chosen.")
    kind, name = _which_simulator(game)
    agent = get_agent(chosen.get("agent", preset_choices["agent"]))
    if "budget_unit" in chosen and "budget" not in chosen:
        raise InputError("A budget's unit was chosen, but not the budget.")
    if "budget" in chosen:
        chosen.setdefault("budget_unit", "interactions")
        if isinstance(chosen["budget"], bool) or not isinstance(chosen["budget"], int | float):
            raise InputError(f"A budget is a number, not {chosen['budget']!r}.")
    if kind != "atari" and (misfit := [setting for setting in _ATARI_SETTINGS if setting in chosen]):
        raise InputError(f"{name} is no Atari game, so it has no {misfit[0].replace('_', ' ')} to choose.")
    merged = {
        key: value
        for key, value in preset_choices.items()
        if (kind == "atari" or key not in _ATARI_SETTINGS)
        and (key not in _AGENT_SETTINGS or key in agent.uses)
        and not (key in ("budget", "budget_unit") and "budget" in chosen)
    } | chosen
    if "learning" in chosen and not agent.learns:
        raise InputError(f"{agent.name} learns nothing, so it has no learning settings.")
    agent_choices = {key: merged.pop(key) for key in _AGENT_SETTINGS if key in merged}
    fields: dict[str, Any] = {
        "simulator": kind,
        "game": name,
        "mode": None,
        "difficulty": None,
        "action_set": "minimal" if kind == "atari" else None,
        "frame_skip": 15 if kind == "atari" else 1,
        "max_frames": 18_000,
        "start": "first-reset",
        "sticky_actions": 0,
        "budget_unit": "interactions",
        "novelty": agent.novelty,
        "learning": LearningSettings() if agent.learns else None,
        "simulator_version": simulator_version(kind, name),
        "rom_md5": rom_md5(name) if kind == "atari" else None,
        "noveltree_version": __version__,
    }
    known = _known_actions({**fields, **merged, **agent_choices})
    if known is not None:
        settings = agent.settings(**agent_choices)
        fields["budget"] = agent.default_budget(known, settings)
    else:
        world = _look_at({**fields, **merged, **agent_choices})
        fields["game"] = world.name
        if world.max_episode_steps is not None:
            fields["max_frames"] = world.max_episode_steps
        if "features" in agent.uses and kind != "atari":
            agent_choices.setdefault("features", default_features(world.start))
        settings = agent.settings(**agent_choices)
        agent.assemble(world.start, settings)  # complains about features that do not fit
        fields["budget"] = agent.default_budget(world.actions, settings)
    fields |= {key: agent.used(settings).get(key) for key in _AGENT_SETTINGS}
    fields |= {**merged, "agent": agent.name}
    fields["budget"] = float(fields["budget"])
    if fields["budget_unit"] in ("interactions", "frames") and not fields["budget"].is_integer():
        raise InputError(f"A budget of {fields['budget']:g} {fields['budget_unit']} is not a whole number.")
    try:
        protocol = Protocol(**fields)
    except pydantic.ValidationError as error:
        raise InputError(_first_complaint(error)) from error
    if protocol.max_frames < protocol.frame_skip:
        raise InputError(
            f"An episode of {protocol.max_frames} frames has no room for an action of {protocol.frame_skip} frames."
        )
    protocol.make_budget()  # complains about a budget that allows no interaction
    return protocol


def parse_protocol(data: Any) -> Protocol:
    """A protocol from its JSON object, as it stands in a record."""
    try:
        return Protocol.model_validate(data)
    except pydantic.ValidationError as error:
        raise RecordError(f"Not a valid protocol: {_first_complaint(error)}") from error


_LIKE_ENVIRONMENT_ID = re.compile(r"(?!ale/).+-v\d+", flags=re.IGNORECASE)


def _which_simulator(game: str) -> tuple[SimulatorKind, str]:
    prefix, _, rest = game.partition(":")
    if prefix.lower() in ("gym", "gymnasium") and rest:
        return "gymnasium", rest
    if game.strip().lower() == "corridor":
        return "corridor", "corridor"
    try:
        return "atari", canonical_game(game)
    except UnknownNameError:
        if is_environment_id(game) or _LIKE_ENVIRONMENT_ID.fullmatch(game):
            return "gymnasium", game
        raise


def _make_simulator(fields: dict[str, Any]) -> Simulator:
    match fields["simulator"]:
        case "atari":
            return Atari(
                fields["game"],
                action_set=fields["action_set"],
                frame_skip=fields["frame_skip"],
                mode=fields["mode"],
                difficulty=fields["difficulty"],
                tiles=fields.get("features") == "bprost",
            )
        case "gymnasium":
            return GymnasiumSimulator(fields["game"])
        case _:
            return Corridor()


#: Features that every Atari game has.
_ATARI_FEATURES = ("pixels", "ram", "bprost")


def _known_actions(fields: dict[str, Any]) -> int | None:
    """The number of actions of an Atari game whose settings need not be tried out; None if they must be.

    Loading a game and what looks at its screens takes most of a second, which planning a suite can do without.
    """
    plain = (
        fields["simulator"] == "atari"
        and fields["mode"] is None
        and fields["difficulty"] is None
        and fields["action_set"] in ("minimal", "full")
        and isinstance(fields["frame_skip"], int)
        and fields["frame_skip"] >= 1
        and fields.get("features", "pixels") in _ATARI_FEATURES
    )
    if not plain:
        return None
    return ACTION_COUNTS[fields["game"]] if fields["action_set"] == "minimal" else FULL_ACTION_SET


@dataclass(frozen=True, slots=True)
class _World:
    """What has to be known of a simulator to choose settings."""

    name: str
    start: State
    actions: int
    max_episode_steps: int | None


def _look_at(fields: dict[str, Any]) -> _World:
    """Make a simulator and look at it."""
    with contextlib.closing(_make_simulator(fields)) as simulator:
        environment = simulator if isinstance(simulator, GymnasiumSimulator) else None
        return _World(
            # An id without a version stands for the newest.
            name=fields["game"] if environment is None else environment.environment,
            start=simulator.start(),
            actions=len(simulator.actions),
            max_episode_steps=None if environment is None else environment.max_episode_steps,
        )


def _installed_version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"  # making the simulator says what to do


def simulator_version(kind: SimulatorKind, game: str) -> str:
    """The packages behind a game's simulator and their installed versions."""
    match kind:
        case "atari":
            return f"ale-py {ale_py.__version__}"
        case "gymnasium":
            packages = ("gymnasium", *provider_of(game))
            return ", ".join(f"{package} {_installed_version(package)}" for package in packages)
        case "corridor":
            return f"noveltree {__version__}"


def _first_complaint(error: pydantic.ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "value"
    value = "" if first["type"] == "missing" else f" {first['input']!r}"
    return f"{where}{value}: {first['msg'].lower()}."


@dataclass(frozen=True, slots=True)
class Difference:
    """One setting in which two protocols differ, and what that means for their scores."""

    setting: str
    first: Any
    second: Any
    comparable: bool
    reason: str


_REASONS: dict[Role, tuple[bool, str]] = {
    "task": (False, "scores of another game or variant mean something else"),
    "conditions": (False, "the agents played under other conditions"),
    "method": (True, "this is what a comparison of methods compares"),
    "software": (True, "the same settings in another version; verify the episodes under both"),
}
_SPECIAL_REASONS: dict[str, tuple[bool, str]] = {
    "action_set": (False, "another set of actions gives the lookahead another branching factor"),
    "frame_skip": (False, "a decision covers another number of frames"),
    "max_frames": (False, "longer episodes collect more rewards"),
    "budget": (False, "one of them looked at more before each decision"),
    "budget_unit": (False, "budgets in different units are not the same effort on every machine"),
    "cache": (False, "with caching, work of earlier decisions is used again for free"),
    "rom_md5": (False, "another ROM is another game"),
    "learning.schedule.interactions": (False, "one of the agents learnt for longer"),
}


def flat_settings(protocol: Protocol) -> dict[str, Any]:
    """All settings by name; those of learning as `learning.value.batch` and so on."""
    return dict(_flatten(protocol))


def _flatten(settings: BaseModel, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def describe_setting(protocol: Protocol, setting: str) -> str:
    """What a setting means."""
    *parents, name = setting.split(".")
    settings: BaseModel = protocol
    for parent in parents:
        settings = getattr(settings, parent)
    return type(settings).model_fields[name].description or ""


def compare_protocols(first: Protocol, second: Protocol) -> list[Difference]:
    """The settings in which two protocols differ. Scores are comparable if every difference is."""
    differences = []
    if (first.learning is None) != (second.learning is None):
        comparable, reason = _REASONS["method"]
        a, b = (None if protocol.learning is None else "learnt" for protocol in (first, second))
        differences.append(Difference("learning", a, b, comparable, reason))
        first, second = (protocol.model_copy(update={"learning": None}) for protocol in (first, second))
    all_first, all_second = flat_settings(first), flat_settings(second)
    for name in all_first | all_second:
        a, b = all_first.get(name), all_second.get(name)
        if a != b:
            field = Protocol.model_fields[name.partition(".")[0]]
            assert isinstance(field.json_schema_extra, dict)
            role: Any = field.json_schema_extra["role"]
            comparable, reason = _SPECIAL_REASONS.get(name) or _REASONS[role]
            if name in _AGENT_SETTINGS and None in (a, b):
                comparable, reason = True, "one of the agents has no such setting"
            differences.append(Difference(name, a, b, comparable, reason))
    return differences
