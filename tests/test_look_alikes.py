"""What looks the same is asked of networks once."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest

from noveltree.episodes import drive
from noveltree.heuristics import Heuristic, Heuristics
from noveltree.learning.inputs import InputShape
from noveltree.lookahead import POLICY, VALUE, Answers
from noveltree.lookahead.questions import ask_of_child
from noveltree.protocol import make_protocol
from noveltree.tree import Lookahead, Node
from tests.support.answering import answer
from tests.support.worlds import TableState, TableWorld

#: Whatever is done in state 0, it leads to state 1, except the last action.
WORLD = TableWorld(table=[[(1, 0.0), (1, 5.0), (2, 0.0)], [(0, 0.0)] * 3, [(0, 0.0)] * 3])
HEADS = (POLICY, VALUE)


def networks(*, of_observations: bool = True, value: float = 0.0) -> Heuristics:
    """The value of a state is its name and `value`."""

    def evaluate(nodes: Sequence[Node], heads: tuple[str, ...]) -> Answers:
        names = np.array([node.state.name for node in nodes if isinstance(node.state, TableState)])
        everything = {POLICY: np.tile(np.array([0.2, 0.3, 0.5]), (len(nodes), 1)), VALUE: names + value}
        return {head: everything[head] for head in heads}

    return Heuristics((Heuristic(frozenset(HEADS), evaluate, of_observations),))


def lookahead_of(heuristics: Heuristics) -> Lookahead:
    lookahead = Lookahead(WORLD, WORLD.start(), base_policy=None, termination_cost=None)
    lookahead.of_observations = heuristics.of_observations
    lookahead.begin_time_step()
    return lookahead


def ask_of(lookahead: Lookahead, action: int, heuristics: Heuristics) -> tuple[Node, int]:
    """A child that is generated and asked of, and the number of questions which that took."""
    child = lookahead.root.children[action] or lookahead.expand(lookahead.root, action)
    return child, len(answer(ask_of_child(lookahead, child, *HEADS), heuristics))


class TestSiblings:
    def test_what_is_said_of_one_is_said_of_another_that_looks_the_same(self) -> None:
        lookahead = lookahead_of(networks())
        first, asked = ask_of(lookahead, 0, networks())
        second, asked_again = ask_of(lookahead, 1, networks())
        assert (asked, asked_again) == (1, 0)
        assert second.base_policy is first.base_policy is not None
        assert second.termination_cost == first.termination_cost == 1.0

    def test_one_that_looks_different_is_asked_of(self) -> None:
        lookahead = lookahead_of(networks())
        ask_of(lookahead, 0, networks())
        other, asked = ask_of(lookahead, 2, networks())
        assert (asked, other.termination_cost) == (1, 2.0)

    def test_every_node_is_asked_of_if_answers_may_follow_from_more_than_what_is_observed(self) -> None:
        heuristics = networks(of_observations=False)
        lookahead = lookahead_of(heuristics)
        assert [ask_of(lookahead, action, heuristics)[1] for action in range(3)] == [1, 1, 1]

    def test_what_was_said_in_an_earlier_time_step_other_networks_may_have_said(self) -> None:
        lookahead = lookahead_of(networks())
        ask_of(lookahead, 0, networks())
        lookahead.begin_time_step()
        child, asked = ask_of(lookahead, 1, networks(value=10.0))
        assert (asked, child.termination_cost) == (1, 11.0)

    def test_what_was_not_said_of_the_sibling_is_asked(self) -> None:
        lookahead = lookahead_of(networks())
        lookahead.expand(lookahead.root, 0)
        child, asked = ask_of(lookahead, 1, networks())
        assert (asked, child.termination_cost) == (1, 1.0)


def test_heuristics_follow_from_observations_if_all_of_them_do() -> None:
    (seeing,), (knowing,) = networks().parts, networks(of_observations=False).parts
    assert Heuristics((seeing, seeing)).of_observations
    assert not Heuristics((seeing, knowing)).of_observations


@pytest.mark.parametrize("agent", ["pi-iw", "pi-hiw", "alphazero"])
def test_lookaheads_are_the_same_as_if_every_node_were_asked_of(agent: str) -> None:
    protocol = make_protocol("qbert", agent=agent, budget=60)
    assert protocol.learning is not None
    with contextlib.closing(protocol.make_simulator()) as simulator:
        shape = InputShape.of(simulator.start().observation)
        actions = len(simulator.actions)
        snapshot = protocol.learning.initial_snapshot(shape, actions, rng=np.random.default_rng(0))
        # Networks with all their heads, which untrained ones do not have.
        snapshot = dataclasses.replace(snapshot, counters={**snapshot.counters, "optimiser_steps": 1})
        deployment = protocol.learning.make_learner(snapshot).deployment()
        assert deployment is not None
        (part,) = deployment.heuristics().parts
        assert part.of_observations
        played, asked = [], []
        for of_observations in (False, True):
            asked_of: list[Node] = []

            def evaluate(nodes: Sequence[Node], heads: tuple[str, ...], asked_of: list[Node] = asked_of) -> Answers:
                asked_of += nodes
                return part.evaluate(nodes, heads)

            heuristics = Heuristics((Heuristic(part.heads, evaluate, of_observations),))
            play = protocol.make_play(simulator, seed=0, index=0)
            drive([play], heuristics, decisions=3)
            played.append(
                (
                    [dataclasses.replace(decision, seconds=0.0) for decision in play.decisions],
                    [(node.number, node.novel, node.value) for node in play.lookahead.nodes()],
                )
            )
            asked.append(len(asked_of))
    assert played[0] == played[1]
    assert asked[1] < 0.9 * asked[0]
