"""The same state and action are not simulated twice, and what is known may be free."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from noveltree.episodes import drive
from noveltree.errors import SimulatorError
from noveltree.lookahead import Interactions, LeafValues, NoPruning, Rollouts
from noveltree.protocol import make_protocol
from noveltree.records import read_episode
from noveltree.records.play_file import read_play, write_play
from noveltree.replay import verify_episode
from noveltree.simulators import Atari, State, Transition, check_simulator
from noveltree.tree import UNIFORM, Lookahead
from tests.support.worlds import ScriptedRng, TableState, TableWorld, tree_of

LEFT, RIGHT = 0, 1
#: Both actions lead to state 1, from which they part: to state 2, which pays 5, and to state 3.
FORK = TableWorld(table=[[(1, 0.0), (1, 0.0)], [(2, 5.0), (3, 0.0)], [(2, 0.0), (2, 0.0)], [(3, 0.0), (3, 0.0)]])


@dataclass(frozen=True)
class Counting(TableWorld):
    """A table world that knows twins and remembers what it was asked."""

    asked: Counter[tuple[int, int]] = field(default_factory=Counter)

    def identity(self, state: State) -> Hashable:
        assert isinstance(state, TableState)
        return state.name

    def step(self, state: State, action: int) -> Transition:
        assert isinstance(state, TableState)
        self.asked[state.name, action] += 1
        return super().step(state, action)


def lookahead_of(world: TableWorld, *, free: bool) -> Lookahead:
    return Lookahead(world, world.start(), base_policy=UNIFORM, termination_cost=0.0, free=free)


def plan(lookahead: Lookahead, budget: int, *draws: float, horizon: int = 2) -> None:
    lookahead.begin_time_step()
    planner = Rollouts(NoPruning(), horizon, LeafValues())
    for _ in planner.plan(lookahead, Interactions(budget).start(), rng=ScriptedRng(*draws)):  # type: ignore[arg-type]
        raise AssertionError("nothing is to be asked")


class TestByHand:
    """Left, left; right, left: the last of four nodes is known, since both actions of the root lead to state 1."""

    def test_nobody_is_asked_twice_and_everything_is_counted(self) -> None:
        world = Counting(FORK.table)
        lookahead = lookahead_of(world, free=False)
        plan(lookahead, 4, 0.0, 0.0, 0.9, 0.0)
        assert world.asked == {(0, LEFT): 1, (0, RIGHT): 1, (1, LEFT): 1}
        assert (lookahead.interactions, lookahead.for_free) == (4, 0)
        nodes = tree_of(lookahead)
        assert set(nodes) == {(), (0,), (0, 0), (1,), (1, 0)}
        assert nodes[1, 0].reward == 5.0
        assert nodes[1, 0].state is nodes[0, 0].state

    def test_what_is_known_may_be_free(self) -> None:
        world = Counting(FORK.table)
        lookahead = lookahead_of(world, free=True)
        # After right, left, which is free, a third rollout goes left, right: the fourth interaction.
        plan(lookahead, 4, 0.0, 0.0, 0.9, 0.0, 0.0, 0.0)
        assert world.asked == {(0, LEFT): 1, (0, RIGHT): 1, (1, LEFT): 1, (1, RIGHT): 1}
        assert (lookahead.interactions, lookahead.for_free) == (4, 1)
        assert set(tree_of(lookahead)) == {(), (0,), (0, 0), (0, 1), (1,), (1, 0)}

    def test_a_world_that_cannot_tell_is_asked_every_time(self) -> None:
        lookahead = lookahead_of(FORK, free=True)
        plan(lookahead, 4, 0.0, 0.0, 0.9, 0.0)
        assert (lookahead.interactions, lookahead.for_free) == (4, 0)

    def test_the_next_time_step_knows_what_was_kept_and_nothing_else(self) -> None:
        world = Counting(FORK.table)
        lookahead = lookahead_of(world, free=True)
        plan(lookahead, 4, 0.0, 0.0, 0.9, 0.0, 0.0, 0.0)
        # Right is executed: of state 1 only that left leads to state 2 is kept.
        lookahead.advance(RIGHT, keep=True)
        lookahead.begin_time_step()
        root = lookahead.root
        lookahead.simulate(root.state, LEFT)
        assert (lookahead.interactions, lookahead.for_free) == (0, 1)
        lookahead.simulate(root.state, RIGHT)
        assert (lookahead.interactions, lookahead.for_free) == (1, 1)
        assert world.asked[1, RIGHT] == 2

    def test_rollouts_that_cost_nothing_end_all_the_same(self) -> None:
        world = Counting([[(0, 0.0), (0, 1.0)]])  # one state: two interactions, and all is known
        lookahead = lookahead_of(world, free=True)
        lookahead.begin_time_step()
        planner = Rollouts(NoPruning(), 100, LeafValues())
        for _ in planner.plan(lookahead, Interactions(30).start(), rng=np.random.default_rng(0)):
            raise AssertionError("nothing is to be asked")
        assert (lookahead.interactions, lookahead.for_free) == (2, 300)


class TestAtari:
    @pytest.mark.parametrize("tiles", [False, True])
    def test_a_lookahead_is_the_same_as_one_in_which_every_transition_is_simulated(self, tiles: bool) -> None:
        protocol = make_protocol("breakout", agent="riw-c", budget=40, features="bprost" if tiles else "pixels")
        accounts = []
        for identity in (Atari.identity, lambda simulator, state: object()):  # by which no two states are one
            with contextlib.closing(protocol.make_simulator()) as simulator, pytest.MonkeyPatch.context() as patch:
                patch.setattr(Atari, "identity", identity)
                patch.setattr(simulator, "step", step := Mock(side_effect=simulator.step))
                play = protocol.make_play(simulator, seed=0, index=0)
                drive([play], decisions=12)
                nodes = [
                    (path, node.reward, node.terminal, simulator.encode_state(node.state), node.number)
                    for path, node in tree_of(play.lookahead).items()
                ]
                decisions = [(decision.action, decision.interactions) for decision in play.decisions]
                accounts.append((nodes, decisions, play.rng.bit_generator.state, step.call_count))
        (*known, asked), (*simulated, asked_always) = accounts
        assert known == simulated
        assert asked < 0.9 * asked_always

    def test_what_was_stored_goes_on_as_if_it_had_not_been(self, tmp_path: Path) -> None:
        protocol = make_protocol("qbert", agent="riw-plus", budget=30, known_transitions="free")
        with contextlib.closing(protocol.make_simulator()) as simulator:
            straight = protocol.make_play(simulator, seed=0, index=0)
            drive([straight], decisions=16)
        with contextlib.closing(protocol.make_simulator()) as simulator:
            play = protocol.make_play(simulator, seed=0, index=0)
            drive([play], decisions=8)
            write_play(tmp_path / "play", play, protocol)
        with contextlib.closing(protocol.make_simulator()) as simulator:
            resumed = read_play(tmp_path / "play", protocol, simulator)
            drive([resumed], decisions=8)
        spent = [
            [(decision.action, decision.interactions, decision.pruned) for decision in each.decisions]
            for each in (straight, resumed)
        ]
        assert spent[0] == spent[1]
        assert len(tree_of(straight.lookahead)) > 16 * 30 - sum(interactions for _, interactions, _ in spent[0])

    def test_states_that_remember_other_tiles_are_no_twins(self) -> None:
        with contextlib.closing(Atari("breakout", tiles=True)) as simulator:
            state = simulator.step(simulator.start(), 0).state
            other = simulator.decode_state(simulator.encode_state(state), state.observation)
            assert simulator.identity(other) == simulator.identity(state)
            assert other.tiles is not None
            other.tiles = other.tiles ^ 1
            assert simulator.identity(other) != simulator.identity(state)


def test_a_decision_by_what_is_known_alone_takes_no_interactions_and_holds() -> None:
    """In this record a root was not solved when nodes that were free were as many as they may be."""
    trial = Path(__file__).parents[1] / "experiments/faster-learning/planners-11/trials/breakout/life-free/trial-0"
    record = read_episode(trial / "evaluation/interval-0000/00000.json")
    assert any(not each.interactions and not each.solved for each in record.episode.decisions)
    assert verify_episode(record).holds
    counted = record.protocol.model_copy(update={"known_transitions": "counted"})
    assert "took no interactions" in verify_episode(replace(record, protocol=counted)).finding


def test_a_simulator_that_takes_states_for_twins_that_are_none_is_found_out() -> None:
    class Careless(Counting):
        def identity(self, state: State) -> Hashable:
            return None

    with pytest.raises(SimulatorError, match="identity must tell all states apart"):
        check_simulator(Careless([[(1, 0.0), (2, 0.0)], [(1, 1.0), (1, 1.0)], [(2, 2.0), (2, 2.0)]]))
    check_simulator(Counting([[(1, 0.0), (2, 0.0)], [(1, 1.0), (1, 1.0)], [(2, 2.0), (2, 2.0)]]))
