"""Run command lines as if only noveltree and what it needs were installed, and none of its extras.

`python -m tests.support.bare_environment '[["games"], ["agents"]]'` prints the exit code of each, and what it
printed, as JSON.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import json
import re
import sys


def needed(name: str = "noveltree") -> set[str]:
    """A distribution and all that it needs without extras, by their normal names."""
    found: set[str] = set()
    to_see = [name]
    while to_see:
        if (each := _normal(to_see.pop())) in found:
            continue
        found.add(each)
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            lines = importlib.metadata.requires(each) or []
            to_see += [re.split(r"[^\w.-]", line)[0] for line in lines if "extra ==" not in line]
    return found


def forget_the_rest() -> None:
    """Let every package that is not needed be one that cannot be imported."""
    present = needed()
    for module, distributions in importlib.metadata.packages_distributions().items():
        if not present.intersection(map(_normal, distributions)) and module not in sys.modules:
            sys.modules[module] = None  # type: ignore[assignment]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _run(arguments: list[str]) -> tuple[int, str, str]:
    from noveltree.cli import main

    sys.argv = ["noveltree", *arguments]
    printed = io.StringIO(), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(printed[0]), contextlib.redirect_stderr(printed[1]):
        try:
            main()
        except SystemExit as exit:
            code = int(exit.code or 0)
    return code, *(text.getvalue() for text in printed)


if __name__ == "__main__":
    forget_the_rest()
    print(json.dumps([_run(arguments) for arguments in json.loads(sys.argv[1])]))
