"""What several commands share: what must be installed, and where workers are."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Annotated

import typer

from noveltree.errors import InputError
from noveltree.simulators import allow_import
from noveltree.wording import installing

#: What a protocol says of planners that foresee chance, and what is said of their scores.
FORESEEN = "foreseen"
CLAIRVOYANT = "This is a clairvoyant's score: what chance would bring was foreseen."
#: What the extra `learn` installs.
_PACKAGES = ("torch", "onnx", "onnxruntime", "safetensors")


def _allow(wanted: bool) -> bool:
    if wanted:
        allow_import()
    return wanted


#: Of commands that read what others may have written.
Import = Annotated[
    bool,
    typer.Option(
        "--import",
        callback=_allow,
        help="Import simulators that are not noveltree's: code which the files name, and which may do anything.",
    ),
]


def need_extra(what: str, packages: Sequence[str] = _PACKAGES, *, extra: str = "learn") -> None:
    """Raise InputError if something needs packages that are not installed, and say how to get them."""
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    if missing:
        raise InputError(
            f"{what} needs {', '.join(missing)}, which the extra {extra!r} installs: {installing(extra)}."
        )


def check_executor(executor: str, address: str | None) -> None:
    """Raise InputError if an executor is not known or not installed."""
    if executor not in ("local", "ray"):
        raise InputError(f"The executor is local or ray, not {executor!r}.")
    if executor == "local" and address is not None:
        raise InputError("An address is that of a Ray cluster; add --executor ray.")
    if executor == "ray":
        need_extra("Running on a Ray cluster", ("ray",), extra="ray")


def apart_from_results(executor: str) -> AbstractContextManager[object]:
    """Keep what Ray prints to standard output apart from results."""
    return contextlib.redirect_stdout(sys.stderr) if executor == "ray" else contextlib.nullcontext()
