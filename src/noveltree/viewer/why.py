"""Why a node is novel, or pruned: the features that it was the first to have, or the nodes that had them before.

A node's label says which of the two; the features and the nodes are found by asking all nodes of the lookahead for
their features once more, in the order of their generation. That takes a while, and nobody waits for it but a person
who points at the node.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from noveltree.features import Indices
from noveltree.heuristics import Heuristics
from noveltree.lookahead import (
    BestFirst,
    BreadthFirst,
    CountedVisits,
    ExactDuplicates,
    LabelledFirst,
    LostNodes,
    NoveltyPruning,
    OneLife,
    Planner,
    PrunedTested,
    Question,
    Repetitions,
    Rollouts,
    SubtreeCap,
    TestedFirst,
    ask,
)
from noveltree.novelty import ClassicTable, RewardTable
from noveltree.tree import Lookahead, Node

_MOST_HOLDERS = 5


@dataclass(frozen=True, slots=True)
class Why:
    """Why a node is labelled as it is."""

    tested: bool
    """Whether it was tested in this time step at all; otherwise the rest is empty."""
    features: int
    """How many features it has."""
    first: Indices
    """Those that it was the first to have, or at a smaller depth, or with more reward."""
    holders: tuple[tuple[int, int], ...]
    """The numbers of nodes that had others before, and how many each; those with the most first."""


def novelty_of(planner: Planner) -> NoveltyPruning | None:
    """The novelty by which a planner prunes; None if it does not."""
    match planner:
        case Rollouts() | BreadthFirst() | BestFirst():
            pruning = planner.pruning
        case _:
            return None
    around = LostNodes | CountedVisits | SubtreeCap | PrunedTested | Repetitions | ExactDuplicates | OneLife
    while isinstance(pruning, around):
        pruning = pruning.pruning
    return pruning if isinstance(pruning, NoveltyPruning) else None


def explain(lookahead: Lookahead, node: Node, pruning: NoveltyPruning, heuristics: Heuristics) -> Why:
    """Why `node` is novel or not in a lookahead that is pruned so."""
    tested = _tested(lookahead, pruning)
    nothing = np.empty(0, dtype=np.int32)
    if node not in tested:
        return Why(False, 0, nothing, ())
    _know(tested, pruning, heuristics)
    own = np.sort(pruning.features(node))
    has = np.zeros(max(pruning.features.size, int(own.max(initial=0)) + 1), dtype=np.bool_)
    holder = np.full(own.size, -1)
    for other in tested:
        if other is node or not _takes(other, node, lookahead, pruning):
            continue
        theirs = pruning.features(other)
        if has.size <= (largest := int(theirs.max(initial=0))):
            has = np.zeros(2 * largest, dtype=np.bool_)
        has[theirs] = True
        holder[has[own] & (holder < 0)] = other.number
        has[theirs] = False
        if holder.min(initial=0) >= 0:
            break
    counts = Counter(holder[holder >= 0].tolist())
    return Why(True, own.size, own[holder < 0].astype(np.int32), tuple(counts.most_common(_MOST_HOLDERS)))


def _takes(other: Node, node: Node, lookahead: Lookahead, pruning: NoveltyPruning) -> bool:
    """Whether the features of `other` do not make `node` novel any more.

    What was generated later, with a smaller depth or more reward, takes them only from a node that has lost them.
    """
    table = pruning.table
    if table.of(other, lookahead.root) is not table.of(node, lookahead.root):
        return False
    earlier = other.number < node.number
    if isinstance(table.of(node, lookahead.root), ClassicTable):
        return earlier
    sign = -1.0 if isinstance(table.of(node, lookahead.root), RewardTable) else 1.0
    theirs, own = (sign * pruning.measure(lookahead, each) for each in (other, node))
    return theirs <= own if earlier else theirs < own and not node.novel


def _tested(lookahead: Lookahead, pruning: NoveltyPruning) -> list[Node]:
    """The nodes that were entered into the table, in the order of their generation."""
    rule = pruning.cached_nodes
    first = isinstance(rule, TestedFirst | LabelledFirst)
    nodes = (node for node in lookahead.nodes() if first or not node.cached)
    return sorted((node for node in nodes if rule.tested_when_generated(node)), key=lambda node: node.number)


def _know(nodes: list[Node], pruning: NoveltyPruning, heuristics: Heuristics) -> None:
    """Ask for what features need and nodes that were grown again do not know."""
    unknown = [node for node in nodes if node.units is None] if pruning.features.heads else []
    if unknown:
        asking = ask(unknown, *pruning.features.heads)
        question: Question = next(asking)
        try:
            asking.send(heuristics.answer([question])[0])
        except StopIteration:
            return
