"""Suites: what a benchmark runs, as a small YAML file."""

from __future__ import annotations

import importlib.resources
import re
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noveltree.agents import RetiredSettings, Settings, call_retired, get_agent, retired_among
from noveltree.benchmark.strict_yaml import dump_yaml, load_yaml
from noveltree.declarations import SettingsModel, optional, setting
from noveltree.errors import InputError, NoveltreeError, UnknownNameError
from noveltree.protocol import DEFAULT_PRESET, PRESETS, TRAINING_PRESETS, Protocol
from noveltree.reading import validated
from noveltree.records import disk
from noveltree.simulators import SimulatorSettings
from noveltree.simulators.games import SUITES as GAME_SUITES

#: What a label may look like: it names directories.
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LARGEST_FILE = 1 << 20
MOST_TRIALS = 1_000_000
_MOST_EPISODES = 1_000_000
_MOST_INTERACTIONS = 10**15
#: The settings that all agents of a suite play under.
CONDITIONS = ("budget", "budget_unit", "max_frames", *SimulatorSettings.model_fields)


class _Named(SettingsModel):
    agent: str = setting("the algorithm")
    name: str = setting("what it is called in tables; the agent's name unless said otherwise", default="")


if TYPE_CHECKING:
    Conditions = SettingsModel
    _Chosen = _Named
else:
    #: The conditions under which all agents of a suite play; None is the preset's.
    Conditions = optional("Conditions", Protocol, CONDITIONS, base=SettingsModel)
    _Retired = optional("_Retired", RetiredSettings, RetiredSettings.model_fields, base=_Named)
    _Chosen = optional("_Chosen", Settings, Settings.model_fields, base=_Retired)


class SuiteAgent(_Chosen):
    """An agent of a suite and its settings; None is the preset's or the agent's own."""

    training: str | None = setting("how it is trained: a preset of training, such as junyent-2021", default=None)
    learning: dict[str, Any] | None = setting("settings of learning, as they stand in a protocol", default=None)

    def settings(self) -> dict[str, Any]:
        """The agent's settings that are chosen, without those that it cannot be told any more."""
        chosen = {name: value for name, value in self if name in Settings.model_fields and value is not None}
        return {name: value for name, value in chosen.items() if name not in self.retired}

    @property
    def retired(self) -> dict[str, Any]:
        """What it cannot be told any more."""
        return retired_among(self)


class Suite(SettingsModel):
    """Games x agents x trials, and how they are played."""

    name: str = setting("what the benchmark is called")
    games: list[str] | str = setting("games, or the name of a suite of games", role="task")
    agents: list[SuiteAgent] = setting("agents, each by its name or with settings", min_length=1)
    preset: str = setting("the experimental settings of a paper", default=DEFAULT_PRESET)
    trials: int | None = setting("trials per game and agent", default=None, ge=1, le=MOST_TRIALS)
    seeds: list[int] | None = setting("one per trial, if not 0, 1, 2, ...", default=None, min_length=1)
    training_interactions: int | None = setting(
        "the training budget of agents that learn", default=None, ge=1, le=_MOST_INTERACTIONS
    )
    evaluation_episodes: int = setting("episodes per trial that count", default=10, ge=1, le=_MOST_EPISODES)
    conditions: Conditions = setting("what all agents play under, if not the preset's", default=Conditions())

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
        conditions: Mapping[str, Any] | None = None,
    ) -> Suite:
        """This suite with other games, some of its agents, other numbers of trials or episodes or conditions."""
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
            if not _train(agent["agent"] for agent in content["agents"]):
                content.pop("training_interactions", None)
        if trials is not None:
            if self.seeds is not None and trials > len(self.seeds):
                raise InputError(f"The suite has {len(self.seeds)} seeds, too few for {trials} trials.")
            content["trials"] = trials
            if self.seeds is not None:
                content["seeds"] = self.seeds[:trials]
        if episodes is not None:
            content["evaluation_episodes"] = episodes
        if conditions:
            content["conditions"] = {**content.get("conditions", {}), **conditions}
        return _checked(content, where=f"The suite {self.name}")

    def to_yaml(self) -> str:
        """The suite as a file that reads as the same suite."""
        return dump_yaml(self.model_dump(exclude_defaults=True))


def is_label(name: str) -> bool:
    """Whether an agent may be called so."""
    return _LABEL.fullmatch(name) is not None


def shipped_suites() -> dict[str, str]:
    """The suites that come with noveltree: their name and their text."""
    folder = importlib.resources.files("noveltree.benchmark").joinpath("suites")
    texts = {entry.name.removesuffix(".yaml"): entry.read_text() for entry in folder.iterdir()}
    return dict(sorted(texts.items()))


def read_suite(name_or_path: str) -> Suite:
    """A suite to be planned, by the name of a shipped one, or from a file."""
    shipped = shipped_suites()
    if name_or_path in shipped:
        return parse_suite(shipped[name_or_path], where=f"The suite {name_or_path}")
    path = Path(name_or_path)
    if not path.is_file():
        if "/" in name_or_path or path.suffix in (".yaml", ".yml"):
            raise InputError(f"There is no suite {name_or_path}; `noveltree benchmark init` writes one.")
        raise UnknownNameError("suite", name_or_path, shipped, hint="Or give the path of a YAML file.")
    suite = read_suite_file(path)
    # Not of every suite that is read: those of benchmarks that were run are taken as they are.
    for complaint in (*_lacks(suite), *_doubts(suite)):
        raise InputError(f"{path}: {complaint}")
    return suite


def read_suite_file(path: Path) -> Suite:
    """A suite from a file."""
    try:
        data = disk.read(path, most=_LARGEST_FILE)
        if len(data) > _LARGEST_FILE:
            raise InputError(f"{path} is too large to be a suite.")
        return parse_suite(data.decode(), where=str(path))
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not text.") from error


def parse_suite(text: str, *, where: str = "The suite") -> Suite:
    """A suite from its text; `where` is what an InputError calls it."""
    content = load_yaml(text, where=where)
    if not isinstance(content, dict):
        raise InputError(f"{where} is not a suite: it has no `games:` and `agents:`.")
    return _checked(content, where=where)


def _checked(content: dict[Any, Any], *, where: str) -> Suite:
    if "agents" in content:
        content = {**content, "agents": _spelled_out(content["agents"])}
    suite = validated(Suite, content, where=f"{where}: ")
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


def _train(agents: Iterable[str]) -> bool:
    """Whether any of these agents has something to train."""
    return any(get_agent(agent).heads for agent in agents)


def _complaints(suite: Suite) -> Iterator[str]:
    """What is wrong with a suite whose fields are all right by themselves."""
    if isinstance(suite.games, str) and suite.games not in GAME_SUITES:
        yield str(UnknownNameError("suite of games", suite.games, GAME_SUITES, hint="Or list games: [pong]."))
    if not suite.games:
        yield "it has no games."
    if suite.preset not in PRESETS and suite.preset in TRAINING_PRESETS:
        yield f"{suite.preset} is a preset of training: give agents that learn `training: {suite.preset}`."
    elif suite.preset not in PRESETS:
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
    if len(suite.game_names) * len(suite.agents) * trials > MOST_TRIALS:
        yield f"it has more than {MOST_TRIALS:,} trials."
    if suite.training_interactions is not None and not _train(agent.agent for agent in suite.agents):
        yield "training_interactions is given, but none of its agents learns."


def _lacks(suite: Suite) -> Iterator[str]:
    """What a suite asks for and is gone."""
    for agent in suite.agents:
        if agent.retired:
            yield f"{agent.name} has {call_retired(agent.retired)}, which noveltree no longer has."


def _doubts(suite: Suite) -> Iterator[str]:
    """What a suite does not say that it seems to say: that its preset is also how agents are trained."""
    if (training := TRAINING_PRESETS.get(suite.preset)) is None:
        return
    for agent in suite.agents:
        learns_by_it = _train([agent.agent]) and agent.agent in (training.agents or (agent.agent,))
        if learns_by_it and agent.training is None:
            yield (
                f"the preset {suite.preset} says how {agent.name} plays, not how it learns; give it `training: "
                f"{suite.preset}`, or `training: paper` for its defaults."
            )
