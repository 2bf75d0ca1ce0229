"""The driver: questions in batches, many episodes at once, pausing, and what an episode says of itself."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from noveltree.agents import Settings, get_agent
from noveltree.episodes import Choice, Decision, End, Episode, Play, drive, drive_stream, episode_rng
from noveltree.errors import InputError, SimulatorError
from noveltree.heuristics import Heuristics
from noveltree.lookahead import Interactions, Seconds, frames
from noveltree.simulators import Atari, Corridor, GymnasiumSimulator, Simulator, State, Transition
from noveltree.tree import Lookahead, Node, Probabilities
from tests.support.agents import PLAYABLE_AT_ONCE


def corridor_play(index: int = 0, *, agent: str = "riw-c", budget: int = 20, **options: object) -> Play:
    chosen = get_agent(agent)
    settings = chosen.settings(features="atoms") if "features" in chosen.uses else chosen.settings()
    return Play(
        Corridor(8, wait=True),
        chosen,
        settings=settings,
        budget=Interactions(budget),
        rng=episode_rng(7, index),
        **{"max_steps": 30, **options},  # type: ignore[arg-type]
    )


def played(episode: Episode) -> tuple[object, ...]:
    """All of an episode but the time that it took."""
    columns = ("action", "reward", "interactions", "cached", "pruned", "solved", "depth")
    return (*(tuple(episode.column(name)) for name in columns), episode.end, episode.final_observation)


class Script:
    """A scripted policy and value, which remember the sizes of the batches they were asked for."""

    def __init__(self) -> None:
        self.policy_batches: list[int] = []
        self.cost_batches: list[int] = []

    def base_policy(self, nodes: Sequence[Node]) -> np.ndarray:
        self.policy_batches.append(len(nodes))
        right = np.array([0.5 + 0.04 * float(node.state.observation[0]) for node in nodes])
        return np.stack([(1 - right) / 2, right, (1 - right) / 2], axis=1)

    def termination_cost(self, nodes: Sequence[Node]) -> np.ndarray:
        self.cost_batches.append(len(nodes))
        return np.array([0.1 * float(node.state.observation[0]) for node in nodes])

    def heuristics(self) -> Heuristics:
        return Heuristics.of(policy=self.base_policy, value=self.termination_cost)


@pytest.mark.parametrize("agent", PLAYABLE_AT_ONCE)
def test_the_same_seed_gives_the_same_episode(agent: str) -> None:
    first, second = corridor_play(agent=agent), corridor_play(agent=agent)
    drive([first])
    drive([second])
    assert played(first.episode()) == played(second.episode())


@pytest.mark.parametrize("agent", PLAYABLE_AT_ONCE)
def test_the_same_seed_gives_the_same_episode_on_atari(agent: str) -> None:
    episodes = []
    for _ in range(2):
        play = Play(Atari("qbert"), get_agent(agent), budget=Interactions(30), rng=episode_rng(1, 2))
        drive([play], decisions=6)
        episodes.append(played(play.episode()))
    assert episodes[0] == episodes[1]


def test_another_seed_or_index_gives_another_episode() -> None:
    draws = {tuple(episode_rng(s, i, interval=t).random(3)) for s in (0, 1) for i in (0, 1) for t in (0, 1)}
    assert len(draws) == 8


@pytest.mark.parametrize("agent", PLAYABLE_AT_ONCE)
def test_many_episodes_at_once_are_the_same_as_one_at_a_time(agent: str) -> None:
    alone, together = ([corridor_play(i, agent=agent) for i in range(5)] for _ in range(2))
    for play in alone:
        drive([play])
    drive(together)
    assert [played(p.episode()) for p in alone] == [played(p.episode()) for p in together]


def test_a_stream_of_episodes_never_holds_more_than_so_many() -> None:
    begun: list[Play] = []
    done: list[Play] = []

    def hand_out() -> Iterator[Play]:
        for index in range(7):
            assert len(begun) - len(done) < 3
            begun.append(corridor_play(index))
            yield begun[-1]

    script = Script()
    for play in drive_stream(hand_out(), script.heuristics(), at_once=3):
        assert play.finished
        done.append(play)
    assert {id(play) for play in done} == {id(play) for play in begun}
    assert max(script.policy_batches) == 3
    alone = [corridor_play(index) for index in range(7)]
    for play in alone:
        drive([play], script.heuristics())
    assert [played(p.episode()) for p in begun] == [played(p.episode()) for p in alone]


def test_many_atari_episodes_share_one_emulator_without_disturbing_each_other() -> None:
    def plays(simulator: Simulator) -> list[Play]:
        return [
            Play(simulator, get_agent("riw-c"), budget=Interactions(20), rng=episode_rng(0, i)) for i in range(3)
        ]

    # A uniform policy that has to be asked makes the episodes take turns after every node.
    uniform = Heuristics.of(policy=lambda nodes: np.full((len(nodes), 6), 1 / 6))
    simulator = Atari("qbert")
    alone = plays(simulator)
    for play in alone:
        drive([play], uniform, decisions=4)
    together = plays(simulator)
    drive(together, uniform, decisions=4)
    assert [played(p.episode()) for p in alone] == [played(p.episode()) for p in together]


def test_questions_of_many_episodes_are_answered_in_one_batch() -> None:
    script = Script()
    plays = [corridor_play(i) for i in range(6)]
    drive(plays, script.heuristics(), decisions=1)
    assert script.policy_batches[0] == 6
    assert max(script.cost_batches) > 1


def test_batched_answers_give_the_same_episodes_as_single_ones() -> None:
    script = Script()
    together = [corridor_play(i) for i in range(6)]
    drive(together, script.heuristics())
    alone = [corridor_play(i) for i in range(6)]
    for play in alone:
        drive([play], script.heuristics())
    assert [played(p.episode()) for p in together] == [played(p.episode()) for p in alone]


def test_without_networks_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Heuristics, questions: object) -> None:
        raise AssertionError("asked")

    monkeypatch.setattr(Heuristics, "answer", refuse)
    drive([corridor_play()])


@pytest.mark.parametrize(
    ("policy", "complaint"),
    [
        (lambda nodes: np.full((len(nodes), 5), 0.2), r"has shape \(1, 5\), not \(1, 3\)"),
        (lambda nodes: np.full((len(nodes), 3), np.nan), "not finite"),
    ],
)
def test_answers_that_make_no_sense_are_refused(policy: Any, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        drive([corridor_play()], Heuristics.of(policy=policy))


def test_the_values_behind_a_decision_can_be_looked_up() -> None:
    play = corridor_play(budget=60)
    drive([play], decisions=1)
    decision = play.decisions[0]
    tried = [value for value in decision.action_values if value is not None]
    assert decision.action_values[decision.action] == max(tried)


def test_the_whole_lookahead_is_there_between_choosing_and_executing() -> None:
    seen: list[tuple[int, int]] = []
    left: list[int] = []

    def chosen(play: Play, choice: Choice) -> None:
        root = play.lookahead.root
        assert len(play.decisions) == root.time
        assert play.lookahead.root.children[choice.action] is not None
        assert [child is not None for child in root.children] == [value is not None for value in choice.values]
        nodes = list(play.lookahead.nodes())
        seen.append((choice.action, len(nodes)))
        kept = root.children[choice.action]
        left.append(sum(node is kept or _is_below(node, kept) for node in nodes))

    play = corridor_play(budget=60)
    decided: list[int] = []
    drive([play], on_choice=chosen, on_decision=lambda play, _: decided.append(len(list(play.lookahead.nodes()))))
    assert [action for action, _ in seen] == [decision.action for decision in play.decisions]
    assert decided == left
    assert any(nodes > kept + 1 for (_, nodes), kept in zip(seen, left, strict=True)), "siblings were seen"


def _is_below(node: Node, ancestor: Node | None) -> bool:
    while node.parent is not None:
        node = node.parent
        if node is ancestor:
            return True
    return False


def test_a_policy_is_asked_at_most_once_per_node() -> None:
    asked: list[int] = []

    def policy(nodes: Sequence[Node]) -> np.ndarray:
        asked.extend(id(node) for node in nodes)
        keep.extend(nodes)
        return np.full((len(nodes), 3), 1 / 3)

    keep: list[Node] = []  # so that no identity is used twice
    drive([corridor_play()], Heuristics.of(policy=policy), decisions=5)
    assert len(asked) == len(set(asked))


def test_a_learnt_termination_cost_guides_where_rewards_are_out_of_sight() -> None:
    heuristics = Heuristics.of(value=lambda nodes: np.array([float(n.state.observation[0]) for n in nodes]))
    play = Play(
        Corridor(50),
        get_agent("riw-c"),
        settings=Settings(features="atoms", horizon=3),
        budget=Interactions(20),
        rng=episode_rng(0, 0),
    )
    drive([play], heuristics, decisions=20)
    assert play.lookahead.root.state.observation[0] >= 18


@pytest.mark.parametrize("heads", [(), ("policy",), ("value",), ("policy", "value")])
@pytest.mark.parametrize("agent", PLAYABLE_AT_ONCE)
def test_a_play_driven_one_decision_at_a_time_is_the_same_as_in_one_go(agent: str, heads: tuple[str, ...]) -> None:
    outcomes = []
    for decisions in (None, 1):
        script = Script()
        both = {"policy": script.base_policy, "value": script.termination_cost}
        heuristics = Heuristics.of(**{head: function for head, function in both.items() if head in heads})
        play = corridor_play(agent=agent)
        while not play.finished:
            drive([play], heuristics, decisions=decisions)
        outcomes.append(
            (
                played(play.episode()),
                [decision.action_values for decision in play.decisions],
                script.policy_batches,
                script.cost_batches,
                play.rng.random(),
            )
        )
    assert outcomes[0] == outcomes[1]


def test_a_play_can_go_on_with_another_evaluation() -> None:
    left = Heuristics.of(policy=lambda nodes: np.tile([1.0, 0.0, 0.0], (len(nodes), 1)))
    right = Heuristics.of(policy=lambda nodes: np.tile([0.0, 1.0, 0.0], (len(nodes), 1)))
    play = corridor_play(agent="unpruned")
    drive([play], left, decisions=2)
    drive([play], right, decisions=1)
    policies = [node.base_policy for node in play.lookahead.nodes() if node.base_policy is not None]
    assert policies
    assert all(isinstance(p, Probabilities) and list(p.values) == [0.0, 1.0, 0.0] for p in policies)


def test_answers_are_forgotten_once_when_the_evaluation_changes_and_not_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forgotten: list[int] = []
    forget = Lookahead.forget_answers

    def counted(self: Lookahead, **initial: Any) -> None:
        forgotten.append(len(told))
        forget(self, **initial)
        assert all(node.base_policy is node.termination_cost is None for node in self.nodes())

    monkeypatch.setattr(Lookahead, "forget_answers", counted)
    told: list[Decision] = []
    play = corridor_play(agent="unpruned", budget=5)
    first, second = Script().heuristics(), Script().heuristics()
    for heuristics in (first, first, second, second, first):
        drive([play], heuristics, decisions=2, on_decision=lambda play, decision: told.append(decision))
    assert forgotten == [0, 4, 8]


def test_what_is_kept_is_asked_again_after_the_evaluation_changes_and_only_then() -> None:
    asked: list[Node] = []

    def policy(nodes: Sequence[Node]) -> np.ndarray:
        asked.extend(nodes)
        return np.full((len(nodes), 3), 1 / 3)

    play = corridor_play(agent="unpruned")
    same = Heuristics.of(policy=policy)
    drive([play], same, decisions=2)
    known = [node for node in play.lookahead.nodes() if node.base_policy is not None]
    assert play.lookahead.root in known
    asked.clear()
    drive([play], same, decisions=1)
    assert not {id(node) for node in asked} & {id(node) for node in known}
    root = play.lookahead.root
    asked.clear()
    drive([play], Heuristics.of(policy=lambda nodes: policy(nodes)), decisions=1)
    assert root in asked


def test_decisions_are_told_as_they_are_made() -> None:
    told: list[float] = []
    play = corridor_play()
    drive([play], on_decision=lambda play, decision: told.append(decision.reward))
    assert told == [d.reward for d in play.decisions]


def test_an_episode_ends_at_the_exit_or_at_the_time_limit_or_when_stopped() -> None:
    for options, decisions, end in (
        ({}, None, End.TERMINAL),
        ({"max_steps": 3}, None, End.TRUNCATED),
        ({}, 2, End.STOPPED),
    ):
        play = corridor_play(budget=60, **options)  # type: ignore[arg-type]
        drive([play], decisions=decisions)
        assert play.episode().end is end


def test_the_account_of_an_episode_adds_up() -> None:
    play = corridor_play(budget=60)
    drive([play])
    episode = play.episode()
    assert episode.score == sum(d.reward for d in play.decisions) == 1.0
    assert episode.steps == len(play.decisions)
    assert episode.interactions == sum(d.interactions for d in play.decisions)
    assert all(d.interactions <= 60 for d in play.decisions)
    assert play.decisions[0].cached == 0
    assert all(d.cached >= 1 for d in play.decisions[1:])


def test_the_random_agent_needs_one_interaction_a_step() -> None:
    play = corridor_play(agent="random", budget=1)
    drive([play])
    assert set(play.episode().column("interactions")) == {1}


def test_an_interrupt_at_any_instant_leaves_a_valid_episode() -> None:
    class Interrupting(Corridor):
        calls = 0
        stop_at = 10**9

        def step(self, state, action):  # type: ignore[no-untyped-def]
            Interrupting.calls += 1
            if Interrupting.calls == Interrupting.stop_at:
                raise KeyboardInterrupt
            return super().step(state, action)

    for stop_at in range(1, 60, 7):
        Interrupting.calls, Interrupting.stop_at = 0, stop_at
        world = Interrupting(8)
        play = Play(
            world,
            get_agent("riw-c"),
            settings=Settings(features="atoms"),
            budget=Interactions(10),
            rng=episode_rng(0, 0),
        )
        with pytest.raises(KeyboardInterrupt):
            drive([play])
        Interrupting.stop_at = 10**9
        episode = play.episode(interrupted=True)
        state = world.start()
        for decision in episode.decisions:
            state, reward, _ = world.step(state, decision.action)
            assert reward == decision.reward


def test_a_simulator_without_actions_is_refused() -> None:
    class Paralysed(Corridor):
        def __init__(self) -> None:
            super().__init__(5)
            self.actions = ()

    with pytest.raises(SimulatorError, match="no actions"):
        Play(Paralysed(), get_agent("random"), budget=Interactions(1), rng=episode_rng(0, 0))


@pytest.mark.parametrize("limit", [0, -5])
def test_budgets_that_allow_nothing_are_refused(limit: int) -> None:
    with pytest.raises(InputError, match="at least 1 interaction"):
        Interactions(limit)
    with pytest.raises(InputError, match="more than 0 seconds"):
        Seconds(limit)
    with pytest.raises(InputError, match="less than one interaction"):
        frames(14, frame_skip=15)


def test_a_budget_of_frames_is_whole_interactions() -> None:
    assert frames(150_000, frame_skip=5) == Interactions(30_000)
    assert frames(44, frame_skip=15) == Interactions(2)


def test_a_budget_of_seconds_plans_for_about_that_long() -> None:
    play = Play(Atari("pong"), get_agent("riw-c"), budget=Seconds(0.2), rng=episode_rng(0, 0))
    drive([play], decisions=5)
    # Timing is not asserted here beyond what even a busy machine keeps: it planned, and it stopped.
    assert all(d.interactions > 5 for d in play.decisions)
    assert all(d.seconds < 2.0 for d in play.decisions)


ATOMS = Settings(features="atoms")


class SlowAtFirst(Corridor):
    """Its first interaction takes long, as if something had to be compiled."""

    steps = 0

    def step(self, state: State, action: int) -> Transition:
        self.steps += 1
        if self.steps == 1:
            time.sleep(1.0)
        return super().step(state, action)


def test_what_takes_long_once_is_over_before_a_clock_counts() -> None:
    simulator = SlowAtFirst()
    play = Play(simulator, get_agent("riw-c"), settings=ATOMS, budget=Seconds(0.05), rng=episode_rng(0, 0))
    drive([play], decisions=2)
    assert all(decision.seconds < 0.9 for decision in play.decisions)
    steps = simulator.steps
    drive([play], decisions=1)  # which is rehearsed once
    assert simulator.steps - steps <= play.decisions[-1].interactions + 1
    counted = SlowAtFirst()
    play = Play(counted, get_agent("riw-c"), settings=ATOMS, budget=Interactions(10), rng=episode_rng(0, 0))
    drive([play], decisions=1)
    assert counted.steps <= 11


def test_a_rehearsal_changes_nothing_in_the_episode() -> None:
    made = []
    for budget in (Interactions(30), Seconds(1e6)):
        play = Play(Corridor(), get_agent("riw-c"), settings=ATOMS, budget=budget, rng=episode_rng(0, 0))
        play.budget = Interactions(30)
        drive([play], decisions=5)
        made.append([replace(decision, seconds=0.0) for decision in play.decisions])
    assert made[0] == made[1]


def test_episodes_on_gymnasium_environments_are_reproducible() -> None:
    episodes = []
    for _ in range(2):
        simulator = GymnasiumSimulator("FrozenLake-v1", is_slippery=False)
        play = Play(
            simulator,
            get_agent("iw1"),
            settings=Settings(features="atoms"),
            budget=Interactions(100),
            rng=episode_rng(0, 0),
            max_steps=100,
        )
        drive([play])
        episodes.append(play.episode())
    assert played(episodes[0]) == played(episodes[1])
    assert episodes[0].score == 1.0
