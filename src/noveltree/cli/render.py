"""`noveltree render`: make a video of a recorded episode."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noveltree.cli.common import Import
from noveltree.cli.console import LiveLine, out
from noveltree.errors import InputError
from noveltree.records import read_episode
from noveltree.replay import LARGEST_SCALE, render_episode


def render(
    file: Annotated[Path, typer.Argument(help="An episode file.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The video (.mp4 or .gif).", show_default="beside the file, .mp4"),
    ] = None,
    steps: Annotated[
        str | None, typer.Option(help="Only these steps, FROM:TO; -100: means the last hundred.")
    ] = None,
    every: Annotated[int | None, typer.Option(help="Keep every Nth frame.", min=1, show_default="1, GIF 3")] = None,
    scale: Annotated[
        int | None,
        typer.Option(
            help="Factor by which to enlarge the picture.",
            min=1,
            max=LARGEST_SCALE,
            show_default="to about 600 lines",
        ),
    ] = None,
    imports: Import = False,
) -> None:
    """Film a recorded episode by replaying its actions.

    [bold]Example[/]: noveltree render episodes/breakout-....json -o breakout.gif --steps 0:100
    """
    record = read_episode(file)
    path = file.with_suffix(".mp4") if output is None else output
    with LiveLine() as line:
        render_episode(
            record,
            path,
            steps=_parse_steps(steps, record.episode.steps),
            every=every,
            scale=scale,
            progress=lambda done, total: line.update(f"Filming: step {done} of {total}"),
        )
    out.print(f"Video: {path}", soft_wrap=True)


def _parse_steps(text: str | None, count: int) -> range | None:
    """Steps as a slice in Python: `-100:` is the last hundred."""
    if text is None:
        return None
    first, colon, last = text.partition(":")
    try:
        start = int(first) if first else None
        stop = (int(last) if last else None) if colon else int(first) + 1 or None
    except ValueError:
        raise InputError(f"Steps are given as FROM:TO, such as 0:100, not {text!r}.") from None
    return range(count)[start:stop]
