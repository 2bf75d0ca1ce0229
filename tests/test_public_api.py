"""What `import noveltree` offers, and what it costs."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import noveltree
import noveltree.simulators

EXPORTED = [
    *("AGENTS", "Agent", "Atari", "ClassicTable", "Corridor", "Decision", "DepthTable", "End", "Episode"),
    *("EpisodeRecord", "FeatureSet", "GymnasiumSimulator", "Heuristic", "Heuristics", "InputError", "Interactions"),
    *(
        "Lookahead",
        "NoPruning",
        "Node",
        "NotDeterministicError",
        "NoveltreeError",
        "NoveltyPruning",
        "NoveltyTable",
    ),
    *("OutputError", "PRESETS", "Planner", "Play"),
    *("Protocol", "RecordError", "Seconds", "Settings", "Simulator", "SimulatorError", "State", "Transition"),
    *(
        "UNINFORMED",
        "UnknownNameError",
        "check_simulator",
        "compare_protocols",
        "drive",
        "drive_stream",
        "episode_rng",
    ),
    *("get_agent", "make_protocol", "play_episode", "read_episode", "render_episode", "verify_episode"),
    "write_episode",
]


def test_exactly_these_names_are_exported() -> None:
    exported = [name for name in noveltree.__all__ if name != "__version__"]
    assert exported == EXPORTED
    assert sorted(EXPORTED) == EXPORTED
    assert set(EXPORTED) <= set(dir(noveltree))


def test_every_name_is_found_by_type_checkers_where_it_is_found_at_run_time() -> None:
    """The stub that declares what is imported lazily is also what type checkers read."""
    for package in (noveltree, noveltree.simulators):
        assert package.__file__ is not None
        for statement in ast.parse(Path(package.__file__).with_suffix(".pyi").read_text()).body[1:]:
            assert isinstance(statement, ast.ImportFrom)
            module = importlib.import_module(f"{package.__name__}.{statement.module}")
            for alias in statement.names:
                assert alias.asname == alias.name  # otherwise strict type checkers do not export it
                assert getattr(package, alias.name) is getattr(module, alias.name)


def test_every_class_and_function_says_what_it_is() -> None:
    for name in EXPORTED:
        value = getattr(noveltree, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__doc__, name
            assert not value.__doc__.startswith(f"{name}("), f"{name} has only the docstring that Python made up"


def test_the_example_of_the_package_is_true() -> None:
    outcome = doctest.testmod(noveltree)
    assert outcome.attempted > 0
    assert outcome.failed == 0


def imported_by(statement: str, *modules: str) -> list[str]:
    program = f"import sys; {statement}; print(*[m for m in {modules} if m in sys.modules], file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return ran.stderr.split()


def test_using_everything_imports_no_torch_and_no_command_line() -> None:
    assert imported_by("from noveltree import *", "torch", "typer", "rich", "cv2", "numba") == ["numba"]


HEAVY = ("numpy", "numba", "torch", "scipy", "ale_py", "gymnasium", "pydantic", "rich", "noveltree.protocol")


@pytest.mark.parametrize(
    ("arguments", "loaded"), [(["--help"], []), (["--version"], []), (["games"], ["pydantic", "rich"])]
)
def test_a_command_imports_nothing_that_it_does_not_need(arguments: list[str], loaded: list[str]) -> None:
    statement = f"import contextlib; from noveltree.cli import main; sys.argv[1:] = {arguments}"
    with_exit = f"{statement}\nwith contextlib.suppress(SystemExit): main()\n"
    assert imported_by(f"exec({with_exit!r})", *HEAVY) == loaded
