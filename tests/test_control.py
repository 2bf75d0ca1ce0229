"""A planner for one's own control loop: what it decides, what it keeps, and when it begins anew."""

from __future__ import annotations

import doctest
import re
import threading
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import noveltree.control
from noveltree import Corridor, Interactions, Planner, Seconds, get_agent
from noveltree.episodes import Play, drive
from noveltree.errors import InputError
from noveltree.protocol import make_protocol
from noveltree.records.run_directory import RunDirectory
from noveltree.simulators import CorridorState, GymnasiumSimulator
from noveltree.trial import train
from noveltree.trial.checkpoint_state import read_weights
from tests.support.chance_worlds import coin
from tests.support.runs import small_protocol
from tests.support.worlds import TableState

DOCS = Path(__file__).parent.parent / "docs" / "worlds.md"


def test_the_example_of_the_module_is_true() -> None:
    outcome = doctest.testmod(noveltree.control)
    assert (outcome.failed, outcome.attempted > 0) == (0, True)


def test_the_loop_of_the_docs_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", DOCS.read_text(), flags=re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(code, DOCS.name, "exec"), names)
    assert names["planner"].terminal


def decided(planner: Planner) -> list[tuple[int, int, int]]:
    """The actions of a planner that is told of its own decisions, with their interactions and cached nodes."""
    decisions = []
    while not planner.terminal:
        action = planner.act()
        decisions.append((action, planner.lookahead.interactions, planner.lookahead.cached))
        planner.advance(action)
    return decisions


def accounts(play: Play) -> list[tuple[int, int, int]]:
    return [(each.action, each.interactions, each.cached) for each in play.decisions]


def test_told_of_its_own_decisions_it_plays_an_episode() -> None:
    agent = get_agent("riw-c")
    settings = agent.settings(features="atoms")
    play = Play(Corridor(), agent, budget=Interactions(7), rng=np.random.default_rng(3), settings=settings)
    drive([play])
    decisions = decided(Planner(Corridor(), "riw-c", budget=7, seed=3))
    assert decisions == accounts(play)
    assert decisions[-1][2] > 0


def test_states_can_be_those_of_ones_own_loop() -> None:
    """What was looked at is kept if the world is where the planner was told that it is."""
    world = Corridor(6)
    planner = Planner(Corridor(6), "bfs", budget=100, discount=0.9)
    state, steps, kept = world.start(), 0, []
    terminal = False
    while not terminal:
        action = planner.act(state)
        kept.append(planner.lookahead.cached)
        state, _, terminal = world.step(state, action)  # type: ignore[assignment]
        planner.advance(action)
        steps += 1
    assert steps == 5
    assert kept[0] == 0
    assert min(kept[1:]) > 1


def test_another_state_than_was_foreseen_begins_a_fresh_lookahead() -> None:
    planner = Planner(Corridor(20), "bfs", budget=30)
    planner.advance(planner.act(), state=CorridorState(15))
    assert isinstance(planner.state, CorridorState)
    assert planner.state.cell == 15
    assert planner.act() == 1
    assert planner.lookahead.cached == 0
    root = planner.lookahead.root
    assert root.parent is not None  # what was seen before, for networks
    assert isinstance(root.parent.state, CorridorState)
    assert root.parent.state.cell == 0
    assert planner.act(CorridorState(3)) in (0, 1)
    assert planner.lookahead.root.parent is None
    assert planner.state.observation.tolist() == [3]


def test_the_same_question_has_the_same_answer_without_planning_again() -> None:
    planner = Planner(Corridor(20), "riw-c", budget=10)
    action, interactions = planner.act(), planner.lookahead.interactions
    nodes = planner.lookahead.generated
    assert planner.act() == planner.act(CorridorState(0)) == action
    assert (planner.lookahead.interactions, planner.lookahead.generated) == (interactions, nodes)


def test_values_are_those_by_which_the_action_was_chosen() -> None:
    """In cell 0 of three, one step ahead pays nothing; in cell 1, a step to the right pays 1."""
    planner = Planner(Corridor(3), "bfs", budget=2)
    assert planner.values == ()
    planner.act()
    assert planner.values == (0.0, 0.0)
    planner.advance(1)
    assert planner.act() == 1
    assert planner.values == (0.0, 1.0)
    transition = planner.advance(1)
    assert (transition.reward, transition.terminal, planner.terminal) == (1.0, True, True)


def test_an_action_that_was_not_chosen_may_be_executed() -> None:
    planner = Planner(Corridor(5), "riw-c", budget=4)
    assert planner.advance(0).state.observation.tolist() == [0]
    assert planner.advance(1).state.observation.tolist() == [1]


def test_the_end_is_the_end() -> None:
    planner = Planner(Corridor(2), budget=4)
    planner.advance(1)
    for question in (planner.act, lambda: planner.advance(0)):
        with pytest.raises(InputError, match="the episode has ended in this state"):
            question()


def test_environments_and_names_of_games_will_do() -> None:
    by_name = Planner("FrozenLake-v1", "iw1", budget=100, seed=1)
    by_object = Planner(gymnasium.make("FrozenLake-v1"), "iw1", budget=100, seed=1)
    assert by_name.act() == by_object.act()
    assert by_name.actions == by_object.actions
    with Planner("corridor", budget=Seconds(0.01)) as planner:
        assert planner.act() in (0, 1)


def test_the_settings_that_suit_the_simulator_are_the_default() -> None:
    planner = Planner(GymnasiumSimulator("FrozenLake-v1"), discount=0.9)
    assert (planner._settings.features, planner._settings.discount) == ("atoms", 0.9)


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        (("corridor", "riw-x"), {}, "Unknown agent 'riw-x'"),
        (("corridro",), {}, "Unknown game 'corridro'. Did you mean 'corridor'"),
        (("corridor", "n-cpl"), {}, "n-cpl plays with networks that it has learnt"),
        (("corridor",), {"colour": 1}, "riw-c has no setting 'colour'"),
        (("corridor",), {"budget": 0}, "0"),
    ],
)
def test_bad_input_is_one_sentence(arguments: tuple[str, ...], options: dict[str, int], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Planner(*arguments, **options)  # type: ignore[arg-type]


def test_auto_is_the_agent_that_suits_the_simulator() -> None:
    planner = Planner(Corridor(), "auto", budget=20)
    assert planner.agent == make_protocol("corridor", agent="auto").agent != "auto"
    assert planner.act() == 1
    assert Planner("corridor", "auto").agent == planner.agent
    assert Planner(Corridor()).agent == "riw-c"
    with pytest.raises(InputError, match="Weights are those of one agent: leave out auto"):
        Planner("corridor", "auto", weights="run")


def test_an_action_that_there_is_not_is_refused() -> None:
    with pytest.raises(InputError, match="There are the actions 0 to 1, not 2"):
        Planner(Corridor()).advance(2)


# Where chance decides: a coin falls to state 1 or 2, whatever was guessed.


def test_an_outcome_that_was_met_keeps_its_lookahead_and_another_one_does_not() -> None:
    planner = Planner(coin(), "uct", budget=200, rollout_depth=2)
    for side in (1, 2, 1):
        planner.act()
        planner.advance(0, state=TableState(side))
        assert planner.state.observation.tolist() == TableState(side).observation.tolist()
        planner.act()
        assert planner.lookahead.cached > 1
    planner.advance(0, state=TableState(0))  # where this action never leads
    planner.act()
    assert planner.lookahead.cached == 0


def test_without_a_state_dice_are_thrown_that_planning_does_not_know() -> None:
    """A fair coin is guessed half of the time, whatever the lookahead has seen; the same seed throws the same."""

    def guessed(seed: int) -> list[float]:
        planner = Planner(coin(), "uct", budget=20, seed=seed)
        return [planner.advance(planner.act()).reward for _ in range(60)]

    assert 15 < sum(guessed(0)) < 45
    assert guessed(1) == guessed(1) != guessed(2)


def test_threads_with_planners_of_their_own_do_not_disturb_each_other() -> None:
    def decide(into: list[int]) -> None:
        planner = Planner(Corridor(12), "riw-c", budget=15, seed=5)
        while not planner.terminal:
            into.append(planner.act())
            planner.advance(into[-1])

    results: list[list[int]] = [[] for _ in range(4)]
    threads = [threading.Thread(target=decide, args=(result,)) for result in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(result == results[0] for result in results)
    assert results[0]


def test_it_plays_with_the_networks_of_a_run(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    run = tmp_path / "run"
    protocol = small_protocol(interactions=2_000)
    train(run, protocol)
    networks = read_weights(RunDirectory.open(run), protocol, Corridor()).heuristics()
    play = Play(
        Corridor(),
        get_agent("n-cpl"),
        budget=protocol.make_budget(),
        rng=np.random.default_rng(0),
        settings=protocol.settings(),
    )
    drive([play], networks)
    assert decided(Planner("corridor", weights=run)) == accounts(play)
    assert decided(Planner(Corridor(), "n-cpl", weights=str(run))) == accounts(play)
    with pytest.raises(InputError, match="horizon cannot be chosen"):
        Planner("corridor", weights=run, horizon=3)
    with pytest.raises(InputError, match="are of another agent: n-cpl, not riw-c"):
        Planner("corridor", "riw-c", weights=run)
