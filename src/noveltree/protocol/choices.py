"""What can be chosen about a protocol: all of it but what follows from the rest."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import TYPE_CHECKING, Any

from noveltree.agents import RetiredSettings, call_retired, retired_among
from noveltree.declarations import SettingsModel, optional
from noveltree.errors import InputError
from noveltree.protocol.protocol import Protocol
from noveltree.reading import validated

#: Settings that follow from the others and from what is installed.
_FOUND_OUT = {"simulator", "novelty", "simulator_version", "rom_md5", "source", "noveltree_version"}


class _Choices(SettingsModel):
    if TYPE_CHECKING:

        def __init__(self, **choices: Any) -> None: ...

        def __getattr__(self, name: str) -> Any: ...

    def given(self, names: Container[str]) -> dict[str, Any]:
        """Those of the settings called `names` that are chosen."""
        return {name: value for name, value in self if value is not None and name in names}

    def over(self, other: Choices) -> Choices:
        """These choices, and those of `other` where nothing is chosen here."""
        everything = type(self).model_fields
        return Choices(**{**other.given(everything), **self.given(everything)})


if TYPE_CHECKING:
    Choices = _Choices
else:
    #: Settings of a protocol; None is not chosen.
    Choices = optional(
        "Choices",
        Protocol,
        [
            name
            for name in Protocol.model_fields
            if name not in (*_FOUND_OUT, *RetiredSettings.model_fields, "game")
        ],
        base=_Choices,
    )


def read_choices(choices: Mapping[str, Any]) -> Choices:
    """Choices by the names of settings; raises InputError for one that does not exist or makes no sense."""
    chosen = {name: value for name, value in choices.items() if value is not None}
    if unknown := chosen.keys() - Protocol.model_fields.keys():
        raise InputError(f"A protocol has no setting {min(unknown)!r}.")
    if retired := retired_among(chosen.items()):
        raise InputError(f"There was {call_retired(retired)}, which noveltree no longer has.")
    if found := chosen.keys() & _FOUND_OUT:
        raise InputError(f"The setting {min(found)!r} follows from the others; it cannot be chosen.")
    if "budget_unit" in chosen and "budget" not in chosen:
        raise InputError("A budget's unit was chosen, but not the budget.")
    return validated(Choices, {name: chosen[name] for name in chosen if name not in RetiredSettings.model_fields})
