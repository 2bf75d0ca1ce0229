"""PUCT as in AlphaZero (Silver et al., 2018), over the simulator: a tree grown by a learnt policy and value."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from noveltree.lookahead.action_selection import best_action, random_tie
from noveltree.lookahead.budget import Meter
from noveltree.lookahead.planner import ActionValues
from noveltree.lookahead.questions import POLICY, VALUE, Planning, ask_of_child
from noveltree.lookahead.scale import Scale, Spread
from noveltree.lookahead.uct import UctNode, tried
from noveltree.tree import Lookahead, Node

_greatest = best_action(random_tie)


@dataclass(slots=True)
class Puct:
    """Each simulation descends by the greatest Q + U, adds one node, and backs up the value of that node.

    At a node n, where N_a simulations through action a returned W_a in all and P_a is its prior probability,

        Q = (W_a + v(n)) / (N_a + 1)        U = exploration * P_a * sqrt(sum_b (N_b + 1)) / (N_a + 2)

    so that every action counts as tried once more, with the value of n. Q is divided by the width of a scale. What
    an action leads to is drawn anew each time, unless it is certain.
    A simulation that ends in a terminal node it has seen before counts like an interaction.
    """

    exploration: float
    discount: float
    noise_share: float = 0.0
    """How much of the root's prior is noise, drawn from a symmetric Dirichlet distribution at every time step."""
    noise_alpha: float = 1.0
    """The parameter of that distribution."""
    scale: type[Scale] = Spread
    node_type: type[Node] = UctNode

    def plan(self, lookahead: Lookahead, meter: Meter, *, rng: np.random.Generator) -> Planning:
        yield from _evaluate(lookahead, lookahead.root)
        root_prior = self._root_prior(lookahead.root, rng)
        scale = self._scale_of(lookahead)
        revisits = 0
        while not meter.exhausted(lookahead, besides=revisits):
            before = lookahead.interactions
            yield from self._simulation(
                lookahead, partial(meter.exhausted, besides=revisits), root_prior, scale, rng
            )
            revisits += lookahead.interactions == before

    def action_values(self, lookahead: Lookahead) -> ActionValues:
        """How often each action was visited."""
        visits = (tried(first).visits for first in lookahead.root.children)
        return [float(number) if number else None for number in visits]

    def _simulation(
        self,
        lookahead: Lookahead,
        exhausted: Callable[[Lookahead], bool],
        root_prior: Sequence[float],
        scale: Scale,
        rng: np.random.Generator,
    ) -> Planning:
        node = lookahead.root
        prior = root_prior
        path: list[UctNode] = []
        before = lookahead.interactions
        while True:
            action = _greatest(node, self._bounds(node, prior, scale), rng)
            child = node.children[action]
            if child is None or not child.certain:
                if lookahead.interactions > before and exhausted(lookahead):
                    return  # a simulation that is cut off tells nothing
                child = lookahead.expand(node, action)
            assert isinstance(child, UctNode)
            path.append(child)
            if child.terminal:
                future = 0.0
                break
            yield from _evaluate(lookahead, child)
            assert child.base_policy is not None
            assert child.termination_cost is not None
            if child.visits == 0:
                future = child.termination_cost
                scale.include(future)
                break
            node, prior = child, child.base_policy.probabilities(len(child.children))
        for child in reversed(path):
            future = child.reward + self.discount * future
            child.visits += 1
            child.returns += future
            scale.include(child.mean_return())

    def _bounds(self, node: Node, prior: Sequence[float], scale: Scale) -> ActionValues:
        """Q + U of every action."""
        assert node.termination_cost is not None
        actions = [tried(first) for first in node.children]
        value, width = node.termination_cost, scale.width()
        weight = self.exploration * math.sqrt(sum(visits + 1 for visits, _ in actions))
        return [
            (returns + value) / (visits + 1) / width + weight * probability / (visits + 2)
            for (visits, returns), probability in zip(actions, prior, strict=True)
        ]

    def _root_prior(self, root: Node, rng: np.random.Generator) -> Sequence[float]:
        assert root.base_policy is not None
        actions = len(root.children)
        prior = root.base_policy.probabilities(actions)
        if not self.noise_share:
            return prior
        noise = rng.dirichlet([self.noise_alpha] * actions).tolist()
        share = self.noise_share
        return [(1.0 - share) * p + share * drawn for p, drawn in zip(prior, noise, strict=True)]

    def _scale_of(self, lookahead: Lookahead) -> Scale:
        """The scale of a time step, with what the kept nodes are worth."""
        scale = self.scale()
        for node in lookahead.nodes():
            if node.termination_cost is not None and not node.terminal:
                scale.include(node.termination_cost)
            # What the root paid was collected a time step ago.
            if isinstance(node, UctNode) and node.visits and node is not lookahead.root:
                scale.include(node.mean_return())
        return scale


def _evaluate(lookahead: Lookahead, node: Node) -> Planning:
    """Ask for the policy and the value of a node, as far as they are not known."""
    known = {POLICY: node.base_policy, VALUE: node.termination_cost}
    if unknown := [head for head, answer in known.items() if answer is None]:
        yield from ask_of_child(lookahead, node, *unknown)
