"""Rules of earlier planners (Bandres et al. 2018, Lipovetzky et al. 2015, Dittadi et al. 2021), each by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from noveltree.errors import InputError
from noveltree.lookahead import (
    BreadthFirst,
    CountedVisits,
    Interactions,
    LeafValues,
    LostNodes,
    MarkedNode,
    NeverTested,
    NoPruning,
    NoveltyPruning,
    PlanningReward,
    PlanningValues,
    PrunedTested,
    Pruning,
    Repetitions,
    RiskAverse,
    RiskAverseFromRoot,
    Rollouts,
    Subtables,
    SubtreeCap,
    TestedWhenMet,
    best_action,
    in_order,
    longest_branch,
    random_order,
    subtable,
    true_reward,
)
from noveltree.novelty import ClassicTable, DepthTable
from noveltree.protocol import make_protocol
from noveltree.simulators import State
from noveltree.tree import UNIFORM, Lookahead
from tests.support.worlds import BINARY, ScriptedRng, TableFeatures, TableState, TableWorld, tree_of

LEFT, RIGHT = 0, 1


def begin(world: TableWorld) -> Lookahead:
    lookahead = Lookahead(world, world.start(), base_policy=UNIFORM, termination_cost=0.0, node_type=MarkedNode)
    lookahead.begin_time_step()
    return lookahead


def plan(planner: Any, lookahead: Lookahead, budget: int, *numbers: float) -> None:
    """Plan with these random numbers, all of which must be used."""
    rng: Any = ScriptedRng(*numbers)
    for _ in planner.plan(lookahead, Interactions(budget).start(), rng=rng):
        raise AssertionError("nothing is to be asked")
    assert rng.left == 0


def go_on(lookahead: Lookahead, action: int) -> None:
    """Execute an action, and begin the next time step."""
    lookahead.advance(action, keep=True)
    lookahead.begin_time_step()


def labels(lookahead: Lookahead) -> dict[tuple[int, ...], str]:
    """For each path: N if novel, S if solved."""
    return {
        path: ("N" if node.novel else "-") + ("S" if node.solved else "-")
        for path, node in tree_of(lookahead).items()
    }


def mark(lookahead: Lookahead, path: tuple[int, ...]) -> MarkedNode:
    node = tree_of(lookahead)[path]
    assert isinstance(node, MarkedNode)
    return node


class TestRiskAversion:
    """0 -a0-> 1 (pays 3, a life is lost) -a0-> 2 (pays 7; the life is still lost); 0 -a1-> 3 (pays -2)."""

    WORLD = TableWorld(
        table=[[(1, 3.0), (3, -2.0)], [(2, 7.0), (2, 7.0)], [(2, 0.0), (2, 0.0)], [(3, 0.0), (3, 0.0)]]
    )
    LIVES = (3, 2, 2, 3)

    def lives(self, state: State) -> int:
        assert isinstance(state, TableState)
        return self.LIVES[state.name]

    def tree(self) -> Lookahead:
        lookahead = begin(self.WORLD)
        lookahead.expand(lookahead.expand(lookahead.root, LEFT), LEFT)
        lookahead.expand(lookahead.root, RIGHT)
        return lookahead

    def rewards(self, reward: PlanningReward) -> dict[tuple[int, ...], float]:
        lookahead = self.tree()
        return {path: reward(node, lookahead.root) for path, node in tree_of(lookahead).items() if path}

    def test_a_life_lost_by_an_action_replaces_what_it_pays(self) -> None:
        assert self.rewards(RiskAverse(self.lives)) == {(0,): -500_000.0, (0, 0): 7.0, (1,): -100_000.0}

    def test_fewer_lives_than_at_the_root_cost_at_every_action(self) -> None:
        rewards = self.rewards(RiskAverseFromRoot(self.lives))
        assert rewards == {(0,): 3.0 - 500_000, (0, 0): 7.0 - 500_000, (1,): -100_000.0}

    def test_the_games_own_rewards_are_left_alone(self) -> None:
        assert self.rewards(true_reward) == {(0,): 3.0, (0, 0): 7.0, (1,): -2.0}
        lookahead = self.tree()
        PlanningValues(RiskAverse(self.lives)).action_values(lookahead)
        assert [child.reward for child in lookahead.root.children if child] == [3.0, -2.0]

    def test_the_backup_sees_planning_rewards_alone(self) -> None:
        assert PlanningValues(RiskAverse(self.lives)).action_values(self.tree()) == [-499_993.0, -100_000.0]
        assert PlanningValues(RiskAverseFromRoot(self.lives)).action_values(self.tree()) == [
            *(-999_990.0, -100_000.0),
        ]
        assert (
            PlanningValues().action_values(self.tree()) == LeafValues().action_values(self.tree()) == [10.0, -2.0]
        )

    def test_a_root_with_the_life_lost_has_lost_nothing_more(self) -> None:
        lookahead = self.tree()
        go_on(lookahead, LEFT)
        for reward in (RiskAverse(self.lives), RiskAverseFromRoot(self.lives)):
            assert PlanningValues(reward).action_values(lookahead) == [7.0, None]

    def test_discount_and_weight_are_those_of_the_plain_backup(self) -> None:
        lookahead = self.tree()
        for discount, weight in ((0.5, 1.0), (1.0, 0.5), (0.9, 0.8)):
            plain = LeafValues(discount, weight).action_values(lookahead)
            assert PlanningValues(true_reward, discount, weight).action_values(lookahead) == plain

    def test_termination_costs_are_asked_for_at_leaves_as_by_the_plain_backup(self) -> None:
        lookahead = Lookahead(
            self.WORLD, self.WORLD.start(), base_policy=UNIFORM, termination_cost=None, node_type=MarkedNode
        )
        lookahead.expand(lookahead.expand(lookahead.root, LEFT), LEFT)
        lookahead.expand(lookahead.root, RIGHT)
        asking = PlanningValues(RiskAverse(self.lives)).ask(lookahead)
        question = next(asking)
        assert {node.state.name for node in question.nodes} == {2, 3}  # type: ignore[attr-defined]
        with pytest.raises(StopIteration):
            asking.send({"value": np.array([40.0 if node.reward > 0 else 20.0 for node in question.nodes])})
        values = PlanningValues(RiskAverse(self.lives)).action_values(lookahead)
        assert values == [-500_000.0 + 7.0 + 40.0, -100_000.0 + 20.0]

    def test_worlds_without_lives_are_refused(self) -> None:
        with pytest.raises(InputError, match="counts lost lives, of which only states of Atari games know: a Corr"):
            make_protocol("corridor", agent="riw-d", risk_averse="parent")


class TestUntriedActions:
    """A tree of two levels (0 -> 1, 2; 1 -> 3, 4; 2 -> 5, 6), with losses: -1 above, -5 and -2 below."""

    WORLD = TableWorld(
        table=[[(1, -1.0), (2, -1.0)], [(3, -5.0), (4, -5.0)], [(5, -2.0), (6, -2.0)], *[[(0, 0.0)] * 2] * 4],
        terminal=frozenset({3, 4, 5, 6}),
    )

    def test_they_are_worth_nothing_where_others_were_tried(self) -> None:
        lookahead = begin(self.WORLD)
        lookahead.expand(lookahead.expand(lookahead.root, LEFT), LEFT)
        # Left: -1, and of state 1 the action that was not tried. Right was not tried either.
        assert PlanningValues(untried=True).action_values(lookahead) == [-1.0 + 0.0, 0.0]
        assert lookahead.root.value == 0.0
        assert PlanningValues().action_values(lookahead) == [-6.0, None]

    def test_a_node_of_which_all_were_tried_is_worth_the_best_of_them(self) -> None:
        lookahead = begin(self.WORLD)
        left = lookahead.expand(lookahead.root, LEFT)
        for action in (LEFT, RIGHT):
            lookahead.expand(left, action)
        assert PlanningValues(untried=True).action_values(lookahead) == [-6.0, 0.0]

    def test_a_leaf_is_worth_its_termination_cost(self) -> None:
        lookahead = begin(self.WORLD)
        lookahead.expand(lookahead.root, RIGHT).termination_cost = -7.0
        assert PlanningValues(untried=True).action_values(lookahead) == [0.0, -8.0]

    def test_where_an_action_is_repeated_there_is_no_other(self) -> None:
        lookahead = begin(self.WORLD)
        lookahead.expand(lookahead.expand(lookahead.root, LEFT), LEFT)
        mark(lookahead, (0,)).repetitions = 1
        assert PlanningValues(untried=True).action_values(lookahead) == [-6.0, 0.0]

    def test_one_of_them_may_be_executed(self) -> None:
        lookahead = begin(self.WORLD)
        lookahead.expand(lookahead.root, LEFT)
        values = PlanningValues(untried=True).action_values(lookahead)
        assert best_action(longest_branch)(lookahead.root, values, ScriptedRng()) == RIGHT  # type: ignore[arg-type]


class TestLongestBranch:
    def tree(self) -> Lookahead:
        """Left: one node. Right: three in a row, which pay 1, -1 and nothing. All of three levels."""
        world = TableWorld(
            table=[[(1, 0.0), (2, 1.0)], [(1, 0.0)] * 2, [(3, -1.0), (3, -1.0)], [(4, 0.0)] * 2, [(4, 0.0)] * 2]
        )
        lookahead = begin(world)
        lookahead.expand(lookahead.root, LEFT)
        lookahead.expand(lookahead.expand(lookahead.expand(lookahead.root, RIGHT), LEFT), LEFT)
        return lookahead

    def test_it_is_taken_if_nothing_is_to_be_gained(self) -> None:
        lookahead = self.tree()
        values = PlanningValues().action_values(lookahead)
        assert values == [0.0, 0.0]
        assert best_action(longest_branch)(lookahead.root, values, ScriptedRng(0.0)) == RIGHT  # type: ignore[arg-type]

    def test_elsewhere_ties_are_broken_at_random(self) -> None:
        lookahead = self.tree()
        lookahead.root.value = 2.0
        draws = [best_action(longest_branch)(lookahead.root, [2.0, 2.0], ScriptedRng(u)) for u in (0.4, 0.6)]  # type: ignore[arg-type]
        assert draws == [LEFT, RIGHT]

    def test_equal_branches_are_drawn_from(self) -> None:
        lookahead = begin(BINARY)
        lookahead.expand(lookahead.root, LEFT)
        draws = [best_action(longest_branch)(lookahead.root, [0.0, 0.0], ScriptedRng(u)) for u in (0.4, 0.6)]  # type: ignore[arg-type]
        assert draws == [LEFT, RIGHT], "an action that was not tried is as short as one that nothing follows"


class TestSubtables:
    @pytest.mark.parametrize(
        ("collected", "number"),
        [
            *((-math.inf, 0), (-3.0, 0), (0.0, 0), (0.2, -3), (0.25, -2), (0.5, -1), (0.75, -1)),
            *((1.0, 1), (1.5, 1), (2.0, 2), (3.0, 2), (4.0, 3), (7.99, 3), (8.0, 4), (500_000.0, 19)),
        ],
    )
    def test_the_number_is_that_of_the_logarithm(self, collected: float, number: int) -> None:
        assert subtable(collected) == number
        if collected > 0:
            assert number == math.floor(math.log2(collected)) + (collected >= 1)

    #: 0 -a0-> 1 -a0-> 2 pays 1, then 3; 0 -a1-> 3 pays nothing. States 2 and 3 have the feature of 1.
    WORLD = TableWorld(
        table=[[(1, 1.0), (3, 0.0)], [(2, 3.0), (2, 3.0)], [(2, 0.0), (2, 0.0)], [(3, 0.0), (3, 0.0)]],
        features=[frozenset({0}), frozenset({1}), frozenset({1}), frozenset({1})],
    )

    def test_rewards_are_collected_from_the_root_on(self) -> None:
        tables = Subtables(DepthTable, true_reward)
        lookahead = begin(self.WORLD)
        leaf = lookahead.expand(lookahead.expand(lookahead.root, LEFT), LEFT)
        assert [tables.collected(node, lookahead.root) for node in (lookahead.root, leaf.parent, leaf)] == [  # type: ignore[arg-type]
            *(0.0, 1.0, 4.0),
        ]
        go_on(lookahead, LEFT)
        tables.clear()
        assert tables.collected(leaf, lookahead.root) == 3.0
        assert tables.collected(lookahead.root, lookahead.root) == 0.0

    def test_below_a_lost_node_nothing_was_collected(self) -> None:
        tables = Subtables(DepthTable, true_reward)
        lookahead = begin(self.WORLD)
        leaf = lookahead.expand(lookahead.expand(lookahead.root, LEFT), LEFT)
        mark(lookahead, (0,)).lost = True
        assert tables.collected(leaf, lookahead.root) == -math.inf
        assert tables.of(leaf, lookahead.root) is tables.of(lookahead.root, lookahead.root)

    def test_nodes_compete_within_their_own_table(self) -> None:
        # Left pays 1: feature 1 is new in table 1. Left again: 4 collected, new in table 3. Once more: pruned.
        # Right pays nothing: feature 1 is new in table 0. Of one table for all, the second would be pruned.
        subtables: Pruning = NoveltyPruning(TableFeatures(self.WORLD), Subtables(ClassicTable, true_reward))
        lookahead = begin(self.WORLD)
        plan(Rollouts(subtables, 100, LeafValues()), lookahead, 4, 0.1, 0.1, 0.1, 0.9, 0.1)
        assert labels(lookahead) == {
            **{(): "N-", (0,): "N-", (0, 0): "N-", (0, 0, 0): "-S"},
            (1,): "N-",
        }
        one = NoveltyPruning(TableFeatures(self.WORLD), ClassicTable())
        lookahead = begin(self.WORLD)
        plan(Rollouts(one, 100, LeafValues()), lookahead, 2, 0.1, 0.1)
        assert labels(lookahead) == {(): "N-", (0,): "N-", (0, 0): "-S"}

    def test_all_are_blank_in_a_new_time_step(self) -> None:
        tables = Subtables(ClassicTable, true_reward)
        lookahead = begin(self.WORLD)
        child = lookahead.expand(lookahead.root, LEFT)
        features = np.array([1], dtype=np.int32)
        for _ in range(2):
            table = tables.of(child, lookahead.root)
            table.make_room(2)
            assert table.enter(features, 1) == 1
            tables.clear()


class TestRepetitions:
    """Six states in a row, a1 stays. 0 {0}, 1 {1}, 2 {1}, 3 {1}, 4 {1}, 5 {2}: 2 to 4 have the features of 1."""

    WORLD = TableWorld(
        table=[*([(i + 1, 0.0), (i, 0.0)] for i in range(5)), [(5, 0.0), (5, 0.0)]],
        features=[frozenset({f}) for f in (0, 1, 1, 1, 1, 2)],
    )

    def pruning(self, world: TableWorld = WORLD) -> Repetitions:
        return Repetitions(NoveltyPruning(TableFeatures(world), DepthTable(), NeverTested()))

    def test_the_action_is_repeated_untested_and_the_third_node_in_a_row_is_pruned(self) -> None:
        # a0 to 1, which is novel. 2 and 3 have its features: only a0 is left, whatever is drawn. 4 is the third.
        lookahead = begin(self.WORLD)
        plan(Rollouts(self.pruning(), 100, LeafValues()), lookahead, 4, 0.1, 0.1, 0.9, 0.9)
        # It solves the two before it, which have no other action; state 1 has one.
        assert labels(lookahead) == {
            **{(): "N-", (0,): "N-", (0, 0): "NS", (0, 0, 0): "NS"},
            (0, 0, 0, 0): "-S",
        }
        assert [mark(lookahead, (0,) * depth).repetitions for depth in range(5)] == [0, 0, 1, 2, 3]
        assert lookahead.pruned == 1

    def test_what_is_not_tested_does_not_enter_the_table(self) -> None:
        # The root stays itself by a1: a repetition of it. Then a0 leads to feature 1, from there a1 repeats it:
        # not entered. Had it been, the witness would be one of the table's.
        lookahead = begin(self.WORLD)
        pruning = self.pruning()
        plan(Rollouts(pruning, 100, LeafValues()), lookahead, 3, 0.9, 0.9, 0.9)
        assert labels(lookahead) == {(): "N-", (1,): "NS", (1, 1): "NS", (1, 1, 1): "-S"}
        table = pruning.pruning.table.of(lookahead.root, lookahead.root)
        assert isinstance(table, DepthTable)
        assert [table.holds(0, depth) for depth in (0, 1)] == [True, False]
        assert table.holds(1, 30_000), "nobody has entered it"

    def test_a_change_ends_the_repetition_and_is_tested(self) -> None:
        # 0 -> 1 {1} -> 2 {1} -> 3 {2}: a repetition, then something new.
        world = TableWorld(
            table=[*([(i + 1, 0.0), (i, 0.0)] for i in range(3)), [(3, 0.0), (3, 0.0)]],
            features=[frozenset({f}) for f in (0, 1, 1, 2)],
        )
        lookahead = begin(world)
        plan(Rollouts(self.pruning(world), 100, LeafValues()), lookahead, 3, 0.1, 0.1, 0.9, 0.9)
        assert labels(lookahead) == {(): "N-", (0,): "N-", (0, 0): "N-", (0, 0, 0): "N-"}
        assert mark(lookahead, (0, 0, 0)).repetitions == 0
        assert mark(lookahead, (0, 0, 0)).witness == 2
        assert mark(lookahead, (0, 0)).unsolved == [LEFT]

    def test_they_are_counted_from_the_new_root_on(self) -> None:
        # States 1 to 4 as above. With 2 as the root, 3 and 4 are the first and the second: nothing is too long yet.
        lookahead = begin(self.WORLD)
        planner = Rollouts(self.pruning(), 100, LeafValues())
        plan(planner, lookahead, 4, 0.1, 0.1, 0.9, 0.9)
        go_on(lookahead, LEFT)
        go_on(lookahead, LEFT)
        assert [mark(lookahead, (0,) * depth).repetitions for depth in range(3)] == [1, 2, 3]
        # a0 of the root, a0 twice as there is nothing else: 5 is generated, and novel.
        plan(planner, lookahead, 1, 0.1, 0.9, 0.9, 0.1)
        assert [mark(lookahead, (0,) * depth).repetitions for depth in range(4)] == [0, 1, 2, 0]
        assert labels(lookahead) == {(): "N-", (0,): "N-", (0, 0): "N-", (0, 0, 0): "N-"}
        assert lookahead.root.unsolved == [LEFT, RIGHT], "the root may do anything"

    def test_the_third_is_pruned_again_when_it_is_met_in_a_later_time_step(self) -> None:
        lookahead = begin(self.WORLD)
        planner = Rollouts(self.pruning(), 100, LeafValues())
        plan(planner, lookahead, 4, 0.1, 0.1, 0.9, 0.9)
        go_on(lookahead, LEFT)
        # Down the three cached nodes; the third is pruned. Then a1 of the root, a repetition of it.
        plan(planner, lookahead, 1, 0.1, 0.1, 0.1, 0.1, 0.1)
        assert labels(lookahead) == {(): "N-", (0,): "NS", (0, 0): "NS", (0, 0, 0): "-S", (1,): "N-"}
        assert lookahead.pruned == 1

    def test_an_end_of_the_game_is_no_repetition(self) -> None:
        world = TableWorld([[(1, 0.0)], [(1, 0.0)]], frozenset({1}), [frozenset({0}), frozenset({0})])
        lookahead = begin(world)
        plan(Rollouts(self.pruning(world), 100, LeafValues()), lookahead, 1, 0.0)
        assert mark(lookahead, (0,)).repetitions == 0
        assert lookahead.root.solved


class TestLostNodes:
    """0 -a0-> 1 {1} -a0-> 2 {2}, which pays 5 and stays; 0 -a1-> 3 {2}: feature 2 at depth 2, later at depth 1."""

    WORLD = TableWorld(
        table=[[(1, 0.0), (3, 0.0)], [(2, 5.0), (2, 5.0)], [(2, 0.0), (2, 0.0)], [(3, 0.0), (3, 0.0)]],
        features=[frozenset({f}) for f in (0, 1, 2, 2)],
    )

    def planner(self) -> Rollouts:
        pruning = LostNodes(NoveltyPruning(TableFeatures(self.WORLD), DepthTable(), TestedWhenMet()))
        return Rollouts(pruning, 100, PlanningValues(), node_type=MarkedNode)

    #: 00 and 000 (pruned); 1 reaches feature 2 at depth 1, 10 is pruned; the walk 00 meets what is lost; 01 is new,
    #: and not novel either.
    DRAWS = (0.1, 0.1, 0.1, 0.9, 0.1, 0.1, 0.1, 0.1, 0.5)

    def test_a_node_that_loses_its_novelty_leaves_the_backup(self) -> None:
        lookahead = begin(self.WORLD)
        planner = self.planner()
        plan(planner, lookahead, 6, *self.DRAWS)
        assert {path for path in tree_of(lookahead) if mark(lookahead, path).lost} == {(0, 0)}
        assert labels(lookahead)[(0, 1)] == "-S", "new and not novel: it stays"
        # Left: the lost branch of 5 does not count, the other one does.
        assert planner.action_values(lookahead) == [5.0, 0.0]
        lookahead.root.children[LEFT].children[RIGHT] = None  # type: ignore[union-attr]
        assert planner.action_values(lookahead) == [None, 0.0], "there is nothing else below"
        assert mark(lookahead, (0,)).value == -math.inf
        assert LeafValues().action_values(lookahead) == [5.0, 0.0], "the rule of N-CPL"

    def test_it_stays_lost_in_later_time_steps(self) -> None:
        lookahead = begin(self.WORLD)
        planner = self.planner()
        plan(planner, lookahead, 6, *self.DRAWS)
        go_on(lookahead, LEFT)
        assert mark(lookahead, (0,)).lost
        assert PlanningValues().action_values(lookahead) == [None, 5.0]
        assert labels(lookahead)[(0,)] == "N-", "but it may be looked at again"

    def test_with_untried_actions_what_is_left_is_worth_nothing(self) -> None:
        lookahead = begin(self.WORLD)
        plan(self.planner(), lookahead, 6, *self.DRAWS)
        lookahead.root.children[LEFT].children[RIGHT] = None  # type: ignore[union-attr]
        assert PlanningValues(untried=True).action_values(lookahead) == [0.0, 0.0]

    def test_one_that_is_pruned_as_a_repetition_is_not_lost(self) -> None:
        world = TestRepetitions.WORLD
        pruning = LostNodes(Repetitions(NoveltyPruning(TableFeatures(world), DepthTable(), TestedWhenMet())))
        lookahead = begin(world)
        planner = Rollouts(pruning, 100, PlanningValues(), node_type=MarkedNode)
        plan(planner, lookahead, 4, 0.1, 0.1, 0.9, 0.9)
        go_on(lookahead, LEFT)
        plan(planner, lookahead, 1, 0.1, 0.1, 0.1, 0.1, 0.1)
        assert labels(lookahead)[(0, 0, 0)] == "-S"
        assert not any(mark(lookahead, path).lost for path in tree_of(lookahead))


class TestCountedVisits:
    def test_a_kept_node_costs_an_interaction_once_in_a_time_step(self) -> None:
        # 0 -> 1 -> 2 -> ... by either action. Four new nodes; the second is executed next.
        world = TableWorld([[(i + 1, 0.0)] * 2 for i in range(9)] + [[(9, 0.0)] * 2])
        planner = Rollouts(CountedVisits(NoPruning()), 3, LeafValues())
        lookahead = begin(world)
        plan(planner, lookahead, 4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.9)
        assert lookahead.interactions == 4, "nothing was kept"
        go_on(lookahead, LEFT)
        # The root, then 0 and 00: three are paid for. 000 is new. Again 0 and 00 are free; 001 is new.
        plan(planner, lookahead, 5, 0.1, 0.1, 0.1, 0.1, 0.1, 0.9)
        assert set(tree_of(lookahead)) == {(), (0,), (0, 0), (0, 1), (0, 0, 0), (0, 0, 1)}
        assert lookahead.interactions == 5

    def test_a_walk_is_not_cut_short_by_it(self) -> None:
        world = TableWorld([[(i + 1, 0.0)] for i in range(9)] + [[(9, 0.0)]])
        planner = Rollouts(CountedVisits(NoPruning()), 100, LeafValues())
        lookahead = begin(world)
        plan(planner, lookahead, 5, *[0.0] * 6)
        go_on(lookahead, 0)
        plan(planner, lookahead, 2, *[0.0] * 5)
        assert lookahead.interactions == 5, "the root and four below it; nothing is left for a new one"


class TestBreadthFirst:
    """IW(1) of Lipovetzky et al. (2015): 0 {0} -> 1 {1}, 2 {2}; 1 -> 3 {1}, 4 {4}; 2 -> 5 {1}, 6 {2}; they stay."""

    WORLD = TableWorld(
        table=[
            [(1, 0.0), (2, 0.0)],
            [(3, 0.0), (4, 0.0)],
            [(5, 0.0), (6, 0.0)],
            *[[(i, 0.0)] * 2 for i in range(3, 7)],
        ],
        features=[frozenset({f}) for f in (0, 1, 2, 1, 4, 1, 2)],
    )

    def planner(self, *, cap: int | None = None) -> BreadthFirst:
        pruning: Pruning = PrunedTested(NoveltyPruning(TableFeatures(self.WORLD), ClassicTable()))
        if cap is not None:
            pruning = SubtreeCap(pruning, cap)
        return BreadthFirst(pruning, 100, LeafValues(), node_type=MarkedNode)

    def pruned(self, lookahead: Lookahead) -> set[tuple[int, ...]]:
        return {path for path in tree_of(lookahead) if not mark(lookahead, path).novel}

    def test_pruned_nodes_that_were_kept_are_tested_again(self) -> None:
        # First time step, two levels: 3, 5 and 6 are pruned. 1 is executed.
        lookahead = begin(self.WORLD)
        plan(self.planner(), lookahead, 6)
        assert self.pruned(lookahead) == {(0, 0), (1, 0), (1, 1)}
        go_on(lookahead, LEFT)
        # The root 1 enters feature 1, so 3 is pruned again. 4 was not pruned: it is novel without entering, and so
        # is the first of its children, which enters; the second is not.
        plan(self.planner(), lookahead, 2)
        assert self.pruned(lookahead) == {(0,), (1, 1)}
        assert mark(lookahead, (0,)).pruned

    def test_one_that_is_novel_by_now_is_expanded(self) -> None:
        lookahead = begin(self.WORLD)
        plan(self.planner(), lookahead, 6)
        go_on(lookahead, RIGHT)
        # The root 2 enters feature 2: 6 is pruned again. 5 has feature 1, which is new here.
        plan(self.planner(), lookahead, 2)
        assert self.pruned(lookahead) == {(1,), (0, 0), (0, 1)}
        assert not mark(lookahead, (0,)).pruned

    def test_by_the_other_rule_they_are_novel(self) -> None:
        planner = BreadthFirst(NoveltyPruning(TableFeatures(self.WORLD), ClassicTable()), 100, LeafValues())
        lookahead = begin(self.WORLD)
        plan(planner, lookahead, 6)
        go_on(lookahead, LEFT)
        plan(planner, lookahead, 2)
        assert self.pruned(lookahead) == {(0, 1)}, "below 3, not 3 itself"

    def test_a_large_subtree_is_not_expanded_further(self) -> None:
        # Below a0 of the root are three nodes, below a1 one.
        lookahead = begin(self.WORLD)
        left = lookahead.expand(lookahead.root, LEFT)
        lookahead.expand(left, LEFT)
        lookahead.expand(left, RIGHT)
        lookahead.expand(lookahead.root, RIGHT)
        lookahead.kept = True
        lookahead.begin_time_step()
        plan(self.planner(cap=3), lookahead, 100)
        assert {path for path in tree_of(lookahead) if path[:1] == (LEFT,)} == {(0,), (0, 0), (0, 1)}
        assert {(1, 0), (1, 1)} < set(tree_of(lookahead))
        lookahead.begin_time_step()
        plan(self.planner(cap=4), lookahead, 100)
        assert (0, 1, 0) in tree_of(lookahead)

    def test_successors_come_in_order_or_at_random_with_those_that_are_there_first(self) -> None:
        lookahead = begin(TableWorld([[(0, 0.0)] * 6]))
        root = lookahead.root
        lookahead.expand(root, 4)
        lookahead.expand(root, 1)
        assert list(in_order(root, np.random.default_rng(0))) == [0, 1, 2, 3, 4, 5]
        orders = {tuple(random_order(root, np.random.default_rng(seed))) for seed in range(200)}
        assert {order[:2] for order in orders} == {(4, 1)}
        assert {frozenset(order[2:]) for order in orders} == {frozenset({0, 2, 3, 5})}
        assert len(orders) == 24, "every order of the four others"
