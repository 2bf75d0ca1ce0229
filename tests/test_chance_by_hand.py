r"""Lookaheads where chance decides, computed by hand.

                 0                  Action a0 of state 0 throws a coin: state 1 pays 4 and ends, state 2 pays 0.
          a0   /   \   a1           Action a1 leads to state 3, which pays 1 and ends. In state 2 nothing is thrown:
             o       \              a0 leads to state 4 and pays 2, a1 to state 5 and pays nothing; both end.
           /   \       \
    (4)  1       2       3  (1)     In a lookahead, C(0, a0) has up to two nodes, each with the number of draws
         =     /   \     =          that led to it.
         (2) 4       5 (0)
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from noveltree.errors import InputError
from noveltree.lookahead import (
    AllActions,
    BestFirst,
    BreadthFirst,
    Duplicates,
    Hierarchical,
    LeafValues,
    LearntActions,
    MarkedNode,
    NoPruning,
    NoveltyPruning,
    Puct,
    Raw,
    Rollouts,
    Uct,
    UctNode,
    check_chance,
    exploiting,
    exploring,
    random_tie,
)
from noveltree.lookahead.action_selection import larger_subtree, longest_branch
from noveltree.lookahead.rollout import sample_unsolved_outcome
from noveltree.novelty import ClassicTable
from noveltree.simulators import Corridor
from noveltree.tree import (
    UNIFORM,
    Lookahead,
    Node,
    outcomes,
    restore_lookahead,
    store_lookahead,
    subtree_height,
    subtree_size,
)
from tests.support.chance_worlds import (
    ChanceWorld,
    CountingDice,
    ScriptedDice,
    chance_worlds,
    coin,
    expectimax,
    grow_with_dice,
)
from tests.support.worlds import ScriptedRng, TableFeatures, TableState, TableWorld

COIN_THEN_CHOICE = ChanceWorld(
    table=[
        [[(1, 1, 4.0), (1, 2, 0.0)], [(1, 3, 1.0)]],
        [],
        [[(1, 4, 2.0)], [(1, 5, 0.0)]],
    ],
    terminal=frozenset({1, 3, 4, 5}),
)
ROLLOUTS = Rollouts(NoPruning(), horizon=10, backup=LeafValues())
#: Which of two actions a rollout draws.
A0, A1 = 0.0, 0.9
#: To which state the coin falls.
TO_1, TO_2 = 0, 1


def names(first: Node | None) -> dict[int, int]:
    """The states of C(n, a), and how many draws led to each."""
    return {state_of(outcome): outcome.draws for outcome in outcomes(first)}


def state_of(node: Node) -> int:
    assert isinstance(node.state, TableState)
    return node.state.name


class TestRollouts:
    """Four rollouts: to 1; to 2 and 5; to 2 and 4, which solves 2; to 3. The third draw of a0 is the last that is
    needed for three samples, and all known outcomes of a0 are solved then.
    """

    def grown(self, budget: int) -> Lookahead:
        rng = ScriptedRng(A0, A0, A1, A0, A0, A0)
        dice = ScriptedDice(TO_1, TO_2, 0, TO_2, 0, 0)  # one for each interaction, whether it is needed or not
        return grow_with_dice(COIN_THEN_CHOICE, ROLLOUTS, budget, rng, dice, samples=3)

    def test_an_outcome_is_added_when_it_is_first_drawn_and_counted_afterwards(self) -> None:
        root = self.grown(6).root
        assert names(root.children[0]) == {1: 1, 2: 2}
        assert names(root.children[1]) == {3: 1}

    def test_every_draw_is_an_interaction_and_what_is_certain_is_followed_for_free(self) -> None:
        lookahead = self.grown(100)
        assert lookahead.interactions == 6  # a0; a0 and a1; a0 and a0; a1
        assert lookahead.generated == 6

    def test_the_value_of_an_action_is_the_mean_over_its_draws(self) -> None:
        lookahead = self.grown(100)
        # One draw paid 4, two led to state 2, which is worth 2.
        assert ROLLOUTS.action_values(lookahead) == [pytest.approx((4 + 2 + 2) / 3), 1.0]
        assert lookahead.root.value == pytest.approx(8 / 3)

    def test_rewards_weigh_less_below_but_not_by_chance(self) -> None:
        lookahead = self.grown(100)
        values = LeafValues(discount=0.5, reward_weight=0.1).action_values(lookahead)
        assert values == [pytest.approx((4 + 2 * 0.5 * (0.1 * 2)) / 3), 1.0]

    def test_an_action_is_not_solved_before_it_was_drawn_often_enough(self) -> None:
        root = self.grown(3).root  # to 1, to 2 and 5
        assert [outcome.solved for outcome in outcomes(root.children[0])] == [True, False]
        assert root.unsolved == [0, 1]

    def test_an_action_is_solved_when_all_its_known_outcomes_are(self) -> None:
        root = self.grown(5).root
        assert [outcome.solved for outcome in outcomes(root.children[0])] == [True, True]
        assert root.unsolved == [1]
        assert self.grown(6).root.solved

    def test_a_lucky_draw_does_not_close_an_action(self) -> None:
        """The first draw of a0 ends the episode: with one sample a0 is solved, with two it is drawn again."""
        for samples, interactions, drawn in ((1, 2, {1: 1}), (2, 3, {1: 2})):
            rng, dice = ScriptedRng(A0, A0 if samples > 1 else A1, A0), ScriptedDice(TO_1, TO_1, 0)
            lookahead = grow_with_dice(COIN_THEN_CHOICE, ROLLOUTS, 100, rng, dice, samples=samples)
            assert (lookahead.interactions, names(lookahead.root.children[0])) == (interactions, drawn)

    def test_what_was_drawn_often_enough_is_walked_through_for_free_to_an_outcome_that_is_not_solved(self) -> None:
        """With two samples, drawn to 2 and to 1, the third rollout needs no draw of a0: 1 has ended, and it goes
        to 2, where one of two actions was tried, and tries the other.
        """
        rng, dice = ScriptedRng(A0, A1, A0, A0, A0, A0), ScriptedDice(TO_2, 0, TO_1, 0, 0)
        lookahead = grow_with_dice(COIN_THEN_CHOICE, ROLLOUTS, 100, rng, dice, samples=2)
        assert names(lookahead.root.children[0]) == {2: 1, 1: 1}
        assert lookahead.interactions == 5  # a0 and a1; a0; a0 below 2; a1
        assert lookahead.root.solved
        assert rng.left == dice.left == 0

    def test_an_outcome_is_sampled_in_proportion_to_its_draws(self) -> None:
        lookahead = self.grown(100)  # outcome 1 was drawn once, 2 twice
        for outcome in outcomes(lookahead.root.children[0]):
            outcome.solved = False
        first = lookahead.root.children[0]
        assert first is not None
        sampled = [state_of(sample_unsolved_outcome(first, rng=ScriptedRng(x))) for x in (0.0, 0.3, 0.4, 0.9)]  # type: ignore[arg-type]
        assert sampled == [1, 1, 2, 2]

    def test_drawing_again_needs_budget(self) -> None:
        rng, dice = ScriptedRng(A0, A0), ScriptedDice(TO_2)
        lookahead = grow_with_dice(COIN_THEN_CHOICE, ROLLOUTS, 1, rng, dice, samples=2)
        assert lookahead.interactions == 1
        assert names(lookahead.root.children[0]) == {2: 1}

    def test_an_outcome_is_tested_for_novelty_when_it_is_new_and_not_when_it_is_drawn_again(self) -> None:
        """State 2 has the feature of state 0, 1 one of its own: outcome 2 is not novel, and pruned each time."""
        features = TableFeatures(TableWorld([], features=[frozenset({i}) for i in (0, 1, 0, 3, 4, 5)]))
        planner = Rollouts(NoveltyPruning(features, ClassicTable()), horizon=10, backup=LeafValues())
        rng, dice = ScriptedRng(A0, A0, A0, A0), ScriptedDice(TO_1, TO_2, TO_2, 0)
        lookahead = grow_with_dice(COIN_THEN_CHOICE, planner, 100, rng, dice, samples=3)
        assert names(lookahead.root.children[0]) == {1: 1, 2: 2}
        assert [outcome.novel for outcome in outcomes(lookahead.root.children[0])] == [True, False]
        assert lookahead.interactions == 4
        assert planner.action_values(lookahead) == [pytest.approx(4 / 3), 1.0]


class TestTree:
    def grown(self) -> Lookahead:
        return TestRollouts().grown(100)

    def test_all_outcomes_are_nodes_of_the_lookahead(self) -> None:
        lookahead = self.grown()
        assert sorted(map(state_of, lookahead.nodes())) == [0, 1, 2, 3, 4, 5]
        first = lookahead.root.children[0]
        assert first is not None
        assert subtree_size(first) == 4  # 1, and 2 with 4 and 5
        assert subtree_height(first) == 1
        assert larger_subtree(lookahead.root, [0, 1], np.random.default_rng(0)) == 0
        assert longest_branch(lookahead.root, [0, 1], np.random.default_rng(0)) in (0, 1)

    def test_executing_leads_to_the_outcome_that_the_dice_show_and_keeps_what_is_known_below(self) -> None:
        lookahead = self.grown()
        child = lookahead.executed(0, TO_2)
        assert lookahead.interactions == 6  # it is no planning
        first = lookahead.root.children[0]
        lookahead.advance(0, keep=True, to=child)
        assert state_of(lookahead.root) == 2
        assert sorted(map(state_of, lookahead.nodes())) == [2, 4, 5]
        assert lookahead.root.next_outcome is None
        assert first is not None
        assert first.parent is None  # freed, with what was below it

    def test_executing_leads_out_of_the_tree_if_planning_never_drew_that(self) -> None:
        lookahead = grow_with_dice(
            COIN_THEN_CHOICE, ROLLOUTS, 1, ScriptedRng(A0, A0), ScriptedDice(TO_1), samples=9
        )
        child = lookahead.executed(0, TO_2)
        lookahead.advance(0, keep=True, to=child)
        assert [state_of(node) for node in lookahead.nodes()] == [2]
        assert lookahead.root.time == 1
        assert lookahead.interactions == 1

    def test_what_is_certain_is_executed_as_it_was_planned(self) -> None:
        lookahead = self.grown()
        assert lookahead.executed(1, 12345) is lookahead.root.children[1]

    def test_an_action_of_a_simulator_without_chance_needs_no_dice(self) -> None:
        world = Corridor(3)
        lookahead = Lookahead(world, world.start(), base_policy=UNIFORM, termination_cost=0.0)
        child = lookahead.executed(1, None)
        assert lookahead.executed(1, None) is child
        assert lookahead.interactions == 1

    def test_a_lookahead_with_chance_wants_a_generator_and_dice(self) -> None:
        world = COIN_THEN_CHOICE
        with pytest.raises(InputError, match="needs a generator"):
            Lookahead(world, world.start(), base_policy=UNIFORM, termination_cost=0.0)
        with pytest.raises(InputError, match="executed with dice"):
            self.grown().executed(0, None)

    def test_outcomes_are_told_apart_by_what_the_simulator_says(self) -> None:
        class Blind(ChanceWorld):
            def key(self, state: object) -> bytes:
                return b""

        world = Blind([[[(1, 1, 0.0), (1, 2, 0.0), (1, 3, 1.0), (1, 4, 0.0)]]], terminal=frozenset({4}))
        lookahead = Lookahead(
            world,
            world.start(),
            base_policy=UNIFORM,
            termination_cost=0.0,
            rng=CountingDice(),  # type: ignore[arg-type]
        )
        for _ in range(4):
            lookahead.expand(lookahead.root, 0)
        # States 1 and 2 are one to it; 3 pays something else, and 4 ends.
        assert names(lookahead.root.children[0]) == {1: 2, 3: 1, 4: 1}

    def test_it_is_stored_and_restored_exactly(self) -> None:
        lookahead = self.grown()
        stored = store_lookahead(lookahead)
        restored = restore_lookahead(
            stored, COIN_THEN_CHOICE, rng=np.random.default_rng(0), samples=lookahead.samples
        )
        slots = ("number", "draws", "certain", "reward", "terminal", "solved", "unsolved", "value", "time")
        for one, other in zip(lookahead.nodes(), restored.nodes(), strict=True):
            assert [getattr(one, slot) for slot in slots] == [getattr(other, slot) for slot in slots]
            assert state_of(one) == state_of(other)
        assert [names(first) for first in restored.root.children] == [{1: 1, 2: 2}, {3: 1}]
        assert [state_of(each) for each in outcomes(restored.root.children[0])] == [1, 2]
        again = store_lookahead(restored)
        assert again.counts == stored.counts
        assert all(np.array_equal(array, again.arrays[name]) for name, array in stored.arrays.items())


class TestOtherSearches:
    def test_breadth_first_search_draws_each_action_as_often_as_there_are_samples(self) -> None:
        """Dice 0, 1, 2 and 3: two draws to state 1 and two to state 2; one interaction for each certain action."""
        search = BreadthFirst(NoPruning(), 10, LeafValues())
        lookahead = grow_with_dice(COIN_THEN_CHOICE, search, 100, None, CountingDice(), samples=4)
        assert names(lookahead.root.children[0]) == {1: 2, 2: 2}
        assert lookahead.interactions == 4 + 1 + 2
        assert lookahead.root.solved
        assert search.action_values(lookahead) == [3.0, 1.0]

    def test_best_first_search_does_too(self) -> None:
        search = BestFirst(NoPruning(), (exploring, exploiting), 10, LeafValues())
        lookahead = grow_with_dice(COIN_THEN_CHOICE, search, 100, None, CountingDice(), samples=4)
        assert lookahead.interactions == 4 + 1 + 2
        assert search.action_values(lookahead) == [3.0, 1.0]

    def test_uct_counts_what_an_action_returned_whatever_it_led_to(self) -> None:
        """Simulations: a0 to 1, which pays 4; a1 to 3, which pays 1; then a0 by its bound, to 2 and on at random
        by a0 to 4 (2); a0 again, to 2, where a1 was not tried in the tree: of a0 and a1, a1 leads to 5 (0).
        """
        planner = Uct(rollout_depth=5, exploration=0.0, discount=1.0)
        rng = ScriptedRng(A0, A0, A0, A1)
        dice = ScriptedDice(TO_1, 0, TO_2, 0, TO_2, 0)
        lookahead = grow_with_dice(COIN_THEN_CHOICE, planner, 6, rng, dice)
        assert rng.left == dice.left == 0
        assert names(lookahead.root.children[0]) == {1: 1, 2: 2}
        # Three simulations through a0 returned 4, 2 and 0.
        assert planner.action_values(lookahead) == [pytest.approx(2.0), 1.0]

    def test_puct_counts_visits_of_actions(self) -> None:
        planner = Puct(exploration=50.0, discount=1.0, scale=Raw)
        lookahead = grow_with_dice(coin(), planner, 60, np.random.default_rng(0), np.random.default_rng(1))
        visits = planner.action_values(lookahead)
        through = [
            [each for each in outcomes(first) if isinstance(each, UctNode)] for first in lookahead.root.children
        ]
        assert visits == [sum(each.visits for each in nodes) for nodes in through]
        assert names(lookahead.root.children[0]).keys() == {1, 2}
        assert lookahead.interactions <= 60

    def test_what_chance_brought_is_no_evidence_of_duplicates(self) -> None:
        """Both guesses fall to state 1 at first, which makes them no duplicates of each other."""
        lookahead = grow_with_dice(
            coin(0.0), ROLLOUTS, 2, ScriptedRng(0.0, 0.4, 0.0), ScriptedDice(0, 0), samples=9
        )
        duplicates = Duplicates()
        duplicates.begin(lookahead)
        assert duplicates.probability(lookahead.root, 1) == 0.0
        actions = LearntActions()
        actions.begin(lookahead)
        actions.learn(lookahead)
        assert actions.novel == [1.0, 1.0, 1.0]

    @pytest.mark.parametrize("search", [ROLLOUTS, BreadthFirst(NoPruning(), 10, LeafValues())])
    def test_rules_for_one_outcome_of_an_action_are_refused(self, search: Rollouts | BreadthFirst) -> None:
        check_chance(search, "some")
        marked = type(search)(NoPruning(), 10, LeafValues(), node_type=MarkedNode)
        with pytest.raises(InputError, match=r"riw-d with these settings .* one outcome.*--chance foreseen"):
            check_chance(marked, "riw-d")

    def test_two_levels_are_refused(self) -> None:
        with pytest.raises(InputError, match="one outcome"):
            check_chance(Hierarchical(None, None, LeafValues()), "pi-hiw")  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None)
@given(chance_worlds())
def test_values_are_the_expectations_of_the_definition(world: ChanceWorld) -> None:
    """Dice that count up show every outcome as often as it happens, six times in all: the mean over six draws is
    the expectation, so that breadth-first search to a horizon of 3 finds what expectimax finds in the table.
    """
    search = BreadthFirst(NoPruning(), 3, LeafValues())
    lookahead = grow_with_dice(world, search, 1_000_000, None, CountingDice(), samples=6)
    assert search.action_values(lookahead) == pytest.approx(expectimax(world, 0, 3))


def test_rollouts_come_close_to_the_expectations() -> None:
    """With samples for all of its budget, unpruned rollouts of two actions estimate what expectimax finds."""
    planner = Rollouts(NoPruning(), 2, LeafValues(), actions=AllActions())
    lookahead = grow_with_dice(
        COIN_THEN_CHOICE, planner, 2_000, np.random.default_rng(2), np.random.default_rng(3), samples=10**6
    )
    assert planner.action_values(lookahead) == pytest.approx(expectimax(COIN_THEN_CHOICE, 0, 2), abs=0.15)
    assert random_tie(lookahead.root, [0], np.random.default_rng(0)) == 0
