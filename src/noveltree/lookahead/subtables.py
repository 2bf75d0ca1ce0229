"""Novelty subtables: nodes compete for features only with those that have collected about as much."""

from __future__ import annotations

import math
from collections.abc import Callable

from noveltree.lookahead.marked_node import MarkedNode
from noveltree.lookahead.planning_rewards import PlanningReward
from noveltree.novelty import NoveltyTable
from noveltree.tree import Node


class Subtables:
    """A table for each logarithm of what was collected on the path from the root (Bandres et al. 2018)."""

    def __init__(self, make_table: Callable[[], NoveltyTable], reward: PlanningReward) -> None:
        self._make_table = make_table
        self._reward = reward
        self._tables: dict[int, NoveltyTable] = {}
        self._blank: list[NoveltyTable] = []
        self._collected: dict[Node, float] = {}

    def clear(self) -> None:
        """Forget everything: a new time step begins, and with it paths from another root."""
        for table in self._tables.values():
            table.clear()
            self._blank.append(table)  # tables may be large
        self._tables.clear()
        self._collected.clear()

    def of(self, node: Node, root: Node) -> NoveltyTable:
        """The table in which a node is looked up."""
        number = subtable(self.collected(node, root))
        if number not in self._tables:
            self._tables[number] = self._blank.pop() if self._blank else self._make_table()
        return self._tables[number]

    def collected(self, node: Node, root: Node) -> float:
        """The sum of planning rewards from the root to a node; that below a lost node is minus infinity."""
        path = []
        while node is not root and node not in self._collected:
            path.append(node)
            assert node.parent is not None
            node = node.parent
        total = self._collected.get(node, 0.0)
        for below in reversed(path):
            assert isinstance(below, MarkedNode)
            total += -math.inf if below.lost else self._reward(below, root)
            self._collected[below] = total
        return total


def subtable(collected: float) -> int:
    """0 if nothing was collected; else floor(log2 r) below 1 and 1 + floor(log2 r) from 1 on."""
    if collected <= 0:
        return 0
    exponent = math.frexp(collected)[1]  # 1 + floor(log2 r), exactly
    return exponent if collected >= 1 else exponent - 1
