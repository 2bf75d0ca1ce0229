"""Parts that other agents are made of, computed by hand: cached nodes, features that must be asked for, backups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from noveltree.errors import InputError
from noveltree.features import UnitFeatures
from noveltree.heuristics import Heuristic, Heuristics
from noveltree.lookahead import (
    CachedNodes,
    GreatestValues,
    Interactions,
    LeafValues,
    NeverTested,
    NoPruning,
    NoveltyPruning,
    Rollouts,
    TestedFirst,
    TestedWhenMet,
)
from noveltree.novelty import DepthTable
from noveltree.simulators import Corridor, State
from noveltree.tree import UNIFORM, Lookahead, Probabilities
from tests.support.answering import answer
from tests.support.worlds import ScriptedRng, TableFeatures, TableWorld, node_of, tree_of


class TestCachedNodes:
    # 0 -a0-> 1 -a0-> 2 -a0-> 3, which stays; 1 -a1-> 4, which stays and has the feature of 3; 2 -a1-> 2.
    WORLD = TableWorld(
        table=[
            [(1, 0.0), (0, 0.0)],
            [(2, 0.0), (4, 0.0)],
            [(3, 0.0), (2, 0.0)],
            [(3, 0.0), (3, 0.0)],
            [(4, 0.0), (4, 0.0)],
        ],
        features=[frozenset({0}), frozenset({1}), frozenset({2}), frozenset({3}), frozenset({3})],
    )

    def second_step(self, rule: CachedNodes, budget: int, *numbers: float) -> Lookahead:
        """Go right four times (the fourth node is pruned), execute, and plan again."""
        planner = Rollouts(NoveltyPruning(TableFeatures(self.WORLD), DepthTable(), rule), 100, LeafValues())
        lookahead = Lookahead(self.WORLD, self.WORLD.start(), base_policy=UNIFORM, termination_cost=0.0)
        lookahead.begin_time_step()
        answer(planner.plan(lookahead, Interactions(4).start(), rng=ScriptedRng(*[0.1] * 4)), Heuristics())  # type: ignore[arg-type]
        assert {path: node.novel for path, node in tree_of(lookahead).items()} == {
            (): True,
            (0,): True,
            (0, 0): True,
            (0, 0, 0): True,
            (0, 0, 0, 0): False,
        }
        lookahead.advance(0, keep=True)
        lookahead.begin_time_step()
        rng: Any = ScriptedRng(*numbers)
        answer(planner.plan(lookahead, Interactions(budget).start(), rng=rng), Heuristics())
        assert rng.left == 0
        return lookahead

    def labels(self, lookahead: Lookahead) -> dict[tuple[int, ...], str]:
        return {
            path: ("N" if node.novel else "-") + ("S" if node.solved else "-")
            for path, node in tree_of(lookahead).items()
        }

    def test_never_tested_they_are_novel_and_not_in_the_table(self) -> None:
        # Down the cached path 2, 3, 3 and on to a new 3: novel, for no cached node's features were entered.
        lookahead = self.second_step(NeverTested(), 1, 0.1, 0.1, 0.1, 0.1, 0.1)
        assert self.labels(lookahead) == {
            (): "N-",
            (0,): "N-",
            (0, 0): "N-",
            (0, 0, 0): "N-",
            (0, 0, 0, 0): "N-",
        }

    def test_tested_when_met_they_are_pruned_once_their_features_are_seen_shallower(self) -> None:
        # a1 reaches feature 3 at depth 1, and again below it: pruned. The cached 3 at depth 2 is met: pruned.
        # Then a1 of the cached 2, which did not enter its own feature: novel; the budget ends below it.
        lookahead = self.second_step(TestedWhenMet(), 3, 0.9, 0.1, 0.1, 0.1, 0.1, 0.5, 0.5)
        assert self.labels(lookahead) == {
            (): "N-",
            (0,): "N-",
            (0, 0): "-S",
            (0, 0, 0): "N-",
            (1,): "N-",
            (1, 0): "-S",
            (0, 1): "N-",
        }

    def test_tested_first_they_enter_in_the_order_of_their_generation(self) -> None:
        # 1 at depth 0, 2 at 1, 3 at 2 enter; 3 at depth 3 has nothing new: pruned before anything is generated.
        # a1 then lowers feature 3 to depth 1: novel, and the budget ends.
        lookahead = self.second_step(TestedFirst(), 1, 0.9, 0.1)
        assert self.labels(lookahead) == {(): "N-", (0,): "N-", (0, 0): "N-", (0, 0, 0): "-S", (1,): "N-"}
        assert lookahead.pruned == 1

    @pytest.mark.parametrize("rule", [TestedWhenMet(), TestedFirst()])
    def test_terminal_ones_are_solved_from_the_beginning_where_cached_nodes_are_tested(
        self, rule: CachedNodes
    ) -> None:
        corridor = Corridor(3)
        lookahead = Lookahead(corridor, corridor.start(), base_policy=UNIFORM, termination_cost=0.0)
        lookahead.expand(lookahead.expand(lookahead.root, 1), 1)
        lookahead.advance(1, keep=True)
        lookahead.begin_time_step()
        rule.begin(lookahead, lambda node: None)
        assert {path: node.solved for path, node in tree_of(lookahead).items()} == {(): False, (1,): True}


class TestUnitFeatures:
    def test_a_unit_is_true_one_way_or_the_other(self) -> None:
        node = node_of(State(np.zeros(1)))
        node.units = np.array([0.0, 2.5, 0.0], dtype=np.float32)
        features = UnitFeatures()  # as many as the first node has
        assert features(node).tolist() == [0, 3, 4]
        assert features.size == 6

    def test_without_a_network_there_are_none(self) -> None:
        with pytest.raises(InputError, match="no network was asked"):
            UnitFeatures()(node_of(State(np.zeros(1))))

    def test_they_are_asked_for_when_a_node_is_generated_together_with_what_else_is_wanted(self) -> None:
        """The network has one unit for each cell of the corridor, active from that cell on."""
        corridor = Corridor(6)
        passes: list[tuple[int, tuple[str, ...]]] = []

        def evaluate(nodes: Any, heads: tuple[str, ...]) -> dict[str, np.ndarray]:
            passes.append((len(nodes), heads))
            cells = np.array([int(node.state.observation[0]) for node in nodes])
            everything = {
                "units": (cells[:, None] >= np.arange(6)).astype(np.float32),
                "policy": np.tile(np.array([0.25, 0.75]), (len(nodes), 1)),
            }
            return {head: everything[head] for head in heads}

        heuristics = Heuristics((Heuristic(frozenset({"units", "policy"}), evaluate),))
        pruning = NoveltyPruning(UnitFeatures(heads=("units", "policy")), DepthTable())
        planner = Rollouts(pruning, 100, LeafValues())
        lookahead = Lookahead(corridor, corridor.start(), base_policy=None, termination_cost=0.0)
        lookahead.begin_time_step()
        # Right: unit 1 becomes active: novel. Left: cell 0 at depth 2, nothing new: pruned.
        rng: Any = ScriptedRng(0.9, 0.1)
        answer(planner.plan(lookahead, Interactions(2).start(), rng=rng), heuristics)
        assert passes == [(1, ("units", "policy"))] * 3, "one pass for the root and for each new node"
        tree = tree_of(lookahead)
        assert {path: node.novel for path, node in tree.items()} == {(): True, (1,): True, (1, 0): False}
        assert tree[(1,)].witness == 2 * 1 + 1
        assert all(isinstance(node.base_policy, Probabilities) for node in tree.values())


class TestGreatestValues:
    # 0 -a0-> 1 (pays 1), 0 -a1-> 2; 1 -a0-> 3, terminal, pays 4.
    WORLD = TableWorld(
        table=[[(1, 1.0), (2, 0.0)], [(3, 4.0), (2, 0.0)], [(2, 0.0), (2, 0.0)], [(3, 0.0), (3, 0.0)]],
        terminal=frozenset({3}),
    )
    COSTS = (100.0, 5.0, 7.0, 1000.0)

    def test_a_node_is_worth_its_own_value_or_what_its_children_give_whichever_is_more(self) -> None:
        lookahead = Lookahead(self.WORLD, self.WORLD.start(), base_policy=UNIFORM, termination_cost=None)
        left = lookahead.expand(lookahead.root, 0)
        lookahead.expand(left, 0)
        lookahead.expand(lookahead.root, 1)
        heuristics = Heuristics.of(value=lambda nodes: np.array([self.COSTS[n.state.name] for n in nodes]))
        backup = GreatestValues(discount=0.5)
        questions = answer(backup.ask(lookahead), heuristics)
        assert [len(question.nodes) for question in questions] == [3], "all but the terminal one, at once"
        # State 1: max(5, 4 + 0.5 * 0) = 5. Q(a0) = 1 + 0.5 * 5, Q(a1) = 0 + 0.5 * 7. The root: max(100, 3.5).
        assert backup.action_values(lookahead) == [3.5, 3.5]
        assert {path: node.value for path, node in tree_of(lookahead).items()} == {
            (): 100.0,
            (0,): 5.0,
            (0, 0): 0.0,
            (1,): 7.0,
        }
        # Definition 2 lets leaves alone speak: state 1 is worth 4.
        assert LeafValues(discount=0.5).action_values(lookahead) == [1.0 + 0.5 * 4.0, 3.5]


def test_a_head_that_no_network_has_is_named() -> None:
    corridor = Corridor(6)
    planner = Rollouts(NoveltyPruning(UnitFeatures(), DepthTable()), 100, LeafValues())
    lookahead = Lookahead(corridor, corridor.start(), base_policy=UNIFORM, termination_cost=0.0)
    lookahead.begin_time_step()
    with pytest.raises(InputError, match="asks for 'units', and there is no network that has it"):
        answer(planner.plan(lookahead, Interactions(2).start(), rng=np.random.default_rng(0)), Heuristics())


def test_without_pruning_nothing_is_asked_of_features() -> None:
    corridor = Corridor(6)
    lookahead = Lookahead(corridor, corridor.start(), base_policy=UNIFORM, termination_cost=0.0)
    lookahead.begin_time_step()
    planner = Rollouts(NoPruning(), 100, LeafValues())
    assert (
        answer(planner.plan(lookahead, Interactions(9).start(), rng=np.random.default_rng(0)), Heuristics()) == []
    )
