"""What agents could be told once and cannot any more, because it did not earn its place.

Episodes that were played so can be read, replayed and verified like all others; they cannot be planned again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from noveltree.declarations import SettingsModel, setting

_TIES = ("fresh-subtree", "fresh-if-idle")


class RetiredSettings(SettingsModel):
    """Settings that only records have, with what stood for not being chosen."""

    rollout_cap: int | None = setting("nodes that one rollout could generate", default=None, ge=1)
    price_of_life: float = setting(
        "what the loss of a life cost where lookaheads ended there: so many times what an action of the lookahead "
        "paid in the mean",
        default=0.0,
        ge=0.0,
    )
    leaf_values: Literal["best", "mean"] = setting(
        "whether what a leaf was worth was part of the best way below an action, or whether the mean of all leaves "
        "below it was added to the best sum of rewards there",
        default="best",
    )


def retired_among(chosen: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Those of some settings that agents cannot be told any more."""
    fields = RetiredSettings.model_fields
    return {
        name: value
        for name, value in chosen
        if (name in fields and value not in (None, fields[name].default))
        or (name == "tie_breaking" and value in _TIES)
    }


def call_retired(retired: Mapping[str, Any]) -> str:
    """What such settings are called: as they stand in files."""
    return " and ".join(f"`{name}: {value}`" for name, value in retired.items())
