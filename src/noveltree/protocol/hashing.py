"""The hash of a protocol, which never changes once it is in a record.

A setting that is added later is hashed only if its value is not its default, and a default is what records without
the setting were played with. So nothing needs to be done here when a setting, or a part with settings, is added.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from noveltree.declarations import kind_of

#: The settings of the first edition, which are hashed always unless they are None, by the place of their model in
#: the protocol. A part that is chosen among several has its kind after the place. Never to be changed.
FIRST_EDITION: dict[str, tuple[str, ...]] = {
    place: tuple(names.split())
    for place, names in {
        "": "simulator game mode difficulty action_set frame_skip max_frames start sticky_actions budget "
        "budget_unit cache agent novelty features horizon discount tie_breaking rollout_depth exploration learning "
        "simulator_version rom_md5 noveltree_version",
        "learning": "value policy schedule retention evaluation evaluation_episodes",
        "learning.value": "learning_rate batch every batches at_least gradient_norm refresh targets",
        "learning.value.targets=paper": "kind discount",
        "learning.value.targets=lambda-returns": "kind discount lambda_",
        "learning.value.targets=monte-carlo": "kind discount",
        "learning.policy": "learning_rate batch epochs targets",
        "learning.policy.targets=paper": "kind",
        "learning.schedule": "interactions interval wave p_value sides",
        "learning.retention=paper": "kind",
        "learning.retention=latest": "kind transitions",
    }.items()
}


def edition_key(place: str, kind: str | None) -> str:
    """Under which key `FIRST_EDITION` has the settings of a part; records of that time do not name the learner."""
    return place if kind is None or (place, kind) == ("learning", "cpl") else f"{place}={kind}"


def hash_settings(settings: BaseModel) -> str:
    """Sixteen hexadecimal digits that are the same exactly if all settings are."""
    canonical = json.dumps(_hashed(settings, ""), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def _hashed(value: Any, place: str) -> Any:
    """What is hashed of a value, as JSON."""
    if isinstance(value, list | tuple):
        return [_hashed(each, place) for each in value]
    if not isinstance(value, BaseModel):
        return to_jsonable_python(value)
    kind = kind_of(type(value))
    key = edition_key(place, kind)
    first_edition = FIRST_EDITION.get(key, ())
    hashed = {}
    for name, field in type(value).model_fields.items():
        below = f"{place}.{name}".lstrip(".")
        form = _hashed(getattr(value, name), below)
        if name in first_edition:
            left_out = form is None
        else:  # the kind tells a part with all its defaults from another
            default = field.get_default(call_default_factory=True, validated_data={})
            left_out = (
                (name != "kind" or key == place) and not field.is_required() and form == _hashed(default, below)
            )
        if not left_out:
            hashed[name] = form
    return hashed
