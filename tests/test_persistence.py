"""Rollouts that repeat their last action with a probability of their own, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from noveltree.agents import get_agent
from noveltree.agents.planners import action_set
from noveltree.errors import InputError, RecordError
from noveltree.lookahead import AllActions, LearntActions, PersistentActions
from noveltree.simulators import State, Transition
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


class _Life(State):
    __slots__ = ("lives",)

    def __init__(self, time: int, lives: int) -> None:
        super().__init__(np.array([time], dtype=np.uint8))
        self.lives = lives


class _Rewarding:
    """A road whose steps pay (+), cost a life (-), or do neither (.)."""

    actions = ("go",)

    def __init__(self, events: str) -> None:
        self._events = events

    def start(self) -> _Life:
        return _Life(0, 3)

    def step(self, state: State, action: int) -> Transition:
        assert isinstance(state, _Life)
        time = int(state.observation[0])
        event = self._events[time]
        return Transition(_Life(time + 1, state.lives - (event == "-")), float(event == "+"), False)

    def close(self) -> None:
        pass


def _persistent_at(events: str, caution: int = 0, safe_steps: int = 0, patience: int | None = None) -> str:
    """The time steps of a walk along the events at which rollouts are persistent, as crosses."""
    world = _Rewarding(events)
    lookahead = Lookahead(world, world.start(), base_policy=UNIFORM, termination_cost=0.0)
    actions, seen = PersistentActions(AllActions(), caution, safe_steps, patience), ""
    for _ in events:
        actions.begin(lookahead)
        actions.begin(lookahead)  # a decision that was cut off is begun again
        numbers: Any = ScriptedRng(0.9, 0.1)  # a persistent rollout draws its probability, and then an action
        actions.sample(lookahead.root, lookahead.root, rng=numbers)
        seen += "." if numbers.left else "x"
        lookahead.expand(lookahead.root, 0)
        lookahead.advance(0, keep=True)
    return seen


def test_with_caution_rollouts_are_not_persistent_for_so_long_after_the_loss_of_a_life() -> None:
    assert _persistent_at("........", caution=3) == "xxxxxxxx"
    # What an action costs shows in the time step that it leads to.
    assert _persistent_at("-.......", caution=3) == "x...xxxx"
    assert _persistent_at("...--...", caution=2) == "xxxx...x"
    assert _persistent_at("-.......", caution=0) == "xxxxxxxx"
    # What pays changes nothing.
    assert _persistent_at("+++.....", caution=3) == "xxxxxxxx"


def _persistent_if_known(known: int, *, safe_steps: int, lives: int | None = None) -> bool:
    """Whether rollouts are persistent where the last lookahead has left a way of so many actions to the loss of a
    life, which the next action costs, or to nothing at all.
    """
    world: Any = ROAD if lives == 0 else _Rewarding("." * (known - 1) + "-")
    lookahead = Lookahead(world, world.start(), base_policy=UNIFORM, termination_cost=0.0)
    node = lookahead.root
    for _ in range(known):
        node = lookahead.expand(node, 0)
    actions = PersistentActions(AllActions(), safe_steps=safe_steps)
    actions.begin(lookahead)
    numbers: Any = ScriptedRng(0.9, 0.1)
    actions.sample(lookahead.root, lookahead.root, rng=numbers)
    return not numbers.left


def test_while_no_way_is_known_that_is_long_enough_rollouts_are_not_persistent() -> None:
    # The fourth action costs a life, so that a way of three is known.
    assert _persistent_if_known(4, safe_steps=3)
    assert not _persistent_if_known(4, safe_steps=4)
    # Nothing is known at first, nor where no subtree was kept.
    assert not _persistent_if_known(0, safe_steps=1)
    assert _persistent_if_known(0, safe_steps=0)
    # Where states tell no lives there is no danger.
    assert _persistent_if_known(0, safe_steps=1, lives=0)


def test_who_lives_on_without_a_known_way_and_without_a_reward_looks_far_again() -> None:
    # No subtree is kept here, so that no way is known. Three time steps without an event are enough.
    asks = {"safe_steps": 1, "patience": 3}
    assert _persistent_at("........", **asks) == "...xxxxx"
    assert _persistent_at("..+.....", **asks) == "......xx"
    assert _persistent_at("....-...", **asks) == "...xx..."
    assert _persistent_at("..+.-...", **asks) == "........"
    # The caution lasts longer.
    assert _persistent_at("-.......", **asks, caution=5) == "......xx"
    assert _persistent_at("........", safe_steps=1) == "........"


@pytest.mark.parametrize("persistence", ["if-safe", "if-safe-or-idle"])
def test_persistence_that_asks_what_is_safe_has_to_know_how_long(persistence: str) -> None:
    settings = get_agent("riw-d").settings(features="atoms", persistence=persistence)
    with pytest.raises(InputError, match="choose --safe-steps, too"):
        action_set(settings)
    actions = action_set(get_agent("riw-d").settings(features="atoms", persistence=persistence, safe_steps=3))
    world = _Rewarding("...-")
    lookahead = Lookahead(world, world.start(), base_policy=UNIFORM, termination_cost=0.0)
    actions.begin(lookahead)
    numbers: Any = ScriptedRng(0.9, 0.1)
    assert actions.sample(lookahead.root, lookahead.root, rng=numbers) == 0
    assert numbers.left  # nothing is known yet, so that no probability was drawn


def test_caution_goes_on_where_it_was() -> None:
    world = _Rewarding(".-......")
    lookahead = Lookahead(world, world.start(), base_policy=UNIFORM, termination_cost=0.0)
    actions = PersistentActions(LearntActions(), 3)
    assert actions.memory().keys() == LearntActions().memory().keys()
    for _ in range(4):
        actions.begin(lookahead)
        actions.learn(lookahead)
        lookahead.expand(lookahead.root, 0)
        lookahead.advance(0, keep=True)
    memory = actions.memory()
    assert memory["actions.loss"].tolist() == [2]
    again = PersistentActions(LearntActions(), 3)
    again.remember(memory, lookahead)
    assert again.memory()["actions.loss"].tolist() == [2]
    for part in (actions, again):  # at time step 4, two after the loss, both are cautious still
        part.begin(lookahead)
        numbers: Any = ScriptedRng(0.1)
        part.sample(lookahead.root, lookahead.root, rng=numbers)
        assert not numbers.left
    for bad in (5, 0, 1.0):
        with pytest.raises(RecordError, match="When a life was lost last"):
            PersistentActions(AllActions(), 3).remember({"actions.loss": np.array([bad])}, lookahead)
    with pytest.raises(RecordError, match="remember nothing"):
        PersistentActions(AllActions()).remember({"actions.loss": np.array([2])}, lookahead)


def test_patience_goes_on_where_it_was() -> None:
    world = _Rewarding("-.+.....")
    lookahead = Lookahead(world, world.start(), base_policy=UNIFORM, termination_cost=0.0)
    actions = PersistentActions(AllActions(), safe_steps=1, patience=3)
    assert actions.memory() == {}
    for _ in range(4):
        actions.begin(lookahead)
        lookahead.expand(lookahead.root, 0)
        lookahead.advance(0, keep=True)
    memory = actions.memory()
    assert {name: array.tolist() for name, array in memory.items()} == {"actions.loss": [1], "actions.paid": [3]}
    again = PersistentActions(AllActions(), safe_steps=1, patience=3)
    again.remember(memory, lookahead)
    for part in (actions, again):  # at time step 4, one after the reward, both are patient still
        part.begin(lookahead)
        numbers: Any = ScriptedRng(0.1)
        part.sample(lookahead.root, lookahead.root, rng=numbers)
        assert not numbers.left
    with pytest.raises(RecordError, match="When something was paid last"):
        again.remember({"actions.paid": np.array([9])}, lookahead)
    with pytest.raises(RecordError, match="remember nothing"):
        PersistentActions(AllActions(), 3).remember({"actions.paid": np.array([2])}, lookahead)


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
