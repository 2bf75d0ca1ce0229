"""Comparing protocols: in which settings two differ, and what that means for their scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from noveltree.agents import Settings
from noveltree.declarations import Role, role_of, walk
from noveltree.protocol.protocol import Protocol


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
    "chance": (False, "one of them foresaw what chance would bring"),
    "rom_md5": (False, "another ROM is another game"),
    "learning.schedule.interactions": (False, "one of the agents learnt for longer"),
}
_ROLES = {name: role_of(field) for name, field, _ in walk(Protocol)}


def flat_settings(protocol: Protocol) -> dict[str, Any]:
    """All settings by name; those of learning as `learning.value.batch` and so on."""
    return dict(_flatten(protocol))


def _flatten(settings: BaseModel, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in settings:
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
    return [Difference(name, a, b, *_meaning(name, a, b)) for name, a, b in _differing(first, second)]


def _differing(first: BaseModel, second: BaseModel, prefix: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The settings that differ, and both values; a part that one of them does not have is one difference."""
    values, others = dict(first), dict(second)
    for name in values | others:
        a, b = values.get(name), others.get(name)
        if isinstance(a, BaseModel) and isinstance(b, BaseModel):
            yield from _differing(a, b, f"{prefix}{name}.")
        elif a != b:
            yield prefix + name, _shown(a), _shown(b)


def _shown(value: Any) -> Any:
    return "chosen" if isinstance(value, BaseModel) else value


def _meaning(name: str, first: Any, second: Any) -> tuple[bool, str]:
    """Whether scores are comparable in spite of a difference, and why."""
    if name in Settings.model_fields and None in (first, second):
        return True, "one of the agents has no such setting"
    if name == "chance" and {first, second} in ({None, "none"}, {None, "foreseen"}):
        return True, "older records do not say so"
    return _SPECIAL_REASONS.get(name) or _REASONS[_ROLES[name]]
