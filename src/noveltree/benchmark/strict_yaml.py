"""YAML without surprises: no duplicate keys, no references, and nothing that is made from a tag."""

from __future__ import annotations

import io
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent

from noveltree.errors import InputError


def load_yaml(text: str, *, where: str) -> Any:
    """What a text in YAML 1.2 says; `where` is what an InputError calls it."""
    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            if isinstance(event, AliasEvent):
                raise InputError(f"{where} is not valid YAML: references (*) are not allowed.")
        return YAML(typ="safe", pure=True).load(text)
    except RecursionError as error:
        raise InputError(f"{where} is not valid YAML: it is nested too deeply.") from error
    # Besides its own errors, the parser lets those of Python out: of dates and numbers that are none, mostly.
    except (YAMLError, ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)
        line = ""
        if isinstance(error, MarkedYAMLError) and error.problem_mark is not None:
            line = f" in line {error.problem_mark.line + 1}"
        raise InputError(f"{where} is not valid YAML{line}: {problem.splitlines()[0]}.") from error


def dump_yaml(content: Any) -> str:
    """A text that says this, in the order of the keys."""
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    text = io.StringIO()
    yaml.dump(content, text)
    return text.getvalue()
