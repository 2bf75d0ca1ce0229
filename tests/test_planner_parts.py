"""What RIW gains from, each by hand: weighted rewards, duplicates that are left out, one life."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noveltree.agents import get_agent
from noveltree.lookahead import (
    Duplicates,
    LeafValues,
    MarkedNode,
    NoPruning,
    OneLife,
    PlanningValues,
    Rollouts,
    by_policy,
)
from noveltree.protocol import make_protocol, play_episode
from noveltree.records import read_episode
from noveltree.simulators import State, Transition
from noveltree.tree import UNIFORM, Lookahead, Node, Probabilities
from tests.support.worlds import BINARY, ScriptedRng, TableState, TableWorld, grow, tree_of

LEFT, RIGHT = 0, 1

#: Both actions lead one state on, up to state 3; there they part.
ROAD = TableWorld(
    table=[*([(i + 1, 0.0), (i + 1, 0.0)] for i in range(3)), [(4, 0.0), (5, 0.0)], *[[(6, 0.0)] * 2] * 3]
)


class TestWeightedRewards:
    def test_a_reward_at_depth_d_counts_w_to_the_d(self) -> None:
        lookahead = grow(BINARY, Rollouts(NoPruning(), 100, LeafValues()), 6, np.random.default_rng(0))
        # The root's actions pay in full; 5 and 3 are paid one step below.
        assert LeafValues(reward_weight=0.5).action_values(lookahead) == [0.0 + 0.5 * 5.0, 1.0 + 0.5 * 3.0]

    def test_termination_costs_count_in_full(self) -> None:
        lookahead = grow(BINARY, Rollouts(NoPruning(), 100, LeafValues()), 2, ScriptedRng(0.1, 0.1))
        lookahead.expand(lookahead.root, RIGHT)
        for node in lookahead.nodes():
            node.termination_cost = 7.0
        # Left: half of 5, and terminal. Right: 1, and a leaf that is worth 7.
        assert LeafValues(reward_weight=0.5).action_values(lookahead) == [2.5, 8.0]
        assert LeafValues(discount=0.5).action_values(lookahead) == [2.5, 4.5]

    def test_two_steps_below_it_counts_the_square(self) -> None:
        world = TableWorld([[(1, 0.0)], [(2, 0.0)], [(3, 8.0)], [(3, 0.0)]], frozenset({3}))
        lookahead = grow(world, Rollouts(NoPruning(), 100, LeafValues()), 3, np.random.default_rng(0))
        assert LeafValues(reward_weight=0.5).action_values(lookahead) == [2.0]


class TestDuplicates:
    @pytest.fixture
    def lookahead(self) -> Lookahead:
        """Both actions tried in states 0, 1 and 2, and one in state 3."""
        lookahead = Lookahead(ROAD, ROAD.start(), base_policy=UNIFORM, termination_cost=0.0)
        node = lookahead.root
        for _ in range(3):
            lookahead.expand(node, RIGHT)
            node = lookahead.expand(node, LEFT)
        lookahead.expand(node, LEFT)
        return lookahead

    def test_what_was_alike_n_of_m_times_is_probably_so_again(self, lookahead: Lookahead) -> None:
        duplicates = Duplicates()
        duplicates.begin(lookahead)
        node = tree_of(lookahead)[0, 0, 0]
        assert duplicates.probability(node, RIGHT) == 3 / 4
        assert duplicates.probability(node, LEFT) == 0.0, "it was tried"
        duplicates.learn(lookahead.expand(node, RIGHT))
        assert duplicates.probability(tree_of(lookahead)[0, 0, 0, 0], RIGHT) == 0.0, "nothing was tried there"
        lookahead.expand(tree_of(lookahead)[0, 0, 0, 0], LEFT)
        assert duplicates.probability(tree_of(lookahead)[0, 0, 0, 0], RIGHT) == 3 / 5

    def test_other_rewards_are_other_states(self) -> None:
        world = TableWorld([[(1, 0.0), (1, 1.0)], [(1, 0.0), (1, 0.0)]])
        lookahead = Lookahead(world, world.start(), base_policy=UNIFORM, termination_cost=0.0)
        lookahead.expand(lookahead.root, LEFT)
        lookahead.expand(lookahead.root, RIGHT)
        duplicates = Duplicates()
        duplicates.begin(lookahead)
        lookahead.root.children[RIGHT] = None
        assert duplicates.probability(lookahead.root, RIGHT) == 0.0

    def test_an_action_is_left_out_with_that_probability(self, lookahead: Lookahead) -> None:
        duplicates = Duplicates()
        duplicates.begin(lookahead)
        node = tree_of(lookahead)[0, 0, 0]
        assert duplicates.left_out(node, RIGHT, rng=ScriptedRng(0.74))
        assert not duplicates.left_out(node, RIGHT, rng=ScriptedRng(0.76))
        assert not duplicates.left_out(node, LEFT, rng=ScriptedRng()), "nothing is drawn"

    def test_interactions_go_elsewhere(self) -> None:
        """In a world where all actions are alike, one child of a node says all."""
        world = TableWorld([[(i + 1, 0.0)] * 4 for i in range(60)] + [[(60, 0.0)] * 4])
        superfluous = []
        for duplicates in (None, Duplicates()):
            planner = Rollouts(NoPruning(), 5, LeafValues(), duplicates=duplicates)
            lookahead = grow(world, planner, 200, np.random.default_rng(0))
            children = [sum(child is not None for child in node.children) for node in lookahead.nodes()]
            superfluous.append(sum(count - 1 for count in children if count > 1))
        assert superfluous[1] <= superfluous[0] / 2


class MortalState(TableState):
    __slots__ = ("lives",)

    def __init__(self, name: int, lives: int) -> None:
        super().__init__(name)
        self.lives = lives


@dataclass(frozen=True)
class MortalWorld(TableWorld):
    """`alive[state]` lives are left in a state."""

    alive: Sequence[int] = ()

    def start(self) -> MortalState:
        return self._with_lives(super().start())

    def step(self, state: State, action: int) -> Transition:
        transition = super().step(state, action)
        assert isinstance(transition.state, TableState)
        return transition._replace(state=self._with_lives(transition.state))

    def _with_lives(self, state: TableState) -> MortalState:
        return MortalState(state.name, self.alive[state.name])


class TestOneLife:
    """0 -left-> 1, where one of two lives is lost, -any-> 3 (+9) -any-> 3; 0 -right-> 2 (+1) -any-> 2.

    All lives: left is worth 9. One life: nothing is looked at below state 1, and left is worth what it pays.
    """

    WORLD = MortalWorld(
        table=[[(1, 0.0), (2, 1.0)], [(3, 9.0), (3, 9.0)], [(2, 0.0), (2, 0.0)], [(3, 0.0), (3, 0.0)]],
        alive=[2, 1, 2, 1],
    )

    def planned(self, world: TableWorld) -> tuple[Lookahead, list[float | None]]:
        life = OneLife(NoPruning())
        planner = Rollouts(life, 2, LeafValues(pruned=life.worths))
        lookahead = grow(world, planner, 30, np.random.default_rng(0))
        return lookahead, planner.action_values(lookahead)

    def test_a_lookahead_ends_where_a_life_is_lost(self) -> None:
        lookahead, values = self.planned(self.WORLD)
        assert set(tree_of(lookahead)) == {(), (0,), (1,), (1, 0), (1, 1)}
        assert values == [0.0, 1.0]
        assert lookahead.pruned == 1

    def test_where_states_do_not_tell_of_lives_nothing_changes(self) -> None:
        lookahead, values = self.planned(TableWorld(self.WORLD.table))
        assert (0, 0) in tree_of(lookahead)
        assert values == [9.0, 1.0]

    def test_what_was_learnt_of_a_lost_life_does_not_count(self) -> None:
        lookahead, _ = self.planned(self.WORLD)
        for node in lookahead.nodes():
            node.termination_cost = 4.0
        life = OneLife(NoPruning())
        assert LeafValues(pruned=life.worths).action_values(lookahead) == [0.0, 5.0]

    def test_with_the_rules_of_bandres_too(self) -> None:
        life = OneLife(NoPruning())
        planner = Rollouts(life, 2, LeafValues(), node_type=MarkedNode)
        marked = grow(self.WORLD, planner, 30, np.random.default_rng(0))
        for node in marked.nodes():
            node.termination_cost = 4.0
        assert PlanningValues(pruned=life.worths).action_values(marked) == [0.0, 5.0]

    def test_kept_nodes_are_still_lost_and_after_the_loss_the_other_life_is_played(self) -> None:
        lookahead, _ = self.planned(self.WORLD)
        life = OneLife(NoPruning())
        lookahead.begin_time_step()
        list(life.begin(lookahead))
        assert not tree_of(lookahead)[0,].novel
        lookahead.advance(LEFT, keep=True)
        lookahead.begin_time_step()
        list(life.begin(lookahead))
        assert lookahead.root.novel
        child = next(iter_generated(life, lookahead))
        assert child.novel
        assert child.reward == 9.0


def iter_generated(life: OneLife, lookahead: Lookahead) -> Iterator[Node]:
    """What is generated by the first action of the root."""
    generating = life.generate(lookahead, lookahead.root, 0)
    try:
        next(generating)
    except StopIteration as generated:
        yield generated.value


def test_ties_may_be_broken_by_the_base_policy() -> None:
    lookahead = Lookahead(BINARY, BINARY.start(), base_policy=None, termination_cost=0.0)
    root = lookahead.root
    assert [by_policy(root, [0, 1], ScriptedRng(draw)) for draw in (0.4, 0.6)] == [0, 1]
    root.base_policy = Probabilities([0.9, 0.1])
    assert [by_policy(root, [0, 1], ScriptedRng(draw)) for draw in (0.4, 0.6, 0.95)] == [0, 0, 1]
    assert by_policy(root, [1], ScriptedRng(0.0)) == 1


@pytest.mark.parametrize(
    ("choices", "agent", "novelty"), [({}, "riw-d", "depth"), ({"table": "classic"}, "riw-c", "classic")]
)
def test_riw_plus_prunes_by_the_table_that_is_chosen_and_is_rollout_iw_with_other_settings(
    choices: dict[str, Any], agent: str, novelty: str
) -> None:
    conditions = {"budget": 40, "max_frames": 15 * 40}
    protocol = make_protocol("breakout", agent="riw-plus", **conditions, **choices)
    parts = {name: value for name, value in get_agent("riw-plus").defaults.items() if name != "table"}
    same = make_protocol("breakout", agent=agent, **parts, **conditions)
    assert protocol.novelty == novelty
    assert play_episode(protocol).actions == play_episode(same).actions


def test_a_record_of_riw_plus_from_before_there_was_a_choice_is_still_of_classic_novelty() -> None:
    trials = Path(__file__).parent.parent / "experiments" / "faster-learning" / "planners-3" / "trials"
    record = read_episode(trials / "qbert" / "riw-plus" / "trial-0" / "evaluation" / "interval-0000" / "00000.json")
    assert record.protocol.novelty == "classic"
    assert record.protocol.settings().table == "classic"
