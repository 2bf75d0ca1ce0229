"""p-IW and 2BFS by hand, and against a plain reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noveltree.agents import get_agent
from noveltree.lookahead import (
    BestFirst,
    BreadthFirst,
    Interactions,
    LabelledFirst,
    LeafValues,
    NoveltyPruning,
    exploiting,
    exploring,
    novel_by_reward,
    random_order,
)
from noveltree.novelty import ClassicTable, RewardTable
from noveltree.simulators import Corridor
from noveltree.tree import NO_FEATURE, UNIFORM, Lookahead
from tests.support.best_first_reference import BestFirstReference
from tests.support.worlds import BINARY, ScriptedRng, TableFeatures, TableWorld, grow, tree_of, worlds


def p_iw(world: TableWorld, *, horizon: int = 100) -> BestFirst:
    pruning = NoveltyPruning(TableFeatures(world), RewardTable(), measure=Lookahead.collected)
    return BestFirst(pruning, (novel_by_reward,), horizon, LeafValues())


def two_bfs(world: TableWorld, *, horizon: int = 100, discount: float = 1.0) -> BestFirst:
    labels = NoveltyPruning(TableFeatures(world), ClassicTable(), LabelledFirst())
    return BestFirst(labels, (exploring, exploiting), horizon, LeafValues(discount), discount)


def generated(lookahead: Lookahead) -> list[tuple[tuple[int, ...], bool]]:
    """Paths in the order of their generation, and whether they are novel."""
    nodes = sorted(tree_of(lookahead).items(), key=lambda item: item[1].number)
    return [(path, node.novel) for path, node in nodes if path]


def indices(*features: int) -> np.ndarray:
    return np.array(features, dtype=np.int32)


class TestRewardTable:
    @pytest.fixture
    def table(self) -> RewardTable:
        table = RewardTable()
        table.make_room(4)
        return table

    def test_more_reward_for_some_feature_is_novel_and_as_much_is_not(self, table: RewardTable) -> None:
        assert table.enter(indices(0, 1), 2.0) in (0, 1)
        assert table.enter(indices(0, 1), 2.0) == NO_FEATURE
        assert table.enter(indices(0), 1.0) == NO_FEATURE
        assert table.enter(indices(0, 1), 2.5) in (0, 1)
        assert table.enter(indices(1, 2), -7.0) == 2, "a loss is more than nothing known"
        assert table.enter(indices(2), -6.5) == 2

    def test_a_node_holds_a_feature_while_nobody_has_more(self, table: RewardTable) -> None:
        table.enter(indices(0, 1), 2.0)
        assert table.holds(0, 2.0)
        table.enter(indices(0), 3.0)
        assert not table.holds(0, 2.0)
        assert not table.holds(NO_FEATURE, 2.0)
        assert table.holder(indices(0, 1), 2.0) == 1
        assert table.holder(indices(0), 2.0) == NO_FEATURE

    def test_a_new_time_step_begins_blank(self, table: RewardTable) -> None:
        table.enter(indices(0), 3.0)
        table.clear()
        assert table.enter(indices(0), 0.0) == 0


def test_what_was_collected_is_discounted_once_per_action() -> None:
    lookahead = Lookahead(BINARY, BINARY.start(), base_policy=UNIFORM, termination_cost=0.0)
    node = lookahead.expand(lookahead.expand(lookahead.root, 1), 1)  # pays 1, then 3
    assert [lookahead.collected(node), lookahead.collected(node, 0.5)] == [4.0, 1.0 + 0.5 * 3.0]
    lookahead.advance(1, keep=True)
    assert [lookahead.collected(node), lookahead.collected(lookahead.root)] == [3.0, 0.0]


class TestPIW:
    r"""Feature 1 is true in states 1, 2, 5 and 6:

          0
      0 /   \ 5
       1     2
    0 / \0 0/ \ 1
     3   4 5   6   which stays where it is
    """

    WORLD = TableWorld(
        table=[
            [(1, 0.0), (2, 5.0)],
            [(3, 0.0), (4, 0.0)],
            [(5, 0.0), (6, 1.0)],
            *[[(3, 0.0)] * 2, [(4, 0.0)] * 2, [(5, 0.0)] * 2, [(6, 0.0)] * 2],
        ],
        features=[frozenset({i}) for i in (0, 1, 1, 2, 3, 1, 1)],
    )

    def test_more_reward_makes_a_feature_novel_again_and_comes_first(self) -> None:
        # 1 at 0 and 2 at 5 are both novel. 2 has more, so that it is expanded first: 5 at 5 has no more than 2 had:
        # pruned; 6 at 6 has. Then 6, with twice the same: pruned. Then 1, and below it only repetitions.
        lookahead = grow(self.WORLD, p_iw(self.WORLD), 100, ScriptedRng())
        assert generated(lookahead) == [
            *(((0,), True), ((1,), True)),
            *(((1, 0), False), ((1, 1), True)),
            *(((1, 1, 0), False), ((1, 1, 1), False)),
            *(((0, 0), True), ((0, 1), True)),
            *(((0, 0, 0), False), ((0, 0, 1), False)),
            *(((0, 1, 0), False), ((0, 1, 1), False)),
        ]
        assert lookahead.root.solved
        assert (lookahead.interactions, lookahead.pruned) == (12, 7)

    def test_the_budget_may_end_in_the_middle_of_an_expansion(self) -> None:
        lookahead = grow(self.WORLD, p_iw(self.WORLD), 3, ScriptedRng())
        assert [path for path, _ in generated(lookahead)] == [(0,), (1,), (1, 0)]
        assert not lookahead.root.solved

    def test_the_actions_of_a_node_may_be_tried_in_another_order(self) -> None:
        planner = p_iw(self.WORLD)
        planner.successors = lambda node, rng: [1, 0]
        lookahead = grow(self.WORLD, planner, 4, ScriptedRng())
        assert [path for path, _ in generated(lookahead)] == [(1,), (0,), (1, 1), (1, 0)]

    def test_nothing_is_expanded_at_the_horizon(self) -> None:
        lookahead = grow(self.WORLD, p_iw(self.WORLD, horizon=1), 100, ScriptedRng())
        assert [path for path, _ in generated(lookahead)] == [(0,), (1,)]
        assert lookahead.root.solved

    def test_kept_nodes_with_untried_actions_wait_with_the_others(self) -> None:
        # After four nodes right is executed: below the root 5 and 6 are left, both novel because they are cached,
        # with 0 and 1 collected from here. So 6 is expanded before 5; 6 again at 1 is novel, for no cached node
        # entered the table, and then its own twin is not.
        planner = p_iw(self.WORLD)
        lookahead = grow(self.WORLD, planner, 4, ScriptedRng())
        lookahead.advance(1, keep=True)
        lookahead.begin_time_step()
        rng: Any = ScriptedRng()
        assert list(planner.plan(lookahead, Interactions(3).start(), rng=rng)) == []
        assert generated(lookahead) == [
            *(((0,), True), ((1,), True)),
            *(((1, 0), True), ((1, 1), False)),
            ((1, 0, 0), False),
        ]

    def test_values_are_backed_up_as_in_other_searches(self) -> None:
        planner = p_iw(self.WORLD)
        lookahead = grow(self.WORLD, planner, 100, ScriptedRng())
        assert planner.action_values(lookahead) == [0.0, 6.0]


class Test2BFS:
    r"""States 3 and 1 have the same feature:

          0
      0 /   \ 5
       1     2
    0 / \0 0/ \ 1
     3   4 5   6
    """

    WORLD = TableWorld(
        table=TestPIW.WORLD.table,
        features=[frozenset({i}) for i in (0, 1, 2, 1, 3, 2, 2)],
    )

    def test_queues_take_turns_and_nothing_is_pruned(self) -> None:
        # To explore: 0, and then 1. To exploit: 2 at 5. After 0 it is the turn of 2: 5 at 5 and 6 at 6, not novel.
        # Then 1 is explored: 3 is not novel, 4 is. Then 6 is exploited, then 4 explored, before 3.
        lookahead = grow(self.WORLD, two_bfs(self.WORLD), 10, ScriptedRng())
        assert generated(lookahead) == [
            *(((0,), True), ((1,), True)),
            *(((1, 0), False), ((1, 1), False)),
            *(((0, 0), False), ((0, 1), True)),
            *(((1, 1, 0), False), ((1, 1, 1), False)),
            *(((0, 1, 0), False), ((0, 1, 1), False)),
        ]
        assert not lookahead.root.solved

    def test_a_queue_goes_on_alone_while_the_other_is_empty(self) -> None:
        # Without rewards all is explored: the novel ones first, then in the order of generation.
        world = TableWorld([[(1, 0.0), (2, 0.0)], *[[(1, 0.0), (2, 0.0)]] * 2], features=[frozenset({0})] * 3)
        lookahead = grow(world, two_bfs(world, horizon=2), 100, ScriptedRng())
        assert [path for path, _ in generated(lookahead)] == [(0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1)]
        assert lookahead.root.solved

    def test_what_was_collected_is_discounted(self) -> None:
        """Left pays 4 at once, right 0 and then 6: with a discount of 0.5 that is 3, so left is exploited first."""
        world = TableWorld(
            [[(1, 4.0), (2, 0.0)], [(1, 0.0)] * 2, [(3, 6.0), (3, 6.0)], [(3, 0.0)] * 2],
            features=[frozenset({i}) for i in range(4)],
        )
        for discount, expected in ((0.5, [(0, 0, 0), (0, 0, 1)]), (1.0, [(1, 0, 0), (1, 0, 1)])):
            # 0 and right are explored; left is exploited in between: six nodes. Then the best of what pays.
            lookahead = grow(world, two_bfs(world, discount=discount), 8, ScriptedRng())
            paths = [path for path, _ in generated(lookahead)]
            assert paths[:6] == [(0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1)]
            assert paths[6:] == expected

    def test_kept_nodes_enter_the_table_in_the_order_of_their_generation(self) -> None:
        # Left is executed: kept are 1, the root now, with 3 (not novel beside it) and 4.
        planner = two_bfs(self.WORLD)
        lookahead = grow(self.WORLD, planner, 6, ScriptedRng())
        lookahead.advance(0, keep=True)
        lookahead.begin_time_step()
        rng: Any = ScriptedRng()
        assert list(planner.plan(lookahead, Interactions(1).start(), rng=rng)) == []
        assert generated(lookahead) == [((0,), False), ((1,), True), ((1, 0), False)]
        assert not lookahead.root.solved


@pytest.mark.parametrize("kind", ["p-iw", "2bfs"])
@given(
    world=worlds(),
    budget=st.integers(1, 25),
    horizon=st.integers(1, 5),
    actions=st.lists(st.integers(0, 2), min_size=3, max_size=3),
)
@settings(max_examples=200, deadline=None)
def test_lookaheads_equal_the_reference(
    kind: str, world: TableWorld, budget: int, horizon: int, actions: list[int]
) -> None:
    discount = 0.5
    planner = p_iw(world, horizon=horizon) if kind == "p-iw" else two_bfs(world, horizon=horizon, discount=discount)
    lookahead = Lookahead(world, world.start(), base_policy=UNIFORM, termination_cost=0.0)
    reference = BestFirstReference(world, kind, budget, horizon, discount)
    for action in actions:
        lookahead.begin_time_step()
        rng: Any = ScriptedRng()
        assert list(planner.plan(lookahead, Interactions(budget).start(), rng=rng)) == []
        assert lookahead.interactions == reference.plan()
        assert generated(lookahead) == [item for item in reference.novel.items() if item[0]]
        assert lookahead.root.solved == reference.solved
        action %= len(world.actions)
        child = lookahead.root.children[action]
        if child is None or child.terminal:
            break
        lookahead.advance(action, keep=True)
        reference.advance(action)


@given(world=worlds(), budget=st.integers(1, 25), horizon=st.integers(1, 5))
@settings(max_examples=100, deadline=None)
def test_without_rewards_p_iw_is_iw(world: TableWorld, budget: int, horizon: int) -> None:
    world = TableWorld([[(state, 0.0) for state, _ in row] for row in world.table], world.terminal, world.features)
    iw = BreadthFirst(NoveltyPruning(TableFeatures(world), ClassicTable()), horizon, LeafValues())
    ours = grow(world, p_iw(world, horizon=horizon), budget, ScriptedRng())
    assert generated(ours) == generated(grow(world, iw, budget, ScriptedRng()))


def test_the_agents_are_made_of_these() -> None:
    settings = get_agent("2bfs").settings(features="atoms", horizon=7, discount=0.5, successors="random")
    planner: Any = get_agent("2bfs").assemble(Corridor().start(), settings)
    assert (planner.orders, planner.horizon, planner.discount) == ((exploring, exploiting), 7, 0.5)
    assert isinstance(planner.pruning.cached_nodes, LabelledFirst)
    planner = get_agent("p-iw").assemble(Corridor().start(), settings)
    assert (planner.orders, planner.discount) == ((novel_by_reward,), 1.0), "the rewards of p-IW count in full"
    assert planner.backup == LeafValues(0.5)
    assert planner.successors is random_order
    assert get_agent("p-iw").novelty == "reward"
