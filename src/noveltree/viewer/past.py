"""What was executed, and the lookaheads behind it, to be asked about later.

Columns of earlier lookaheads are kept by the server. Their nodes are simulated again when somebody asks; where
chance decides, that would lead elsewhere, and what it had decided is remembered, for as many nodes as there is
room.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from noveltree.errors import InputError
from noveltree.simulators import Draw, Transition, chance_of
from noveltree.tree import Lookahead, Node
from noveltree.viewer.columns import Columns, Drawn, grow_again
from noveltree.viewer.messages import LookAt, Side
from noveltree.viewer.seat import Seat

#: Networks see some screens before the root.
_RELINKED = 3
#: Nodes whose outcomes are remembered where chance decides; the oldest decisions go first.
MOST_OUTCOMES = 20_000


class Key(NamedTuple):
    """A lookahead: of which decision, and whose."""

    t: int
    side: Side


class Past:
    """The actions that were executed, with the roots at which they were."""

    def __init__(self) -> None:
        self.actions: list[int] = []
        self._roots: list[Node] = []
        self._outcomes: OrderedDict[Key, Drawn] = OrderedDict()
        self._again: tuple[Key, Lookahead] | None = None

    def begin(self, *, keep: int = 0) -> None:
        """The episode begins anew; of its first decisions as many as will be executed again are remembered."""
        self.actions, self._roots, self._again = [], [], None
        for key in [key for key in self._outcomes if key.t >= keep]:
            del self._outcomes[key]

    def note(self, root: Node, action: int) -> None:
        """An action was executed at a root."""
        self._roots.append(root)
        self.actions.append(action)

    def remember(self, side: Side, lookahead: Lookahead) -> None:
        """Remember what chance has decided in the lookahead of a decision, before its action is executed."""
        if chance_of(lookahead.simulator) is None:
            return
        self._outcomes[Key(len(self.actions), side)] = {
            node.number: Draw(Transition(node.state, node.reward, node.terminal), node.certain)
            for node in lookahead.nodes()
        }
        while sum(map(len, self._outcomes.values())) > MOST_OUTCOMES and len(self._outcomes) > 1:
            self._outcomes.popitem(last=False)

    def lookahead(self, asked: LookAt, seat: Seat, columns: bytes) -> Lookahead:
        """The lookahead of an earlier decision, grown again from its columns."""
        key = Key(asked.t, asked.side)
        if self._again is not None and self._again[0] == key:
            return self._again[1]
        outcomes = self._outcomes.get(key)
        lost = outcomes is None and chance_of(seat.simulator) is not None
        if asked.t >= len(self._roots) or not columns or lost:
            raise InputError(f"The lookahead of decision {asked.t} is not kept any more.")
        root = self._roots[asked.t]
        for t in range(max(0, asked.t - _RELINKED), asked.t):
            self._roots[t + 1].parent = self._roots[t]
        nodes = Columns.from_bytes(len(columns) // Columns.WIDTH, columns)
        lookahead = grow_again(nodes, root, seat.simulator, seat.heuristics, outcomes)
        self._again = (key, lookahead)
        return lookahead
