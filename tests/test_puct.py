"""PUCT by hand, against a plain reference, and as an agent."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noveltree.agents import get_agent
from noveltree.episodes import Choice, Play, drive
from noveltree.errors import InputError
from noveltree.heuristics import UNINFORMED, Heuristic, Heuristics
from noveltree.learning.experience import CriticalPath
from noveltree.learning.policy_targets import VisitShares
from noveltree.lookahead import (
    Interactions,
    Puct,
    Question,
    Raw,
    Scale,
    Spread,
    UctNode,
    best_action,
    drawn_first,
    random_tie,
)
from noveltree.simulators import Corridor
from noveltree.tree import UNIFORM, Lookahead, Node, Probabilities
from tests.support.answering import answer
from tests.support.puct_reference import PuctReference
from tests.support.worlds import BINARY, ScriptedRng, TableState, TableWorld, tree_of, worlds

LEFT, RIGHT = 0, 1


def networks(policy: dict[int, list[float]], values: dict[int, float]) -> Heuristics:
    """One network with both heads, by the states of a table world."""

    def evaluate(nodes: Any, heads: tuple[str, ...]) -> dict[str, np.ndarray]:
        names = [node.state.name for node in nodes]
        everything = {
            "policy": np.array([policy[name] for name in names]),
            "value": np.array([values[name] for name in names]),
        }
        return {head: everything[head] for head in heads}

    return Heuristics((Heuristic(frozenset({"policy", "value"}), evaluate),))


def lookahead_of(world: TableWorld, *, known: bool = False) -> Lookahead:
    lookahead = Lookahead(
        world,
        world.start(),
        base_policy=UNIFORM if known else None,
        termination_cost=0.0 if known else None,
        node_type=UctNode,
    )
    lookahead.begin_time_step()
    return lookahead


def statistics(lookahead: Lookahead) -> dict[tuple[int, ...], tuple[int, float]]:
    """By path: visits and returns."""
    return {
        path: (node.visits, node.returns)
        for path, node in tree_of(lookahead).items()
        if path and isinstance(node, UctNode)
    }


class TestByHand:
    r"""The tree of BINARY, the discount 0.5, the constant 1, values as they are:

           0   P = .8, .2   v = 0
      0  /   \  1
        1     2      v(1) = 2, v(2) = 0
    5 / | 0  2 | \ 3
     3  4      5  6  terminal
    """

    POLICY: ClassVar = {0: [0.8, 0.2], 1: [0.5, 0.5], 2: [0.5, 0.5]}
    VALUES: ClassVar = {0: 0.0, 1: 2.0, 2: 0.0}

    def grow(self, budget: int, *numbers: float) -> tuple[Lookahead, list[Question]]:
        lookahead = lookahead_of(BINARY)
        rng: Any = ScriptedRng(*numbers)
        planner = Puct(exploration=1.0, discount=0.5, scale=Raw)
        asked = answer(
            planner.plan(lookahead, Interactions(budget).start(), rng=rng), networks(self.POLICY, self.VALUES)
        )
        assert rng.left == 0
        return lookahead, asked

    def test_the_prior_decides_where_nothing_was_tried(self) -> None:
        # Q = 0 for both, U = P sqrt(2) / 2: left. Its value of 2, discounted, comes back.
        lookahead, _ = self.grow(1)
        assert statistics(lookahead) == {(0,): (1, 1.0)}

    def test_an_action_that_was_not_tried_has_the_value_of_its_node(self) -> None:
        # Root: left (1 + 0) / 2 + .8 sqrt(3) / 3 = .96, right 0 + .2 sqrt(3) / 2. State 1: both 2 + .5 sqrt(2) / 2,
        # a tie; the number draws right, which is terminal and pays nothing.
        lookahead, _ = self.grow(2, 0.9)
        assert statistics(lookahead) == {(0,): (2, 1.0), (0, 1): (1, 0.0)}

    def test_returns_are_discounted_and_added_up_along_the_path(self) -> None:
        # Root: left 1 / 3 + .8 * 2 / 4 = .73, right .2. State 1: left 2 + .5 sqrt(3) / 2, right (0 + 2) / 2 + ...:
        # left pays 5, and half of that reaches the root.
        lookahead, _ = self.grow(3, 0.9)
        assert statistics(lookahead) == {(0,): (3, 3.5), (0, 1): (1, 0.0), (0, 0): (1, 5.0)}

    def test_a_terminal_node_is_visited_again_and_that_counts(self) -> None:
        # Root: left 3.5 / 4 + .8 sqrt(5) / 5. State 1: left (5 + 2) / 2 + ..., right 1 + ...: left, without the
        # simulator. So all later ones go, until right is due at the root.
        lookahead, _ = self.grow(4, 0.9)
        assert statistics(lookahead) == {(0,): (4, 6.0), (0, 1): (1, 0.0), (0, 0): (2, 10.0)}
        assert lookahead.interactions == 3

    def test_planning_ends_where_everything_is_known(self) -> None:
        lookahead = lookahead_of(BINARY)
        planner = Puct(exploration=1.0, discount=0.5)
        rng = np.random.default_rng(0)
        heuristics = networks(self.POLICY, self.VALUES)
        answer(planner.plan(lookahead, Interactions(10_000).start(), rng=rng), heuristics)
        assert sum(visits for path, (visits, _) in statistics(lookahead).items() if len(path) == 1) == 10_000
        assert lookahead.interactions <= 6

    def test_a_new_node_is_asked_for_both_heads_at_once_and_terminal_ones_for_none(self) -> None:
        lookahead, asked = self.grow(3, 0.9)
        assert [(tuple(_name(n) for n in question.nodes), question.heads) for question in asked] == [
            ((0,), ("policy", "value")),
            ((1,), ("policy", "value")),
        ]
        assert isinstance(lookahead.root.base_policy, Probabilities)

    def test_what_is_known_is_not_asked(self) -> None:
        planner = Puct(exploration=1.0, discount=0.5)
        lookahead = lookahead_of(BINARY, known=True)
        rng = np.random.default_rng(0)
        assert answer(planner.plan(lookahead, Interactions(6).start(), rng=rng), UNINFORMED) == []
        lookahead = lookahead_of(BINARY)
        lookahead.termination_cost = lookahead.root.termination_cost = 0.0
        heuristics = Heuristics.of(policy=lambda nodes: np.full((len(nodes), 2), 0.5))
        asked = answer(planner.plan(lookahead, Interactions(6).start(), rng=rng), heuristics)
        assert {question.heads for question in asked} == {("policy",)}
        assert len(asked) == 3, "states 0, 1 and 2"

    def test_values_of_actions_are_their_visits(self) -> None:
        lookahead, _ = self.grow(4, 0.9)
        assert Puct(1.0, 0.5).action_values(lookahead) == [4.0, None]

    def test_after_an_action_the_visits_below_it_stay(self) -> None:
        lookahead, _ = self.grow(4, 0.9)
        lookahead.advance(LEFT, keep=True)
        lookahead.begin_time_step()
        assert statistics(lookahead) == {(1,): (1, 0.0), (0,): (2, 10.0)}
        # Root, state 1 with v = 2: left (10 + 2) / 3 + .5 sqrt(5) / 4, right (0 + 2) / 2 + .5 sqrt(5) / 3.
        planner = Puct(exploration=1.0, discount=0.5, scale=Raw)
        rng: Any = ScriptedRng()
        assert answer(planner.plan(lookahead, Interactions(1).start(), rng=rng), UNINFORMED) == []
        assert planner.action_values(lookahead) == [3.0, 1.0]

    def test_a_node_whose_decision_was_cut_off_is_a_leaf_still(self) -> None:
        lookahead = lookahead_of(BINARY)
        planner = Puct(exploration=1.0, discount=0.5, scale=Raw)
        heuristics = networks(self.POLICY, self.VALUES)
        rng: Any = ScriptedRng()
        planning = planner.plan(lookahead, Interactions(1).start(), rng=rng)
        planning.send(heuristics.answer([next(planning)])[0])  # about the new node; never answered
        planning.close()
        assert statistics(lookahead) == {(0,): (0, 0.0)}
        lookahead.begin_time_step()
        assert planner.action_values(lookahead) == [None, None]
        asked = answer(planner.plan(lookahead, Interactions(1).start(), rng=rng), heuristics)
        assert [_name(question.nodes[0]) for question in asked] == [1]
        assert statistics(lookahead) == {(0,): (1, 1.0)}


class TestScale:
    #: Left pays 100 and goes on to pay nothing; right pays nothing. Both stay where they are.
    WORLD = TableWorld([[(1, 100.0), (2, 0.0)], [(1, 0.0)] * 2, [(2, 0.0)] * 2])

    def visits(self, scale: type[Spread] | type[Raw], factor: float) -> list[float | None]:
        table = [[(state, factor * reward) for state, reward in row] for row in self.WORLD.table]
        lookahead = lookahead_of(TableWorld(table), known=True)
        planner = Puct(exploration=1.0, discount=1.0, scale=scale)
        answer(planner.plan(lookahead, Interactions(40).start(), rng=np.random.default_rng(3)), UNINFORMED)
        return planner.action_values(lookahead)

    def test_by_the_spread_it_does_not_matter_in_which_units_a_game_pays(self) -> None:
        assert self.visits(Spread, 1.0) == self.visits(Spread, 0.001) == self.visits(Spread, 1000.0)
        assert min(visits or 0.0 for visits in self.visits(Spread, 1.0)) > 1

    def test_raw_scores_drown_the_prior(self) -> None:
        # Once left was tried, Q is above 50 and U at most sqrt(42) / 4: right is tried before it or never.
        left, right = self.visits(Raw, 1.0)
        assert left is not None
        assert left + (right or 0.0) == 40
        assert (right or 0.0) <= 1.0

    @pytest.mark.parametrize(
        ("exploration", "scale", "expected"),
        [(2.0, Spread, [1.0, 2.0]), (2.0, Raw, [2.0, 1.0]), (0.2, Spread, [2.0, 1.0])],
    )
    def test_the_spread_of_kept_nodes_counts_from_the_beginning_of_a_time_step(
        self, exploration: float, scale: type[Scale], expected: list[float]
    ) -> None:
        """From 0 left leads to 1 for 1000; there, each tried once, left leads to 2 for 8 and right to 3 for 0.

        After left was executed, v(1) = 4, v(2) = v(3) = 0 and the mean returns 8 and 0 are kept: a width of 8.
        What was paid on the way to 1 does not count. So Q is (8 + 4) / 2 / 8 = .75 and (0 + 4) / 2 / 8 = .25. With
        P = .1 and .9, U is .07 and .6 times the constant: right is the greatest if that is 2, left if it is 0.2.
        Raw values are 6 and 2, so that left is the greatest.
        """
        world = TableWorld([[(1, 1000.0), (1, 0.0)], [(2, 8.0), (3, 0.0)], [(2, 0.0)] * 2, [(3, 0.0)] * 2])
        policy = {0: [0.9, 0.1], 1: [0.1, 0.9], 2: [0.5, 0.5], 3: [0.5, 0.5]}
        values = {0: 4.0, 1: 4.0, 2: 0.0, 3: 0.0}
        lookahead = lookahead_of(world)
        child = lookahead.expand(lookahead.root, LEFT)
        counts = {
            child: (3, 3008.0),
            lookahead.expand(child, LEFT): (1, 8.0),
            lookahead.expand(child, RIGHT): (1, 0.0),
        }
        for node, (visits, returns) in counts.items():
            assert isinstance(node, UctNode)
            node.visits, node.returns = visits, returns
            node.base_policy, node.termination_cost = Probabilities(policy[_name(node)]), values[_name(node)]
        lookahead.advance(LEFT, keep=True)
        lookahead.begin_time_step()
        planner = Puct(exploration=exploration, discount=1.0, scale=scale)
        rng: Any = ScriptedRng(0.0)
        answer(planner.plan(lookahead, Interactions(1).start(), rng=rng), networks(policy, values))
        assert planner.action_values(lookahead) == expected


class TestNoise:
    class Rng:
        """Draws the same noise always, and counts."""

        def __init__(self) -> None:
            self.drawn: list[list[float]] = []

        def dirichlet(self, alpha: list[float]) -> np.ndarray:
            self.drawn.append(alpha)
            return np.array([0.0, 1.0])

        def random(self) -> float:
            return 0.0

    def test_it_is_drawn_once_for_a_time_step_and_for_the_root_alone(self) -> None:
        lookahead = lookahead_of(BINARY)
        rng: Any = self.Rng()
        planner = Puct(exploration=1.0, discount=0.5, noise_share=0.25, noise_alpha=0.03, scale=Raw)
        heuristics = networks(TestByHand.POLICY, TestByHand.VALUES)
        answer(planner.plan(lookahead, Interactions(6).start(), rng=rng), heuristics)
        assert rng.drawn == [[0.03, 0.03]]
        assert lookahead.root.base_policy is not None
        assert lookahead.root.base_policy.probabilities(2) == [0.8, 0.2], "the network's answer stays"
        lookahead.advance(LEFT, keep=True)
        lookahead.begin_time_step()
        answer(planner.plan(lookahead, Interactions(6).start(), rng=rng), heuristics)
        assert len(rng.drawn) == 2

    def test_it_is_a_share_of_the_prior(self) -> None:
        # .75 (.5, .5) + .25 (0, 1) = (.375, .625): right. Without noise it would be a tie, which goes left here.
        lookahead = lookahead_of(BINARY, known=True)
        rng: Any = self.Rng()
        planner = Puct(exploration=1.0, discount=0.5, noise_share=0.25, noise_alpha=0.03)
        answer(planner.plan(lookahead, Interactions(1).start(), rng=rng), UNINFORMED)
        assert planner.action_values(lookahead) == [None, 1.0]

    def test_without_a_share_nothing_is_drawn(self) -> None:
        rng: Any = ScriptedRng(0.0, 0.0)
        lookahead = lookahead_of(BINARY, known=True)
        answer(Puct(1.0, 0.5).plan(lookahead, Interactions(1).start(), rng=rng), UNINFORMED)
        assert rng.left == 1, "one tie"


class TestSelection:
    def test_actions_are_drawn_in_proportion_to_visits_at_first(self) -> None:
        select = drawn_first(30, best_action(random_tie))
        root = lookahead_of(BINARY, known=True).root
        root.time = 29
        assert [select(root, [3.0, 1.0], ScriptedRng(draw)) for draw in (0.0, 0.74, 0.76)] == [0, 0, 1]
        assert select(root, [None, 1.0], ScriptedRng(0.0)) == 1

    def test_and_are_the_most_visited_after_that(self) -> None:
        select = drawn_first(30, best_action(random_tie))
        root = lookahead_of(BINARY, known=True).root
        root.time = 30
        assert select(root, [3.0, 4.0], ScriptedRng()) == 1
        assert select(root, [3.0, 3.0], ScriptedRng(0.9)) == 1


@pytest.mark.parametrize("scaled", [False, True])
@given(
    world=worlds(),
    budget=st.integers(1, 12),
    seed=st.integers(0, 2**32 - 1),
    weights=st.lists(st.integers(0, 8), min_size=24, max_size=24),
    values=st.lists(st.integers(-3, 3), min_size=8, max_size=8),
    exploration=st.sampled_from([0.0, 0.5, 2.0]),
)
@settings(max_examples=150, deadline=None)
def test_lookaheads_equal_the_reference(
    scaled: bool,
    world: TableWorld,
    budget: int,
    seed: int,
    weights: list[int],
    values: list[int],
    exploration: float,
) -> None:
    actions = len(world.actions)
    policy = {s: [w / 8 for w in weights[3 * s : 3 * s + actions]] for s in range(len(world.table))}
    value = {s: float(values[s]) for s in range(len(world.table))}
    planner = Puct(exploration=exploration, discount=0.5, scale=Spread if scaled else Raw)
    rng = np.random.default_rng(seed)
    lookahead = lookahead_of(world)
    reference = PuctReference(world, policy, value, exploration, 0.5, scaled, budget, np.random.default_rng(seed))
    for _ in range(3):
        lookahead.begin_time_step()
        answer(planner.plan(lookahead, Interactions(budget).start(), rng=rng), networks(policy, value))
        assert lookahead.interactions == reference.plan()
        assert tree_of(lookahead).keys() == reference.nodes()
        assert statistics(lookahead) == {
            path: (reference.visits(path), reference.returns(path)) for path in reference.nodes() if path
        }
        action = best_action(random_tie)(lookahead.root, planner.action_values(lookahead), rng)
        tied = [a for a in range(actions) if reference.visits((a,)) == max(map(reference.visits, _root(actions)))]
        assert action == (tied[0] if len(tied) == 1 else tied[int(reference.rng.random() * len(tied))])
        lookahead.advance(action, keep=True)
        reference.advance(action)
        if lookahead.root.terminal:
            break


class TestAgent:
    def play(self, corridor: Corridor, *, budget: int, seed: int = 0) -> Play:
        agent = get_agent("alphazero")
        rng = np.random.default_rng(seed)
        return Play(corridor, agent, budget=Interactions(budget), rng=rng, max_steps=50)

    def test_with_a_good_value_it_walks_to_the_exit(self) -> None:
        def policy(nodes: Any) -> np.ndarray:
            return np.full((len(nodes), 2), 0.5)

        def value(nodes: Any) -> np.ndarray:
            return np.array([0.9 ** (19 - node.state.cell) for node in nodes])

        corridor = Corridor(20)
        learnt, untaught = self.play(corridor, budget=20), self.play(corridor, budget=20)
        drive([learnt], Heuristics.of(policy=policy, value=value))
        drive([untaught])
        assert learnt.finished
        assert learnt.episode().score == 1.0
        assert len(learnt.decisions) < 30 < len(untaught.decisions)

    def test_decisions_are_recorded_with_visits(self) -> None:
        play = self.play(Corridor(20), budget=25)
        drive([play], decisions=1)
        (decision,) = play.decisions
        assert sum(visits or 0.0 for visits in decision.action_values) == 25
        assert decision.interactions == 25

    def test_answers_of_older_networks_and_visits_stay_when_networks_change(self) -> None:
        def networks_of(value: float) -> Heuristics:
            return Heuristics.of(
                policy=lambda nodes: np.full((len(nodes), 2), 0.5),
                value=lambda nodes: np.full(len(nodes), value),
            )

        def answers(play: Play, choice: Choice) -> None:
            said.append({node.termination_cost for node in play.lookahead.nodes()})

        said: list[set[float | None]] = []
        play = self.play(Corridor(20), budget=25)
        drive([play], networks_of(1.0), decisions=1, on_choice=answers)
        before = statistics(play.lookahead)
        play.use(current := networks_of(2.0))
        assert statistics(play.lookahead) == before
        drive([play], current, decisions=1, on_choice=answers)
        assert said == [{1.0}, {1.0, 2.0}], "the first root was asked about, too"

    def test_settings(self) -> None:
        agent = get_agent("alphazero")
        settings = agent.settings()
        assert (settings.exploration, settings.discount) == (1.0, 0.99)
        assert (settings.noise_share, settings.noise_alpha, settings.drawn_steps) == (0.25, 0.03, 30)
        assert agent.assemble(Corridor().start(), settings) == Puct(1.0, 0.99, 0.25, 0.03, Spread)
        assert agent.assemble(Corridor().start(), agent.settings(value_scale="raw")) == Puct(
            1.0, 0.99, 0.25, 0.03, Raw
        )


class TestPolicyTargets:
    def path(self, *values: list[float]) -> CriticalPath:
        count = len(values)
        return CriticalPath(
            observations=np.zeros((count + 1, 1)),
            actions=np.zeros(count, dtype=np.int64),
            rewards=np.zeros(count),
            terminal=True,
            action_values=np.array(values, dtype=np.float64),
        )

    def test_they_are_the_shares_of_visits(self) -> None:
        nan = math.nan
        rows = VisitShares().targets([self.path([3.0, 1.0], [nan, 7.0]), self.path([5.0, 5.0])], 2)
        assert rows.dtype == np.float32
        assert rows.tolist() == [[0.75, 0.25], [0.0, 1.0], [0.5, 0.5]]

    @pytest.mark.parametrize("values", [[0.0, 0.0], [2.0, -1.0], [math.nan, math.nan]])
    def test_values_that_are_no_visits_are_refused(self, values: list[float]) -> None:
        with pytest.raises(InputError, match="are for agents whose action values are visits"):
            VisitShares().targets([self.path(values)], 2)


def _name(node: Node) -> int:
    assert isinstance(node.state, TableState)
    return node.state.name


def _root(actions: int) -> list[tuple[int, ...]]:
    return [(action,) for action in range(actions)]
