"""Files and names that were made to do harm: to a terminal, to a spreadsheet, to memory."""

from __future__ import annotations

import csv
import io
import json
import re
import resource
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noveltree.cli.console import out
from noveltree.errors import RecordError
from noveltree.records import encode_episode, read_episode
from noveltree.records.files import checksum
from noveltree.records.parsing import parse_json
from noveltree.results import read_results
from noveltree.wording import printable, spreadsheet_cell
from tests.support.command_line import Cli, Result

#: Clear the screen, in C0 and in C1; override the direction of writing; a byte that is no text; two lines.
HOSTILE = "\x1b[2J\x9b2J\u202eelif\u2066\udcff\r\nholds  score 9"
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def harmless(result: Result) -> str:
    text = result.out + result.err
    assert not _OBEYED.search(text), repr(text)
    assert "\nholds  score 9" not in text
    return text


def test_what_a_terminal_obeys_is_written_out() -> None:
    assert printable(HOSTILE) == r"\x1b[2J\x9b2J\u202eelif\u2066\udcff\r\nholds  score 9"
    assert printable("a\tb\nc\x7f\x85\u2028", lines=True) == "a\tb\nc\\x7f\\x85\\u2028"
    for text in ("Ms. Pac-Man", "Größe – 3 × 4", "東京", "é", "👍🏽"):
        assert printable(text) == text


def test_hostile_names_of_files_reach_no_terminal(cli: Cli) -> None:
    episode = Path(cli("play", "corridor", "--json").object["episode_file"])
    hostile = episode.with_name(f"{HOSTILE.replace('/', '')}.json")
    hostile.write_bytes(episode.read_bytes())
    assert r"\x1b[2J" in harmless(cli("verify", hostile))
    assert harmless(cli("verify", "episodes"))
    hostile.write_bytes(b"{")
    assert r"\x1b[2J" in harmless(cli("verify", hostile))
    assert r"\x1b[2J" in harmless(cli("verify", hostile, "--debug"))
    assert harmless(cli("report", "episodes", "--out", "-", "--format", "markdown"))
    for command in (
        "verify",
        "runs",
        "report",
        "train --resume",
        "benchmark status",
        "watch",
        "play",
        "benchmark run",
    ):
        assert harmless(cli(*command.split(), HOSTILE))
    assert harmless(cli("verify", hostile, "--json"))


def test_hostile_contents_of_files_reach_no_terminal(cli: Cli) -> None:
    episode = Path(cli("play", "corridor", "--json").object["episode_file"])
    content = json.loads(episode.read_bytes())
    for name, place in (("game", content), ("agent", content), ("end", content), ("game", content["protocol"])):
        kept, place[name] = place[name], HOSTILE
        episode.write_text(json.dumps({**content, "checksum": checksum(content)}))
        assert harmless(cli("verify", episode))
        assert harmless(cli("report", "episodes"))
        assert harmless(cli("verify", episode, "--debug"))
        place[name] = kept
    row = {"agent": HOSTILE, "game": "pong", "trial": "0", "episode": HOSTILE, "phase": "evaluation", "score": "1"}
    with Path("table.csv").open("w", newline="", errors="surrogateescape") as file:
        writer = csv.DictWriter(file, row)
        writer.writeheader()
        writer.writerow({name: value.replace("\udcff", "") for name, value in row.items()})
    for form in ("markdown", "latex", "html"):
        assert harmless(cli("report", "table.csv", "--out", "-", "--format", form))
    assert harmless(cli("compare", "table.csv", "published"))


def test_tables_and_live_lines_pass_there_too() -> None:
    from noveltree.cli.console import table

    listing = table("name")
    listing.add_row(HOSTILE)
    with out.capture() as captured:
        out.print(listing)
        out.print(f"a {HOSTILE}")
    assert not _OBEYED.search(captured.get())
    assert captured.get().count("\n") == 3


@pytest.mark.parametrize("formula", ["=1+1", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(1)"])
def test_formulas_are_texts_in_spreadsheets(formula: str, cli: Cli) -> None:
    row = {"agent": formula, "game": "pong", "trial": "0", "episode": "0", "phase": "evaluation", "score": "-1.5"}
    with Path("table.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, row)
        writer.writeheader()
        writer.writerow(row)
    assert cli("report", "table.csv", "--format", "csv", "--out", "made").code == 0
    cells = [
        cell
        for file in Path("made").glob("*.csv")
        for line in csv.reader(io.StringIO(file.read_text()))
        for cell in line
    ]
    assert any(formula.strip() in cell for cell in cells)
    assert not any(cell.startswith(("=", "+", "@", "\t", "\r")) for cell in cells)
    assert "-1.5" in cells
    assert spreadsheet_cell(-1.5) == -1.5


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[" * 100_000 + "]" * 100_000, "it is nested more than 64 levels deep"),
        ('{"a":' * 70 + "1" + "}" * 70, "it is nested more than 64 levels deep"),
        ('"' + "[" * 70, "it is not valid JSON"),
        ('{"seed": ' + "7" * 400 + "}", "it has a number with 400 digits"),
        ('{"seed": 1, "seed": 2}', "it has 'seed' twice"),
        ("[" + "1," * 4_000_000 + "1]", "it has more than 4,000,000 values"),
        ('["\\"' + '\\"' * 200_000, "it is not valid JSON"),
        ('{"a": 1} x', "it is not valid JSON"),
    ],
)
def test_json_has_limits(text: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(complaint)}$"):
        parse_json(text)
    (tmp_path / "file.json").write_text(text)
    with pytest.raises(RecordError, match=re.escape(complaint)):
        read_episode(tmp_path / "file.json")


def test_brackets_in_texts_are_no_levels() -> None:
    assert parse_json(json.dumps(["[" * 200, '"[' * 100, {"]": "}"}])) == ["[" * 200, '"[' * 100, {"]": "}"}]


def bomb(path: Path, **columns: Any) -> Path:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(
        pyarrow.table(columns), path, compression="zstd", use_dictionary="game" in columns, data_page_size=2**31
    )
    assert path.stat().st_size < 2**19
    return path


def test_a_small_parquet_file_does_not_unpack_to_gigabytes(tmp_path: Path) -> None:
    for path in (
        bomb(tmp_path / "rows.parquet", game=["pong"] * 3_000_000),
        bomb(tmp_path / "bytes.parquet", agent=["0" * 2**20] * 300),
        bomb(tmp_path / "columns.parquet", **{f"c{number}": [0] for number in range(200)}),
    ):
        with pytest.raises(RecordError, match="is too large to be a table of episodes: it unpacks to more than"):
            read_results(str(path))


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux")
def test_a_parquet_file_that_lies_about_its_size_gets_no_more_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bomb(tmp_path / "lies.parquet", score=np.zeros(2**24))  # in one page of 128 MB
    monkeypatch.setattr("noveltree.results.parquet._check_claims", lambda metadata: None)
    monkeypatch.setattr("noveltree.results.parquet._MOST_BYTES", 2**26)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(RecordError, match="is too large to be a table of episodes"):
        read_results(str(path))
    assert resource.getrlimit(resource.RLIMIT_AS) == limits


def test_a_text_that_is_in_every_row_is_read_once(tmp_path: Path) -> None:
    path = bomb(tmp_path / "same.parquet", game=["pong" * 100_000] * 20_000)
    with pytest.raises(RecordError, match="has no column agent"):
        read_results(str(path))


def test_what_verify_accepts_a_report_reads(cli: Cli) -> None:
    """However another program has laid out the file."""
    cli("play", "corridor", "--episodes", 2, "--json")
    for path in Path("episodes").iterdir():
        content = json.loads(path.read_bytes())
        path.write_text(json.dumps(dict(reversed(content.items())), indent=3))
        assert encode_episode(read_episode(path)) != path.read_bytes()
    assert cli("verify", "episodes").code == 0
    told = cli("report", "episodes", "--json").object
    assert not told["problems"], told
    (agent,) = read_results("episodes").agents
    assert len(agent.games["corridor"].episodes) == 2
