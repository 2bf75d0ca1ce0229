"""What an agent is: a name, and how it is put together from parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from noveltree.agents.settings import Settings
from noveltree.errors import InputError
from noveltree.heuristics import Heuristics
from noveltree.lookahead import POLICY, SELECTIONS, VALUE, ActionSelection, ActionValues, Planner, SafeActions
from noveltree.reading import validated
from noveltree.simulators import Size, State
from noveltree.tree import Node

#: The budget of the paper: interactions per time step.
PAPER_BUDGET = 100


def _best_action(settings: Settings) -> ActionSelection:
    return SELECTIONS[settings.tie_breaking]()


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """A named algorithm."""

    name: str
    summary: str
    """One line for people."""
    novelty: Literal["classic", "depth", "reward", "none"]
    """What decides which nodes are pruned."""
    assemble: Callable[[State, Settings], Planner]
    """Put a planner for one episode together, given the start state and the settings."""
    untrained: Callable[[State, Settings], Planner] | None = None
    """The same for episodes without networks, if its planner cannot do without them."""
    select: Callable[[Settings], ActionSelection] = _best_action
    """How the action to execute is chosen."""
    uses: tuple[str, ...]
    """The settings that make a difference to this agent."""
    defaults: dict[str, Any] = field(default_factory=dict)
    """Settings whose default is another one for this agent."""
    heads: tuple[str, ...] = ()
    """What is learnt for it: the heads that its planner asks for once there are networks."""
    keeps_answers: bool = False
    """Whether cached nodes keep what older networks said of them when the networks change."""
    counts_visits: bool = False
    """Whether the values of its actions are how often these were visited."""
    sets_budget: bool = False
    """Whether its budget follows from what it does, rather than being a condition under which it plays."""
    default_budget: Callable[[int, Settings], int] = lambda actions, settings: PAPER_BUDGET
    """Interactions per time step unless said otherwise, given the number of actions."""

    @property
    def needs_networks(self) -> bool:
        """Whether it cannot play before there are networks: what it asks for is more than a policy and a value."""
        return self.untrained is None and not {POLICY, VALUE}.issuperset(self.heads)

    def settings(self, **chosen: Any) -> Settings:
        """The settings of this agent: what is chosen, and defaults for the rest."""
        for name in chosen:
            if name not in self.uses:
                raise InputError(f"{self.name} has no setting {name!r}; it has {', '.join(self.uses) or 'none'}.")
        return validated(Settings, {**self.defaults, **chosen})

    def planner(self, start: State, settings: Settings, heuristics: Heuristics) -> Planner:
        """The planner for one episode that is driven with these heuristics."""
        if self.untrained is None or all(map(heuristics.answer_for, self.heads)):
            return self.assemble(start, settings)
        return self.untrained(start, settings)

    def considered(self, root: Node, values: ActionValues, settings: Settings) -> ActionValues:
        """The values of those actions of a root that may be chosen; None for those that may not."""
        return SafeActions(settings.safe_steps)(root, values) if settings.safe_steps else values

    def novelty_with(self, settings: Settings) -> Literal["classic", "depth", "reward", "none"]:
        """What decides which nodes are pruned, if that can be chosen."""
        return settings.table if "table" in self.uses else self.novelty

    def small_screen(self, settings: Settings) -> Size | None:
        """The size to which whole screens are to be reduced for this agent; None if it does not look at them so."""
        return settings.tile_size if "tiles" in self.uses else None

    def used(self, settings: Settings) -> dict[str, Any]:
        """Those of `settings` that make a difference to this agent."""
        return {name: getattr(settings, name) for name in self.uses}
