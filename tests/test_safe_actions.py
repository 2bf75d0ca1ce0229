"""The choice among actions below which a way is known that keeps the life, by hand and in play."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noveltree.agents import get_agent
from noveltree.episodes import Play, drive
from noveltree.lookahead import Interactions, SafeActions, best_action, known_ways, random_tie
from noveltree.protocol import make_protocol
from noveltree.simulators import State, Transition
from noveltree.tree import UNIFORM, Lookahead
from tests.support.stored_plays import straight_and_resumed

#: What the actions of the road do.
LOSE, GO_ON, END = 0, 1, 2


class _Living(State):
    __slots__ = ("lives",)

    def __init__(self, steps: int, lives: int) -> None:
        super().__init__(np.array([steps, lives]))
        self.lives = lives


class Road:
    """A road on which one may lose a life, go on, or end the episode; whoever does not go on is paid 1."""

    actions = ("lose", "go on", "end")

    def __init__(self, lives: int = 3) -> None:
        self._lives = lives

    def start(self) -> _Living:
        return _Living(0, self._lives)

    def step(self, state: State, action: int) -> Transition:
        assert isinstance(state, _Living)
        following = _Living(int(state.observation[0]) + 1, state.lives - (action == LOSE))
        return Transition(following, float(action != GO_ON), action == END)

    def close(self) -> None:
        pass


def lookahead_with(*paths: tuple[int, ...], lives: int = 3) -> Lookahead:
    """A lookahead with the nodes on these ways."""
    world = Road(lives)
    lookahead = Lookahead(world, world.start(), base_policy=UNIFORM, termination_cost=0.0)
    for path in paths:
        node = lookahead.root
        for action in path:
            node = node.children[action] or lookahead.expand(node, action)
    return lookahead


def choose(lookahead: Lookahead, values: list[float | None], steps: int) -> int:
    considered = SafeActions(steps)(lookahead.root, values)
    return best_action(random_tie)(lookahead.root, considered, np.random.default_rng(0))


def without_loss(lookahead: Lookahead, steps: int) -> None:
    """Let the first action of the root cost nothing, and the way below it have so many steps."""
    node = lookahead.expand(lookahead.root, LOSE)
    node.state = _Living(1, 3)
    for _ in range(steps - 1):
        node = lookahead.expand(node, GO_ON)


class TestKnownWays:
    def test_an_action_has_the_longest_way_below_it(self) -> None:
        assert known_ways(lookahead_with((GO_ON,)).root) == [0, 1, 0]
        assert known_ways(lookahead_with((GO_ON,) * 3, (GO_ON, LOSE)).root) == [0, 3, 0]

    def test_a_way_ends_before_a_life_is_lost(self) -> None:
        lookahead = lookahead_with((LOSE, GO_ON, GO_ON), (GO_ON, GO_ON, LOSE, GO_ON))
        assert known_ways(lookahead.root) == [0, 2, 0]

    def test_an_episode_that_ends_without_a_loss_is_survived_for_good(self) -> None:
        lookahead = lookahead_with((LOSE, END), (GO_ON, GO_ON, END), (END,))
        assert known_ways(lookahead.root) == [0, math.inf, math.inf]

    def test_one_that_ends_with_a_loss_is_not(self) -> None:
        lookahead = lookahead_with((GO_ON, LOSE))
        last = lookahead.root.children[GO_ON].children[LOSE]  # type: ignore[union-attr]
        assert last is not None
        last.terminal = True
        assert known_ways(lookahead.root) == [0, 1, 0]

    def test_lives_that_were_lost_before_the_root_do_not_matter(self) -> None:
        lookahead = lookahead_with((LOSE, GO_ON, GO_ON))
        lookahead.advance(LOSE, keep=True)
        assert known_ways(lookahead.root) == [0, 2, 0]

    def test_where_chance_decides_a_way_goes_on_after_every_outcome(self) -> None:
        lookahead = lookahead_with((GO_ON,) * 3)
        first = lookahead.root.children[GO_ON]
        assert first is not None
        first.next_outcome = lookahead.expand(lookahead.root, LOSE)  # to which going on may lead as well
        lookahead.root.children[LOSE] = None
        assert known_ways(lookahead.root) == [0, 0, 0]


class TestChoice:
    def test_an_action_without_a_way_is_not_chosen_for_a_reward(self) -> None:
        lookahead = lookahead_with((LOSE,), (GO_ON,) * 4)
        assert choose(lookahead, [1.0, 0.0, None], steps=3) == GO_ON

    def test_an_end_that_pays_is_chosen_if_no_life_is_lost_with_it(self) -> None:
        lookahead = lookahead_with((END,), (GO_ON,) * 20)
        assert choose(lookahead, [None, 0.0, 1.0], steps=10) == END

    @pytest.mark.parametrize(("steps", "chosen"), [(2, LOSE), (3, LOSE), (4, GO_ON)])
    def test_a_way_of_enough_steps_is_as_good_as_a_longer_one(self, steps: int, chosen: int) -> None:
        lookahead = lookahead_with((GO_ON,) * 10)
        without_loss(lookahead, 3)
        assert known_ways(lookahead.root) == [3, 10, 0]
        assert choose(lookahead, [1.0, 0.0, None], steps) == chosen

    def test_half_of_the_longest_way_is_enough(self) -> None:
        for longest, chosen in ((2, LOSE), (3, GO_ON)):
            lookahead = lookahead_with((GO_ON,) * longest)
            without_loss(lookahead, 1)
            assert choose(lookahead, [1.0, 0.0, None], steps=20) == chosen

    def test_where_every_way_has_ended_rewards_decide(self) -> None:
        assert choose(lookahead_with((LOSE,)), [1.0, None, None], steps=20) == LOSE

    def test_without_values_of_safe_actions_those_of_all_count(self) -> None:
        lookahead = lookahead_with((LOSE,), (GO_ON,) * 4)
        assert choose(lookahead, [1.0, None, None], steps=3) == LOSE

    def test_nothing_is_withheld_where_states_do_not_tell_of_lives(self) -> None:
        lookahead = lookahead_with((LOSE,), (GO_ON,) * 4, lives=0)
        assert choose(lookahead, [1.0, 0.0, None], steps=3) == LOSE


@pytest.mark.parametrize(
    ("game", "choices"), [("corridor", {"budget": 50}), ("FrozenLake-v1", {"chance": "foreseen"})]
)
def test_goals_that_end_the_episode_are_reached(game: str, choices: dict[str, Any]) -> None:
    protocol = make_protocol(
        game,
        agent="riw-plus",
        safe_steps=10,
        reward_weight=0.97,
        persistence="drawn",
        tie_breaking="unseen-if-idle",
        **choices,
    )
    with contextlib.closing(protocol.make_simulator()) as simulator:
        play = protocol.make_play(simulator, seed=0, index=0)
        drive([play], decisions=100)
    assert play.finished
    assert sum(decision.reward for decision in play.decisions) == 1.0


def test_what_may_not_be_chosen_has_no_value_for_whoever_learns_or_watches() -> None:
    lookahead = lookahead_with((LOSE,), (GO_ON,) * 4)
    agent = get_agent("n-cpl-plus")
    for steps, considered in ((3, [None, 0.0, None]), (0, [1.0, 0.0, None])):
        assert agent.considered(lookahead.root, [1.0, 0.0, None], agent.settings(safe_steps=steps)) == considered


def test_an_episode_has_the_values_among_which_was_chosen() -> None:
    agent = get_agent("riw-plus")
    settings = agent.settings(features="atoms", safe_steps=5, lives="all", tie_breaking="random")
    play = Play(Road(), agent, budget=Interactions(30), rng=np.random.default_rng(0), settings=settings)
    drive([play], decisions=3)
    for decision in play.decisions:
        assert decision.action_values[LOSE] is None  # although it pays
        assert decision.action_values[decision.action] is not None


def test_a_play_that_was_stored_goes_on_the_same(tmp_path: Path) -> None:
    protocol = make_protocol(
        "berzerk",
        agent="riw-plus",
        budget=30,
        tie_breaking="unseen-if-idle",
        safe_steps=20,
        persistence="drawn",
    )
    accounts = []
    with contextlib.closing(protocol.make_simulator()) as simulator:
        for play in straight_and_resumed(protocol, simulator, tmp_path / "play"):
            actions = [decision.action for decision in play.decisions]
            accounts.append((actions, play.memory()["selection.seen"].tobytes()))
    assert accounts[0] == accounts[1]
