"""Lookaheads computed by hand, definition by definition."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from noveltree.errors import SimulatorError
from noveltree.lookahead import (
    BreadthFirst,
    Interactions,
    LeafValues,
    NoLookahead,
    NoPruning,
    NoveltyPruning,
    OneStepRollouts,
    Rollouts,
    Uct,
    best_action,
    larger_subtree,
    random_tie,
    sample_unsolved_child,
    update_solved_labels,
)
from noveltree.novelty import ClassicTable, DepthTable
from noveltree.simulators import Corridor, State, Transition
from noveltree.tree import NO_FEATURE, Lookahead, Node, Probabilities
from tests.support.worlds import BINARY, ScriptedRng, TableFeatures, TableWorld, grow, tree_of

LEFT, RIGHT = 0, 1


def indices(*features: int) -> np.ndarray:
    return np.array(features, dtype=np.int32)


def labels(lookahead: Lookahead) -> dict[tuple[int, ...], str]:
    """For each path: N if novel, S if solved."""
    return {
        path: ("N" if node.novel else "-") + ("S" if node.solved else "-")
        for path, node in tree_of(lookahead).items()
    }


class TestDefinition2ActionSelection:
    def test_values_are_backed_up_as_the_maximum_over_existing_children(self) -> None:
        lookahead = grow(BINARY, Rollouts(NoPruning(), 100, LeafValues(1.0)), 6, np.random.default_rng(0))
        assert LeafValues(1.0).action_values(lookahead) == [0.0 + 5.0, 1.0 + 3.0]
        assert {path: node.value for path, node in tree_of(lookahead).items()} == {
            (): 5.0,
            (0,): 5.0,
            (1,): 3.0,
            (0, 0): 0.0,
            (0, 1): 0.0,
            (1, 0): 0.0,
            (1, 1): 0.0,
        }

    def test_an_action_that_was_not_tried_has_no_value(self) -> None:
        # The single rollout goes right twice: a1 pays 1, then a1 pays 3.
        lookahead = grow(BINARY, Rollouts(NoPruning(), 100, LeafValues(1.0)), 2, ScriptedRng(0.9, 0.9))
        assert LeafValues(1.0).action_values(lookahead) == [None, 4.0]

    def test_a_discount_weighs_later_rewards(self) -> None:
        lookahead = grow(BINARY, Rollouts(NoPruning(), 100, LeafValues(0.5)), 6, np.random.default_rng(0))
        assert LeafValues(0.5).action_values(lookahead) == [0.0 + 0.5 * 5.0, 1.0 + 0.5 * 3.0]

    def test_the_termination_cost_closes_leaves_but_not_terminal_ones(self) -> None:
        lookahead = grow(BINARY, Rollouts(NoPruning(), 100, LeafValues(1.0)), 2, ScriptedRng(0.1, 0.1))
        lookahead.expand(lookahead.root, RIGHT)
        for node in lookahead.nodes():
            node.termination_cost = 7.0
        # Left: 0 + 5 + terminal, whose termination cost does not count. Right: 1 + 7.
        assert LeafValues(1.0).action_values(lookahead) == [5.0, 8.0]

    def test_negative_values_are_not_replaced_by_zero(self) -> None:
        world = TableWorld([[(1, -2.0), (1, -1.0)], [(1, 0.0), (1, 0.0)]], frozenset({1}))
        lookahead = grow(world, Rollouts(NoPruning(), 100, LeafValues(1.0)), 2, np.random.default_rng(0))
        assert LeafValues(1.0).action_values(lookahead) == [-2.0, -1.0]
        assert lookahead.root.value == -1.0

    def test_ties_are_broken_by_one_random_number(self) -> None:
        root = grow(BINARY, NoLookahead(), 1, ScriptedRng()).root
        values = [3.0, 1.0, 3.0 + 4e-8, 3.0 - 4e-8]
        assert best_action(random_tie)(root, values, ScriptedRng(0.0)) == 0
        assert best_action(random_tie)(root, values, ScriptedRng(0.5)) == 2
        assert best_action(random_tie)(root, values, ScriptedRng(0.99)) == 3

    def test_without_a_tie_nothing_is_drawn(self) -> None:
        root = grow(BINARY, NoLookahead(), 1, ScriptedRng()).root
        assert best_action(random_tie)(root, [None, 2.0, 1.0], ScriptedRng()) == 1

    def test_without_a_tried_action_any_may_be_executed(self) -> None:
        root = grow(BINARY, NoLookahead(), 1, ScriptedRng()).root
        assert best_action(random_tie)(root, [None, None], ScriptedRng(0.7)) == 1

    def test_ties_may_go_to_the_larger_subtree(self) -> None:
        # Left: one node. Right: two nodes.
        lookahead = grow(BINARY, NoLookahead(), 1, ScriptedRng())
        lookahead.expand(lookahead.root, LEFT)
        lookahead.expand(lookahead.expand(lookahead.root, RIGHT), LEFT)
        assert best_action(larger_subtree)(lookahead.root, [3.0, 3.0], ScriptedRng(0.0)) == RIGHT


class TestAlgorithm1Rollouts:
    def test_a_rollout_ends_at_a_terminal_state_and_labels_it_solved(self) -> None:
        lookahead = grow(BINARY, Rollouts(NoPruning(), 100, LeafValues(1.0)), 2, ScriptedRng(0.1, 0.1))
        assert labels(lookahead) == {(): "N-", (0,): "N-", (0, 0): "NS"}

    def test_solved_actions_are_not_sampled_again(self) -> None:
        # Rollouts: 00, 01 (so that 0 is solved), then the first number cannot choose action 0 any more.
        rng = ScriptedRng(0.1, 0.1, 0.1, 0.1, 0.0, 0.9)
        lookahead = grow(BINARY, Rollouts(NoPruning(), 100, LeafValues(1.0)), 5, rng)
        assert labels(lookahead) == {
            (): "N-",
            (0,): "NS",
            (0, 0): "NS",
            (0, 1): "NS",
            (1,): "N-",
            (1, 1): "NS",
        }

    def test_planning_ends_when_the_root_is_solved(self) -> None:
        lookahead = grow(BINARY, Rollouts(NoPruning(), 100, LeafValues(1.0)), 1000, np.random.default_rng(3))
        assert lookahead.root.solved
        assert lookahead.interactions == 6

    def test_the_budget_may_end_in_the_middle_of_a_rollout(self) -> None:
        lookahead = grow(BINARY, Rollouts(NoPruning(), 100, LeafValues(1.0)), 1, ScriptedRng(0.1, 0.1))
        assert labels(lookahead) == {(): "N-", (0,): "N-"}
        assert lookahead.interactions == 1

    def test_walking_through_existing_children_is_free(self) -> None:
        # 00 costs two interactions, 01 then only one.
        lookahead = grow(
            BINARY, Rollouts(NoPruning(), 100, LeafValues(1.0)), 3, ScriptedRng(0.1, 0.1, 0.1, 0.1, 0.1)
        )
        assert labels(lookahead).keys() == {(), (0,), (0, 0), (0, 1), (1,)} - {(1,)}

    def test_a_rollout_ends_at_the_horizon(self) -> None:
        corridor = Corridor(100)
        lookahead = grow(corridor, Rollouts(NoPruning(), 3, LeafValues(1.0)), 3, ScriptedRng(0.9, 0.9, 0.9))
        assert labels(lookahead) == {
            (): "N-",
            (RIGHT,): "N-",
            (RIGHT, RIGHT): "N-",
            (RIGHT, RIGHT, RIGHT): "NS",
        }

    def test_the_same_state_by_two_paths_is_two_nodes(self) -> None:
        corridor = Corridor(100, wait=True)
        rng = ScriptedRng(0.9, 0.5, 0.5, 0.9)  # wait, right; right, wait
        lookahead = grow(corridor, Rollouts(NoPruning(), 2, LeafValues(1.0)), 4, rng)
        assert {(2, 1), (1, 2)} < tree_of(lookahead).keys()

    def test_sampling_follows_the_base_policy_restricted_to_unsolved_children(self) -> None:
        lookahead = grow(Corridor(9, wait=True), NoLookahead(), 1, ScriptedRng())
        root = lookahead.root
        root.base_policy = Probabilities((0.2, 0.5, 0.3))
        assert [sample_unsolved_child(root, rng=ScriptedRng(u)) for u in (0.19, 0.21, 0.69, 0.71)] == [0, 1, 1, 2]
        update_solved_labels(lookahead.expand(root, 1), root)
        # What is left is 0.2 : 0.3, that is 0.4 and 0.6.
        assert [sample_unsolved_child(root, rng=ScriptedRng(u)) for u in (0.39, 0.41)] == [0, 2]

    def test_a_policy_that_rules_out_all_unsolved_actions_is_ignored(self) -> None:
        root = grow(BINARY, NoLookahead(), 1, ScriptedRng()).root
        root.base_policy = Probabilities((0.0, 0.0))
        assert [sample_unsolved_child(root, rng=ScriptedRng(u)) for u in (0.4, 0.6)] == [0, 1]

    def test_solved_labels_do_not_pass_the_root(self) -> None:
        lookahead = grow(BINARY, Rollouts(NoPruning(), 100, LeafValues(1.0)), 6, np.random.default_rng(0))
        lookahead.advance(0, keep=True)
        lookahead.begin_time_step()
        old_root = lookahead.root.parent
        assert old_root is not None
        old_root.solved = False
        for child in lookahead.root.children:
            assert child is not None
            update_solved_labels(child, lookahead.root)
        assert lookahead.root.solved
        assert not old_root.solved


class TestDefinition4ClassicNovelty:
    # Four cells in a row that share features: 0 {a}, 1 {a, b}, 2 {b}, 3 {c}.
    WORLD = TableWorld(
        table=[[(0, 0.0), (1, 0.0)], [(0, 0.0), (2, 0.0)], [(1, 0.0), (3, 0.0)], [(2, 0.0), (3, 0.0)]],
        features=[frozenset({0}), frozenset({0, 1}), frozenset({1}), frozenset({2})],
    )

    def test_a_state_is_novel_if_it_is_the_first_to_make_some_feature_true(self) -> None:
        # Right: cell 1 is the first with b. Right again: cell 2 has b only, which was seen: pruned.
        rollouts = Rollouts(NoveltyPruning(TableFeatures(self.WORLD), ClassicTable()), 100, LeafValues(1.0))
        lookahead = grow(self.WORLD, rollouts, 2, ScriptedRng(0.9, 0.9))
        assert labels(lookahead) == {(): "N-", (1,): "N-", (1, 1): "-S"}
        assert lookahead.pruned == 1

    def test_the_first_root_is_entered_at_the_start(self) -> None:
        # Left leads back to cell 0, whose only feature the root has.
        rollouts = Rollouts(NoveltyPruning(TableFeatures(self.WORLD), ClassicTable()), 100, LeafValues(1.0))
        lookahead = grow(self.WORLD, rollouts, 1, ScriptedRng(0.1))
        assert labels(lookahead) == {(): "N-", (0,): "-S"}

    def test_novelty_is_decided_once(self) -> None:
        # 1 (novel), 11 (pruned); again 1, 10; later rollouts pass through 1 although b is no news by now.
        rollouts = Rollouts(NoveltyPruning(TableFeatures(self.WORLD), ClassicTable()), 100, LeafValues(1.0))
        lookahead = grow(self.WORLD, rollouts, 3, ScriptedRng(0.9, 0.9, 0.9, 0.1))
        assert labels(lookahead) == {(): "N-", (1,): "NS", (1, 1): "-S", (1, 0): "-S"}

    def test_cached_nodes_count_as_novel_and_their_features_are_not_entered(self) -> None:
        rollouts = Rollouts(NoveltyPruning(TableFeatures(self.WORLD), ClassicTable()), 100, LeafValues(1.0))
        lookahead = grow(self.WORLD, rollouts, 2, ScriptedRng(0.9, 0.9))
        lookahead.advance(1, keep=True)
        lookahead.begin_time_step()
        assert labels(lookahead) == {(): "N-", (1,): "N-"}
        assert all(node.cached for node in lookahead.nodes())
        # From the root, cell 1: right to the cached cell 2, which was pruned before; left of it is cell 1 again.
        # Neither the root's nor cell 2's features were entered, so cell 1 counts as novel: it has a and b.
        for _ in rollouts.plan(lookahead, Interactions(1).start(), rng=ScriptedRng(0.9, 0.1, 0.1)):
            pass
        assert labels(lookahead) == {(): "N-", (1,): "N-", (1, 0): "N-"}

    def test_a_table_names_the_feature_that_was_new_and_forgets_it_in_a_new_time_step(self) -> None:
        table = ClassicTable()
        table.make_room(5)
        assert table.enter(indices(0, 1), 0) in (0, 1)
        assert table.enter(indices(1, 4), 1) == 4
        assert table.enter(indices(0, 4), 1) == NO_FEATURE
        table.clear()
        assert table.enter(indices(4), 0) == 4

    def test_a_node_keeps_the_feature_that_made_it_novel(self) -> None:
        # Right: cell 1 is the first with feature 1. Right again: cell 2 has feature 1 only.
        rollouts = Rollouts(NoveltyPruning(TableFeatures(self.WORLD), ClassicTable()), 100, LeafValues(1.0))
        lookahead = grow(self.WORLD, rollouts, 2, ScriptedRng(0.9, 0.9))
        witnesses = {path: node.witness for path, node in tree_of(lookahead).items()}
        assert witnesses == {(): 0, (1,): 1, (1, 1): NO_FEATURE}


class TestDefinition5DepthNovelty:
    # 0 -a0-> 1 -a0-> 2 (feature b), 0 -a1-> 3 (feature b): b is reached at depth 2, later at depth 1.
    WORLD = TableWorld(
        table=[[(1, 0.0), (3, 0.0)], [(2, 0.0), (2, 0.0)], [(2, 0.0), (2, 0.0)], [(3, 0.0), (3, 0.0)]],
        features=[frozenset({0}), frozenset({1}), frozenset({2}), frozenset({2})],
    )

    def planner(self) -> Rollouts:
        return Rollouts(NoveltyPruning(TableFeatures(self.WORLD), DepthTable()), 100, LeafValues(1.0))

    def test_a_known_feature_at_a_smaller_depth_is_novel(self) -> None:
        # 00 reaches b at depth 2; below it b is met at depth 3: pruned. Then 1 reaches b at depth 1: novel.
        lookahead = grow(self.WORLD, self.planner(), 4, ScriptedRng(0.1, 0.1, 0.1, 0.9, 0.1))
        assert labels(lookahead) == {(): "N-", (0,): "N-", (0, 0): "N-", (0, 0, 0): "-S", (1,): "N-"}

    def test_a_node_met_again_is_pruned_if_it_is_no_longer_the_shallowest(self) -> None:
        # As above (000, then 10), but then the walk 00 meets a node that no longer holds b at the smallest depth.
        rng = ScriptedRng(0.1, 0.1, 0.1, 0.9, 0.1, 0.1, 0.1, 0.1, 0.5)
        lookahead = grow(self.WORLD, self.planner(), 6, rng)
        assert labels(lookahead)[(0, 0)] == "-S"
        assert rng.left == 0

    def test_a_node_met_again_stays_novel_while_it_is_the_shallowest(self) -> None:
        lookahead = grow(self.WORLD, self.planner(), 4, ScriptedRng(0.1, 0.1, 0.1, 0.1, 0.1, 0.9))
        assert labels(lookahead)[(0, 0)] == "NS"  # solved by its pruned children, not pruned itself

    def test_classic_novelty_prunes_what_depth_novelty_keeps(self) -> None:
        planner = Rollouts(NoveltyPruning(TableFeatures(self.WORLD), ClassicTable()), 100, LeafValues(1.0))
        lookahead = grow(self.WORLD, planner, 4, ScriptedRng(0.1, 0.1, 0.1, 0.9))
        assert labels(lookahead)[(1,)] == "-S"

    def test_asking_again_does_not_change_the_answer(self) -> None:
        table = DepthTable()
        table.make_room(3)
        assert table.enter(indices(2), 3) == 2
        assert [table.holds(2, 3), table.holds(2, 3)] == [True, True]
        assert table.enter(indices(2), 2) == 2
        assert [table.holds(2, 3), table.holds(2, 3)] == [False, False]
        assert [table.holder(indices(2), 3), table.holder(indices(1, 2), 3)] == [NO_FEATURE, 1]
        assert table.enter(indices(2), 2) == NO_FEATURE


class TestReRooting:
    def test_the_subtree_is_kept_and_siblings_are_freed_at_once(self) -> None:
        class Watched(Node):
            __slots__ = ("__weakref__",)

        planner = Rollouts(NoPruning(), 100, LeafValues(1.0), node_type=Watched)
        lookahead = grow(BINARY, planner, 6, np.random.default_rng(0))
        sibling = weakref.ref(lookahead.root.children[1].children[0])  # type: ignore[union-attr]
        kept = {path[1:] for path in tree_of(lookahead) if path[:1] == (0,)}
        gc.disable()
        try:
            lookahead.advance(0, keep=True)
            assert sibling() is None
        finally:
            gc.enable()
        assert tree_of(lookahead).keys() == kept

    def test_without_caching_only_the_root_is_kept(self) -> None:
        lookahead = grow(BINARY, Rollouts(NoPruning(), 100, LeafValues(1.0)), 6, np.random.default_rng(0))
        lookahead.advance(0, keep=False)
        assert tree_of(lookahead).keys() == {()}

    def test_without_caching_every_root_is_entered_like_the_first(self) -> None:
        world = TestDefinition4ClassicNovelty.WORLD
        rollouts = Rollouts(NoveltyPruning(TableFeatures(world), ClassicTable()), 100, LeafValues(1.0))
        lookahead = grow(world, rollouts, 2, ScriptedRng(0.9, 0.9))
        lookahead.advance(1, keep=False)
        lookahead.begin_time_step()
        assert (lookahead.cached, lookahead.root.cached) == (0, False)
        # From cell 1, which has a and b, right to cell 2, which has b only: pruned, for the root was entered.
        for _ in rollouts.plan(lookahead, Interactions(1).start(), rng=ScriptedRng(0.9)):
            pass
        assert labels(lookahead) == {(): "N-", (1,): "-S"}

    def test_labels_start_afresh(self) -> None:
        lookahead = grow(BINARY, Rollouts(NoPruning(), 100, LeafValues(1.0)), 6, np.random.default_rng(0))
        lookahead.advance(0, keep=True)
        lookahead.begin_time_step()
        assert set(labels(lookahead).values()) == {"N-"}
        assert lookahead.cached == 3

    def test_three_ancestors_of_the_root_are_kept(self) -> None:
        lookahead = grow(Corridor(100), NoLookahead(), 1, ScriptedRng())
        for _ in range(6):
            lookahead.expand(lookahead.root, RIGHT)
            lookahead.advance(RIGHT, keep=True)
        cells = []
        node: Node | None = lookahead.root
        while node is not None:
            cells.append(int(node.state.observation[0]))
            node = node.parent
        assert cells == [6, 5, 4, 3]


class TestBreadthFirst:
    def test_nodes_are_expanded_in_the_order_of_depth_and_action(self) -> None:
        lookahead = grow(BINARY, BreadthFirst(NoPruning(), 100, LeafValues(1.0)), 4, ScriptedRng())
        assert tree_of(lookahead).keys() == {(), (0,), (1,), (0, 0), (0, 1)}

    def test_pruned_nodes_are_not_expanded(self) -> None:
        world = TestDefinition4ClassicNovelty.WORLD
        lookahead = grow(
            world,
            BreadthFirst(NoveltyPruning(TableFeatures(world), ClassicTable()), 100, LeafValues(1.0)),
            100,
            ScriptedRng(),
        )
        # 0 is pruned (back at the root's cell); 1 is novel; 10 and 11 are pruned; nothing is left.
        assert tree_of(lookahead).keys() == {(), (0,), (1,), (1, 0), (1, 1)}
        assert lookahead.root.solved

    def test_the_horizon_bounds_the_depth(self) -> None:
        lookahead = grow(Corridor(100), BreadthFirst(NoPruning(), 2, LeafValues(1.0)), 100, ScriptedRng())
        assert max(map(len, tree_of(lookahead))) == 2
        assert lookahead.interactions == 2 + 4


class TestOneStepRollouts:
    def test_each_action_is_worth_its_reward_and_one_random_rollout(self) -> None:
        corridor = Corridor(5, rewards={1: 1.0, 2: 10.0, 0: -1.0})
        # Left (bump, -1): rollout right (+1), right (+10). Right (+1): rollout left (-1), right (+1).
        lookahead = grow(corridor, OneStepRollouts(2, 1.0), 6, ScriptedRng(0.9, 0.9, 0.1, 0.9))
        assert LeafValues(1.0).action_values(lookahead) == [-1.0 + 11.0, 1.0 + 0.0]
        assert lookahead.interactions == 2 * (1 + 2)
        assert tree_of(lookahead).keys() == {(), (0,), (1,)}

    def test_a_rollout_ends_with_the_episode(self) -> None:
        corridor = Corridor(2, rewards={1: 1.0, 0: 0.0})
        lookahead = grow(corridor, OneStepRollouts(10, 1.0), 100, ScriptedRng(0.9))
        # Left: rollout right reaches the exit, +1. Right: the exit itself, nothing to roll out.
        assert LeafValues(1.0).action_values(lookahead) == [1.0, 1.0]
        assert lookahead.interactions == 3


class TestUct:
    def test_every_action_is_tried_before_any_is_tried_again(self) -> None:
        lookahead = grow(BINARY, Uct(1, 1.0, 1.0), 2, ScriptedRng(0.9, 0.0))
        assert Uct(1, 1.0, 1.0).action_values(lookahead) == [0.0, 1.0]

    def test_mean_returns_are_compared_not_maxima(self) -> None:
        # Depth 2, three simulations by hand. First: right, then a rollout step right: 1 + 3. Second: left, then
        # right: 0 + 0. Third: bounds (4 / 4 + 0, 0 / 4 + 0) without exploration choose right; left below: 1 + 2.
        planner = Uct(2, 0.0, 1.0)
        lookahead = grow(BINARY, planner, 5, ScriptedRng(0.9, 0.9, 0.0, 0.9, 0.0))
        assert planner.action_values(lookahead) == [0.0, (4.0 + 3.0) / 2]
        assert tree_of(lookahead).keys() == {(), (0,), (1,), (1, 0)}

    def test_exploration_prefers_the_less_visited(self) -> None:
        planner = Uct(2, 100.0, 1.0)
        # Right is better after one visit each, but the third and fourth simulation visit each action once more.
        lookahead = grow(BINARY, planner, 6, np.random.default_rng(0))
        visits = [child.visits for child in lookahead.root.children]  # type: ignore[union-attr]
        assert abs(visits[0] - visits[1]) <= 1

    def test_planning_ends_when_everything_within_reach_is_known(self) -> None:
        lookahead = grow(BINARY, Uct(2, 1.0, 1.0), 10_000, np.random.default_rng(0))
        assert lookahead.root.solved
        assert lookahead.interactions < 100


def test_a_simulator_that_raises_is_named_in_one_sentence() -> None:
    class Broken(Corridor):
        def step(self, state: State, action: int) -> Transition:
            raise RuntimeError("out of order")

    with pytest.raises(SimulatorError, match="failed on action 'LEFT': RuntimeError: out of order"):
        grow(Broken(), Rollouts(NoPruning(), 100, LeafValues(1.0)), 10, ScriptedRng(0.1))
