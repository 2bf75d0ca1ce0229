"""Options of simulators: what a factory, or `gymnasium.make`, is called with besides the game."""

from __future__ import annotations

import inspect
import json
import math
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin

import pydantic
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from noveltree.errors import InputError, UnknownNameError

#: What an option may be: what JSON has besides lists and objects.
Scalar = bool | int | float | str | None

_WORDS: dict[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    types.NoneType: "null",
    None: "null",
}
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Options(tuple[tuple[str, Scalar], ...]):
    """Options by name, sorted. They never change, and `1`, `1.0` and `true` are three values."""

    __slots__ = ()

    def __new__(cls, options: Mapping[str, Scalar] | None = None) -> Options:
        return super().__new__(cls, sorted((options or {}).items()))

    def to_dict(self) -> dict[str, Scalar]:
        return dict(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Options) and repr(self) == repr(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(repr(self))

    def __str__(self) -> str:
        return ", ".join(f"{name}={_shown(value)}" for name, value in self) or "none"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            read_options, serialization=core_schema.plain_serializer_function_ser_schema(cls.to_dict)
        )


def read_options(given: object) -> Options:
    """Options from an object of JSON, or from texts such as `size=9`."""
    if isinstance(given, Options):
        return given
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        given = _parsed(given)
    if not isinstance(given, Mapping):
        raise _complaint("options are given by their names, such as {size: 9}")
    for name, value in given.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise _complaint(f"the name of an option has letters, digits and underscores, unlike {name!r}")
        if not isinstance(value, Scalar) or (isinstance(value, float) and not math.isfinite(value)):
            raise _complaint(f"{name} is a number, a text, true, false or null, not {value!r}")
    return Options(given)


def _parsed(texts: Sequence[object]) -> dict[str, object]:
    made: dict[str, object] = {}
    for text in texts:
        name, equals, value = str(text).partition("=")
        if not equals:
            raise _complaint(f"an option is given as name=value, not {text!r}")
        if name in made:
            raise _complaint(f"{name} is given twice")
        made[name] = _value(value)
    return made


def _value(text: str) -> object:
    """`false`, `7`, `0.5`, `null` and `"7"` as JSON has them; anything else is a text as it stands."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(value, list | dict) else value


def _shown(value: Scalar) -> str:
    """A value as `_value` reads it."""
    return value if isinstance(value, str) and _value(value) == value else json.dumps(value)


def _complaint(sentence: str) -> PydanticCustomError:
    return PydanticCustomError("options", "{sentence}", {"sentence": sentence})


def fitting(
    factory: Callable[..., Any], options: Options, *, whose: str, beside: Collection[str] = ()
) -> dict[str, Scalar]:
    """What a factory is called with to have these options: a whole number is made a float where one is expected.

    Raises InputError if it cannot be called with them, as far as its signature tells. What is called `beside` is
    given to it in another way.
    """
    given = options.to_dict()
    try:
        signature = inspect.signature(factory, eval_str=True)
    except NameError:  # an annotation that exists for type checkers only
        signature = inspect.signature(factory)
    except (ValueError, TypeError):
        return given
    parameters = signature.parameters.values()
    named = {parameter.name: parameter for parameter in parameters if parameter.kind in _NAMED}
    takes_all = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)
    for name, value in options:
        if name in named:
            given[name] = _typed(name, value, _annotation(named[name]), whose)
        elif not takes_all:
            raise _unknown(name, named, whose)
    for parameter in parameters:
        needed = parameter.default is inspect.Parameter.empty and parameter.name not in {*given, *beside}
        if needed and parameter.kind in _NAMED:
            raise InputError(
                f"{whose} cannot be made without {parameter.name}: say --option {parameter.name}=VALUE, or give it "
                "a default."
            )
        if needed and parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            raise InputError(f"{whose} takes {parameter.name} by position only, but options have names.")
    return given


def _unknown(name: str, known: Mapping[str, object], whose: str) -> InputError:
    if known:
        return UnknownNameError(f"option of {whose}", name, known)
    return InputError(f"{whose} has no options, so it has no {name!r}.")


def _annotation(parameter: inspect.Parameter) -> Any:
    """What a parameter is said to be; one that is not, and is true or false by default, is one of these."""
    untold = parameter.annotation is inspect.Parameter.empty and isinstance(parameter.default, bool)
    return bool if untold else parameter.annotation


def _typed(name: str, value: Scalar, annotation: Any, whose: str) -> Scalar:
    if not _is_plain(annotation):
        return value  # what else a factory makes of a text or a number is its own business
    try:
        typed: Scalar = pydantic.TypeAdapter(annotation).validate_python(value, strict=True)
        return typed
    except pydantic.ValidationError as error:
        quoted = f" Write {name}='\"{value}\"' for the text." if str in _alternatives(annotation) else ""
        raise InputError(
            f"The option {name} of {whose} is {_in_words(annotation)}, not {_shown(value)}.{quoted}"
        ) from error


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)


def _is_plain(annotation: Any) -> bool:
    """Whether an annotation says that something is a scalar, or one of a few."""
    return all(each in _WORDS or get_origin(each) is Literal for each in _alternatives(annotation))


def _in_words(annotation: Any) -> str:
    words = []
    for each in _alternatives(annotation):
        words += [json.dumps(value) for value in get_args(each)] if get_origin(each) is Literal else [_WORDS[each]]
    return " or ".join(words)
