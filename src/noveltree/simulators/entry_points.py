"""Simulators that installed packages ship: the entry points of the group `noveltree.simulators`.

The name of an entry point is what people type. Its object is a factory, for which the name then stands as a
reference would, or a `SimulatorKind` of that name. Nothing is imported to list them.
"""

from __future__ import annotations

import importlib.metadata
from typing import Any

from noveltree.errors import InputError
from noveltree.simulators.references import running_foreign_code

GROUP = "noveltree.simulators"


def entry_points() -> dict[str, importlib.metadata.EntryPoint]:
    """The entry points by name."""
    return {point.name: point for point in importlib.metadata.entry_points(group=GROUP)}


def package_of(point: importlib.metadata.EntryPoint) -> str:
    """The package that has an entry point, and its version."""
    return "an installed package" if point.dist is None else f"{point.dist.name} {point.dist.version}"


def load(point: importlib.metadata.EntryPoint) -> Any:
    """Import what an entry point names."""
    what = f"{point.name}, which {package_of(point)} ships, cannot be imported"
    with running_foreign_code(what):
        try:
            return point.load()
        except AttributeError as error:
            raise InputError(f"{what}: {point.value} does not exist.") from error


def refusal(point: importlib.metadata.EntryPoint) -> InputError:
    """Why a simulator that a file names is not imported."""
    return InputError(
        f"The simulator {point.name} is code that is not noveltree's: say --import to import it. It would import "
        f"{point.value}, which {package_of(point)} ships."
    )
