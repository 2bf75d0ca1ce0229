"""pi-HIW by hand: three time steps of a lookahead, what is asked, which abstract nodes are open and chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from noveltree.agents import PI_HIW
from noveltree.episodes import Choice, Play, drive
from noveltree.errors import InputError
from noveltree.heuristics import Heuristic, Heuristics
from noveltree.lookahead import Answers, Interactions, WholeStates
from noveltree.lookahead.abstract_nodes import AbstractNode, abstract_nodes
from noveltree.lookahead.abstract_states import HierarchicalNode
from noveltree.lookahead.high_level import OpenNodes
from noveltree.simulators import State
from noveltree.tree import UNIFORM, Node, Probabilities
from tests.support.screen_worlds import ScreenWorld, name_of, random_world
from tests.support.worlds import ScriptedRng, tree_of

LEFT, RIGHT = 0, 1
A, B, C = 0, 1, 2  # abstract states: their gray, and their numbers, for this is the order in which they are met

#: What is seen of states 0 to 6: the screen (one tile of one gray value), three units, and V~.
WORLD = ScreenWorld(
    table=[
        [(1, 0.0), (2, 0.0)],
        [(3, 1.0), (4, 0.0)],
        [(2, 0.0), (2, 0.0)],
        [(5, 0.0), (6, 1.75)],
        [(4, 0.0), (4, 0.0)],
        [(0, 0.0), (4, 0.0)],
        [(2, 0.0), (3, 0.0)],
    ],
    screens=[((gray,),) for gray in (A, A, B, B, A, C, B)],
    units=[[0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0], [1, 0, 0]],
    policies=[[0.5, 0.5]] * 7,
    values=[0.0, 0.0, 0.0, 1.0, 9.0, 4.0, 0.0],
    terminal=frozenset({4}),
)
ALL = ("units", "policy", "value")
CHOSEN = PI_HIW.settings(tiles="1x1", levels=256, discount=0.5)


def play_of(world: ScreenWorld, rng: Any, budget: int, settings: Any = CHOSEN) -> Play:
    return Play(world, PI_HIW, budget=Interactions(budget), rng=rng, settings=settings)


def visits(play: Play) -> list[int]:
    """Of A, B and C."""
    found: list[int] = play.memory()["visits"].tolist()
    return found


class TestThreeTimeSteps:
    r"""Letters are abstract states, numbers are states. Every first letter below another one is an entry point.

    time step 1, budget 6          time step 2, budget 4         time step 3, budget 1

               A0                           A1                          B3
              /                            /  \                       /    \
            A1                           B3    4 terminal           C5      B6
           /                            /  \                       /  \    /  \
         B3                           C5    B6                   A0   4   B2   B3
        /  \                         / \    / \                    \
      C5    B6                     A0   4  B2  B3                   B2
      /     /
    A0     B2 not novel
    """

    #: The numbers that are drawn: for the choice of an abstract node, and for the actions of its search.
    FIRST = (0.0, *(0.0, 0.0), *(0.0,), *(0.0,), 0.4, *(0.0, 0.0))
    SECOND = (0.7, *(0.0,), 0.9, *(0.0,), 0.0, *(0.0, 0.0))
    THIRD = (0.2, 0.9, *(0.9,), 0.0)

    def decide(self, *steps: tuple[Sequence[float], int]) -> tuple[Play, Choice, dict[tuple[int, ...], Node]]:
        """The last of these time steps: its lookahead, before the choice is executed."""
        rng = ScriptedRng(*(number for numbers, _ in steps for number in numbers))
        play = play_of(WORLD, rng, budget=1)
        seen: list[tuple[Choice, dict[tuple[int, ...], Node]]] = []
        for _, budget in steps:
            play.budget = Interactions(budget)
            drive(
                [play],
                WORLD.heuristics(*ALL),
                decisions=1,
                on_choice=lambda play, choice: seen.append((choice, tree_of(play.lookahead))),
            )
        assert rng.left == 0
        return play, *seen[-1]

    def test_a_rollout_goes_from_one_abstract_node_to_the_next(self) -> None:
        """A0 is the only open node. Its search goes to A1 and enters B3. B is novel, so that the rollout goes
        on there: it enters C5, and from there A0 again, which is deeper than the A that was there: not novel,
        and the rollout ends. A, B and C were visited once each, and 0.4 is in the second third: B3. Its left
        action is solved. B6 is novel by its first unit, which is on; B2 is not: all units are off, as they are
        in B3 (the first, the third) or in B6 (the second), both less deep.
        """
        play, choice, nodes = self.decide((self.FIRST, 6))
        assert {path: name_of(node.state) for path, node in nodes.items()} == {
            **{(): 0, (0,): 1, (0, 0): 3, (0, 0, 0): 5, (0, 0, 0, 0): 0},
            **{(0, 0, 1): 6, (0, 0, 1, 0): 2},
        }
        # An entry point is solved in the tree that it leaves; its own labels are those of the tree that it enters.
        assert nodes[0,].unsolved == nodes[0, 0].unsolved == nodes[0, 0, 0].unsolved == [RIGHT]
        assert not any(nodes[path].solved for path in [(), (0,), (0, 0), (0, 0, 0), (0, 0, 0, 0)])
        assert nodes[0, 0, 1].novel
        assert (nodes[0, 0, 1, 0].novel, nodes[0, 0, 1, 0].solved) == (False, True)
        assert nodes[0, 0, 1].unsolved == [RIGHT]
        # C5 is worth its V~ of 4; B3 max(1, 0 + 4 / 2, 1.75 + 0 / 2), which is 2; A1 max(0, 1 + 2 / 2).
        assert [nodes[path].value for path in [(0, 0, 0), (0, 0, 1), (0, 0), (0,)]] == [4.0, 0.0, 2.0, 2.0]
        assert choice == Choice(LEFT, (1.0, None))
        assert visits(play) == [1, 2, 1]
        (decision,) = play.decisions
        assert (decision.interactions, decision.pruned, decision.solved) == (6, 1, False)
        assert [name_of(each.root.state) for each in abstract_nodes(play.lookahead.root)] == [1, 3, 5, 0]

    def test_inside_the_same_abstract_node_the_root_begins_anew_and_others_stay_as_they_were(self) -> None:
        """A and C were visited once, B twice, so that 0.7 is C, of which only the right action is left. It is
        terminal: C5 is solved, and expanded. Then it is A: the right action of A1 is terminal, too. B is left:
        its left action, and B2, are solved since the time step before. The search goes through B6, which is
        still novel, to B3, which is not: B6 and the root of the search are solved. Nothing is open after three
        of four interactions.
        """
        play, choice, nodes = self.decide((self.FIRST, 6), (self.SECOND, 4))
        assert {path: name_of(node.state) for path, node in nodes.items()} == {
            **{
                (): 1,
                (0,): 3,
                (1,): 4,
                (0, 0): 5,
                (0, 1): 6,
                (0, 0, 0): 0,
                (0, 0, 1): 4,
                (0, 1, 0): 2,
                (0, 1, 1): 3,
            },
        }
        assert all(nodes[path].solved for path in [(), (1,), (0,), (0, 0), (0, 1), (0, 0, 1), (0, 1, 0), (0, 1, 1)])
        assert not nodes[0, 0, 0].solved, "A0 was never open"
        assert nodes[0, 1].value == 0.5 * 1.0, "B3 below B6 is worth its V~"
        assert nodes[0,].value == 2.0, "by C5 or by B6"
        assert choice == Choice(LEFT, (2.0, 0.0)), "a terminal node is worth nothing, whatever V~ says"
        assert visits(play) == [2, 3, 2]
        decision = play.decisions[1]
        assert (decision.interactions, decision.cached, decision.solved) == (3, 6, True)

    def test_an_abstract_node_that_is_entered_becomes_the_root_as_it_is(self) -> None:
        """B3 is the root: B, C one below and A two below are novel, and open. B and C are solved from before.
        With 2 visits of A and C and 3 of B, 0.2 is C, which costs nothing. Then it is A, whose search enters
        B2, which is deeper than the root's B. Both actions of the root are worth 2; the left one has four nodes
        against three.
        """
        play, choice, nodes = self.decide((self.FIRST, 6), (self.SECOND, 4), (self.THIRD, 1))
        assert [name_of(nodes[path].state) for path in [(), (0,), (1,), (0, 0), (0, 0, 1)]] == [3, 5, 6, 0, 2]
        assert nodes[()].unsolved == nodes[0,].unsolved == nodes[1,].unsolved == []
        assert nodes[0, 0].unsolved == [LEFT], "B2 is an entry point of A0"
        assert choice == Choice(LEFT, (2.0, 2.0))
        assert visits(play) == [3, 3, 3]
        decision = play.decisions[2]
        assert (decision.interactions, decision.cached, decision.solved) == (1, 7, False)


class TestQuestions:
    """One question a node, for all that is not known of it; none about a terminal node."""

    def asked(self, *heads: str) -> tuple[Heuristics, list[tuple[list[int], tuple[str, ...]]]]:
        asked: list[tuple[list[int], tuple[str, ...]]] = []
        parts = WORLD.heuristics(*heads)

        def evaluate(nodes: Sequence[Node], wanted: tuple[str, ...]) -> Answers:
            asked.append(([name_of(node.state) for node in nodes], wanted))
            return {head: part.evaluate(nodes, (head,))[head] for part in parts.parts for head in part.heads}

        return Heuristics((Heuristic(frozenset(heads), evaluate),)), asked

    def test_everything_is_asked_when_a_node_is_generated(self) -> None:
        heuristics, asked = self.asked(*ALL)
        play = play_of(WORLD, ScriptedRng(*TestThreeTimeSteps.FIRST), 6)
        drive([play], heuristics, decisions=1)
        assert [nodes for nodes, _ in asked] == [[0], [1], [3], [5], [0], [6], [2]]
        assert {frozenset(heads) for _, heads in asked} == {frozenset(ALL)}

    def test_while_nothing_is_learnt_only_units_are_asked_and_what_nodes_are_born_with_stays(self) -> None:
        warm_up, asked = self.asked("units")
        play = play_of(WORLD, ScriptedRng(*TestThreeTimeSteps.FIRST, *TestThreeTimeSteps.SECOND), 6)
        drive([play], warm_up, decisions=1)
        assert {heads for _, heads in asked} == {("units",)}
        # As soon as there are a policy and a value, they are asked of new nodes only.
        learnt, asked = self.asked(*ALL)
        play.budget = Interactions(4)
        root = play.lookahead.root
        drive([play], learnt, decisions=1)
        assert [nodes for nodes, _ in asked] == [[3]], "the other two are terminal"
        assert (root.base_policy, root.termination_cost) == (UNIFORM, 0.0)
        new = next(node for node in play.lookahead.nodes() if isinstance(node.base_policy, Probabilities))
        assert (new.base_policy.values, new.termination_cost) == ([0.5, 0.5], 1.0)  # type: ignore[union-attr]

    def test_what_was_forgotten_is_asked_again_in_one_question(self) -> None:
        play = play_of(WORLD, ScriptedRng(*TestThreeTimeSteps.FIRST, *TestThreeTimeSteps.SECOND), 6)
        drive([play], WORLD.heuristics(*ALL), decisions=1)
        play.lookahead.forget_answers(base_policy=None, termination_cost=None)
        heuristics, asked = self.asked(*ALL)
        play.budget = Interactions(4)
        drive([play], heuristics, decisions=1)
        assert sorted(asked[0][0]) == [0, 1, 2, 3, 5, 6]
        assert len(asked) == 2
        assert play.decisions[1].action_values == (2.0, 0.0)

    def test_other_units_than_before_do_not_upset_kept_labels(self) -> None:
        for seed in range(60):
            rng = np.random.default_rng(seed)
            world = random_world(rng)
            chosen = PI_HIW.settings(tiles="2x2", levels=256)
            play = play_of(world, np.random.default_rng(seed), 20, chosen)
            for _ in range(6):
                if not play.finished:
                    units = rng.integers(2, size=(len(world.units), 3))
                    play.lookahead.forget_answers(base_policy=UNIFORM, termination_cost=0.0)
                    names = Heuristics.of(units=lambda nodes, u=units: u[[name_of(node.state) for node in nodes]])
                    drive([play], names, decisions=1)

    def test_without_units_it_cannot_plan(self) -> None:
        with pytest.raises(InputError, match="asks for 'units', and there is no network that has it"):
            drive([play_of(WORLD, ScriptedRng(), 6)], decisions=1)


class TestOpenNodes:
    """Which abstract nodes are open. X1 is an abstract node with state X, entered as number 1."""

    @staticmethod
    def root(state: int, number: int) -> AbstractNode:
        return AbstractNode(TestOpenNodes.node(state, number), 0)

    @staticmethod
    def node(state: int, number: int) -> HierarchicalNode:
        node = HierarchicalNode(State(np.zeros(1)), None, None, 0.0, False, 0, number, 1, None, None)
        node.abstract = state
        return node

    def test_an_older_node_with_the_same_state_closes_with_all_below_it(self) -> None:
        r"""
                A0
               /  \
             B1    C4      D2 is at depth 2 and D3 below it at 3. C4 enters D5 at depth 2, which is not novel, but
             /      \      when A0 enters D6 at depth 1, D2 and E3 below it close; C4 and B1 stay.
           D2        D5
           /
         E3
        """
        a = self.root(0, 0)
        b, c = a.add(self.node(1, 1)), a.add(self.node(2, 4))
        d = b.add(self.node(3, 2))
        e = d.add(self.node(4, 3))
        opened = OpenNodes(WholeStates(), [a, b, d, e, c])
        assert [node in opened for node in (a, b, d, e, c)] == [True] * 5
        assert not opened.enter(c.add(self.node(3, 5)))
        d6 = a.add(self.node(3, 6))
        assert opened.enter(d6)
        assert [node in opened for node in (a, b, d, e, c, d6)] == [True, True, False, False, True, True]
        assert len(opened) == 4

    def test_it_closes_what_is_below_an_older_node_even_if_that_is_expanded(self) -> None:
        a = self.root(0, 0)
        b = a.add(self.node(1, 1))
        d = b.add(self.node(3, 2))
        e = d.add(self.node(4, 3))
        opened = OpenNodes(WholeStates(), [a, b, d, e])
        opened.close(d)
        assert opened.enter(a.add(self.node(3, 4)))
        assert e not in opened

    def test_kept_nodes_are_taken_in_the_order_in_which_they_were_entered(self) -> None:
        """Of two nodes with a state the first is open if it is not deeper; otherwise it is replaced."""
        a = self.root(0, 0)
        b = a.add(self.node(1, 1))
        deep, shallow = b.add(self.node(2, 2)), a.add(self.node(2, 3))
        opened = OpenNodes(WholeStates(), [a, b, deep, shallow])
        assert (deep in opened, shallow in opened) == (False, True)
        opened = OpenNodes(WholeStates(), [a, b, shallow, deep])
        assert (deep in opened, shallow in opened) == (False, True)
        assert opened.is_novel(shallow)
        assert not opened.is_novel(deep)

    @pytest.mark.parametrize(
        ("visits", "odds"),
        [
            ([0, 0, 1], [0.5, 0.5, 0.0]),
            ([1, 2, 5], [1.0, 0.0, 0.0]),
            ([10, 11, 30], [0.82, 0.18, 0.0]),
            ([50, 60, 100], [0.60, 0.32, 0.09]),
        ],
    )
    def test_states_that_were_visited_less_are_chosen_more(self, visits: list[int], odds: list[float]) -> None:
        a = self.root(0, 0)
        nodes = [a, a.add(self.node(1, 1)), a.add(self.node(2, 2))]
        opened = OpenNodes(WholeStates(), nodes)
        draws = (np.arange(1000) + 0.5) / 1000
        chosen = [opened.choose(visits, rng=ScriptedRng(draw)).state for draw in draws]  # type: ignore[arg-type]
        assert [chosen.count(state) / 1000 for state in range(3)] == pytest.approx(odds, abs=0.006)
