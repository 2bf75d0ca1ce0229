"""Reading settings and records strictly: what pydantic finds wrong is said in one sentence."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import pydantic
from pydantic import BaseModel

from noveltree.declarations import find, kind_of
from noveltree.errors import InputError, NoveltreeError

_Model = TypeVar("_Model", bound=BaseModel)

_MOST_LISTED = 12
#: What is expected where something else stands, by pydantic's name of the error.
_EXPECTED = {
    "bool_type": "true or false",
    "dict_type": "settings",
    "float_type": "a number",
    "int_from_float": "a whole number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_attributes_type": "settings",
    "model_type": "settings",
    "string_type": "a name",
}


def validated(
    model: type[_Model],
    content: object,
    *,
    where: str = "",
    error: type[NoveltreeError] = InputError,
    called: Callable[[str], str] = str,
) -> _Model:
    """`content` as a `model`; if it is none, raise `error` with one sentence.

    It begins with `where`, and calls what is wrong what `called` makes of its dotted name.
    """
    try:
        return model.model_validate(content)
    except pydantic.ValidationError as found:
        raise error(where + complaint(found, model, called=called)) from found


def with_choices(settings: _Model, choices: Mapping[str, Any], *, called: Callable[[str], str] = str) -> _Model:
    """Settings with some of them chosen otherwise, by name; those of a part are in a mapping of their own."""
    return validated(type(settings), _merged(settings.model_dump(), choices), called=called)


def _merged(content: Any, choices: Any) -> Any:
    if not isinstance(content, dict) or not isinstance(choices, Mapping):
        return choices
    if "kind" in choices and choices["kind"] != content.get("kind"):
        return choices  # another part, with other settings
    return {**content, **{name: _merged(content.get(name), value) for name, value in choices.items()}}


def complaint(
    error: pydantic.ValidationError, model: type[BaseModel] | None = None, *, called: Callable[[str], str] = str
) -> str:
    """The first thing that is wrong. Given the `model`, a setting that does not exist is answered with a guess."""
    first = error.errors(include_url=False)[0]
    # Without the types that pydantic tried.
    place = [step for step in first["loc"] if step not in ("str", "list[str]")]
    declaring, name = find(model, place) if model is not None else (None, ".".join(map(str, place)))
    where = called(name or "value")
    match first["type"]:
        case "missing":
            return f"{where} is missing."
        case "extra_forbidden":
            part = None if declaring is None else kind_of(declaring)
            lacks = f"there is no setting {where}" if part is None else f"{part} has no setting {where}"
            return lacks + _guess(str(place[-1]), declaring)
        case "union_tag_invalid":
            given, expected = first["ctx"]["tag"], f"one of {first['ctx']['expected_tags']} is expected"
        case kind:
            given = first["input"]
            expected = f"{_EXPECTED[kind]} is expected" if kind in _EXPECTED else first["msg"].lower().rstrip(".")
    shown = "" if isinstance(given, dict | list) else f" {reprlib.repr(given)}"
    return f"{where}{shown}: {expected}."


def _guess(name: str, model: type[BaseModel] | None) -> str:
    known = [] if model is None else [each for each in model.model_fields if each != "kind"]
    if close := difflib.get_close_matches(name, known, n=1):
        return f"; did you mean {close[0]}?"
    return f"; there are {', '.join(known)}." if 0 < len(known) <= _MOST_LISTED else "."
