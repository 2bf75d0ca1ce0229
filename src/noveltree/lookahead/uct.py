"""UCT (Kocsis and Szepesvari, 2006): a tree grown by upper confidence bounds and random rollouts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from noveltree.lookahead.budget import Meter
from noveltree.lookahead.planner import ActionValues
from noveltree.lookahead.questions import Planning
from noveltree.lookahead.random_rollout import random_rollout
from noveltree.lookahead.scale import Spread
from noveltree.tree import Lookahead, Node

#: After this many simulations in a row that met nothing new, all within reach counts as known.
_IDLE_SIMULATIONS = 100


class UctNode(Node):
    """A node that counts the simulations through it and adds up what they returned from here on."""

    __slots__ = ("returns", "visits")

    def __init__(self, *path: Any) -> None:
        super().__init__(*path)
        self.visits = 0
        #: Sum over the simulations of the reward into this node and the discounted rewards after it.
        self.returns = 0.0

    def mean_return(self) -> float:
        return self.returns / self.visits


@dataclass(slots=True)
class Uct:
    """Each simulation descends by UCB1, adds one node, and rolls out at random to `rollout_depth`.

    UCB1 assumes returns in [0, 1]; scores of games have any scale, so that mean returns are divided by the
    spread of the returns seen in this time step before `exploration` * sqrt(ln N / n) is added.
    """

    rollout_depth: int
    exploration: float
    discount: float
    node_type: type[Node] = UctNode

    def plan(self, lookahead: Lookahead, meter: Meter, *, rng: np.random.Generator) -> Planning:
        yield from ()  # rollouts are uniformly random
        spread = Spread()
        idle = 0
        while not meter.exhausted(lookahead):
            before = lookahead.interactions
            self._simulation(lookahead, meter, spread, rng)
            idle = 0 if lookahead.interactions > before else idle + 1
            if idle == _IDLE_SIMULATIONS:
                lookahead.root.solved = True
                return

    def action_values(self, lookahead: Lookahead) -> ActionValues:
        return [
            child.mean_return() if isinstance(child, UctNode) and child.visits else None
            for child in lookahead.root.children
        ]

    def _simulation(self, lookahead: Lookahead, meter: Meter, spread: Spread, rng: np.random.Generator) -> None:
        node = lookahead.root
        assert isinstance(node, UctNode)
        path = [node]
        limit = node.time + self.rollout_depth
        while not node.terminal and node.time < limit:
            unvisited = [
                action
                for action, child in enumerate(node.children)
                if not isinstance(child, UctNode) or child.visits == 0
            ]
            if unvisited:
                action = unvisited[int(rng.random() * len(unvisited))]
                leaf = node.children[action] or lookahead.expand(node, action)
                assert isinstance(leaf, UctNode)
                path.append(leaf)
                break
            node = self._best_bound(node, spread)
            path.append(node)
        steps = limit - path[-1].time
        future = random_rollout(lookahead, meter, path[-1], steps, self.discount, rng=rng)
        path[0].visits += 1
        for node in reversed(path[1:]):  # what the root paid was collected a time step ago
            future = node.reward + self.discount * future
            node.visits += 1
            node.returns += future
            spread.include(future)

    def _best_bound(self, node: UctNode, spread: Spread) -> UctNode:
        children = [child for child in node.children if isinstance(child, UctNode)]
        log_visits = math.log(sum(child.visits for child in children))
        return max(
            children,
            key=lambda child: (
                child.mean_return() / spread.width() + self.exploration * math.sqrt(log_visits / child.visits)
            ),
        )
