"""Backups: from rewards and termination costs to the values of all nodes and of the root's actions (Definition 2).

A backup is a part: what it needs of the networks it asks for when planning is over, and what a node is worth is its
definition. All of them set `value` of every node.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from noveltree.lookahead.marked_node import MarkedNode
from noveltree.lookahead.planner import ActionValues
from noveltree.lookahead.planning_rewards import PlanningReward, true_reward
from noveltree.lookahead.pruned_leaves import PrunedLeaves, Worth, termination_costs
from noveltree.lookahead.questions import VALUE, Planning, ask
from noveltree.tree import Lookahead, Node, outcomes


class Backup(Protocol):
    """What nodes are worth."""

    def ask(self, lookahead: Lookahead) -> Planning:
        """Ask for what the backup needs to know of nodes."""
        ...

    def action_values(self, lookahead: Lookahead) -> ActionValues:
        """Set V(n) of all nodes and return Q(root, a)."""
        ...


@dataclass(frozen=True, slots=True)
class LeafValues:
    """Definition 2: V of a leaf is 0 if it is terminal, otherwise its termination cost; V of an inner node is the
    maximum of reward + discount * V(child) over its *existing* children, and of the mean of that over an action's
    draws where chance decides.

    With a `reward_weight` w below 1 the reward of an action d steps below the root counts w^d as much. A discount
    makes a distant leaf worth less; this does not, so that values do not favour short paths.

    What a leaf is worth that was `pruned` is a part. If all that is below the root is left out, nothing is.
    """

    discount: float = 1.0
    reward_weight: float = 1.0
    pruned: PrunedLeaves = termination_costs

    def ask(self, lookahead: Lookahead) -> Planning:
        if lookahead.termination_cost is None:
            yield from _ask_values(node for node in lookahead.nodes() if node.is_leaf())

    def action_values(self, lookahead: Lookahead) -> ActionValues:
        worth = self._worth(lookahead)
        for node in reversed(list(lookahead.nodes())):
            best = _best_child(node, self.discount, self.reward_weight ** lookahead.depth(node))
            node.value = worth(node) if best is None else best
        if lookahead.root.value == -math.inf:
            return LeafValues(self.discount, self.reward_weight).action_values(lookahead)
        values = _values_of_children(lookahead.root, self.discount)
        return [None if value == -math.inf else value for value in values]

    def _worth(self, lookahead: Lookahead) -> Worth:
        """What the leaves of a lookahead are worth."""
        pruned = self.pruned(lookahead, self.discount)

        def worth(node: Node) -> float:
            if node.terminal:
                return 0.0
            assert node.termination_cost is not None, "a leaf was backed up before it was evaluated"
            return node.termination_cost if node.novel else pruned(node)

        return worth


@dataclass(frozen=True, slots=True)
class GreatestValues:
    """Every node may be closed by its own termination cost: V(n) is the maximum of that and of what its existing
    children give (pi-IW(1)+). A terminal node is worth 0. Where nothing is learnt yet there is nothing to compare
    with: V(n) is that of Definition 2.
    """

    discount: float = 1.0

    def ask(self, lookahead: Lookahead) -> Planning:
        if lookahead.termination_cost is None:
            yield from _ask_values(lookahead.nodes())

    def action_values(self, lookahead: Lookahead) -> ActionValues:
        if lookahead.termination_cost is not None:
            return LeafValues(self.discount).action_values(lookahead)
        for node in reversed(list(lookahead.nodes())):
            if node.terminal:
                node.value = 0.0
                continue
            assert node.termination_cost is not None, "a node was backed up before it was evaluated"
            best = _best_child(node, self.discount)
            node.value = node.termination_cost if best is None else max(node.termination_cost, best)
        return _values_of_children(lookahead.root, self.discount)


@dataclass(frozen=True, slots=True)
class PlanningValues:
    """As `LeafValues`, of planning rewards instead of the game's, and by the rules of Bandres et al. (2018).

    A child that is lost does not count: a node that has no others is worth minus infinity, and an action that leads
    there has no value. If `untried` actions count, those of a node of which others were tried are worth nothing;
    where a rollout repeats an action there is no other.
    """

    reward: PlanningReward = true_reward
    discount: float = 1.0
    reward_weight: float = 1.0
    untried: bool = False
    pruned: PrunedLeaves = termination_costs

    def ask(self, lookahead: Lookahead) -> Planning:
        yield from LeafValues().ask(lookahead)

    def action_values(self, lookahead: Lookahead) -> ActionValues:
        root, worth = lookahead.root, self.pruned(lookahead, self.discount)
        values: ActionValues = []
        for node in reversed(list(lookahead.nodes())):
            values = self._values(node, root, self.reward_weight ** lookahead.depth(node))
            if not node.is_leaf():
                node.value = max((value for value in values if value is not None), default=-math.inf)
            elif node.terminal:
                node.value = 0.0
            else:
                assert node.termination_cost is not None, "a leaf was backed up before it was evaluated"
                node.value = node.termination_cost if node.novel else worth(node)
        return values  # of the root, which comes last

    def _values(self, node: Node, root: Node, weight: float) -> ActionValues:
        """The values of a node's actions."""
        assert isinstance(node, MarkedNode)
        untried = 0.0 if self.untried and not node.repetitions else None
        values: ActionValues = []
        for child in node.children:
            if child is None:
                values.append(untried)
                continue
            assert isinstance(child, MarkedNode)
            value = weight * self.reward(child, root) + self.discount * child.value
            values.append(None if child.lost or value == -math.inf else value)
        return values


def _ask_values(nodes: Iterable[Node]) -> Planning:
    """Ask for V^T of those that are not terminal and not evaluated yet, in one question."""
    unknown = [node for node in nodes if node.termination_cost is None and not node.terminal]
    if unknown:
        yield from ask(unknown, VALUE)


def _best_child(node: Node, discount: float, weight: float = 1.0) -> float | None:
    """The maximum of weight * reward + discount * V over the actions with children; None if there are none."""
    best = None
    for child in node.children:
        if child is not None:
            value = weight * child.reward + discount * child.value
            if not child.certain:
                value = _expectation(child, discount, weight)
            if best is None or value > best:
                best = value
    return best


def _values_of_children(root: Node, discount: float) -> ActionValues:
    return [None if child is None else _expectation(child, discount) for child in root.children]


def _expectation(first: Node, discount: float, weight: float = 1.0) -> float:
    """The mean of weight * reward + discount * V over all draws of an action, given its first outcome."""
    total, draws = 0.0, 0
    for outcome in outcomes(first):
        total += outcome.draws * (weight * outcome.reward + discount * outcome.value)
        draws += outcome.draws
    return total / draws
