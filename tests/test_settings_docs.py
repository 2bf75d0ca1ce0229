"""docs/settings.md is what the declarations say."""

from __future__ import annotations

from pathlib import Path

from noveltree.agents import RetiredSettings, Settings
from noveltree.declarations import parts_of, walk
from noveltree.protocol import Protocol
from settings_table import FILE, settings_page


def test_the_page_of_settings_is_up_to_date() -> None:
    assert FILE.read_text() == settings_page(), "run `python scripts/settings_table.py`"


def test_every_setting_is_on_the_page_with_its_meaning() -> None:
    page = (Path(__file__).parent.parent / "docs" / "settings.md").read_text()
    for name, field, model in walk(Protocol):
        if not model.__module__.startswith("noveltree."):
            continue  # of a learner that another test adds
        if name in RetiredSettings.model_fields:
            continue  # nobody can choose it
        assert field.description, name
        if not parts_of(field.annotation) and not name.endswith(".kind"):
            assert f"`{name}`" in page


def test_settings_of_agents_are_those_of_protocols() -> None:
    for name, field in Settings.model_fields.items():
        assert Protocol.model_fields[name].description == field.description
        assert Protocol.model_fields[name].default is None
