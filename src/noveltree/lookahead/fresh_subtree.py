"""Ties go where there is much to see that the episode has not seen yet.

A lookahead that finds no reward ties all actions. The larger subtree is then the safer one, since lookaheads end
where lives do; but whoever is safe and sees nothing to gain stays where it is. Here nodes count the less the more
often the episode has been where they are, so that it moves on, as safely as it can.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from noveltree.errors import RecordError
from noveltree.features.abstraction import Abstraction, make_cells
from noveltree.lookahead.action_selection import TieBreaking, best_action, random_tie, something_pays
from noveltree.lookahead.planner import ActionValues
from noveltree.tree import Arrays, Lookahead, Node

_CELLS, _VISITS = "cells", "visits"


class FreshSubtree:
    """The best action; of tied ones that with the most freshness below it, at random among equals; or, if it is
    said how ties are broken `where_it_pays`, so where the best action is worth more than nothing.

    A state is in a cell: the gray of its screen in 12 x 12 tiles of 8 levels, or, of a vector, all of it. A node
    whose cell the episode has been in for k time steps, the current one included, has a freshness of 1 / (1 + k).
    """

    def __init__(self, where_it_pays: TieBreaking | None = None) -> None:
        #: In how many time steps of the episode the root was in a cell.
        self.visits: Counter[bytes] = Counter()
        self._cell: Abstraction | None = None
        #: The cells of nodes, by their numbers: most nodes stay for some time steps.
        self._cells: dict[int, bytes] = {}
        self._last: int | None = None
        self._freshest_action = best_action(self._freshest)
        self._paid_action = self._freshest_action if where_it_pays is None else best_action(where_it_pays)

    def __call__(self, root: Node, values: ActionValues, rng: np.random.Generator) -> int:
        if root.time != self._last:  # choosing once more in a time step is no other visit
            self._last = root.time
            kept = (node.number for node in _below(root) if node.number in self._cells)
            self._cells = {number: self._cells[number] for number in kept}
            self.visits[self._cell_of(root)] += 1
        return (self._paid_action if something_pays(values) else self._freshest_action)(root, values, rng)

    def freshness(self, node: Node) -> float:
        """That of all nodes below and including one."""
        return sum(1.0 / (1 + self.visits[self._cell_of(each)]) for each in _below(node))

    def memory(self) -> Arrays:
        """The cells that the episode has been in, one after another, and for how many time steps it was in each."""
        cells = np.array([np.frombuffer(cell, dtype=np.uint8) for cell in self.visits], dtype=np.uint8)
        return {
            _CELLS: cells.reshape(len(self.visits), -1) if self.visits else np.empty((0, 0), dtype=np.uint8),
            _VISITS: np.array(list(self.visits.values()), dtype=np.int64),
        }

    def remember(self, memory: Arrays, lookahead: Lookahead) -> None:
        cells, visits = memory.get(_CELLS), memory.get(_VISITS)
        if (
            cells is None
            or visits is None
            or len(memory) > 2
            or cells.dtype != np.uint8
            or visits.dtype != np.int64
            or (cells.ndim, visits.ndim) != (2, 1)
            or len(cells) != len(visits)
            or (visits < 1).any()
            or visits.sum() != lookahead.root.time
        ):
            raise RecordError("Where the episode has been is missing or is something else.")
        self.visits = Counter({cell.tobytes(): count for cell, count in zip(cells, visits.tolist(), strict=True)})

    def _freshest(self, root: Node, tied: list[int], rng: np.random.Generator) -> int:
        children = (root.children[action] for action in tied)
        fresh = [0.0 if child is None else self.freshness(child) for child in children]
        return random_tie(root, [a for a, sum_ in zip(tied, fresh, strict=True) if sum_ == max(fresh)], rng)

    def _cell_of(self, node: Node) -> bytes:
        if self._cell is None:
            self._cell = make_cells(node.state)
        cell = self._cells.get(node.number)
        if cell is None:
            cell = self._cells[node.number] = self._cell(node.state)
        return cell


def _below(node: Node) -> list[Node]:
    """All nodes below and including one."""
    nodes = [node]
    for each in nodes:
        nodes.extend(each.offspring())
    return nodes
