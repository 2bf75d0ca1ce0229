"""What leaves are worth that were pruned, and novelty of width 2, each by hand."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import numpy as np
import pytest

from noveltree.agents import get_agent
from noveltree.episodes import Play, drive, episode_rng
from noveltree.errors import InputError
from noveltree.features import AtomFeatures, FeatureSet, PairFeatures
from noveltree.lookahead import (
    BreadthFirst,
    ExactDuplicates,
    Interactions,
    LeafValues,
    NoPruning,
    NoveltyPruning,
    make_pruned_leaves,
)
from noveltree.novelty import ClassicTable
from noveltree.protocol import make_protocol
from noveltree.tree import Lookahead, Node
from small_worlds import KEYS_AND_DOORS, LINE, GridWorld
from tests.support.worlds import TableFeatures, TableState, TableWorld, grow, node_of, tree_of

HORIZON = 10


class TestWorths:
    """Two ways of three actions, of which states 2 and 4 are pruned: they have the feature of state 0.

    0 -a0-> 1 (-1) -a0-> 2 (-3), pruned
                   -a1-> 3 (-1) -any-> 5 (+1), the end
      -a1-> 4 (-1), pruned
    """

    WORLD = TableWorld(
        table=[
            [(1, -1.0), (4, -1.0)],
            [(2, -3.0), (3, -1.0)],
            [(2, 0.0), (2, 0.0)],
            [(5, 1.0), (5, 1.0)],
            [(4, 0.0), (4, 0.0)],
            [(5, 0.0), (5, 0.0)],
        ],
        terminal=frozenset({5}),
        features=[frozenset({f}) for f in (0, 1, 0, 3, 0, 5)],
    )

    def lookahead(self, rule: str, discount: float = 1.0) -> tuple[Lookahead, list[float | None]]:
        backup = LeafValues(discount, pruned=make_pruned_leaves(rule, HORIZON))
        pruning = NoveltyPruning(TableFeatures(self.WORLD), ClassicTable())
        planner = BreadthFirst(pruning, HORIZON, backup)
        lookahead = grow(self.WORLD, planner, 100, np.random.default_rng(0))
        return lookahead, planner.action_values(lookahead)

    def value(self, rule: str, path: tuple[int, ...], discount: float = 1.0) -> float:
        return tree_of(self.lookahead(rule, discount)[0])[path].value

    def test_the_papers_are_worth_nothing_so_that_a_dead_end_is_as_good_as_the_goal(self) -> None:
        assert self.lookahead("termination-cost")[1] == [-1.0, -1.0]

    def test_left_out_they_do_not_count(self) -> None:
        assert self.lookahead("left-out")[1] == [-1.0, None]

    def test_if_nothing_else_is_left_they_count_as_in_the_paper(self) -> None:
        lookahead, _ = self.lookahead("left-out")
        for node in lookahead.nodes():
            if node.is_leaf():
                node.terminal, node.novel = False, False
        backup = LeafValues(pruned=make_pruned_leaves("left-out", HORIZON))
        assert backup.action_values(lookahead) == [-1.0, -1.0]

    def test_pessimistically_all_that_follows_costs_the_most(self) -> None:
        # The costliest action cost 3. State 4 has 9 actions left, the first state 2 has 8.
        assert self.lookahead("pessimistic")[1] == [-1.0, -1.0 - 9 * 3.0]
        assert self.value("pessimistic", (0, 0)) == -8 * 3.0

    def test_extrapolated_all_that_follows_costs_what_the_way_did(self) -> None:
        # The way to state 4 cost 1 for one action; that to state 2 cost 4 for two.
        assert self.lookahead("extrapolated")[1] == [-1.0, -1.0 - 9 * 1.0]
        assert self.value("extrapolated", (0, 0)) == -8 * 2.0

    def test_a_discount_counts_for_what_follows_too(self) -> None:
        # 1 + 0.5 + ... + 0.5^8 for state 4.
        weight = (1 - 0.5**9) / 0.5
        assert self.value("pessimistic", (1,), 0.5) == pytest.approx(-3.0 * weight)
        assert self.value("extrapolated", (1,), 0.5) == pytest.approx(-1.0 * weight)

    def test_leaves_that_are_novel_or_terminal_are_worth_what_they_were(self) -> None:
        for rule in ("left-out", "pessimistic", "extrapolated"):
            assert self.value(rule, (0, 1, 0)) == 0.0
            lookahead, _ = self.lookahead(rule)
            tree_of(lookahead)[(1,)].novel = True
            backup = LeafValues(pruned=make_pruned_leaves(rule, HORIZON))
            assert backup.action_values(lookahead) == [-1.0, -1.0]

    def test_what_is_learnt_of_a_pruned_leaf_is_its_termination_cost(self) -> None:
        lookahead, _ = self.lookahead("termination-cost")
        tree_of(lookahead)[(1,)].termination_cost = -6.0
        assert LeafValues().action_values(lookahead) == [-1.0, -7.0]

    def test_nothing_is_lost_where_nothing_costs(self) -> None:
        lookahead, _ = self.lookahead("pessimistic")
        for node in lookahead.nodes():
            node.reward = abs(node.reward)
        assert LeafValues(pruned=make_pruned_leaves("pessimistic", HORIZON)).action_values(lookahead) == [4.0, 1.0]


@pytest.mark.parametrize("agent", ["iw1", "riw-d", "riw-c"])
@pytest.mark.parametrize("rule", ["left-out", "pessimistic", "extrapolated"])
def test_a_line_whose_steps_cost_is_walked_to_its_end(agent: str, rule: str) -> None:
    def score(**settings: Any) -> float:
        chosen = get_agent(agent)
        play = Play(
            GridWorld(LINE),
            chosen,
            settings=chosen.settings(features="atoms", cached_nodes="tested-first", **settings)
            if agent != "iw1"
            else chosen.settings(features="atoms", cache=False, **settings),
            budget=Interactions(500),
            rng=episode_rng(0, 0),
            max_steps=50,
        )
        drive([play])
        return play.episode().score

    assert score(pruned_leaves=rule) == -5.0
    assert score() < -5.0


def test_rules_of_bandres_have_leaves_and_widths_of_their_own() -> None:
    for setting in ({"width": 2}, {"pruned_leaves": "left-out"}, {"exact_duplicates": True}):
        with pytest.raises(InputError, match="but not both"):
            make_protocol("corridor", agent="riw-d", lost_nodes="leave", **setting)


class TestExactDuplicates:
    """0 -a0-> 1 (-1) -a0-> 0 (-1), -a1-> 2 (-1); 0 -a1-> 2 (-1) -a0-> 3 (+5), the end, -a1-> 1 (-1).

    The second state 0 is that of the root; the second state 2 comes later and at a greater cost than the first.
    """

    WORLD = TableWorld(
        table=[[(1, -1.0), (2, -1.0)], [(0, -1.0), (2, -1.0)], [(3, 5.0), (1, -1.0)], [(3, 0.0), (3, 0.0)]],
        terminal=frozenset({3}),
    )

    def grown(self, world: TableWorld, budget: int = 100) -> tuple[Lookahead, BreadthFirst]:
        duplicates = ExactDuplicates(NoPruning())
        planner = BreadthFirst(duplicates, HORIZON, LeafValues(pruned=duplicates.worths))
        return grow(world, planner, budget, np.random.default_rng(0)), planner

    def test_a_state_that_was_met_before_is_not_looked_below(self) -> None:
        lookahead, _ = self.grown(self.WORLD)
        novel = {path: node.novel for path, node in tree_of(lookahead).items()}
        assert novel == {
            (): True,
            (0,): True,
            (1,): True,
            (0, 0): False,
            (0, 1): False,
            (1, 0): True,
            (1, 1): False,
        }
        assert lookahead.interactions == 6
        assert lookahead.pruned == 3
        assert lookahead.root.solved

    def test_it_is_left_out_of_the_backup_and_what_its_twin_is_worth_remains(self) -> None:
        lookahead, planner = self.grown(self.WORLD)
        assert planner.action_values(lookahead) == [None, 4.0]  # below 1 there is nothing that was not met before

    def test_more_reward_is_a_reason_to_look_again(self) -> None:
        """Here state 1 pays 9 on the way to state 2, and going back costs more than that."""
        table = [[(1, 9.0), (2, -1.0)], [(0, -20.0), (2, -1.0)], *self.WORLD.table[2:]]
        world = dataclasses.replace(self.WORLD, table=table)
        lookahead, planner = self.grown(world)
        assert tree_of(lookahead)[(0, 1)].novel
        assert planner.action_values(lookahead)[0] == 9.0 - 1.0 + 5.0

    def test_twins_are_looked_for_anew_in_every_time_step(self) -> None:
        lookahead, planner = self.grown(self.WORLD)
        lookahead.advance(0, keep=True)
        lookahead.begin_time_step()
        for _ in planner.plan(lookahead, Interactions(100).start(), rng=np.random.default_rng(0)):
            raise AssertionError("nothing is to be asked")
        # From state 1, states 0 and 2 are new; below 0 are 1, the root's, and 2, met before.
        assert tree_of(lookahead)[(0,)].novel
        assert not tree_of(lookahead)[(0, 0)].novel
        assert planner.action_values(lookahead) == [None, 4.0]

    def test_breadth_first_search_finds_the_way_through_a_grid_with_them(self) -> None:
        def steps(**settings: Any) -> int:
            agent = get_agent("bfs")
            play = Play(
                GridWorld(KEYS_AND_DOORS),
                agent,
                settings=agent.settings(**settings),
                budget=Interactions(500),
                rng=episode_rng(0, 0),
                max_steps=40,
            )
            drive([play])
            return play.episode().steps

        assert steps(exact_duplicates=True) == 15
        assert steps() == 40


class FixedFeatures(FeatureSet):
    """Features by the state's name."""

    size = 4

    def __init__(self, *true: tuple[int, ...]) -> None:
        self._true = true

    def __call__(self, node: Node) -> np.ndarray:
        assert isinstance(node.state, TableState)
        return np.array(self._true[node.state.name], dtype=np.int32)


class TestPairs:
    def test_pairs_are_numbered_by_the_greater_one(self) -> None:
        # (0, 0) is 0; (0, 1), (1, 1) are 1, 2; (0, 2), (1, 2), (2, 2) are 3, 4, 5; (0, 3) is 6.
        pairs = PairFeatures(FixedFeatures((3, 0), (2, 1, 0)))
        assert sorted(pairs(node_of(TableState(0))).tolist()) == [0, 6, 9]
        assert sorted(pairs(node_of(TableState(1))).tolist()) == [0, 1, 2, 3, 4, 5]
        assert pairs.size == 10

    def test_a_node_is_novel_by_two_features_that_were_seen_apart(self) -> None:
        """0 {a, b} -> 1 {c, d}, 2 {a, d}: both of 2's features were seen, but not together."""
        world = TableWorld(table=[[(1, 0.0), (2, 0.0)], *[[(1, 0.0), (2, 0.0)]] * 2])
        features = FixedFeatures((0, 1), (2, 3), (0, 3))
        novel = {}
        for width, chosen in ((1, features), (2, PairFeatures(features))):
            pruning = NoveltyPruning(chosen, ClassicTable())
            lookahead = grow(world, BreadthFirst(pruning, 1, LeafValues()), 2, np.random.default_rng(0))
            novel[width] = [child is not None and child.novel for child in lookahead.root.children]
        assert novel == {1: [True, False], 2: [True, True]}

    def test_numbers_stay_as_more_features_are_met(self) -> None:
        atoms = AtomFeatures()
        pairs = PairFeatures(atoms)
        first = pairs(node_of(TableState(0))).tolist()
        pairs(node_of(TableState(7)))
        assert pairs(node_of(TableState(0))).tolist() == first
        assert pairs.size == 3

    def test_too_many_features_are_refused_with_the_numbers(self) -> None:
        protocol = make_protocol("breakout", agent="iw1", width=2)
        with (
            contextlib.closing(protocol.make_simulator()) as simulator,
            pytest.raises(
                InputError, match=r"14,142 features at most, .* and here are .* choose another feature set"
            ),
        ):
            protocol.make_play(simulator, seed=0, index=0)

    def test_a_protocol_of_width_1_is_what_it_was(self) -> None:
        assert make_protocol("corridor", agent="iw1", width=1).hash == make_protocol("corridor", agent="iw1").hash
        assert make_protocol("corridor", agent="iw1", width=2).width == 2
