"""Fixtures that several files of tests share."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from noveltree.audit import audit
from noveltree.cli import main
from noveltree.collection.tuning import use_one_thread
from tests.support.benchmarks import LESS_BUDGET, SHORTER, played
from tests.support.command_line import Cli, Result
from tests.support.programs import program

# Tests run beside each other, and must give the same bits wherever they run.
use_one_thread()

#: Their tests take longest: at the end one process would work on them alone.
LONGEST = ("test_kill_and_resume.py", "test_benchmark_kills.py", "test_ray.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name not in LONGEST)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's chromium, driven by Playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    chromium = program("chromium")
    with playwright.sync_playwright() as started:
        made = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Cli:
    """Run a command line in this process, which saves the time of starting another; in a fresh directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONSAFEPATH", "1")  # which the command line sets, and which is taken back afterwards
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)  # where tests run in the background, it is ignored

    def run(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["noveltree", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit:
            main()
        for number, handler in handlers.items():
            signal.signal(number, handler)
        captured = capsys.readouterr()
        return Result(int(exit.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def five(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two agents in the corridor with a budget of 5, verified."""
    path = played(tmp_path_factory.mktemp("five") / "five")
    assert audit(path).holds
    return path


@pytest.fixture(scope="session")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of them with a budget of 3, not verified."""
    return played(tmp_path_factory.mktemp("three") / "three", LESS_BUDGET)


@pytest.fixture(scope="session")
def shorter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of them in shorter episodes, not verified."""
    return played(tmp_path_factory.mktemp("shorter") / "shorter", SHORTER)
