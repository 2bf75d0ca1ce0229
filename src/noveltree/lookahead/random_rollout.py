"""A rollout of uniformly random actions, counted against the budget but not added to the tree."""

from __future__ import annotations

import numpy as np

from noveltree.lookahead.budget import Meter
from noveltree.tree import Lookahead, Node


def random_rollout(
    lookahead: Lookahead, meter: Meter, leaf: Node, steps: int, discount: float, *, rng: np.random.Generator
) -> float:
    """The discounted return of at most `steps` random actions from `leaf` on, as far as the budget allows."""
    state, terminal = leaf.state, leaf.terminal
    actions = len(leaf.children)
    total, weight = 0.0, 1.0
    for _ in range(steps):
        if terminal or meter.exhausted(lookahead):
            break
        state, reward, terminal = lookahead.simulate(state, int(rng.random() * actions))
        total += weight * reward
        weight *= discount
    return total
