"""Suites: what a benchmark runs, as a small YAML file."""

from __future__ import annotations

import difflib
import importlib.resources
import re
import reprlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import pydantic
import yaml
from pydantic import BaseModel, ConfigDict, Field

from noveltree.agents import Settings, get_agent
from noveltree.errors import InputError, NoveltreeError, UnknownNameError
from noveltree.protocol import DEFAULT_PRESET, PRESETS
from noveltree.simulators.games import SUITES as GAME_SUITES

#: What a label may look like: it names directories.
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LARGEST_FILE = 1 << 20
_MOST_TRIALS = 1_000_000
_MOST_EPISODES = 1_000_000
_MOST_INTERACTIONS = 10**15
_MOST_FRAMES = 10**9
_LONGEST_FRAME_SKIP = 1_000


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Conditions(_Model):
    """The conditions under which all agents of a suite play; None is the preset's."""

    budget: float | None = Field(default=None, gt=0)
    budget_unit: Literal["interactions", "frames", "seconds"] | None = None
    action_set: Literal["minimal", "full"] | None = None
    frame_skip: int | None = Field(default=None, ge=1, le=_LONGEST_FRAME_SKIP)
    max_frames: int | None = Field(default=None, ge=1, le=_MOST_FRAMES)
    mode: int | None = None
    difficulty: int | None = None


class SuiteAgent(_Model):
    """An agent of a suite and its settings; None is the preset's or the agent's own."""

    agent: str
    name: str = ""
    """What it is called in tables; the agent's name unless said otherwise."""
    features: str | None = None
    horizon: int | None = None
    discount: float | None = None
    cache: bool | None = None
    tie_breaking: str | None = None
    rollout_depth: int | None = None
    exploration: float | None = None
    learning: dict[str, Any] | None = None
    """Settings of learning, as they stand in a protocol."""

    def settings(self) -> dict[str, Any]:
        """The agent's settings that are chosen."""
        return {
            name: value
            for name in (*Settings.__dataclass_fields__, "learning")
            if (value := getattr(self, name)) is not None
        }


class Suite(_Model):
    """Games x agents x trials, and how they are played."""

    name: str
    games: list[str] | str
    """Games, or the name of a suite of games."""
    agents: list[SuiteAgent] = Field(min_length=1)
    preset: str = DEFAULT_PRESET
    trials: int | None = Field(default=None, ge=1, le=_MOST_TRIALS)
    seeds: list[int] | None = Field(default=None, min_length=1)
    """One per trial; 0, 1, 2, ... unless said otherwise."""
    training_interactions: int | None = Field(default=None, ge=1, le=_MOST_INTERACTIONS)
    """The training budget of agents that learn."""
    evaluation_episodes: int = Field(default=10, ge=1, le=_MOST_EPISODES)
    """Episodes per trial that count."""
    conditions: Conditions = Conditions()

    @property
    def game_names(self) -> list[str]:
        return list(GAME_SUITES[self.games]) if isinstance(self.games, str) else self.games

    @property
    def trial_seeds(self) -> list[int]:
        return self.seeds if self.seeds is not None else list(range(self.trials or 1))

    def part(
        self,
        *,
        games: Iterable[str] | None = None,
        agents: Iterable[str] | None = None,
        trials: int | None = None,
        episodes: int | None = None,
        budget: float | None = None,
    ) -> Suite:
        """This suite with other games, some of its agents, other numbers of trials or episodes, another budget."""
        content = self.model_dump(exclude_defaults=True)
        if games is not None:
            named = list(games)
            content["games"] = named[0] if len(named) == 1 and named[0] in GAME_SUITES else named
        if agents is not None:
            labels = {agent["name"]: agent for agent in content["agents"]}
            wanted = list(agents)
            for label in wanted:
                if label not in labels:
                    raise UnknownNameError("agent of the suite", label, labels)
            content["agents"] = [labels[label] for label in wanted]
            if not any(get_agent(agent["agent"]).learns for agent in content["agents"]):
                content.pop("training_interactions", None)
        if trials is not None:
            if self.seeds is not None and trials > len(self.seeds):
                raise InputError(f"The suite has {len(self.seeds)} seeds, too few for {trials} trials.")
            content["trials"] = trials
            if self.seeds is not None:
                content["seeds"] = self.seeds[:trials]
        if episodes is not None:
            content["evaluation_episodes"] = episodes
        if budget is not None:
            content["conditions"] = {**content.get("conditions", {}), "budget": budget}
        return _checked(content, where=f"The suite {self.name}")

    def to_yaml(self) -> str:
        """The suite as a file that reads as the same suite."""
        return yaml.safe_dump(self.model_dump(exclude_defaults=True), sort_keys=False, allow_unicode=True)


def is_label(name: str) -> bool:
    """Whether an agent may be called so."""
    return _LABEL.fullmatch(name) is not None


def shipped_suites() -> dict[str, str]:
    """The suites that come with noveltree: their name and their text."""
    folder = importlib.resources.files("noveltree.benchmark").joinpath("suites")
    texts = {entry.name.removesuffix(".yaml"): entry.read_text() for entry in folder.iterdir()}
    return dict(sorted(texts.items()))


def read_suite(name_or_path: str) -> Suite:
    """A suite by the name of a shipped one, or from a file."""
    shipped = shipped_suites()
    if name_or_path in shipped:
        return parse_suite(shipped[name_or_path], where=f"The suite {name_or_path}")
    path = Path(name_or_path)
    if not path.is_file():
        if "/" in name_or_path or path.suffix in (".yaml", ".yml"):
            raise InputError(f"There is no suite {name_or_path}; `noveltree benchmark init` writes one.")
        raise UnknownNameError("suite", name_or_path, shipped, hint="Or give the path of a YAML file.")
    try:
        data = path.read_bytes()
        if len(data) > _LARGEST_FILE:
            raise InputError(f"{path} is too large to be a suite.")
        return parse_suite(data.decode(), where=str(path))
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no text.") from error


def parse_suite(text: str, *, where: str = "The suite") -> Suite:
    """A suite from its text; `where` is what complaints call it."""
    try:
        content = yaml.load(text, Loader=_Loader)
    except RecursionError as error:
        raise InputError(f"{where} is no valid YAML: it is nested too deeply.") from error
    # Besides its own errors, the parser lets those of Python out: of dates and numbers that are none, mostly.
    except (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f" in line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error).split("\n")[0]
        raise InputError(f"{where} is no valid YAML{line}: {problem}.") from error
    if not isinstance(content, dict):
        raise InputError(f"{where} is no suite: it has no `games:` and `agents:`.")
    return _checked(content, where=where)


_INT, _TIMESTAMP = "tag:yaml.org,2002:int", "tag:yaml.org,2002:timestamp"


class _Loader(yaml.SafeLoader):
    """YAML without surprises.

    No duplicate keys, of which the last would win silently; no references; no dates; and whole numbers are decimal,
    whereas `010` would be 8 and `1:30` would be 90.
    """

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            where = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.constructor.ConstructorError(None, None, "references (*) are not allowed", where)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, list | dict):
                raise yaml.constructor.ConstructorError(None, None, "a key is no name", key_node.start_mark)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key!r} is there twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in known if tag not in (_INT, _TIMESTAMP)]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(_INT, re.compile(r"[-+]?(0|[1-9][0-9_]*)$"), list("-+0123456789"))


def _checked(content: dict[Any, Any], *, where: str) -> Suite:
    if "agents" in content:
        content = {**content, "agents": _spelled_out(content["agents"])}
    try:
        suite = Suite.model_validate(content)
    except pydantic.ValidationError as error:
        raise InputError(f"{where}: {_first_complaint(error)}") from error
    for complaint in _complaints(suite):
        raise InputError(f"{where}: {complaint}")
    return suite


def _spelled_out(agents: Any) -> Any:
    """Agents with their labels; one without settings may be given by its name alone."""
    if not isinstance(agents, list):
        return agents
    made = []
    for agent in agents:
        entry = {"agent": agent} if isinstance(agent, str) else agent
        if isinstance(entry, dict) and isinstance(entry.get("agent"), str):
            try:
                known = get_agent(entry["agent"]).name
            except UnknownNameError:
                known = entry["agent"]  # complained about later, with where it stands
            entry = {**entry, "agent": known, "name": entry.get("name", known)}
        made.append(entry)
    return made


def _complaints(suite: Suite) -> Iterator[str]:
    """What is wrong with a suite whose fields are all right by themselves."""
    if isinstance(suite.games, str) and suite.games not in GAME_SUITES:
        yield str(UnknownNameError("suite of games", suite.games, GAME_SUITES, hint="Or list games: [pong]."))
    if not suite.games:
        yield "it has no games."
    if suite.preset not in PRESETS:
        yield str(UnknownNameError("preset", suite.preset, PRESETS))
    for agent in suite.agents:
        try:
            get_agent(agent.agent)
        except NoveltreeError as error:
            yield str(error)
        if not is_label(agent.name):
            yield f"{reprlib.repr(agent.name)} cannot name an agent: letters, digits, '.', '_' and '-' can."
    labels = [agent.name.lower() for agent in suite.agents]
    if twice := [label for label in labels if labels.count(label) > 1]:
        yield f"two agents are called {twice[0]!r}; give one of them another `name:`."
    if suite.seeds is not None:
        if suite.trials is not None and suite.trials != len(suite.seeds):
            yield f"it has {suite.trials} trials, but {len(suite.seeds)} seeds."
        if len(set(suite.seeds)) < len(suite.seeds):
            yield "a seed is there twice; its trials would be the same."
        if not all(0 <= seed < 2**64 for seed in suite.seeds):
            yield "a seed is a number from 0 to 2^64 - 1."
    trials = (suite.trials or 1) if suite.seeds is None else len(suite.seeds)
    if len(suite.game_names) * len(suite.agents) * trials > _MOST_TRIALS:
        yield f"it has more than {_MOST_TRIALS:,} trials."
    if suite.training_interactions is not None and not any(get_agent(each.agent).learns for each in suite.agents):
        yield "training_interactions is given, but none of its agents learns."


#: What is expected where something else stands, by the name of pydantic's complaint.
_EXPECTED = {
    "bool_type": "true or false",
    "dict_type": "settings",
    "float_type": "a number",
    "int_from_float": "a whole number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "an agent's name, or its settings",
    "string_type": "a name",
}


def _first_complaint(error: pydantic.ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = [part for part in first["loc"] if part not in ("str", "list[str]")]
    where = ".".join(str(part) for part in place)
    given = "" if isinstance(first["input"], dict | list) else f" {reprlib.repr(first['input'])}"
    match first["type"]:
        case "missing":
            return f"{where} is missing."
        case "extra_forbidden":
            return f"there is no setting {where}{_guess(place)}"
        case kind if kind in _EXPECTED:
            return f"{where}{given}: {_EXPECTED[kind]} is expected."
        case _:
            return f"{where}{given}: {first['msg'].lower()}."


def _guess(place: Sequence[int | str]) -> str:
    model = SuiteAgent if place[0] == "agents" else Conditions if place[0] == "conditions" else Suite
    close = difflib.get_close_matches(str(place[-1]), model.model_fields, n=1)
    return f"; did you mean {close[0]}?" if close else f"; there are {', '.join(model.model_fields)}."
