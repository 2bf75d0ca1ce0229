"""How a setting is declared: once, with its type, default, constraint, meaning and role.

Protocols, suites, the options of the command line and docs/settings.md are derived from such declarations.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo

Role = Literal["task", "conditions", "method", "software"]


class SettingsModel(BaseModel):
    """Settings that belong together. They are read strictly and never change."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def setting(description: str, *, role: Role = "method", option: str = "", **field: Any) -> Any:
    """Declare a setting of a `SettingsModel`.

    A default is what records without this setting were played with. `option` is what the command line calls it,
    unless it has the setting's own name; `field` is what pydantic's Field takes.
    """
    return Field(description=description, json_schema_extra={"role": role, "option": option}, **field)


def role_of(field: FieldInfo) -> Role:
    """What a difference in this setting means for scores."""
    role: Role = _extra(field, "role") or "method"
    return role


def option_of(name: str, field: FieldInfo) -> str:
    """What the command line calls a setting: `rollout_depth` is `--rollout-depth`."""
    return f"--{_extra(field, 'option') or name.replace('_', '-')}"


def has_shortcut(field: FieldInfo) -> bool:
    """Whether a setting within others has an option of its own."""
    return bool(_extra(field, "option"))


def _extra(field: FieldInfo, key: str) -> Any:
    return field.json_schema_extra.get(key) if isinstance(field.json_schema_extra, dict) else None


def optional(
    name: str, model: type[BaseModel], names: Iterable[str], *, base: type[SettingsModel]
) -> type[SettingsModel]:
    """`base` with the settings of `model` called `names`, each of which may be None, its default."""
    fields: dict[str, Any] = {}
    for each in names:
        field = model.model_fields[each]
        annotation: Any = field.annotation
        fields[each] = (
            Annotated[(annotation | None, *field.metadata)] if field.metadata else annotation | None,
            Field(default=None, description=field.description, json_schema_extra=field.json_schema_extra),
        )
    made: type[SettingsModel] = create_model(name, __base__=base, __module__=base.__module__, **fields)
    return made


def parts_of(annotation: Any) -> list[type[BaseModel]]:
    """The models that a value of this type may be an instance of; more than one if it is a part to be chosen.

    A model that is abstract stands for those that derive from it.
    """
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if inspect.isabstract(annotation):
            return [part for derived in annotation.__subclasses__() for part in parts_of(derived)]
        return [annotation]
    return [part for argument in get_args(annotation) for part in parts_of(argument)]


def kind_of(part: type[BaseModel]) -> str | None:
    """The name of a part among those that can be chosen instead of it."""
    field = part.model_fields.get("kind")
    return None if field is None else str(get_args(field.annotation)[0])


def walk(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo, type[BaseModel]]]:
    """Every setting below a model by its dotted name, with its declaration and the model that declares it.

    The settings of parts that exclude each other follow one another.
    """
    for name, field in model.model_fields.items():
        yield prefix + name, field, model
        for part in parts_of(field.annotation):
            yield from walk(part, f"{prefix}{name}.")


def find(model: type[BaseModel], place: Sequence[int | str]) -> tuple[type[BaseModel], str]:
    """The model that declares what is at `place`, where pydantic says that something is wrong; and the dotted name.

    The place also has the kinds of parts that were chosen on the way, which nobody writes in a name.
    """
    parts, declaring, names = [model], model, []
    for step in place:
        if having := [part for part in parts if step in part.model_fields]:
            declaring = having[0]
            inside = [each for part in having for each in parts_of(part.model_fields[str(step)].annotation)]
            parts = inside or parts
        elif chosen := [part for part in parts if kind_of(part) == step]:
            parts = chosen
            continue
        else:  # a setting that does not exist, or an item of a list
            declaring = parts[0]
        names.append(str(step))
    return declaring, ".".join(names)
