"""What can be chosen about an agent."""

from __future__ import annotations

from dataclasses import dataclass

from noveltree.errors import InputError, UnknownNameError
from noveltree.features import FEATURE_SETS
from noveltree.lookahead import TIE_BREAKINGS

_LARGEST_HORIZON = 30_000  # novelty tables keep depths in 16 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of all agents; `Agent.uses` says which of them make a difference to one."""

    features: str = "pixels"
    """The feature set over which novelty is defined."""
    horizon: int = 100
    """How many actions below the root a lookahead may reach."""
    discount: float = 1.0
    """The weight of a reward one action later, in the backup."""
    cache: bool = True
    """Whether the subtree of the executed action is kept."""
    tie_breaking: str = "random"
    """How one of several equally good actions is chosen."""
    rollout_depth: int = 10
    """How far random rollouts reach: below the root in UCT, below the child in RTDP."""
    exploration: float = 2.0**0.5
    """The constant of UCB1."""

    def __post_init__(self) -> None:
        if self.features not in FEATURE_SETS:
            raise UnknownNameError("feature set", self.features, FEATURE_SETS)
        if self.tie_breaking not in TIE_BREAKINGS:
            raise UnknownNameError("tie-breaking", self.tie_breaking, TIE_BREAKINGS)
        if not 1 <= self.horizon <= _LARGEST_HORIZON:
            raise InputError(f"The horizon must be 1 to {_LARGEST_HORIZON:,}, not {self.horizon}.")
        if not 0.0 < self.discount <= 1.0:
            raise InputError(f"The discount must be above 0 and at most 1, not {self.discount:g}.")
        if self.rollout_depth < 1:
            raise InputError(f"The rollout depth must be at least 1, not {self.rollout_depth}.")
        if not self.exploration >= 0.0:
            raise InputError(f"The exploration constant must not be negative, not {self.exploration:g}.")
