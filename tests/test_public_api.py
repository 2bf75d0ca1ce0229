"""What `import noveltree` offers, and what it costs."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys
from types import ModuleType

import noveltree

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
    *("OutputError", "PRESETS", "Play"),
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
    exported = [
        name
        for name, value in vars(noveltree).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    ]
    assert sorted(exported) == EXPORTED
    assert sorted(EXPORTED) == EXPORTED


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


def test_importing_noveltree_imports_no_torch_and_no_command_line() -> None:
    program = "import sys, noveltree; print([m for m in ('torch', 'typer', 'rich', 'cv2') if m in sys.modules])"
    imported = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert imported.stdout == "[]\n"
