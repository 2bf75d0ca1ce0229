"""Nodes with marks that outlive a time step, which labels do not."""

from __future__ import annotations

from typing import Any

from noveltree.tree import Node


class MarkedNode(Node):
    """A node with what rules of earlier planners have to know of it in later time steps."""

    __slots__ = ("lost", "pruned", "repetitions")

    def __init__(self, *path: Any) -> None:
        super().__init__(*path)
        #: Whether it lost its novelty when it was met again, and left the backup.
        self.lost = False
        #: Whether it was not novel when it was last tested.
        self.pruned = False
        #: How many nodes in a row, this one the last of them, have the features of their parents.
        self.repetitions = 0
