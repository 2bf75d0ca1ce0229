"""Tables on narrow terminals: whatever the width, every number is whole; and numbers are sorted as numbers."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from noveltree.cli.console import beginning, out
from noveltree.cli.tables import table
from noveltree.results import read_records
from noveltree.wording import numerically
from tests.support.command_line import Cli

COMMANDS = (
    "games --suite paper",
    "agents",
    "compare published:riw-c published:n-cpl",
    "taxonomy --shipped",
    "protocol show",
    "protocol show otoole-2021",
    "protocol diff otoole-2021 bandres-2018",
    "benchmark status DIRECTORY",
    "runs DIRECTORY",
)


def printed(width: int, *rows: tuple[str | Text, ...], no_wrap: bool = False) -> list[str]:
    made = table("name", "score", "what it is", right=("score",))
    made.columns[2].no_wrap = no_wrap
    for row in rows:
        made.add_row(*row)
    console = Console(file=io.StringIO(), width=width)
    console.print(made)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


ROW = ("riw-c", "1,234,567", "Rollout IW(1) with classic novelty")


def test_a_table_that_fits_is_one() -> None:
    assert printed(60, ROW) == [
        "name       score  what it is",
        "riw-c  1,234,567  Rollout IW(1) with classic novelty",
    ]


def test_words_give_way_to_numbers() -> None:
    """The longest word has 7 letters: 5 + 2 + 9 + 2 + 7 = 25."""
    assert printed(25, ROW) == [
        "                  what it",
        "name       score  is",
        "riw-c  1,234,567  Rollout",
        "                  IW(1)",
        "                  with",
        "                  classic",
        "                  novelty",
    ]


def test_where_columns_do_not_fit_each_row_is_a_few_lines() -> None:
    assert printed(24, ROW, ("uct", "", Text("UCT"))) == [
        "riw-c",
        "  score 1,234,567; what",
        "  it is Rollout IW(1)",
        "  with classic novelty",
        "uct",
        "  what it is UCT",
    ]


def test_what_may_be_cut_is_cut_before_a_number() -> None:
    assert printed(30, ROW, no_wrap=True) == [
        "name       score  what it is",
        "riw-c  1,234,567  Rollout IW(…",
    ]


@pytest.mark.parametrize(
    ("width", "shown"),
    [(30, "score 10  step 1,000 of 2,000"), (28, "score 10  step 1,000 of"), (9, "score 10"), (3, "sco")],
)
def test_a_line_that_does_not_fit_ends_with_a_whole_number(width: int, shown: str) -> None:
    assert beginning("score 10  step 1,000 of 2,000", width) == shown


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_number_is_cut(cli: Cli, five: Path, monkeypatch: pytest.MonkeyPatch, command: str, width: int) -> None:
    arguments = command.replace("DIRECTORY", str(five)).split()
    shown = {}
    for columns in (width, 1000):
        monkeypatch.setattr(out, "_width", columns)
        result = cli(*arguments)
        assert result.err == ""
        shown[columns] = result.out
    assert "…" not in shown[width]
    if command.startswith("runs"):  # their paths are folded
        shown = {columns: text.replace("\n", "").replace(str(five), "") for columns, text in shown.items()}
    numbers = {columns: set(re.findall(r"\d[\d.,]*", text)) for columns, text in shown.items()}
    assert {number.rstrip(",.") for number in numbers[1000]} <= {number.rstrip(",.") for number in numbers[width]}


def test_numbers_in_texts_are_sorted_as_numbers() -> None:
    names = ["budget 1,000", "budget 25", "budget 0.5", "budget 100, at most 9 frames", "budget 100"]
    assert sorted(names, key=numerically) == [
        *("budget 0.5", "budget 25", "budget 100", "budget 100, at most 9 frames", "budget 1,000")
    ]
    assert sorted(["b10/x", "b9/x", "b9", "a"], key=numerically) == ["a", "b9", "b9/x", "b10/x"]


def test_agents_of_several_budgets_are_listed_from_the_smallest_to_the_largest(cli: Cli) -> None:
    for budget in (10, 1000, 100, 25):  # of which a directory lists 1000 before 25
        assert cli("play", "corridor", "--budget", budget, "--out", f"all/b{budget}").code == 0
    agents = [agent.name for agent in read_records([Path("all")]).agents]
    assert agents == ["riw-c", "riw-c (budget 25)", "riw-c (budget 100)", "riw-c (budget 1,000)"]
