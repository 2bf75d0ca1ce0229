"""By what planners that keep each state once tell states apart: by what is observed, or by all that states hold."""

from __future__ import annotations

from collections.abc import Callable

from noveltree.simulators.fingerprint import Fingerprint
from noveltree.simulators.simulator import State
from noveltree.tree import Lookahead

#: The same for two states if they are taken for one.
StateKey = Callable[[State], bytes]
StateKeys = Callable[[Lookahead], StateKey]


def observed_keys(lookahead: Lookahead) -> StateKey:
    """What is observed of states, or the `key` that their simulator gives."""
    return lookahead.key


def held_keys(clocks: str | None) -> StateKeys:
    """All that states hold, but for clocks: what only counts steps."""
    return lambda lookahead: Fingerprint(lookahead.simulator, clocks)
