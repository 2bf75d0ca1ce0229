"""What people try first: `-h`, wrong files among right ones, the same again, a disk that is full."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import imageio_ffmpeg
import pytest

from noveltree.errors import OutputError
from noveltree.records import check_writable, disk
from tests.support.command_line import Cli


@pytest.mark.parametrize("command", ["", "play", "benchmark", "benchmark run"])
def test_help_has_a_short_name(cli: Cli, command: str) -> None:
    long, short = cli(*command.split(), "--help"), cli(*command.split(), "-h")
    assert (short.code, short.out) == (0, long.out)


def test_verify_goes_on_after_a_directory_without_episodes(cli: Cli) -> None:
    episode = cli("play", "corridor", "--json").object["episode_file"]
    Path("empty").mkdir()
    result = cli("verify", "empty", episode)
    assert result.code == 1
    assert result.out.splitlines() == [
        "UNREADABLE  There are no episodes in empty.",
        f"holds  score 1  {episode}",
        "1 of 1 hold",
    ]
    told = cli("verify", "empty", episode, "--json").object
    assert (told["verified"], told["failed"]) == (1, 1)
    assert told["directories"][0]["findings"][0]["finding"] == "There are no episodes in empty."
    assert cli("verify", "empty").sentence == "There are no episodes in empty."


def test_what_verifying_a_directory_wrote_is_no_episode(cli: Cli) -> None:
    episode = cli("play", "corridor", "--json").object["episode_file"]
    assert cli("verify", "episodes").out.startswith("episodes: 1 episode holds (replayed)\n1 file signed off in ")
    manifest = Path("episodes/manifest.json")
    assert cli("verify", episode, manifest).out.endswith("1 of 1 hold\n")
    assert cli("verify", manifest).sentence == (
        "episodes/manifest.json is not an episode but signs off its directory: give episodes."
    )


def test_verify_says_how_what_was_added_is_signed_off(cli: Cli) -> None:
    cli("play", "corridor", "--out", "my episodes")
    cli("verify", "my episodes")
    cli("play", "corridor", "--seed", 1, "--out", "my episodes")
    result = cli("verify", "my episodes")
    assert result.code == 1
    *_, counted, advice = result.out.splitlines()
    assert counted == "my episodes: 1 file of 2 files in doubt"
    assert advice == (
        "If files were added or changed on purpose, sign them off again: noveltree verify --renew 'my episodes'"
    )
    assert cli("verify", "--renew", "my episodes").code == 0


def test_a_directory_is_named_so_that_one_knows_it(cli: Cli, tmp_path: Path) -> None:
    assert cli("runs", ".").out == f"There are no runs in {tmp_path}.\n"


def test_a_table_that_is_not_text_is_one_sentence(cli: Cli) -> None:
    Path("table.csv").write_bytes(b"\xc2\x00\xff")
    assert cli("report", "table.csv").sentence == "table.csv is not a table of episodes: it is not text."


def test_a_full_disk_is_noticed_before_an_episode_is_played(cli: Cli, tmp_path: Path) -> None:
    def fill(operation: disk.Operation) -> None:
        if operation.kind == "write":  # a full disk has room for an empty file
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with disk.watched(fill):
        with pytest.raises(OutputError, match=r"Cannot write to .*: No space left on device\."):
            check_writable(tmp_path)
        assert cli("play", "corridor").sentence == "Cannot write to episodes: No space left on device."
    assert list(Path("episodes").iterdir()) == []


def test_a_video_for_which_there_is_no_room_is_one_sentence(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = tmp_path / "encoder"
    encoder.write_text(
        "#!/bin/sh\ncat > /dev/null\necho 'frame 7: No space left on device' >&2\necho 'Nothing was written.' >&2\n"
        "exit 1\n"
    )
    encoder.chmod(0o755)
    monkeypatch.setattr(imageio_ffmpeg, "get_ffmpeg_exe", lambda: str(encoder))
    result = cli("play", "pong", "--agent", "random", "--max-steps", 1, "--video", "film.mp4")
    assert result.code == 1
    assert result.err == "Error: Cannot write film.mp4: No space left on device.\n"
