"""Options that are made from the declarations of settings."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from types import NoneType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import typer
from pydantic.fields import FieldInfo

from noveltree.agents import AGENTS, Settings, get_agent
from noveltree.declarations import has_shortcut, kind_of, option_of, parts_of, role_of, walk
from noveltree.errors import InputError
from noveltree.learning.settings import LearnerSettings
from noveltree.protocol import Protocol, make_protocol, training_by
from noveltree.reading import with_choices
from noveltree.simulators import Options, SimulatorSettings

_Command = TypeVar("_Command", bound=Callable[..., None])
_PANELS = {"task": "Conditions", "conditions": "Conditions", "method": "Planning"}
_PART = "learning."

#: Settings of a protocol that have options of their own.
CONDITIONS = ("max_frames", *SimulatorSettings.model_fields)
PLANNING = tuple(Settings.model_fields)
_LEARNING = {name: field for part in reversed(parts_of(LearnerSettings)) for name, field, _ in walk(part)}
#: The settings of learning that have options of their own, by what the option's parameter is called.
_SHORTCUTS = {
    option_of(name, field)[2:].replace("-", "_"): name for name, field in _LEARNING.items() if has_shortcut(field)
}


def takes(options: Mapping[str, Any]) -> Callable[[_Command], _Command]:
    """Give a command these options in the place of its `**choices`, in which it finds them."""

    def give(command: _Command) -> _Command:
        signature = inspect.signature(command, eval_str=True)
        *own, _ = signature.parameters.values()
        made = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for name, annotation in options.items()
        ]
        command.__signature__ = signature.replace(parameters=[*own, *made])  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in (*own, *made)} | {"return": None}
        return command

    return give


def protocol_options(names: Iterable[str], *, default: str | None = None) -> dict[str, Any]:
    """An option for each of these settings of a protocol; `default` says what holds without it."""
    return {
        name: _option(name, field, default or _usual(name), panel=_PANELS[role_of(field)])
        for name in names
        if (field := Protocol.model_fields[name])
    }


def learning_options() -> dict[str, Any]:
    """An option for each setting of learning that has one."""
    options = {}
    for parameter, name in _SHORTCUTS.items():
        field = _LEARNING[name]
        default = getattr(field.default, "kind", field.default)
        options[parameter] = _option(parameter, field, str(default), panel="Learning")
    return options


def chosen_learning(agent: str, preset: str, choices: Mapping[str, Any], more: Iterable[str]) -> LearnerSettings:
    """How an agent learns, given a preset, what is chosen by options, and `more` as `learning.value.batch=64`."""
    usual, _ = training_by(preset, get_agent(agent))
    tree: dict[str, Any] = {}
    for parameter, name in _SHORTCUTS.items():
        if choices[parameter] is not None:
            _put(tree, name, choices[parameter])
    for text in more:
        name, equals, value = text.partition("=")
        if not equals or not name.startswith(_PART):
            raise InputError(f"--set takes a setting of learning, such as learning.value.batch=64, not {text!r}.")
        _put(tree, name.removeprefix(_PART), _parsed(value))
    options = {name: option_of(name, _LEARNING[name]) for name in _SHORTCUTS.values()}
    for parameter, name in _SHORTCUTS.items():
        if choices[parameter] is not None and name.partition(".")[0] not in type(usual).model_fields:
            raise InputError(
                f"{options[name]} is not for {agent}, which learns otherwise; `--set learning.NAME=VALUE` takes "
                "what it has, and docs/settings.md lists that."
            )
    return with_choices(usual, tree, called=lambda name: options.get(name, _PART + name))


def choices_of(option: str) -> tuple[str, ...]:
    """The names that may be typed behind an option of planning, if it is a choice among some."""
    for name, field in Settings.model_fields.items():
        if option_of(name, field) == option and get_origin(field.annotation) is Literal:
            return get_args(field.annotation)
    return ()


def _option(name: str, field: FieldInfo, default: str, *, panel: str) -> Any:
    kinds = [kind for part in parts_of(field.annotation) if (kind := kind_of(part))]
    description = ": ".join([field.description or "", *([", ".join(kinds)] if kinds else [])])
    option, of_type = option_of(name, field), _type(field.annotation)
    if Options in (field.annotation, *get_args(field.annotation)):
        made = typer.Option(
            option,
            metavar="NAME=VALUE",
            help=f"{description[:1].upper()}{description[1:]}. May be repeated.",
            show_default=default,
            rich_help_panel=panel,
        )
        return Annotated[list[str] | None, made]
    # Both bounds, so that what is said of a value beyond them names the option and not the setting.
    least, most = (
        next((getattr(bound, name) for bound in field.metadata if hasattr(bound, name)), None)
        for name in ("ge", "le")
    )
    made = typer.Option(
        f"{option}/--no-{option[2:]}" if of_type is bool else option,
        help=f"{description[:1].upper()}{description[1:]}.",
        show_default=default,
        rich_help_panel=panel,
        min=least,
        max=most,
    )
    return Annotated[of_type | None, made]


def _type(annotation: Any) -> type:
    """What is typed for a setting: a number or a flag, or the name of a choice or of a part."""
    if get_origin(annotation) is Literal:
        return str
    if alternatives := [each for each in get_args(annotation) if each is not NoneType]:
        return _type(alternatives[0])
    return annotation if annotation in (bool, int, float) else str


def _usual(name: str) -> str:
    """What a setting is in Atari games, and what it is for agents that have another default."""
    if name not in Settings.model_fields:
        usual = getattr(make_protocol("breakout"), name)
        return "the game's" if usual is None else str(usual)
    usual = Settings.model_fields[name].default
    others = {agent.name: agent.defaults.get(name, usual) for agent in AGENTS.values()}
    own = [f"{agent}: {_shown(value)}" for agent, value in others.items() if value != usual]
    return "; ".join([_shown(usual), *own])


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value).lower()


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _put(tree: dict[str, Any], name: str, value: Any) -> None:
    """Choose a setting within others by its dotted name; a part is chosen by its kind."""
    if name in _LEARNING and isinstance(value, str) and any(map(kind_of, parts_of(_LEARNING[name].annotation))):
        name += ".kind"
    *parents, last = name.split(".")
    for parent in parents:
        tree = tree.setdefault(parent, {})
        if not isinstance(tree, dict):
            raise InputError(f"{_PART}{name} is chosen within something else that is chosen.")
    if last in tree:
        raise InputError(f"{_PART}{name} is chosen twice.")
    tree[last] = value
