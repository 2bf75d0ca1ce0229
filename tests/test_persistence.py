"""Rollouts that repeat their last action with a probability of their own, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from noveltree.lookahead import AllActions, LearntActions, PersistentActions
from noveltree.tree import UNIFORM, Lookahead, Node
from tests.support.worlds import ScriptedRng, TableWorld

#: Three actions that all lead one state on.
ROAD = TableWorld([[(i + 1, 0.0)] * 3 for i in range(50)])


def drawn(actions: PersistentActions, node: Node, root: Node, *numbers: float) -> int:
    """The action that is drawn with these numbers, all of which are needed."""
    rng: Any = ScriptedRng(*numbers)
    action = actions.sample(node, root, rng=rng)
    assert not rng.left
    return action


def lookahead_with(*path: int) -> Lookahead:
    lookahead = Lookahead(ROAD, ROAD.start(), base_policy=UNIFORM, termination_cost=0.0)
    node = lookahead.root
    for action in path:
        node = lookahead.expand(node, action)
    return lookahead


def test_below_the_root_the_last_action_is_repeated_with_the_probability_of_the_rollout() -> None:
    lookahead = lookahead_with(1, 1)
    root, actions = lookahead.root, PersistentActions(AllActions())
    child = root.children[1]
    assert child is not None
    # At the root 0.5 is the rollout's probability, and 0.9 draws the last of three actions.
    assert drawn(actions, root, root, 0.5, 0.9) == 2
    assert drawn(actions, child, root, 0.49) == 1
    # 0.5 is not below it: the action is drawn, here the first.
    assert drawn(actions, child, root, 0.5, 0.1) == 0


def test_every_rollout_has_a_probability_of_its_own() -> None:
    lookahead = lookahead_with(1)
    root, actions = lookahead.root, PersistentActions(AllActions())
    child = root.children[1]
    assert child is not None
    drawn(actions, root, root, 0.0, 0.1)
    assert drawn(actions, child, root, 0.0, 0.9) == 2
    drawn(actions, root, root, 0.9, 0.1)
    assert drawn(actions, child, root, 0.8) == 1


def test_an_action_below_which_nothing_is_left_is_not_repeated() -> None:
    lookahead = lookahead_with(1)
    root, actions = lookahead.root, PersistentActions(AllActions())
    child = root.children[1]
    assert child is not None
    child.unsolved.remove(1)
    drawn(actions, root, root, 1.0, 0.1)
    assert drawn(actions, child, root, 0.0, 0.9) == 2


def test_it_keeps_what_the_actions_inside_have_learnt() -> None:
    lookahead = lookahead_with(1)
    actions = PersistentActions(LearntActions())
    actions.begin(lookahead)
    actions.learn(lookahead)
    lookahead.advance(1, keep=True)
    again = PersistentActions(LearntActions())
    again.remember(actions.memory(), lookahead)
    assert {name: array.tolist() for name, array in again.memory().items()} == {
        name: array.tolist() for name, array in actions.memory().items()
    }


def test_a_game_with_many_ways_is_seen_farther_in_one_direction() -> None:
    """Of 200 rollouts of ten steps many more do one thing all the time than if each step were drawn anew."""
    rng, straight = np.random.default_rng(0), 0
    actions = PersistentActions(AllActions())
    for _ in range(200):
        lookahead = lookahead_with()
        node, path = lookahead.root, []
        for _ in range(10):
            path.append(actions.sample(node, lookahead.root, rng=rng))
            node = lookahead.expand(node, path[-1])
        straight += len(set(path)) == 1
    assert straight > 10  # 1 in 20,000 if drawn anew
