"""A learnt action set by hand, and as a setting of agents: it lives as long as its episode."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noveltree.agents import AGENTS, PI_HIW, get_agent
from noveltree.episodes import Play, drive
from noveltree.errors import RecordError
from noveltree.heuristics import UNINFORMED, Heuristics
from noveltree.lookahead import (
    ActionSet,
    AllActions,
    Duplicates,
    Hierarchical,
    Interactions,
    LeafValues,
    LearntActions,
    NoPruning,
    RemembersEpisode,
    Rollouts,
)
from noveltree.protocol import make_protocol
from noveltree.records.play_file import read_play, write_play
from noveltree.simulators import AtariState, Corridor
from noveltree.tree import UNIFORM, Lookahead, Probabilities
from tests.support.screen_worlds import ScreenWorld
from tests.support.worlds import ScriptedRng, TableWorld, grow, tree_of

#: Of three actions the first two lead one state on, and the third two states; the road does not end.
ROAD = TableWorld([[(i + 1, 0.0), (i + 1, 0.0), (i + 2, 0.0)] for i in range(50)])


def lookahead_with(world: TableWorld, *paths: tuple[int, ...]) -> Lookahead:
    """The lookahead that has these paths and what is on the way to them."""
    lookahead = Lookahead(world, world.start(), base_policy=UNIFORM, termination_cost=0.0)
    lookahead.begin_time_step()
    for path in paths:
        node = lookahead.root
        for action in path:
            node = node.children[action] or lookahead.expand(node, action)
    return lookahead


def learnt(lookahead: Lookahead, *, times: int = 1) -> LearntActions:
    actions = LearntActions()
    for _ in range(times):
        actions.begin(lookahead)
        actions.learn(lookahead)
    return actions


class TestEstimates:
    def test_at_first_every_action_counts_as_novel(self) -> None:
        actions = LearntActions()
        actions.begin(lookahead_with(ROAD))
        assert actions.novel == [1.0, 1.0, 1.0]

    def test_the_share_that_is_like_no_earlier_sibling_is_averaged_with_what_was_known(self) -> None:
        r"""Action 1 is judged twice, and like action 0 both times; action 2 is judged twice, and like nothing.

             root
         0 / 1|  \ 2
          .   .   .
        0/ \1   1/ \2       here action 1 has no earlier sibling
        .   .   .   .
        """
        lookahead = lookahead_with(ROAD, (0, 0), (0, 1), (1,), (2, 1), (2, 2))
        assert learnt(lookahead).novel == [1.0, (0.95 + 0 / 2) / 1.95, (0.95 + 2 / 2) / 1.95]

    def test_shares_in_between(self) -> None:
        # In state 0 both actions are alike, in state 1 they are not.
        world = TableWorld([[(1, 0.0), (1, 0.0)], [(2, 0.0), (3, 0.0)], *[[(2, 0.0)] * 2] * 2])
        assert learnt(lookahead_with(world, (0, 0), (0, 1), (1,))).novel == [1.0, (0.95 + 1 / 2) / 1.95]

    def test_what_pays_otherwise_is_no_duplicate(self) -> None:
        paid = TableWorld([[(1, 0.0), (1, 1.0)], [(1, 0.0)] * 2])
        assert learnt(lookahead_with(paid, (0,), (1,))).novel == [1.0, 1.0]

    def test_without_data_an_estimate_stays(self) -> None:
        lookahead = lookahead_with(ROAD, (0,), (1,))
        actions = learnt(lookahead)
        alone = lookahead_with(ROAD, (1, 1))
        actions.begin(alone)
        actions.learn(alone)
        assert actions.novel == [1.0, 0.95 / 1.95, 1.0]

    def test_it_moves_from_one_search_to_the_next(self) -> None:
        assert learnt(lookahead_with(ROAD, (0,), (1,)), times=2).novel == [1.0, 0.95 * (0.95 / 1.95) / 1.95, 1.0]


class TestDrawing:
    def test_weights_are_those_of_a_sigmoid_and_never_zero(self) -> None:
        actions = LearntActions()
        actions.novel = [1.0, 0.5, 0.0]
        actions.begin(lookahead_with(ROAD))
        assert actions._weights == pytest.approx([0.932, 0.55, 0.168], abs=5e-4)

    def test_below_the_root_the_base_policy_is_multiplied_by_them(self) -> None:
        # .5 x .932, .25 x .55, .25 x .168: .466, .1375 and .042 of .6455, that is .722, .213 and .065.
        actions = LearntActions()
        actions.novel = [1.0, 0.5, 0.0]
        lookahead = lookahead_with(ROAD, (0,))
        actions.begin(lookahead)
        node = tree_of(lookahead)[(0,)]
        node.base_policy = Probabilities([0.5, 0.25, 0.25])
        draws = (0.0, 0.72, 0.725, 0.93, 0.94)
        drawn = [actions.sample(node, lookahead.root, rng=ScriptedRng(draw)) for draw in draws]  # type: ignore[arg-type]
        assert drawn == [0, 0, 1, 1, 2]
        node.unsolved = [1, 2]  # .1375 and .042: .766 and .234
        draws = (0.76, 0.77)
        assert [actions.sample(node, lookahead.root, rng=ScriptedRng(d)) for d in draws] == [1, 2]  # type: ignore[arg-type]

    def test_at_the_root_it_is_the_base_policy(self) -> None:
        actions = LearntActions()
        actions.novel = [1.0, 0.5, 0.0]
        lookahead = lookahead_with(ROAD, (0,))
        actions.begin(lookahead)
        root = lookahead.root
        assert [actions.sample(root, root, rng=ScriptedRng(draw)) for draw in (0.3, 0.4, 0.7)] == [0, 1, 2]  # type: ignore[arg-type]

    def test_rollouts_draw_so_and_learn_when_a_search_is_over(self) -> None:
        # .7 is the third action in the root, and by weights of 1 to .168 the first below it.
        actions = LearntActions()
        actions.novel = [1.0, 0.0, 0.0]
        planner = Rollouts(NoPruning(), 2, LeafValues(), actions=actions)
        lookahead = grow(ROAD, planner, 3, ScriptedRng(0.7, 0.7, 0.1, 0.1))
        assert set(tree_of(lookahead)) == {(), (2,), (2, 0), (0,)}
        assert actions.novel == [1.0, 0.0, (0.95 * 0.0 + 1.0) / 1.95]

    def test_a_decision_that_is_cut_off_and_begun_again_teaches_once(self) -> None:
        planner = Rollouts(NoPruning(), 1, LeafValues(), actions=(actions := LearntActions()))
        lookahead = Lookahead(ROAD, ROAD.start(), base_policy=UNIFORM, termination_cost=None)
        lookahead.begin_time_step()
        planning = planner.plan(lookahead, Interactions(3).start(), rng=np.random.default_rng(0))
        next(planning)  # asks for the values of leaves, and is never answered
        planning.close()
        assert actions.novel == [1.0, 1.0, 1.0]
        lookahead.begin_time_step()
        planning = planner.plan(lookahead, Interactions(3).start(), rng=np.random.default_rng(0))
        heuristics = Heuristics.of(value=lambda nodes: np.zeros(len(nodes)))
        with contextlib.suppress(StopIteration):
            planning.send(heuristics.answer([next(planning)])[0])
        assert actions.novel == [1.0, 0.95 / 1.95, 1.0]


class TestTwoLevels:
    r"""Letters are abstract states, numbers are states; all of B look alike.

          A0
      0 /    \ 1
      B1      B1
            0/  \ 1
           B2    B3

    Each B1 is an entry point, at which a low-level tree begins. B2 and B3 are not novel there: their units are
    those of B1. What leads to B3 pays 1.
    """

    WORLD = ScreenWorld(
        table=[[(1, 0.0), (1, 0.0)], [(2, 0.0), (3, 1.0)], [(2, 0.0), (2, 0.0)], [(3, 0.0), (3, 0.0)]],
        screens=[((gray,),) for gray in (0, 1, 1, 1)],
        units=[[0], [1], [1], [1]],
        policies=[[0.5, 0.5]] * 4,
        values=[0.0] * 4,
    )
    HEURISTICS = WORLD.heuristics("units", "policy", "value")
    CHOSEN = PI_HIW.settings(tiles="1x1", levels=256, actions="learnt")

    def play(self, budget: int, *numbers: float) -> tuple[Play, Any]:
        """A play in which action 0 never was a duplicate so far, and action 1 always; its planner beside it."""
        rng: Any = ScriptedRng(*numbers)
        play = Play(self.WORLD, PI_HIW, budget=Interactions(budget), rng=rng, settings=self.CHOSEN)
        planner: Any = play._planner
        planner.low_level.actions.novel = [1.0, 0.0]
        return play, planner

    def planned(self, budget: int, *numbers: float) -> tuple[set[tuple[int, ...]], list[float]]:
        """The paths of the lookahead of the first time step, and what is learnt from it."""
        seen: list[set[tuple[int, ...]]] = []
        play, planner = self.play(budget, *numbers)
        drive(
            [play],
            self.HEURISTICS,
            decisions=1,
            on_choice=lambda play, choice: seen.append(set(tree_of(play.lookahead))),
        )
        assert play.rng.left == 0  # type: ignore[attr-defined]
        (paths,) = seen
        return paths, planner.low_level.actions.novel

    def test_the_root_is_that_of_the_lookahead(self) -> None:
        """A is chosen, and .6 is action 1 there. B1 is the root of a low-level tree, but below: there .6 and .84
        are action 0, which has .932 of .932 + .168, that is .847.
        """
        for draw, action in ((0.6, 0), (0.84, 0), (0.85, 1)):
            paths, novel = self.planned(2, 0.0, 0.6, draw)
            assert paths == {(), (1,), (1, action)}
            assert novel == [1.0, 0.0], "there is nothing to compare"

    def test_siblings_are_compared_that_enter_another_abstract_state_and_within_all_low_level_trees(self) -> None:
        """B1 is searched to its end, then A, where action 0 enters a B that is not novel. Its sibling by action 1,
        which was there before it, is like it; of B2 and B3 the latter pays. Of two judged one is a duplicate.
        """
        paths, novel = self.planned(9, 0.0, 0.6, 0.9, 0.5, 0.0, 0.5, 0.0)
        assert paths == {(), (0,), (1,), (1, 0), (1, 1)}
        assert novel == [1.0, (0.95 * 0.0 + 1 / 2) / 1.95]

    def test_a_decision_that_is_cut_off_teaches_nothing(self) -> None:
        play, planner = self.play(9, 0.0, 0.6, 0.9, 0.5, 0.0, 0.5)
        planning = play.plan()
        question = next(planning)
        for _ in range(4):
            question = planning.send(self.HEURISTICS.answer([question])[0])
        planning.close()
        assert set(tree_of(play.lookahead)) == {(), (0,), (1,), (1, 0), (1, 1)}
        assert planner.low_level.actions.novel == [1.0, 0.0]


class TestMemory:
    def test_it_is_what_goes_on(self) -> None:
        lookahead = lookahead_with(ROAD, (0,), (1,))
        actions, again = learnt(lookahead), LearntActions()
        lookahead.advance(0, keep=True)
        again.remember(actions.memory(), lookahead)
        assert again.novel == actions.novel

    def test_before_the_first_time_step_there_is_nothing_to_remember(self) -> None:
        actions, again = LearntActions(), LearntActions()
        again.remember(actions.memory(), lookahead_with(ROAD))
        assert again.novel == []

    @pytest.mark.parametrize(
        "memory",
        [
            {},
            {"actions.novel": np.ones(2)},
            {"actions.novel": np.ones(3, dtype=np.float32)},
            {"actions.novel": np.array([1.0, 1.0, 1.5])},
            {"actions.novel": np.array([1.0, 1.0, np.nan])},
            {"actions.novel": np.ones(3), "visits": np.ones(3)},
        ],
    )
    def test_what_cannot_have_been_learnt_is_refused(self, memory: dict[str, np.ndarray]) -> None:
        lookahead = lookahead_with(ROAD, (0,))
        lookahead.advance(0, keep=True)
        with pytest.raises(RecordError, match="What was learnt of the actions is missing or is something else"):
            LearntActions().remember(memory, lookahead)

    def test_all_actions_remember_nothing(self) -> None:
        lookahead = lookahead_with(ROAD)
        AllActions().remember({}, lookahead)
        with pytest.raises(RecordError, match=r"nothing of an episode, and there is actions\.novel"):
            AllActions().remember(LearntActions().memory(), lookahead)

    def test_a_planner_that_remembers_nothing_refuses_a_memory(self) -> None:
        play = make_protocol("corridor", agent="uct").make_play(Corridor(), seed=0, index=0)
        assert play.memory() == {}
        play.restore(play.lookahead, [], heuristics=UNINFORMED, memory={})
        with pytest.raises(RecordError, match="uct remembers nothing of an episode"):
            play.restore(play.lookahead, [], heuristics=UNINFORMED, memory=LearntActions().memory())


PROTOCOL = make_protocol("pong", agent="riw-c", actions="learnt", budget=40)
DECISIONS = 5


def account(play: Play) -> tuple[object, ...]:
    return [replace(decision, seconds=0.0) for decision in play.decisions], play.rng.bit_generator.state


def actions_of(planner: Any) -> ActionSet:
    """The actions of rollouts: of pi-HIW, those of its low level."""
    actions: ActionSet = (planner.low_level if isinstance(planner, Hierarchical) else planner).actions
    return actions


def estimates(play: Play) -> list[float]:
    planner: Any = play._planner
    return list(planner.actions.novel)


class TestEpisodes:
    def test_an_episode_that_is_stored_after_every_decision_is_the_same(self, tmp_path: Path) -> None:
        path = tmp_path / "paused.safetensors"
        with contextlib.closing(PROTOCOL.make_simulator()) as simulator:
            whole = PROTOCOL.make_play(simulator, seed=3, index=1)
            drive([whole], decisions=DECISIONS)
            play = PROTOCOL.make_play(simulator, seed=3, index=1)
            for _ in range(DECISIONS):
                write_play(path, play, PROTOCOL)
                play = read_play(path, PROTOCOL, simulator)
                drive([play], decisions=1)
            assert account(play) == account(whole)
            assert estimates(play) == estimates(whole)
            assert min(estimates(whole)) < 0.3, "in Pong there are buttons that do nothing"
            fresh = PROTOCOL.make_play(simulator, seed=3, index=2)
            drive([fresh], decisions=1)
            assert min(estimates(fresh)) > 0.4, "another episode knows nothing of it"

    def test_in_the_first_time_step_all_actions_are_drawn_alike(self) -> None:
        lookaheads = []
        for actions in ("all", "learnt"):
            protocol = make_protocol("pong", agent="riw-c", actions=actions, budget=40)
            with contextlib.closing(protocol.make_simulator()) as simulator:
                play = protocol.make_play(simulator, seed=0, index=0)
                drive(
                    [play],
                    decisions=1,
                    on_choice=lambda play, choice: lookaheads.append(set(tree_of(play.lookahead))),
                )
        assert lookaheads[0] == lookaheads[1]

    def test_interactions_go_elsewhere(self) -> None:
        """Where the last three of four actions do the same, fewer of them are tried beside each other."""
        world = TableWorld([[(2 * i % 61, 0.0), *[(i + 1, 0.0)] * 3] for i in range(60)] + [[(60, 0.0)] * 4])
        superfluous = []
        for actions in (AllActions(), LearntActions()):
            count = 0
            rng = np.random.default_rng(0)
            planner = Rollouts(NoPruning(), 5, LeafValues(), actions=actions)
            lookahead = Lookahead(world, world.start(), base_policy=UNIFORM, termination_cost=0.0)
            for _ in range(20):
                lookahead.begin_time_step()
                assert list(planner.plan(lookahead, Interactions(60).start(), rng=rng)) == []
                for node in lookahead.nodes():
                    count += max(0, sum(child is not None for child in node.children[1:]) - 1)
                action = next(a for a, child in enumerate(lookahead.root.children) if child is not None)
                lookahead.advance(action, keep=False)
            superfluous.append(count)
        assert superfluous[1] < 0.8 * superfluous[0]

    def test_every_agent_that_plans_with_rollouts_has_the_setting(self) -> None:
        having = {name for name, agent in AGENTS.items() if "actions" in agent.uses}
        planners = {"riw-c", "riw-d", "riw-plus", "unpruned"}
        learners = {"n-cpl", "n-cpl-d", "cpl", "n-cpl-plus", "pi-iw", "pi-iw-plus", "pi-hiw", "vae-iw"}
        assert having == planners | learners
        for name in having:
            chosen = {"features": "atoms", "persistence": "none"}
            features = {setting: chosen[setting] for setting in chosen if setting in AGENTS[name].uses}
            settings = AGENTS[name].settings(actions="learnt", **features)
            start = (
                AtariState(b"", np.zeros((84, 84), np.uint8), None, None)
                if name == "vae-iw"
                else Corridor().start()
            )
            planner: Any = AGENTS[name].assemble(start, settings)
            assert isinstance(actions_of(planner), LearntActions)
            assert isinstance(planner, RemembersEpisode)
            usual: Any = AGENTS[name].assemble(start, AGENTS[name].settings(**features))
            assert isinstance(actions_of(usual), AllActions)

    def test_it_goes_together_with_leaving_out_duplicates(self) -> None:
        settings = get_agent("unpruned").settings(actions="learnt", duplicates=True, horizon=4)
        planner: Any = get_agent("unpruned").assemble(ROAD.start(), settings)
        assert isinstance(planner.duplicates, Duplicates)
        lookahead = grow(ROAD, planner, 60, np.random.default_rng(0))
        assert planner.actions.novel[1] < 0.6
        assert lookahead.interactions > 10


def test_a_play_whose_planner_depends_on_networks_is_restored_with_what_its_planner_has_learnt() -> None:
    agent = replace(get_agent("unpruned"), untrained=get_agent("unpruned").assemble)
    settings = agent.settings(actions="learnt", horizon=4)

    def play() -> Play:
        return Play(ROAD, agent, budget=Interactions(40), rng=np.random.default_rng(0), settings=settings)

    first, again = play(), play()
    drive([first], decisions=3)
    memory = first.memory()
    assert (memory["actions.novel"] < 1.0).any()
    again.restore(first.lookahead, first.decisions, heuristics=UNINFORMED, memory=memory)
    assert again.memory()["actions.novel"].tolist() == memory["actions.novel"].tolist()
