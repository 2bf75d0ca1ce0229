"""Programs that some tests need and not every machine has."""

from __future__ import annotations

import os
import shutil

import pytest


def program(name: str) -> str:
    """Where a program is. Without it the test is skipped, except in CI, where tests must not vanish unseen."""
    found = shutil.which(name)
    if found is not None:
        return found
    if os.environ.get("CI") == "true":
        pytest.fail(f"{name} is not installed: make system installs it")
    pytest.skip(f"needs {name}")
