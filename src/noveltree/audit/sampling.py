"""Which episodes are planned again, and how probably that finds what was forged.

A sample follows from the files and from a number that is chosen when they cannot be changed any more. So nobody can
prepare for it, and anyone can draw it again.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Iterable

from noveltree.wording import counted

#: Of many episodes, this many find with a probability of 95% that one in ten was forged.
SAMPLE = 29
_RATES = (10, 100)
_SURE = 0.95


def new_number() -> str:
    """A number that nobody could foresee."""
    return str(secrets.randbelow(10**12))


def draw(names: Iterable[str], count: int, *, digest: str, number: str) -> list[str]:
    """The `count` names whose SHA-256 digests of `DIGEST NUMBER NAME` come first; DIGEST is that of all files."""

    def place(name: str) -> str:
        return hashlib.sha256(f"{digest} {number} {name}".encode()).hexdigest()

    return sorted(sorted(names, key=place)[:count])


def probability(total: int, sampled: int, forged: int) -> float:
    """That a sample of `total` episodes has at least one of the `forged` ones in it."""
    if forged > total - sampled:
        return 1.0
    return 1.0 - math.prod((total - sampled - number) / (total - number) for number in range(forged))


def enough(total: int, forged: int, sure: float = _SURE) -> int:
    """How large a sample must be to have a forged one in it with such a probability."""
    low, high = 1, total
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if probability(total, middle, forged) >= sure else (middle + 1, high)
    return low


def strength(total: int, sampled: int) -> str:
    """What a sample finds, in a sentence."""
    if sampled == total:
        return (
            f"All {counted(total, 'episode')} that can be were planned again: a forged one would have been found."
        )
    cases = {f"one in {rate}": math.ceil(total / rate) for rate in _RATES if total > rate}
    cases["a single one"] = 1
    found = ", ".join(f"{what} with {probability(total, sampled, many):.0%}" for what, many in cases.items())
    takes = ", ".join(f"{enough(total, many):,} for {what}" for what, many in cases.items())
    return f"If episodes were forged, {sampled:,} of {total:,} find it: {found}. To find it with 95% takes {takes}."
