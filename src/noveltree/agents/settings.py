"""What can be chosen about an agent: the one place where its settings are declared."""

from __future__ import annotations

from typing import Literal

from pydantic import field_validator

from noveltree.declarations import SettingsModel, setting
from noveltree.errors import UnknownNameError
from noveltree.features import FEATURE_SETS, parse_size
from noveltree.lookahead import TIE_BREAKINGS
from noveltree.simulators import Size

_LARGEST_HORIZON = 30_000  # novelty tables keep depths in 16 bits


class Settings(SettingsModel):
    """The settings of all agents; `Agent.uses` says which of them make a difference to one.

    A default here is what records without the setting were played with; what new protocols have instead is in
    `Agent.defaults`.
    """

    features: str = setting(
        f"the features over which novelty is defined: {', '.join(FEATURE_SETS)}", default="pixels"
    )
    horizon: int = setting(
        "actions below the root that a lookahead may reach", default=100, ge=1, le=_LARGEST_HORIZON
    )
    discount: float = setting("weight of a reward one action later, in the backup", default=1.0, gt=0, le=1)
    reward_weight: float = setting(
        "weight of a reward one action later, in the backup; unlike a discount it leaves termination costs alone",
        default=1.0,
        gt=0,
        le=1,
    )
    rollout_cap: int | None = setting(
        "nodes that one rollout may generate; null: as many as it can", default=None, ge=1
    )
    duplicates: bool = setting(
        "whether an action is left out that has led to the same state as another one elsewhere in the lookahead",
        default=False,
    )
    cache: bool = setting("whether the executed action's subtree is kept", role="conditions", default=True)
    tie_breaking: str = setting(
        f"how one of several equally good actions is chosen: {', '.join(TIE_BREAKINGS)}", default="random"
    )
    rollout_depth: int = setting(
        "length of random rollouts: below the root in uct, below the child in rtdp", default=10, ge=1
    )
    exploration: float = setting("constant of UCB1", default=2.0**0.5, ge=0)
    tiles: str = setting("tiles of a screen, across and down, whose gray is its abstract state", default="8x11")
    levels: int = setting("levels of gray by which tiles are told apart", default=8, ge=2, le=256)
    abstract_width: Literal["n", "1"] = setting(
        "width of the novelty of abstract states: n, over all tiles at once, or 1, over each", default="n"
    )

    @property
    def tile_size(self) -> Size:
        """How many tiles there are across and down."""
        return parse_size(self.tiles)

    @field_validator("tiles")
    @classmethod
    def _check_tiles(cls, tiles: str) -> str:
        parse_size(tiles)
        return tiles

    @field_validator("features")
    @classmethod
    def _check_features(cls, name: str) -> str:
        if name not in FEATURE_SETS:
            raise UnknownNameError("feature set", name, FEATURE_SETS)
        return name

    @field_validator("tie_breaking")
    @classmethod
    def _check_tie_breaking(cls, name: str) -> str:
        if name not in TIE_BREAKINGS:
            raise UnknownNameError("tie-breaking", name, TIE_BREAKINGS)
        return name
