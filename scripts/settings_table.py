"""Write docs/settings.md: every setting, from its declaration.

python scripts/settings_table.py
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from noveltree.agents import AGENTS, RetiredSettings, Settings
from noveltree.benchmark.suite import Suite
from noveltree.cli.options import CONDITIONS, PLANNING
from noveltree.declarations import has_shortcut, kind_of, option_of, parts_of, role_of, walk
from noveltree.learning.settings import LearnerSettings
from noveltree.protocol import Protocol
from noveltree.protocol.learners import DEFAULT_LEARNING

FILE = Path(__file__).parent.parent / "docs" / "settings.md"
_COLUMNS = ("setting", "default", "option", "role", "meaning")
_INTRODUCTION = """\
# Settings

Every setting that a score depends on, and what suites are made of. `python scripts/settings_table.py` writes this
page from the declarations in the code, from which the options of the command line are made too.

A setting's role says what a difference means: scores are not comparable if the task or the conditions differ; they
are if the method or the software does. The default is what records without the setting were played with.
"""
_LEARNING = """
## Of learning

`noveltree train` takes all of them, as in `--set learning.value.batch=64`. Parts of which one is chosen by its kind
have settings of their own, which are listed with the kind.
"""
_SUITE = """
## Of a suite

`agents` also take the settings of agents, and `learning`; `conditions` are settings of the task and the conditions.
"""


def settings_page() -> str:
    """The page, as Markdown."""
    options = {*CONDITIONS, *PLANNING, "agent", "budget"}
    of_protocol = [
        _row(name, _default_of(name, field), field, option=name in options)
        for name, field in Protocol.model_fields.items()
        if name not in RetiredSettings.model_fields and not parts_of(field.annotation)
    ]
    of_suite = [
        [f"`{name}`", _default(field), str(field.description)] for name, field in Suite.model_fields.items()
    ]
    parts = [
        *(_INTRODUCTION, "## Of a protocol\n", _table(_COLUMNS, of_protocol)),
        *(_LEARNING, _table(_COLUMNS, _of_learning())),
        *(_SUITE, _table(("setting", "default", "meaning"), of_suite), ""),
    ]
    return "\n".join(parts)


def _of_learning() -> list[list[str]]:
    """The settings that all learners have, and then those of each."""
    learners = [each for each in parts_of(LearnerSettings) if each.__module__.startswith("noveltree.")]
    rows: dict[tuple[str, str | None], list[str]] = {}
    for learner in learners:
        for name, field, model in walk(learner):
            if (parts_of(field.annotation) and not _has_kinds(field)) or name.rpartition(".")[2] == "kind":
                continue
            everybodys = name in LearnerSettings.model_fields
            of = None if everybodys else kind_of(model)
            default = _default_of_learners(name, field, of)
            row = _row(f"learning.{name}", default, field, option=has_shortcut(field), of=of)
            rows.setdefault((name, of), row)
    shared = [row for (name, _), row in rows.items() if name.partition(".")[0] in LearnerSettings.model_fields]
    return shared + [row for row in rows.values() if row not in shared]


def _has_kinds(field: FieldInfo) -> bool:
    """Whether the setting is which of several parts is chosen."""
    return any(map(kind_of, parts_of(field.annotation)))


def _row(name: str, default: str, field: FieldInfo, *, option: bool = False, of: str | None = None) -> list[str]:
    shown = f"`{name}`" if of is None else f"`{name}` ({of})"
    kinds = ", ".join(kind for part in parts_of(field.annotation) if (kind := kind_of(part)))
    meaning = f"{field.description}: {kinds}" if kinds else str(field.description)
    called = f"`{option_of(name, field)}`" if option else ""
    return [shown, default, called, role_of(field), meaning]


def _default_of(name: str, field: FieldInfo) -> str:
    """The default of a setting of a protocol; of agents that have another one, that too."""
    if name not in Settings.model_fields:
        return _default(field)
    usual = Settings.model_fields[name].default
    own = {agent.name: agent.defaults[name] for agent in AGENTS.values() if name in agent.defaults}
    others = (f"{agent}: {_shown(value)}" for agent, value in own.items() if value != usual)
    return "; ".join([_shown(usual) or "none", *others] if own else [_shown(usual)])


def _default_of_learners(name: str, field: FieldInfo, of: str | None) -> str:
    """The default of a setting of learning; of agents that have another one, that too."""
    agents: dict[str, list[str]] = {}
    for agent, learning in DEFAULT_LEARNING.items():
        part: object = learning
        *parents, last = name.split(".")
        for parent in parents:
            part = getattr(part, parent, None)
        has_it = isinstance(part, BaseModel) and last in type(part).model_fields
        if has_it and of in (None, kind_of(type(part)), kind_of(type(learning))):  # type: ignore[arg-type]
            value = getattr(part, last)
            shown = _shown(getattr(value, "kind", value))
            if shown != _default(field):
                agents.setdefault(shown or "none", []).append(agent)
    own = [f"{', '.join(names)}: {value}" for value, names in agents.items()]
    return "; ".join([_default(field) or "none", *own] if own else [_default(field)])


def _default(field: FieldInfo) -> str:
    return "" if field.is_required() else _shown(getattr(field.default, "kind", field.default))


def _shown(value: object) -> str:
    if isinstance(value, float | int) and not isinstance(value, bool):
        return f"{value:,.6g}" if isinstance(value, float) else f"{value:,}"
    return "" if value is None or not str(value) or "=" in str(value) else str(value).lower()


def _table(columns: Sequence[str], rows: Iterable[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    FILE.write_text(settings_page())
