"""The protocol: every setting that a score depends on, as one value with a stable hash.

Scores are comparable when they were obtained under the same conditions. Papers on planning in Atari differ in the
action set, the frame skip, the budget and its unit, and in whether transitions are cached, mostly without saying
so next to their tables. Here the protocol is written into every result.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, SerializeAsAny

from noveltree.agents import PAPER_BUDGET, Agent, RetiredSettings, Settings, call_retired, get_agent, retired_among
from noveltree.declarations import SettingsModel, optional, setting
from noveltree.episodes import Episode, EpisodeChance, Play, drive, episode_rng
from noveltree.errors import InputError, RecordError
from noveltree.features import NEEDS_TILES
from noveltree.learning.settings import LearnerSettings, parse_learning
from noveltree.lookahead import Budget, Interactions, Seconds, frames
from noveltree.protocol.hashing import hash_settings
from noveltree.reading import validated
from noveltree.simulators import (
    Observed,
    Simulator,
    SimulatorKind,
    SimulatorSettings,
    get_kind,
    level_at,
)

#: The settings of any learner.
Learning = Annotated[SerializeAsAny[LearnerSettings], BeforeValidator(parse_learning)]
BudgetUnit = Literal["interactions", "frames", "seconds"]


class _Game(SettingsModel):
    simulator: str = setting("the kind of simulator", role="task")
    game: str = setting("the game, by its canonical name, or the environment's id", role="task")


class _Played(SimulatorSettings, _Game):
    max_frames: int = setting("frames after which an episode is truncated", role="conditions", ge=1, le=10**9)
    budget: float = setting("what may be spent on one decision", role="conditions", gt=0)
    budget_unit: BudgetUnit = setting("the unit of the budget: interactions, frames or seconds", role="conditions")
    agent: str = setting("the algorithm")
    novelty: Literal["classic", "depth", "reward", "none"] = setting("what decides which nodes are pruned")


if TYPE_CHECKING:

    class _Planned(_Played, Settings, RetiredSettings):
        pass

else:
    _Retired = optional("_Retired", RetiredSettings, RetiredSettings.model_fields, base=_Played)
    _Planned = optional("_Planned", Settings, Settings.model_fields, base=_Retired)


class Protocol(_Planned):
    """Every setting that a score depends on.

    Settings of agents are declared in `Settings`. One that the agent does not use is None; so is one that was added
    after the first edition and has its default. Older records may have some of `RetiredSettings`.
    """

    learning: Learning | None = setting("how the agent learns, if it does", default=None)

    simulator_version: str = setting("package and version behind the simulator", role="software")
    rom_md5: str | None = setting("MD5 sum of the game's ROM", role="software", default=None)
    source: str | None = setting(
        "SHA-256 digest of the file with the simulator, if it is your own", role="software", default=None
    )
    noveltree_version: str = setting("version of noveltree", role="software")

    @property
    def hash(self) -> str:
        """Sixteen hexadecimal digits that are the same exactly if all settings are."""
        return hash_settings(self)

    @property
    def simulator_kind(self) -> SimulatorKind:
        """The kind of simulator."""
        return get_kind(self.simulator)

    @property
    def title(self) -> str:
        """What people call the game."""
        return self.simulator_kind.title_of(self.game)

    @property
    def stem(self) -> str:
        """The game, as names of files and directories have it."""
        return self.game.replace("/", "-").replace(":", "-").lstrip(".-")

    @property
    def max_steps(self) -> int:
        """Time steps after which an episode is truncated."""
        return self.max_frames // self.frame_skip

    @property
    def longest_episode(self) -> int:
        """The most interactions that an episode can take, if budgets are of interactions."""
        return self.max_steps * self._interactions_per_decision

    @property
    def training_interactions(self) -> int:
        """Interactions that a trial may spend on training; 0 if there is nothing to train."""
        learning = self.learning
        return 0 if learning is None else learning.training_interactions(self._interactions_per_decision)

    @property
    def _interactions_per_decision(self) -> int:
        """At most; about as many if budgets are by the clock."""
        budget = self.make_budget()
        return budget.limit if isinstance(budget, Interactions) else PAPER_BUDGET

    def settings(self) -> Settings:
        """The agent's settings, without those that are retired."""
        used = {name: getattr(self, name) for name in get_agent(self.agent).uses}
        retired = retired_among(used.items())
        chosen = {name: value for name, value in used.items() if value is not None and name not in retired}
        return validated(Settings, chosen)

    def check_plannable(self) -> None:
        """Raise InputError if the agent was told what it cannot be told any more."""
        if retired := retired_among(self):
            raise InputError(
                f"This was played with {call_retired(retired)}, which noveltree no longer has: its episodes can be "
                "replayed, but nothing can be planned with it any more."
            )

    def make_budget(self) -> Budget:
        if self.budget_unit == "seconds":
            return Seconds(self.budget)
        if not self.budget.is_integer():
            raise InputError(f"A budget of {self.budget:g} {self.budget_unit} is not a whole number.")
        if self.budget_unit == "frames":
            return frames(int(self.budget), frame_skip=self.frame_skip)
        return Interactions(int(self.budget))

    def make_simulator(self) -> Simulator:
        self.simulator_kind.check_import(self.game, self.source)
        settings = SimulatorSettings(**{name: getattr(self, name) for name in SimulatorSettings.model_fields})
        if self.chance is None and self.simulator_kind.foresaw:
            settings = settings.model_copy(update={"chance": "foreseen"})
        observed = observed_by(get_agent(self.agent), self.settings(), self.learning)
        return self.simulator_kind.make(self.game, settings, observed)

    def level_of(self, index: int, *, interval: int = 0, evaluation: bool = False) -> int | None:
        """The level of the episode `index`, of an `interval` of learning or of an evaluation, if there are some."""
        if evaluation and self.evaluation_levels is not None:
            return level_at(self.evaluation_levels, index)
        if self.game_levels is None:
            return None
        return level_at(self.game_levels, index, interval=0 if evaluation else interval)

    def chance_of(self, *, seed: int, index: int, interval: int = 0, evaluation: bool = False) -> EpisodeChance:
        """What is decided for an episode by its place, and not by whoever plays it: its level and its dice."""
        level = self.level_of(index, interval=interval, evaluation=evaluation)
        return EpisodeChance(seed, index, interval, level)

    def make_play(
        self, simulator: Simulator, *, seed: int, index: int, interval: int = 0, evaluation: bool = False
    ) -> Play:
        """Begin the episode `index` of a trial with `seed`, in its `interval` of learning or in an evaluation."""
        self.check_plannable()
        chance = self.chance_of(seed=seed, index=index, interval=interval, evaluation=evaluation)
        return Play(
            simulator,
            get_agent(self.agent),
            settings=self.settings(),
            budget=self.make_budget(),
            rng=episode_rng(seed, index, interval=interval),
            max_steps=self.max_steps,
            start=chance.start(simulator),
            chance=chance,
        )


def observed_by(agent: Agent, settings: Settings, learning: LearnerSettings | None) -> Observed:
    """What has to be observed for an agent with these settings."""
    tiles = NEEDS_TILES.get(settings.features, False) if "features" in agent.uses else False
    return Observed(
        tiles=tiles or (learning is not None and learning.needs_tiles),
        screen=None if learning is None else learning.screen,
        small=agent.small_screen(settings),
    )


def play_episode(protocol: Protocol, *, seed: int = 0, index: int = 0) -> Episode:
    """Play one episode under a protocol, from its start to its end."""
    with contextlib.closing(protocol.make_simulator()) as simulator:
        play = protocol.make_play(simulator, seed=seed, index=index)
        drive([play])
        return play.episode()


def parse_protocol(data: Any) -> Protocol:
    """A protocol from its JSON object, as it stands in a record."""
    protocol = validated(Protocol, data, where="Not a valid protocol: ", error=RecordError)
    try:
        get_kind(protocol.simulator)
    except InputError as error:
        raise RecordError(f"Not a valid protocol: {error}") from error
    return protocol
