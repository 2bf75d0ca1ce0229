"""No lookahead at all: what a random agent does before it acts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noveltree.lookahead.budget import Meter
from noveltree.lookahead.planner import ActionValues
from noveltree.lookahead.questions import Planning
from noveltree.tree import Lookahead, Node


@dataclass(slots=True)
class NoLookahead:
    """Leaves the tree as it is, so that all actions are tied."""

    node_type: type[Node] = Node

    def plan(self, lookahead: Lookahead, meter: Meter, *, rng: np.random.Generator) -> Planning:
        yield from ()

    def action_values(self, lookahead: Lookahead) -> ActionValues:
        return [None] * len(lookahead.root.children)
