"""UCT (Kocsis and Szepesvari, 2006): a tree grown by upper confidence bounds and random rollouts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from noveltree.lookahead.budget import Meter
from noveltree.lookahead.planner import ActionValues
from noveltree.lookahead.questions import Planning
from noveltree.lookahead.random_rollout import random_rollout
from noveltree.lookahead.scale import Spread
from noveltree.tree import Lookahead, Node, outcomes

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


class Tried(NamedTuple):
    """What the simulations through an action returned, whatever it led to."""

    visits: int
    returns: float

    def mean_return(self) -> float:
        return self.returns / self.visits


def tried(first: Node | None) -> Tried:
    """The statistics of an action, given its first outcome: those of all its outcomes."""
    visits, returns = 0, 0.0
    for outcome in outcomes(first):
        assert isinstance(outcome, UctNode)
        visits += outcome.visits
        returns += outcome.returns
    return Tried(visits, returns)


@dataclass(slots=True)
class Uct:
    """Each simulation descends by UCB1, adds one node, and rolls out at random to `rollout_depth`.

    Bounds are those of actions. What an action leads to is drawn anew each time, unless it is certain; an outcome
    that was not drawn before is the node that is added.

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
        actions = (tried(first) for first in lookahead.root.children)
        return [action.mean_return() if action.visits else None for action in actions]

    def _simulation(self, lookahead: Lookahead, meter: Meter, spread: Spread, rng: np.random.Generator) -> None:
        node = lookahead.root
        assert isinstance(node, UctNode)
        path = [node]
        limit = node.time + self.rollout_depth
        before = lookahead.interactions
        while not node.terminal and node.time < limit:
            child = node.children[action := self._action(node, spread, rng)]
            if child is None or not child.certain:
                if lookahead.interactions > before and meter.exhausted(lookahead):
                    return  # a simulation that is cut off tells nothing
                child = lookahead.expand(node, action)
            assert isinstance(child, UctNode)
            path.append(child)
            node = child
            if node.visits == 0:
                break
        steps = limit - path[-1].time
        future = random_rollout(lookahead, meter, path[-1], steps, self.discount, rng=rng)
        path[0].visits += 1
        for node in reversed(path[1:]):  # what the root paid was collected a time step ago
            future = node.reward + self.discount * future
            node.visits += 1
            node.returns += future
            spread.include(future)

    def _action(self, node: UctNode, spread: Spread, rng: np.random.Generator) -> int:
        """One of those that were never tried, at random; that with the greatest bound if there are none."""
        actions = [tried(first) for first in node.children]
        untried = [number for number, action in enumerate(actions) if action.visits == 0]
        if untried:
            return untried[int(rng.random() * len(untried))]
        log_visits = math.log(sum(action.visits for action in actions))
        bounds = [
            action.mean_return() / spread.width() + self.exploration * math.sqrt(log_visits / action.visits)
            for action in actions
        ]
        return bounds.index(max(bounds))
