"""What the commands for learning share."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

from noveltree.errors import InputError

#: What the extra `learn` installs.
_PACKAGES = ("torch", "onnx", "onnxruntime", "safetensors", "scipy")


def need_learn_extra(what: str, packages: Sequence[str] = _PACKAGES, *, extra: str = "learn") -> None:
    """Complain if something needs packages that are not installed, and say how to get them."""
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    if missing:
        raise InputError(
            f"{what} needs {', '.join(missing)}, which the extra {extra!r} installs: "
            f"pip install --constraint constraints.txt 'noveltree[{extra}]'."
        )
