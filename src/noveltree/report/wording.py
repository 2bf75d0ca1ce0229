"""How numbers and names are written."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from noveltree.report.document import Cell
from noveltree.results.sample import Sample
from noveltree.simulators.action_counts import ACTION_COUNTS
from noveltree.simulators.games import game_title
from noveltree.wording import counted as counted

#: Where there is nothing.
MISSING = "\N{EM DASH}"


def printable(text: str) -> str:
    """Text without terminal colours, control characters and unpaired surrogates."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", "?", text)


def title_of(game: str) -> str:
    """The game as papers print it; an environment that is not an Atari game, by its id."""
    return game_title(game) if game in ACTION_COUNTS else game


def with_mark(title: str, differs: str) -> str:
    """What an agent is called, with a mark if its conditions are not those of the others."""
    return f"{title} †" if differs else title


def decimal(value: float, digits: int = 2) -> str:
    """`4,365.20`; zero has no minus sign."""
    text = f"{value:,.{digits}f}"
    return text.lstrip("-") if not any(character in "123456789" for character in text) else text


def rounded(value: float) -> str:
    """`31,102` and `54.5`: as many digits as mean scores are worth that are compared by eye."""
    return decimal(value, 1 if abs(value) < 100 else 0)


def percent(share: float, digits: int = 1) -> str:
    return MISSING if math.isnan(share) else f"{100 * share:.{digits}f}%"


def listed(names: Sequence[str], most: int = 12) -> str:
    """`a, b, c`, or the first few of them."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def score_cell(sample: Sample, *, best: bool = False, note: str = "", link: str = "") -> Cell:
    """A mean with its 90% interval, if it has one."""
    if math.isnan(sample.interval):
        return Cell(decimal(sample.mean), (sample.mean,), best=best, note=note, link=link)
    text = f"{decimal(sample.mean)} ± {decimal(sample.interval)}"
    return Cell(text, (sample.mean, sample.interval), best=best, note=note, link=link)


def number_cell(value: float, text: str | None = None, **more: object) -> Cell:
    """A number, or a dash if there is none."""
    if math.isnan(value):
        return Cell(MISSING)
    return Cell(decimal(value) if text is None else text, (value,), **more)  # type: ignore[arg-type]
