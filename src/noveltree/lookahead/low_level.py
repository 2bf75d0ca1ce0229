"""The low level of a hierarchical lookahead: pi-IW(1) of 2021 within one abstract node, until it is left.

The labels of a low-level tree and its novelty table stay as they are from one time step to the next. Nodes keep
their labels. A table is made again from the nodes, all of which have entered it: only the tree of the lookahead's
root ever loses nodes, if the executed action stays inside of it, and that tree is then begun anew.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np

from noveltree.features import FeatureSet
from noveltree.lookahead.abstract_nodes import AbstractNode, TreeNovelty, is_entry_point, low_level_tree
from noveltree.lookahead.abstract_states import STORED, UNKNOWN, AbstractStates, HierarchicalNode
from noveltree.lookahead.action_set import ActionSet
from noveltree.lookahead.budget import Meter
from noveltree.lookahead.questions import POLICY, UNITS, VALUE, Answers, Planning, Question, ask, ask_of_child
from noveltree.lookahead.rollout import AllActions
from noveltree.lookahead.solved import update_solved_labels
from noveltree.tree import NO_FEATURE, Arrays, Lookahead, Node

#: Searches a low-level tree; returns the entry point to which that led, or None.
Searching = Generator[Question, Answers, Node | None]


@dataclass(slots=True)
class LowLevelSearch:
    """Rollouts within a low-level tree, guided by the base policy and pruned by depth novelty."""

    features: FeatureSet
    states: AbstractStates
    actions: ActionSet = field(default_factory=AllActions)
    """Draws the actions. To it the root is that of the lookahead, not those of the low-level trees below."""

    def begin(self, lookahead: Lookahead) -> Planning:
        """Begin a time step: get to know what is not known of the nodes that there are."""
        self.actions.begin(lookahead)
        self._abstract(lookahead.root)  # which no search has generated if nothing was tried before it was executed
        if heads := self._heads(lookahead):
            unknown = [node for node in lookahead.nodes() if not node.terminal and _is_unknown(node, heads)]
            if unknown:
                yield from ask(unknown, *heads)

    def begin_anew(self, lookahead: Lookahead, abstract: AbstractNode) -> None:
        """Empty a tree's table; enter and label its nodes again, in the order of their generation."""
        root = abstract.root
        tree = sorted(low_level_tree(root), key=lambda node: node.number)
        for node in tree:
            if node is root or not is_entry_point(node):
                node.forget_labels()
        novelty = abstract.novelty = TreeNovelty(self.features, root)
        novelty.enter(root)
        for node in tree[1:]:
            if node.terminal:
                update_solved_labels(node, root)
            elif is_entry_point(node):
                novelty.enter(node)
                _solve_entry_point(node, root)
            else:
                _label(lookahead, node, novelty.enter(node))
                if not node.novel:
                    update_solved_labels(node, root)

    def successor(
        self, lookahead: Lookahead, abstract: AbstractNode, meter: Meter, *, rng: np.random.Generator
    ) -> Searching:
        """Search until there is an entry point, and return it; None if the budget is used or the root solved."""
        root, novelty = abstract.root, abstract.novelty
        if novelty is None:
            novelty = abstract.novelty = TreeNovelty(self.features, root)
            for node in low_level_tree(root):
                if not node.terminal:
                    novelty.enter(node)
        while not root.solved and not meter.exhausted(lookahead):
            entry_point = yield from self._rollout(lookahead, root, novelty, meter, rng)
            if entry_point is not None:
                return entry_point
        return None

    def end(self, lookahead: Lookahead) -> None:
        """End a time step, when planning is over: learn from all low-level trees."""
        self.actions.learn(lookahead)

    def memory(self) -> Arrays:
        """Abstract states and their visits, and what was learnt of the actions."""
        return {**self.states.store(), **self.actions.memory()}

    def remember(self, memory: Arrays, lookahead: Lookahead) -> None:
        states = {name: array for name, array in memory.items() if name in STORED}
        learnt = {name: array for name, array in memory.items() if name not in STORED}
        self.states.restore(states, lookahead)
        self.actions.remember(learnt, lookahead)

    def _rollout(
        self, lookahead: Lookahead, root: Node, novelty: TreeNovelty, meter: Meter, rng: np.random.Generator
    ) -> Searching:
        node = root
        while node.novel and not node.terminal:
            action = self.actions.sample(node, lookahead.root, rng=rng)
            child = node.children[action]
            if child is not None:
                _label(lookahead, child, novelty.holder(child))
            elif meter.exhausted(lookahead):
                return None
            else:
                child = lookahead.expand(node, action)
                if not child.terminal:
                    self._abstract(child)
                    if heads := self._heads(lookahead):
                        yield from ask_of_child(lookahead, child, *heads)
                    witness = novelty.enter(child)
                    if is_entry_point(child):
                        _solve_entry_point(child, root)
                        return child
                    _label(lookahead, child, witness)
            node = child
        update_solved_labels(node, root)
        return None

    def _abstract(self, node: Node) -> None:
        """Get to know the abstract state of a node."""
        assert isinstance(node, HierarchicalNode)
        if node.abstract == UNKNOWN:
            node.abstract = self.states.number(node.state)

    def _heads(self, lookahead: Lookahead) -> list[str]:
        """What is asked of a new node, all in one question; not what new nodes are born with."""
        heads = [head for head in self.features.heads if head not in (POLICY, VALUE)]
        if lookahead.base_policy is None:
            heads.append(POLICY)
        if lookahead.termination_cost is None:
            heads.append(VALUE)
        return heads


def _is_unknown(node: Node, heads: list[str]) -> bool:
    """Whether some of the heads were not asked of a node. The first root is born before there are networks."""
    return (
        not node.cached
        or ((node.units is None and UNITS in heads) or (node.base_policy is None and POLICY in heads))
        or (node.termination_cost is None and VALUE in heads)
    )


def _label(lookahead: Lookahead, node: Node, witness: int) -> None:
    """Label a node by the feature that makes it novel, or by there being none."""
    node.witness = witness
    node.novel = witness != NO_FEATURE
    lookahead.pruned += not node.novel


def _solve_entry_point(node: Node, root: Node) -> None:
    """An entry point is solved in the tree that it leaves; its own label is that of the tree that it enters."""
    parent, action = node.parent, node.action
    assert parent is not None
    assert action is not None
    parent.unsolved.remove(action)
    if not parent.unsolved and not parent.solved:
        update_solved_labels(parent, root)
