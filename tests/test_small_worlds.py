"""Models of small worlds, the agents that plan with them, and the choice of an agent."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noveltree.agents import get_agent
from noveltree.episodes import Episode, Play, drive, episode_rng
from noveltree.errors import InputError, RecordError
from noveltree.lookahead import Graph, Interactions, RMax
from noveltree.lookahead.cells import Cells
from noveltree.lookahead.model import END, Model
from noveltree.protocol import AutoChoice, choose_agent, make_protocol
from noveltree.protocol.auto import Probe, choose, probe
from noveltree.simulators import Corridor, GymnasiumSimulator, State, Transition
from other_worlds import Road
from small_worlds import KEYS_AND_DOORS, LINE, GridWorld
from tests.support.chance_worlds import ChanceWorld, CountingDice, grow_with_dice
from tests.support.command_line import Cli
from tests.support.worlds import TableWorld, grow

LEFT, RIGHT = 0, 1


def play(simulator: Any, agent: str, *, budget: int = 500, steps: int = 100, **settings: Any) -> Episode:
    chosen = get_agent(agent)
    rng = episode_rng(0, 0)
    episode = Play(
        simulator,
        chosen,
        settings=chosen.settings(**settings),
        budget=Interactions(budget),
        rng=rng,
        max_steps=steps,
    )
    drive([episode])
    return episode.episode()


class TestModel:
    """Two states and an end: 0 -LEFT-> 0 (-1), 0 -RIGHT-> 1 (-1) twice and 0 (-1) twice; 1 -RIGHT-> end (+10)."""

    def model(self) -> Model:
        model = Model(actions=2)
        for key in (b"0", b"1"):
            model.number(key)
        model.add(0, LEFT, 0, -1.0, certain=True)
        for target in (1, 0, 1, 0):
            model.add(0, RIGHT, target, -1.0)
        model.add(1, RIGHT, END, 10.0, certain=True)
        return model

    def test_a_state_has_one_number_however_often_it_is_met(self) -> None:
        model = self.model()
        assert [model.number(key) for key in (b"1", b"0", b"new", b"1")] == [1, 0, 2, 1]

    def test_outcomes_are_counted(self) -> None:
        assert sorted(self.model().outcomes(0, RIGHT)) == [(0, -1.0, 2), (1, -1.0, 2)]
        assert list(self.model().outcomes(1, LEFT)) == []

    def test_an_action_is_known_if_it_is_certain_or_after_so_many_draws(self) -> None:
        model = self.model()
        assert model.is_known(0, LEFT, draws=9)
        assert model.is_known(0, RIGHT, draws=4)
        assert not model.is_known(0, RIGHT, draws=5)
        assert not model.is_known(1, LEFT, draws=1)

    def test_what_is_reached_comes_with_its_depth_and_what_was_collected(self) -> None:
        reach = self.model().reach(0)
        assert reach.order.tolist() == [0, 1]
        assert reach.depth.tolist() == [0, 1]
        assert reach.collected.tolist() == [0.0, -1.0]
        assert reach.by.tolist() == [-1, RIGHT]
        assert self.model().reach(1).order.tolist() == [1]

    def test_values_are_means_over_outcomes_and_maxima_over_actions(self) -> None:
        # V(1) = 10. V(0) = -1 + 0.5 V(1) + 0.5 V(0), so that V(0) = 8; LEFT is worth -1 + 8.
        model = self.model()
        values = model.values(model.reach(0), np.zeros(2), discount=1.0, sweeps=1_000)
        assert values.tolist() == pytest.approx([8.0, 10.0])
        assert model.action_value(0, RIGHT, values.tolist(), discount=1.0) == pytest.approx(8.0)
        assert model.action_value(0, LEFT, values.tolist(), discount=1.0) == pytest.approx(7.0)
        assert model.action_value(1, LEFT, values.tolist(), discount=1.0) is None

    def test_a_discount_counts_for_every_action(self) -> None:
        # V(0) = -1 + 0.5 (0.5 * 10 + 0.5 V(0)), so that V(0) = 1.5 / 0.75.
        model = self.model()
        values = model.values(model.reach(0), np.zeros(2), discount=0.5, sweeps=1_000)
        assert values.tolist() == pytest.approx([2.0, 10.0])

    def test_what_has_too_few_draws_counts_otherwise(self) -> None:
        model = self.model()
        values = model.values(model.reach(0), np.zeros(2), discount=1.0, sweeps=9, enough=5, otherwise=50.0)
        assert values.tolist() == [50.0, 50.0]  # RIGHT of 0 has four draws, LEFT of 1 none

    def test_a_state_of_which_nothing_was_tried_is_worth_what_it_is_said_to_be(self) -> None:
        model = Model(actions=1)
        model.add(model.number(b"0"), 0, model.number(b"1"), -1.0, certain=True)
        assert model.values(model.reach(0), np.array([0.0, -7.0]), discount=1.0, sweeps=9).tolist() == [-8.0, -7.0]

    def test_it_is_the_same_after_it_was_made_to_arrays(self) -> None:
        model, again = self.model(), Model(actions=2)
        again.restore([b"0", b"1"], model.to_arrays())
        for state in (0, 1):
            for action in (LEFT, RIGHT):
                assert list(again.outcomes(state, action)) == list(model.outcomes(state, action))
        assert again.number(b"1") == 1

    @pytest.mark.parametrize(("name", "value"), [("target", 2), ("first", 9), ("count", 0), ("next", 5)])
    def test_arrays_that_are_no_model_are_refused(self, name: str, value: int) -> None:
        arrays = self.model().to_arrays()
        arrays[name][0] = value
        with pytest.raises(RecordError, match="is something else"):
            Model(actions=2).restore([b"0", b"1"], arrays)


class TestCells:
    def test_ranges_are_rounded_up_to_powers_of_two_and_cut_into_equal_parts(self) -> None:
        # Two variables with ranges of 3 and 0.2, rounded up to 4 and 0.25; 16 cells are 4 parts of each.
        cells = Cells(16)
        assert cells.widen(np.array([[0.0, 0.0], [3.0, 0.2]]))
        assert cells(np.array([0.9, 0.06])) == cells(np.array([0.1, 0.01]))
        assert cells(np.array([1.1, 0.06])) != cells(np.array([0.9, 0.06]))
        assert cells(np.array([0.9, 0.07])) != cells(np.array([0.9, 0.06]))

    def test_they_stay_as_they_are_while_ranges_do(self) -> None:
        cells = Cells(16)
        cells.widen(np.array([[0.0], [3.0]]))
        assert not cells.widen(np.array([[3.9]]))
        assert cells.widen(np.array([[4.1]]))

    def test_whole_numbers_are_told_apart(self) -> None:
        cells = Cells(2)
        assert not cells.widen(np.array([[0], [1_000]]))
        assert len({cells(np.array([number])) for number in range(100)}) == 100


class Ambiguous:
    """A walk of five places to the right, all but the last observed alike; it pays 1 at the end."""

    actions = ("STAY", "GO")

    class At(State):
        __slots__ = ("place",)

        def __init__(self, place: int) -> None:
            super().__init__(np.array([place == 5]))
            self.place = place

    def start(self) -> State:
        return self.At(0)

    def step(self, state: State, action: int) -> Transition:
        assert isinstance(state, self.At)
        place = state.place + action
        return Transition(self.At(place), float(place == 5), place == 5)

    def close(self) -> None:
        pass


class TestGraph:
    def test_every_state_is_expanded_once(self) -> None:
        """A line of 6 cells: five of them with four actions each, whatever the path, and one for the episode."""
        planner = Graph(horizon=100, discount=0.99, cells=100, samples=10)
        lookahead = grow(GridWorld(LINE), planner, 500, np.random.default_rng(0))
        assert lookahead.interactions == 5 * 4
        assert lookahead.root.solved

    def test_the_budget_leaves_an_interaction_for_the_action_to_execute(self) -> None:
        planner = Graph(horizon=100, discount=0.99, cells=100, samples=10)
        assert grow(GridWorld(KEYS_AND_DOORS), planner, 10, np.random.default_rng(0)).interactions == 9
        assert max(play(GridWorld(KEYS_AND_DOORS), "graph", budget=10).column("interactions")) <= 10

    def test_values_are_those_of_the_shortest_way(self) -> None:
        planner = Graph(horizon=100, discount=1.0, cells=100, samples=10)
        lookahead = grow(GridWorld(LINE), planner, 500, np.random.default_rng(0))
        values = planner.action_values(lookahead)
        assert values == pytest.approx([-6.0, -6.0, -6.0, -5.0], abs=1e-4)
        assert lookahead.root.value == pytest.approx(-5.0)

    def test_what_was_not_expanded_goes_on_at_the_rate_of_the_way_there(self) -> None:
        """0 -> 1 (-2), 2 (-1). Four interactions are those of 0 and 1: 1 leads to 3 (-4) and 4 (-4)."""
        world = TableWorld(table=[[(1, -2.0), (2, -1.0)], [(3, -4.0), (4, -4.0)], *[[(0, 0.0), (0, 0.0)]] * 3])
        planner = Graph(horizon=10, discount=1.0, cells=100, samples=10)
        lookahead = grow(world, planner, 5, np.random.default_rng(0))
        # 3 and 4: -3 an action for 8 more; 2: -1 an action for 9 more.
        assert planner.action_values(lookahead) == pytest.approx([-6.0 - 24.0, -1.0 - 9.0], abs=1e-4)

    def test_what_is_known_is_kept_when_the_root_moves_on(self) -> None:
        episode = play(GridWorld(LINE), "graph")
        assert episode.column("interactions") == [21, 1, 1, 1, 1]
        assert episode.score == -5.0

    def test_a_world_larger_than_the_budget_is_learnt_over_several_decisions(self) -> None:
        episode = play(GridWorld(KEYS_AND_DOORS), "graph", budget=100)
        assert episode.score >= -20.0

    def test_a_model_that_foresees_wrongly_is_dropped(self) -> None:
        """Going on leads where it is observed to have started; from the model that would never lead to the end."""
        assert play(Ambiguous(), "graph", budget=50, steps=300).score == 1.0

    def test_where_chance_decides_an_action_is_drawn_as_often_as_there_is_time_for(self) -> None:
        """A coin pays 1 or nothing and ends the episode; the other action pays 0.4 and ends it, always."""
        coin = ChanceWorld(table=[[[(1, 1, 1.0), (1, 1, 0.0)], [(1, 1, 0.4)]], []], terminal=frozenset({1}))
        planner = Graph(horizon=10, discount=1.0, cells=100, samples=2)
        lookahead = grow_with_dice(coin, planner, 5, np.random.default_rng(0), CountingDice())
        # Dice 0 and 1 are for the coin, 2 for the other action, which is certain, and 3 for the coin again; one
        # interaction is left for the action to execute.
        assert lookahead.interactions == 4
        assert planner.action_values(lookahead) == pytest.approx([1 / 3, 0.4], abs=1e-4)
        assert not lookahead.root.solved

    def test_a_drawn_outcome_that_was_not_foreseen_is_no_reason_to_forget(self) -> None:
        walk = ChanceWorld(table=[[[(9, 0, 0.0), (1, 1, 1.0)]], [[(9, 1, 0.0), (1, 0, 1.0)]]])
        planner = Graph(horizon=10, discount=0.9, cells=100, samples=2)
        lookahead = grow_with_dice(walk, planner, 6, np.random.default_rng(0), CountingDice())
        known = len(planner.model)
        lookahead.advance(0, keep=True, to=lookahead.executed(0, 9))
        lookahead.begin_time_step()
        for _ in planner.plan(lookahead, Interactions(3).start(), rng=np.random.default_rng(0)):
            raise AssertionError("nothing is to be asked")
        assert len(planner.model) == known + 1
        assert list(planner.model.outcomes(0, 0))

    def test_continuous_states_in_new_cells_come_first(self) -> None:
        episode = play(GymnasiumSimulator("CartPole-v1"), "graph", budget=50, steps=5)
        assert max(episode.column("interactions")) <= 50


class TestRMax:
    def test_it_finds_the_way_and_stays_within_its_budget(self) -> None:
        episode = play(GridWorld(LINE), "r-max", budget=100)
        assert episode.score == -5.0
        assert max(episode.column("interactions")) <= 100

    def test_where_nothing_pays_what_is_new_is_the_best(self) -> None:
        """A corridor of 30 cells pays at its end only: a trial goes there without turning back."""
        world = Corridor(30)
        planner = RMax(horizon=100, discount=0.99, cells=100, known_after=1)
        lookahead = grow(world, planner, 200, np.random.default_rng(0))
        values = planner.action_values(lookahead)
        assert values[RIGHT] is not None
        assert values[LEFT] is not None
        assert values[RIGHT] > values[LEFT]

    def test_outcomes_are_counted_within_cells(self) -> None:
        """One cell for all of a corridor's middle would be one state; whole numbers keep their own."""
        planner = RMax(horizon=20, discount=0.9, cells=2, known_after=1)
        lookahead = grow(Corridor(4), planner, 300, np.random.default_rng(0))
        values = planner.action_values(lookahead)
        assert values == pytest.approx([0.9 * 0.81, 0.81], abs=1e-6)

    def test_a_memory_that_is_none_is_refused(self) -> None:
        planner = RMax(horizon=20, discount=0.9, cells=2, known_after=1)
        lookahead = grow(Corridor(4), planner, 30, np.random.default_rng(0))
        memory = planner.memory()
        planner.remember(memory, lookahead)
        for change in ({"action": memory["action"] + 5}, {"reward": memory["reward"][:-1]}, {"more": np.zeros(2)}):
            with pytest.raises(RecordError, match="is something else"):
                planner.remember({**memory, **change}, lookahead)


PLAIN = Probe(
    actions=4,
    interactions=2_000,
    rewards=(0.0,),
    paid=0.0,
    cost=0.0,
    ended=0,
    again=0.0,
    drawn=0.0,
    kind="whole",
    variables=8,
)


class TestAuto:
    @pytest.mark.parametrize(
        ("found", "agent"),
        [
            ({"kind": "image", "variables": 7056}, "riw-c"),
            ({"kind": "image", "variables": 7056, "again": 0.9}, "graph"),
            ({"kind": "image", "variables": 7056, "again": 0.9, "drawn": 0.5}, "riw-c"),
            ({"paid": 0.9}, "uct"),
            ({"kind": "continuous", "variables": 2}, "r-max"),
            ({"kind": "continuous", "variables": 6}, "graph"),
            ({"again": 0.9}, "graph"),
            ({}, "riw-d"),
        ],
    )
    def test_rules_are_those_of_the_docs(self, found: dict[str, Any], agent: str) -> None:
        choice = choose(dataclasses.replace(PLAIN, **found))
        assert choice.agent == agent
        assert choice.why.count(". ") == 1
        assert choice.why.endswith(".")

    @pytest.mark.parametrize(
        ("found", "settings"),
        [
            ({"again": 0.9, "keys": "held"}, {"state_keys": "held"}),
            ({"cost": 0.9}, {"pruned_leaves": "extrapolated", "cached_nodes": "tested-first"}),
            ({"kind": "image", "cost": 0.9}, {"pruned_leaves": "extrapolated", "cached_nodes": "tested-first"}),
            ({"kind": "image", "cost": 0.1}, {}),
        ],
    )
    def test_settings_are_those_of_the_docs(self, found: dict[str, Any], settings: dict[str, Any]) -> None:
        assert choose(dataclasses.replace(PLAIN, **found)).settings == settings

    @pytest.mark.parametrize(("seconds", "budget"), [(0.0001, 500), (0.01, 100), (0.05, 20), (60.0, 20)])
    def test_dear_steps_are_fewer(self, seconds: float, budget: int) -> None:
        assert choose(dataclasses.replace(PLAIN, seconds=seconds)).budget == budget

    def test_the_budget_is_recorded_unless_it_is_chosen_or_the_same_in_all_games(self) -> None:
        assert make_protocol("corridor", agent="auto").budget == 500
        assert make_protocol("corridor", agent="auto", budget=7).budget == 7
        assert make_protocol("corridor", agent="auto", budget=0.5, budget_unit="seconds").budget == 0.5
        assert make_protocol("breakout", agent="auto").budget == 100

    def test_a_road_with_costs_in_a_picture_is_crossed(self) -> None:
        """Seven steps at least, and cars come by; as it is, RIW_C hesitates, since pruned leaves cost nothing."""
        choice = choose(dataclasses.replace(PLAIN, kind="image", cost=1.0))
        assert choice.agent == "riw-c"
        assert play(Road(), "riw-c", features="pixels", **choice.settings).score >= -10.0
        assert play(Road(), "riw-c", features="pixels").score < -20.0

    def test_a_probe_says_what_random_walks_have_shown(self) -> None:
        found = probe(GridWorld(LINE))
        assert (found.actions, found.interactions, found.rewards, found.cost) == (4, 2_000, (-1.0,), 1.0)
        assert found.ended > 0
        assert found.again == pytest.approx(1 - 5 / 2_000)
        assert found == probe(GridWorld(LINE))

    @pytest.mark.parametrize(
        ("simulator", "agent"),
        [
            ("CartPole-v1", "uct"),
            ("MountainCar-v0", "r-max"),
            ("Acrobot-v1", "graph"),
            ("CliffWalking-v1", "graph"),
        ],
    )
    def test_what_is_chosen_for_known_worlds(self, simulator: str, agent: str) -> None:
        assert choose_agent(GymnasiumSimulator(simulator)).agent == agent

    def test_a_protocol_records_what_was_chosen_and_never_says_auto(self) -> None:
        told: list[AutoChoice] = []
        protocol = make_protocol("corridor", agent="auto", budget=50, on_auto=told.append)
        assert protocol == make_protocol("corridor", agent="graph", budget=50)
        assert [choice.agent for choice in told] == ["graph"]

    def test_what_is_chosen_besides_stays_chosen(self) -> None:
        assert make_protocol("corridor", agent="auto", horizon=7).horizon == 7
        with pytest.raises(InputError, match="graph has no setting 'features'"):
            make_protocol("corridor", agent="auto", features="atoms")

    def test_the_command_line_says_why_and_records_the_agent(self, cli: Cli, tmp_path: Path) -> None:
        result = cli("play", "corridor", "--agent", "auto", "--out", str(tmp_path))
        assert "Agent: graph, 500 interactions per decision (--budget) where a step takes 0.0" in result.err
        assert " ms. 100% of the states of random walks had been met before" in result.err
        assert "corridor, graph, seed 0: score 1 in 9 steps" in result.out
        printed = cli("play", "corridor", "--agent", "auto", "--out", str(tmp_path), "--json").object
        assert printed["agent"] == "graph"
        refused = cli("play", "corridor", "--agent", "auto", "--weights", str(tmp_path))
        assert refused.sentence.startswith("Weights are those of one agent")


class TestTargets:
    """What docs/small-worlds.md says, of worlds that take little time."""

    def test_a_line_of_six_cells_is_walked_straight(self) -> None:
        assert play(GridWorld(LINE), "graph").score == -5.0

    def test_keys_and_doors_take_the_fewest_steps(self) -> None:
        assert play(GridWorld(KEYS_AND_DOORS), "graph").score == -15.0

    @pytest.mark.parametrize(("name", "score"), [("CliffWalking-v1", -13.0), ("FrozenLake8x8-v1", 1.0)])
    def test_gymnasiums_grids_are_solved(self, name: str, score: float) -> None:
        options = {"is_slippery": False} if "Lake" in name else {}
        assert play(GymnasiumSimulator(name, **options), "graph").score == score

    def test_taxis_are_driven_well_from_any_start(self) -> None:
        scores = [play(GymnasiumSimulator("Taxi-v4", seed=seed), "graph").score for seed in range(3)]
        assert math.fsum(scores) / 3 >= 7

    def test_doors_are_unlocked(self) -> None:
        assert play(GymnasiumSimulator("MiniGrid-DoorKey-5x5-v0"), "graph", steps=250).score > 0.9
